// Package dgkip distils datasets by the duality gap. A convex model Theta_O is trained once on
// the real data O, over fixed random features. Then the images and labels of a small set S are
// learned, by lowering a bound on the distance between Theta_O and Theta_S, the model that
// minimises the same problem on S:
//
//	|Theta_O - Theta_S|^2 <= (2/lambda_S) G_S(Theta_O, alpha)          (Theorem 3.2)
//
// The gap G is defined in convex/gap.go. The paper's Algorithm 1 is in algorithm1.go, step by
// step. The problem has one level: no model is trained on S inside the loop.
//
// # The published method
//
// dgkip-lr, dgkip-svm and dgkip-softmax lower the gap of the logistic, hinge and softmax loss.
// AdaBelief moves images and labels. The gap starts up to a million times above its final value,
// with gradients to match. AdaBelief divides steps by the root of a running average of squared
// deviations of gradients from their mean. So steps stay small until the first gradients are
// forgotten: after 28,000 updates with a beta2 of 0.999, and after 280 with 0.9. Lowering the
// logarithm of the gap ("log-gap") has the same effect: its gradient is the gradient of G divided
// by G, and its minima are the same.
//
// A set carries over to another loss if all its images have the same margin, because the dual
// variables of one problem, scaled, then solve the other. If labels change as fast as images,
// margins can drift apart.
//
// With labels = "scaled", labels are learned in units of lambda_S |Theta_O|. A gain y acts
// through alpha y/lambda_S, so under its own loss a set needs gains tens to thousands of times
// smaller than one. Then all alpha are close to 1/2. Margins become so small that differences
// of a few percent between the alpha determine the offset of the model, and these differences
// change with the loss. For the hinge loss with small gains, alpha is its value at m = 0, sigma(1/T).
// That leaves 1/(1+e^(1/T)) per image in the gap, so T has to be well below one.
//
// With several classes, labels are targets p, and alpha is their difference from the
// probabilities that Theta_O gives the image. The method learns alpha itself (labels = "dual").
// The Fenchel-Young terms then vanish, and G = (lambda_S/2) |Theta_O - Theta(alpha)|^2. Targets
// learned from the hard classes (labels = "target") start a hundred units or more away from the
// targets of a good set, and labels do not move that far.
//
// # Solved labels
//
// dgkip-ls solves for the labels. With A = phi(X_S), the projection of Theta_O onto the span of
// A's rows is Theta_S = C'A, C = (A A')^-1 A Theta_O'. Some labels make Theta_S the exact
// minimiser on S (for the hinge loss, unless a dual variable is clipped); for the logistic loss softplus(f) - p f they are
// p = sigma(f) + lambda_S c. Theorem 3.2 then holds with equality, and what remains is a smooth
// problem in the images alone:
//
//	minimise |r|^2,  r = Theta_O - Theta_S,    d|r|^2/dphi_i = -2 c_i r
//
// That is match = "weights". With match = "outputs", C minimises the difference of outputs on the
// real images instead, (1/n) |f_O - Phi_O A' C|^2. This is the better aim if S is so small that
// the weights must stay far apart. With match = "loss", C minimises the loss of Theta_S on the real
// images, (1/n) P_O(C'A) (convex.Least). Both look at all real images in every update, or at a new
// batch.
//
// Labels may be solved by another criterion than the images. With refit_labels = "loss", images
// are learned by match, and at the end labels are solved for the lowest real loss. In the exact
// kernel this corrects an offset that all outputs share, and that few images can hardly span.
//
// # Several draws
//
// Images can adapt to the one draw of networks that they are learned in. Two settings avoid that.
// In the exact kernel of infinitely wide networks (package nngp) nothing is drawn. A method needs only
// K = A A' and F = A Theta_O', which every convex.View provides. With draws = R, each update
// uses the next of R draws, each with its own Theta_O, and labels are solved for the mean of all
// draws. The real images are needed again only if match or refit_labels is "loss"; then the features
// of every draw are kept.
//
// With travel = true the set also stores portable labels: the outputs of its own model, to which
// networks of any draw can be fitted.
//
// Results have the same bits on every machine, for every number of threads, and after an
// interruption.
package dgkip
