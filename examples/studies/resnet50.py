# SPDX-License-Identifier: Apache-2.0
"""Three steps of a ResNet-50 in mixed precision: the run of resnet50.sh. resnet50.py [BATCH [SIDE]]"""
import sys

import torch
import torch_npu  # noqa: F401
import torchvision
torch.manual_seed(0)
batch = int(sys.argv[1]) if len(sys.argv) > 1 else 2
side = int(sys.argv[2]) if len(sys.argv) > 2 else 224
net = torchvision.models.resnet50().npu()
opt = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
x, y = torch.randn(batch, 3, side, side).npu(), torch.randint(1000, (batch,)).npu()
for _ in range(3):
    with torch.autocast("npu", torch.float16):
        loss = torch.nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
print(float(loss))
