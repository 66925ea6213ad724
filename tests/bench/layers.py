#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py: what single operators cost the host on the simulated chip beside PyTorch in float32 on the same cores.

Run it under `leo exec --soc NAME`. A sum of two tensors of 64 MB, and the 23 different convolutions of ResNet-50 (batch 8, float16
on the chip), forward. Both sides take turns, the least of some runs counts; ratios are of the processor time of all threads, which
does not depend on what else the machine does, and of wall time.
"""

import math
import time

import torch
import torch_npu  # noqa: F401  the device

RUNS = 3
BATCH = 8
# size, channels in and out, kernel, stride
CONVOLUTIONS = [
    (224, 3, 64, 7, 2), (56, 64, 64, 1, 1), (56, 64, 64, 3, 1), (56, 64, 256, 1, 1), (56, 256, 64, 1, 1),
    (56, 256, 128, 1, 1), (56, 128, 128, 3, 2), (28, 128, 512, 1, 1), (56, 256, 512, 1, 2), (28, 512, 128, 1, 1),
    (28, 128, 128, 3, 1), (28, 512, 256, 1, 1), (28, 256, 256, 3, 2), (14, 256, 1024, 1, 1), (28, 512, 1024, 1, 2),
    (14, 1024, 256, 1, 1), (14, 256, 256, 3, 1), (14, 1024, 512, 1, 1), (14, 512, 512, 3, 2), (7, 512, 2048, 1, 1),
    (14, 1024, 2048, 1, 2), (7, 2048, 512, 1, 1), (7, 512, 512, 3, 1)]


def cost(work):
    busy, wall = time.process_time(), time.perf_counter()
    work()
    torch.npu.synchronize()
    return time.process_time() - busy, time.perf_counter() - wall


def compare(on_chip, on_cpu):
    """Least processor and wall time of the chip's and of the CPU's."""
    on_chip(), on_cpu()
    runs = [(*cost(on_chip), *cost(on_cpu)) for _ in range(RUNS)]
    return [min(column) for column in zip(*runs)]


def add():
    x, y = torch.randn(16 << 20), torch.randn(16 << 20)
    a, b = x.npu(), y.npu()
    out, to = torch.empty_like(a), torch.empty_like(x)
    chip, chip_wall, cpu, cpu_wall = compare(lambda: torch.add(a, b, out=out), lambda: torch.add(x, y, out=to))
    assert torch.equal(out.cpu(), to)
    print(f"add of 64 MB: {chip * 1e3:.1f} ms on the chip, {cpu * 1e3:.1f} ms on the CPU; CPU / chip {cpu / chip:.2f} of processor "
          f"time, {cpu_wall / chip_wall:.2f} of wall time (aim: 0.4)", flush=True)


def convolution(size, channels, out, kernel, stride):
    x, weight = torch.randn(BATCH, channels, size, size), torch.randn(out, channels, kernel, kernel)
    a, w = x.half().npu(), weight.half().npu()
    args = {"stride": stride, "padding": kernel // 2}
    return compare(lambda: torch.nn.functional.conv2d(a, w, **args), lambda: torch.nn.functional.conv2d(x, weight, **args))


def convolutions():
    rows = [convolution(*shape) for shape in CONVOLUTIONS]
    for (size, channels, out, kernel, stride), (chip, _, cpu, _) in zip(CONVOLUTIONS, rows):
        print(f"{size:4} x {size:<4}{channels:4} -> {out:4}, {kernel} x {kernel} /{stride} {chip * 1e3:8.1f} ms, CPU {cpu * 1e3:8.1f} ms, "
              f"{cpu / chip:.2f}")
    busy, wall = [math.exp(sum(math.log(row[at + 2] / row[at]) for row in rows) / len(rows)) for at in (0, 1)]
    print(f"convolutions of ResNet-50, batch {BATCH}: CPU / chip, geometric mean {busy:.2f} of processor time, {wall:.2f} of wall time "
          "(aim: 0.7)", flush=True)


torch.manual_seed(0)
with torch.no_grad():
    add()
    convolutions()
