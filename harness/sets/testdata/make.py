# Writes the test files of this folder, with PyTorch and numpy.
import collections

import numpy
import torch

x = torch.arange(24, dtype=torch.float32).reshape(2, 3, 2, 2) / 32
y = torch.tensor([1, 0])
# As DC, DSA and DM save their sets, with the accuracies of two networks.
torch.save({"data": [[x, y], [x + 1, y]], "accs_all_exps": {"ConvNet": [numpy.float64(0.5), numpy.float64(0.25)]}}, "dc.pt")
# As MTT saves its pair of files.
torch.save(x, "bare.pt")
torch.save(y, "labels.pt")
torch.save(
    collections.OrderedDict(
        turned=x.permute(0, 2, 3, 1),
        part=x[1:, 1],
        strided=x.reshape(-1)[3::5],
        spread=torch.tensor([7.0]).expand(3),
        brain=x[:, 0, 0, 0].bfloat16(),
        half=x[:, 0, 0, 1].half(),
        bytes=torch.tensor([0, 255], dtype=torch.uint8),
        flag=torch.tensor([True, False]),
        parameter=torch.nn.Parameter(x[0, 0, 0]),
        none=None,
        nothing=torch.zeros(0, 3),
        number=3,
        large=10**30,
        negative=-70000,
        mean=[0.5, 0.25],
        classes=["a", "bé"],
        pair=(1, "x"),
        inner={"deep": y, 5: 2.5},
        shape=x.shape,
        yes=True,
    ),
    "kinds.pt",
)
