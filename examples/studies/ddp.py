# SPDX-License-Identifier: Apache-2.0
"""Three steps of DistributedDataParallel: the run of ddp.sh, under torchrun."""
import os

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401
from torch import nn

dist.init_process_group("hccl")
rank = dist.get_rank()
torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10)).npu()
ddp = nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.SGD(ddp.parameters(), 0.01)
for step in range(3):
    x, y = torch.randn(64, 512).npu(), torch.randint(10, (64,)).npu()
    loss = nn.functional.cross_entropy(ddp(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.npu.synchronize()
dist.destroy_process_group()
