#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""use.py LIBRARY: calls the custom operator from Python."""

import sys

import torch
import torch_npu  # noqa: F401 the device is its

torch.ops.load_library(sys.argv[1])
scale_add = torch.ops.example.scale_add

for dtype in (torch.float, torch.half):
    x, y = (torch.randint(-9, 9, (300, 77)).to(dtype).npu() for _ in range(2))
    want = 2 * x.cpu() + y.cpu()
    print(f"{dtype}:", torch.equal(scale_add(x, y, 2.0).cpu(), want))
    print(f"{dtype}, without y:", torch.equal(scale_add(x, None, 2.0).cpu(), 2 * x.cpu()))
    print(f"{dtype}, transposed:", torch.equal(scale_add(x.t(), y.t(), 2.0).cpu(), want.t()))
try:
    scale_add(x.int(), y.int(), 2.0)
except RuntimeError as error:
    print("int:", "has no combination of these types" in str(error))
