// Package dgkip distils data by the duality gap. A convex model Theta_O is trained
// once on the real data, over fixed random features; then the images of a small
// set S are learned, and its labels with them, until a bound on the distance of
// Theta_O from the model that S would train is small:
//
//	|Theta_O - Theta_S|^2 <= (2/lambda_S) G_S(Theta_O, alpha)          (Theorem 3.2)
//
// The gap itself, as the paper prints it and as it is computed, is convex/gap.go; the
// paper's Algorithm 1, step by step, is algorithm1.go.
//
// One level: no model is trained on S along the way.
//
// # The published method
//
// dgkip-lr, dgkip-svm and dgkip-softmax lower the gap G of the logistic, hinge and
// softmax loss by AdaBelief on images and labels. G starts up to a million times its
// final value, with gradients to match: AdaBelief, whose steps are over the size of past
// gradients, takes small ones for as long as it remembers the first, which
// is 27,000 updates for a beta2 of 0.999 and 270 for one of 0.9. Under "log-gap" the
// gradient is divided by G, which leaves the minima where they are and shortens that, too.
//
// Another loss finds the model again where the margins of all images are the same: then
// the same dual variables, times a number, solve its problem as well. Labels that change
// as fast as the images do can drive margins apart.
//
// With labels = "scaled" they are learned in the unit lambda_S |Theta_O|. A gain y acts
// through alpha y/lambda_S, so that hundreds to thousands of times less than one is enough for a set under its own
// loss, and all alpha are nearly one half; but margins are then so small that differences
// of a few percent between alpha, which another loss does not have, decide the offset of
// the model. With small gains the hinge's alpha is that of m = 0, sigma(1/T), and leaves
// 1/(1+e^(1/T)) of every image in the gap: T has to be well below one.
//
// With several classes the labels are targets p, alpha is their distance from the
// probabilities that Theta_O gives an image, and what is learned is alpha itself. No
// Fenchel-Young term is left then, and G = (lambda_S/2) |Theta_O - Theta(alpha)|^2.
// Targets that are learned from the classes on (labels = "target") are hundreds of units
// from those of a good set; where Theta_O is unsure of an image, only the image can move.
//
// # Label-solved
//
// dgkip-ls solves for the labels. With A = phi(X_S) the projection of Theta_O onto
// the span of A's rows is Theta_S = A'C, C = (A A')^-1 A Theta_O, and labels exist
// that make it the exact minimiser on S, whatever the loss: for the logistic one
// p = sigma(f) + lambda_S c in softplus(f) - p f. The bound is then an equation,
// and what is left is a smooth problem in the images alone,
//
//	minimise |r|^2,  r = Theta_O - Theta_S,    d|r|^2/dphi_i = -2 c_i r,
//
// the metric "parameter". The metric "prediction" chooses C to bring the outputs on
// the real images near instead, (1/n)|f_O - Phi_O A'C|^2, which is the better aim
// where S is so small that the parameters must stay far apart. The metric "loss" lowers
// the loss of Theta_S on the real images, (1/n) P_O(A'C): see convex.Least. These two look
// at all real images in every update, or at a batch of them drawn anew.
//
// Images and labels need not have the same metric. With relabel = "loss" the images that
// span Theta_O best get the labels that do best on the real images: in the exact kernel
// the projection can be off by an offset, which outputs share and few images hardly span.
//
// # Beyond one draw
//
// Features of one draw of networks leave images room to take on that draw. In the exact
// kernel of fully connected networks, package nngp, nothing is drawn: all that a method
// needs of S is K = A A' and F = A Theta_O', which a convex.View gives. With draws = R
// every update sees the set in another of R draws, in turn, each with a Theta_O of its
// own; labels are made for their mean. Real images are not seen again, unless the metric
// looks at them: then the features of every draw are kept. With travel = true the set also
// has the outputs of its own model for labels, which networks of any draw can be fitted to.
//
// Guarantee: the same bits on every machine and for every number of threads,
// interrupted or not.
package dgkip
