#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pytorch.py [--steps N] [resnet50] [gpt] [operators] [start]: what PyTorch costs on the simulated chip beside PyTorch on the CPU.

Run it under `leo exec --soc NAME`, with examples/pytorch/torchvision_on_cpu in PYTHONPATH. resnet50 (batch 8, 224, mixed precision)
and gpt (10 M parameters, batch 8, 256 tokens) take turns with the same step of the CPU in float32: the ratios of the processor
times of all threads do not depend on what else the machine does; those of the shortest wall times are printed beside them.
operators: calls of small ones in a chain, a second. start: processor time from nothing to the first result, of which the
part that is not importing PyTorch and its adapter is ours.
"""

import time

began = time.process_time()
import torch  # noqa: E402  the import is what is measured
import torch_npu  # noqa: E402

imported = time.process_time()

import argparse  # noqa: E402
import copy  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pytorch"))


def first_operator():
    x = torch.ones(4, 4).npu()
    assert (x + x).sum().item() == 32
    done = time.process_time()
    print(f"import {imported - began:.2f} s, first operator {done - imported:.2f} s of processor time (aim: 4 s together)")


def operators(calls=20000):
    x, y = torch.ones(256).npu(), torch.ones(256).npu()
    best = 0
    for _ in range(3):
        torch.npu.synchronize()
        start = time.perf_counter()
        for _ in range(calls // 4):
            z = x + y
            z = z * y
            z = z - x
            z = torch.relu(z)
        torch.npu.synchronize()
        best = max(best, calls / (time.perf_counter() - start))
    print(f"small operators: {best:.0f} a second (aim: 20000)")


def resnet50():
    import torchvision
    return (torchvision.models.resnet50(), (torch.randn(8, 3, 224, 224), torch.randint(0, 1000, (8,))),
            lambda model, x, labels: torch.nn.functional.cross_entropy(model(x), labels), 3)


def gpt():
    import models
    model, batches, loss = models.gpt(steps=1, vocabulary=4096, tokens=256, width=320, heads=8, layers=7, batch=8)
    return model, batches[0], loss, 4


class Trainer:
    def __init__(self, model, batch, loss, device, half):
        self.model, self.batch, self.loss = model.to(device).train(), [part.to(device) for part in batch], loss
        self.optimizer, self.half = torch.optim.SGD(self.model.parameters(), 0.01), half
        self.busy, self.wall = [], []

    def step(self):
        busy, wall = time.process_time(), time.perf_counter()
        self.optimizer.zero_grad()
        with torch.autocast("npu", dtype=torch.float16, enabled=self.half):
            loss = self.loss(self.model, *self.batch)
        loss.backward()
        self.optimizer.step()
        value = loss.item()
        self.busy.append(time.process_time() - busy)
        self.wall.append(time.perf_counter() - wall)
        return value


def compare(name, network, steps):
    torch.manual_seed(0)
    model, batch, loss, aim = network()
    cpu = Trainer(copy.deepcopy(model), batch, loss, "cpu", False)
    chip = Trainer(model, batch, loss, "npu:0", name == "resnet50")
    for _ in range(steps + 1):
        cpu.step()
        chip.step()
    busy, wall = [[min(getattr(t, kind)[1:]) for t in (chip, cpu)] for kind in ("busy", "wall")]
    print(f"{name}: {busy[0]:.2f} s on the chip, {busy[1]:.2f} s on the CPU in float32, {busy[0] / busy[1]:.2f} x of processor time; "
          f"wall {wall[0]:.2f} and {wall[1]:.2f} s, {wall[0] / wall[1]:.2f} x (aim: {aim})", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("what", nargs="*", default=["start", "operators", "gpt", "resnet50"])
    args = parser.parse_args()
    for what in args.what:
        if what in ("resnet50", "gpt"):
            compare(what, {"resnet50": resnet50, "gpt": gpt}[what], args.steps)
        else:
            {"start": first_operator, "operators": operators}[what]()


if __name__ == "__main__":
    main()
