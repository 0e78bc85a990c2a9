"""Trains a ConvNet on a distilled set, from results/sets or from -export, and tests it on real images:

    python3 results/train.py results/sets/SET.npz cifar-10-batches-bin/test_batch.bin
    python3 results/train.py results/sets/SET.npz t10k-images-idx3-ubyte.gz    # MNIST or Fashion-MNIST, with the file of labels in the same folder
"""
import gzip, sys
import numpy as np, torch
from torch import nn
from torch.nn.functional import one_hot

torch.manual_seed(0)

# The set.
if sys.argv[1].endswith(".pt"):
    s = torch.load(sys.argv[1])
else:  # NPZ, with images [n, h, w, c] and lines of text
    s = {k: torch.tensor(v) if v.dtype.kind in "if" else str(v) for k, v in np.load(sys.argv[1]).items()}
    s["images"], s["classes"] = s["images"].float().permute(0, 3, 1, 2), s["classes"].split("\n")
if s["preprocess"] != "standard":
    sys.exit("the images are whitened, and whitening the test images needs all training images: harness/data/whiten.go")

# Turn each label into a row over the classes, for cross-entropy.
classes, kind, y = s["classes"], s["label_kind"], s["labels"]
if kind == "logits":
    y = y.softmax(1)
elif kind == "target":  # the probability of the second class, or of each class
    y = y.clamp(0, 1)
    y = torch.cat([1 - y, y], 1) if y.shape[1] == 1 else y
elif kind in ("gain", "value"):  # a number whose sign is the class, or one number for each class
    y = one_hot((y[:, 0] > 0).long() if y.shape[1] == 1 else y.argmax(1), len(classes)).float()

# Normalise the test images of these classes like the set: (pixels - mean) / std.
names = next((names for names in (
    "airplane automobile bird cat deer dog frog horse ship truck".split(),
    "T-shirt/top Trouser Pullover Dress Coat Sandal Shirt Sneaker Bag".split() + ["Ankle boot"],
    list("0123456789"),
) if set(classes) <= set(names)), None) or sys.exit("only classes of CIFAR-10, MNIST and Fashion-MNIST are known here")

def read(file):
    with (gzip.open if file.endswith(".gz") else open)(file, "rb") as f:
        return np.frombuffer(f.read(), np.uint8)

c, size = s["images"].shape[1:3]
if c == 3:  # CIFAR-10: each record is a class and then an image
    rows = read(sys.argv[2]).reshape(-1, 3073)
    raw, of = rows[:, 1:], rows[:, 0]
else:
    raw, of = read(sys.argv[2])[16:], read(sys.argv[2].replace("images-idx3", "labels-idx1"))[8:]
keep = np.isin(of, [names.index(k) for k in classes])
mean, std = s["mean"].view(1, c, 1, 1), s["std"].view(1, c, 1, 1)
test = (torch.tensor(raw.reshape(-1, c, size, size)[keep] / 255.0).float() - mean) / std
truth = torch.tensor([classes.index(names[k]) for k in of[keep]])

layers, channels, padding = [], c, 3 if size == 28 else 1  # pads 28 to 32 pixels, which can be halved three times
for _ in range(3):
    layers += [nn.Conv2d(channels, 128, 3, padding=padding), nn.GroupNorm(128, 128), nn.ReLU(), nn.AvgPool2d(2)]
    channels, padding = 128, 1
net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 4 * 4, len(classes)))
descent = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
falling = torch.optim.lr_scheduler.MultiStepLR(descent, [150], 0.1)
for epoch in range(300):
    for batch in torch.randperm(len(y)).split(256):
        descent.zero_grad()
        nn.CrossEntropyLoss()(net(s["images"][batch]), y[batch]).backward()
        descent.step()
    falling.step()
with torch.no_grad():
    right = sum((net(x).argmax(1) == t).sum().item() for x, t in zip(test.split(500), truth.split(500)))
print(f"{100 * right / len(truth):.2f} % of {len(truth)} test images")
