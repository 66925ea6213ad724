#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ddp.py [--net resnet|gpt] [--steps N]: what training over two processes costs beside two runs that know nothing of each other.

Run it under `leo exec`. Both ways two processes start at one time, each with a simulated card of one host thread, and take the
same steps on data of their own; one way with DistributedDataParallel. The ratio is of the processor time of all threads, which
does not depend on what else the machine does; that of wall time is printed beside it. At most 1.15 is asked for.
"""

import argparse
import os
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

WARM_STEPS = 2


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
                                  nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return torch.relu(x + self.body(x))


def make_resnet():
    layers = [nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    for channels in (16, 32, 64):
        layers += [Block(channels), nn.Conv2d(channels, 2 * channels, 3, stride=2, padding=1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)), torch.randn(8, 3, 32, 32)


def make_gpt():
    width, length = 128, 64
    layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, dropout=0.0)
    return nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(width, 512)), torch.randn(4, length, width)


NETS = {"resnet": make_resnet, "gpt": make_gpt}


def run(rank, net, steps, port, parallel, results):
    import torch_npu
    torch_npu.npu.set_compile_mode(jit_compile=False)
    torch_npu.npu.config.allow_internal_format = False
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    torch.npu.set_device(0)
    model, batch = NETS[net]()
    model, batch = model.npu(), batch.npu()
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    if parallel:
        dist.init_process_group("hccl", rank=rank, world_size=2)
        model = nn.parallel.DistributedDataParallel(model, device_ids=[0])
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for step in range(WARM_STEPS + steps):
        if step == WARM_STEPS:
            torch.npu.synchronize()
            began, spent = time.monotonic(), time.process_time()
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
    torch.npu.synchronize()
    results.put((time.monotonic() - began, time.process_time() - spent))
    if parallel:
        dist.destroy_process_group()


def measure(args, parallel):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    results = mp.get_context("spawn").Queue()
    processes = mp.spawn(run, args=(args.net, args.steps, port, parallel, results), nprocs=2, join=False)
    found = [results.get(timeout=900) for _ in range(2)]
    while not processes.join():
        pass
    return max(wall for wall, _ in found), sum(spent for _, spent in found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--net", choices=sorted(NETS), default="resnet")
    parser.add_argument("--steps", type=int, default=6)
    args = parser.parse_args()
    os.environ.setdefault("LEO_THREADS", "1")
    alone_wall, alone_cpu = measure(args, False)
    wall, cpu = measure(args, True)
    print(f"{args.net}, {args.steps} steps: two alone {alone_cpu:.2f} processor s ({alone_wall:.2f} s), together {cpu:.2f} ({wall:.2f} s): "
          f"{cpu / alone_cpu:.2f} x ({wall / alone_wall:.2f} x)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
