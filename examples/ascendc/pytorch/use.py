#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""use.py: calls the extension both ways; its folder is in PYTHONPATH."""

import torch
import torch_npu  # noqa: F401 the device is its

import add_extension

x, y = torch.randn(300, 77).npu(), torch.randn(300, 77).npu()
want = x.cpu() + y.cpu()
print("function of the module:", torch.equal(add_extension.add(x, y).cpu(), want))
print("torch.ops:", torch.equal(torch.ops.example.add(x, y).cpu(), want))
with torch.npu.stream(torch.npu.Stream()):
    print("another stream, transposed:", torch.equal(add_extension.add(x.t(), y.t()).cpu(), want.t()))
