"""Trains a ConvNet on a set of CIFAR-10 that -export pt wrote, and tests it on real images:

    python3 results/train.py SET.pt cifar-10-batches-bin/test_batch.bin
"""
import gzip, sys
import numpy as np, torch
from torch import nn
from torch.nn.functional import one_hot

names = "airplane automobile bird cat deer dog frog horse ship truck".split()
torch.manual_seed(0)

# The set. Labels become a row over the classes, as cross-entropy takes it.
s = torch.load(sys.argv[1])
classes, kind, y = s["classes"], s["label_kind"], s["labels"]
if kind == "logits":
    y = y.softmax(1)
elif kind == "target":  # the share of the second class, or of each
    y = y.clamp(0, 1)
    y = torch.cat([1 - y, y], 1) if y.shape[1] == 1 else y
elif kind in ("gain", "value"):  # a number whose sign is the class, or one for each
    y = one_hot((y[:, 0] > 0).long() if y.shape[1] == 1 else y.argmax(1), len(classes)).float()

# Test images, as the set has them: s["images"] are (s["pixels"] - mean) / std.
raw = (gzip.open if sys.argv[2].endswith(".gz") else open)(sys.argv[2], "rb").read()
raw = np.frombuffer(raw, np.uint8).reshape(-1, 3073)
mean, std = s["mean"].view(1, 3, 1, 1), s["std"].view(1, 3, 1, 1)
keep = np.isin(raw[:, 0], [names.index(c) for c in classes])
test = (torch.tensor(raw[keep, 1:].reshape(-1, 3, 32, 32) / 255.0).float() - mean) / std
truth = torch.tensor([classes.index(names[k]) for k in raw[keep, 0]])

layers, channels = [], 3
for _ in range(3):
    layers += [nn.Conv2d(channels, 128, 3, padding=1), nn.GroupNorm(128, 128), nn.ReLU(), nn.AvgPool2d(2)]
    channels = 128
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
