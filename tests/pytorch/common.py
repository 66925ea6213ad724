# SPDX-License-Identifier: Apache-2.0
"""What the PyTorch tests share: the device, seeds, a training run, and comparison with the CPU."""

import contextlib
import copy
import os
import random
import socket
import sys
import unittest

import numpy
import torch

KIND = os.environ.get("LEO_TEST_DEVICE", "npu")
if KIND == "mlu":
    import torch_mlu  # noqa: F401
    torch_npu = None
else:
    import torch_npu
card = getattr(torch, KIND)
BACKEND = {"npu": "hccl", "mlu": "cncl"}[KIND]
npu_only = unittest.skipUnless(KIND == "npu", "asks for what torch_npu alone has")

DEVICE = f"{KIND}:0"
SOC = os.environ.get("LEO_TEST_SOC", "ascend910a")
HAS_BF16 = SOC != "ascend910a"
# Operators by aclnn alone, in plain formats, as the vendor's migration notes recommend. LEO_TEST_MODE=default: as torch_npu starts.
DEFAULT_MODE = os.environ.get("LEO_TEST_MODE") == "default"
if KIND == "npu" and not DEFAULT_MODE:
    torch_npu.npu.set_compile_mode(jit_compile=False)
    torch_npu.npu.config.allow_internal_format = False


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def full_float():
    """Float32 in all digits: the 910B would take 10 bits of mantissa for a convolution by itself."""
    switches = [card.conv, card.matmul] if KIND == "npu" else []
    before = [switch.allow_hf32 for switch in switches]
    for switch in switches:
        switch.allow_hf32 = False
    try:
        yield
    finally:
        for switch, value in zip(switches, before):
            switch.allow_hf32 = value


def seed(number=0):
    random.seed(number)
    numpy.random.seed(number)
    torch.manual_seed(number)


def train(model, batches, loss_of, optimizer_of, device, half=None, scaler=None):
    """Losses of one step per batch; the model is changed."""
    model = model.to(device).train()
    optimizer = optimizer_of(model.parameters())
    losses = []
    for batch in batches:
        batch = [part.to(device) for part in batch]
        optimizer.zero_grad()
        with torch.autocast(torch.device(device).type, dtype=half or torch.float16, enabled=half is not None):
            loss = loss_of(model, *batch)
        if scaler:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            optimizer.step()
        losses.append(loss.detach())
    return [float(loss) for loss in losses]


class Case(unittest.TestCase):
    def expect_close(self, got, want, rtol=1e-3, atol=1e-4, what=""):
        got = got.detach().cpu() if torch.is_tensor(got) else torch.as_tensor(got)
        want = want.detach().cpu() if torch.is_tensor(want) else torch.as_tensor(want)
        torch.testing.assert_close(got.to(want.dtype), want, rtol=rtol, atol=atol, equal_nan=True,
                                   msg=lambda text: f"{what}: {text}")

    def check(self, name, function, *args, tol=1e-5):
        """function(*args) on both: same types, shapes and values; what is no float to the bit."""
        want = function(*args)
        got = function(*[arg.to(DEVICE) if torch.is_tensor(arg) else arg for arg in args])
        for a, b in zip(want, got) if isinstance(want, (tuple, list)) else [(want, got)]:
            self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape), name)
            bound = tol if a.dtype.is_floating_point else 0
            self.expect_close(b, a, rtol=bound, atol=bound, what=name)

    @staticmethod
    def gradient(function):
        """The gradient of `function` by its first argument."""
        def run(tensor, *rest):
            leaf = tensor.detach().clone().requires_grad_(True)
            out = function(leaf, *rest)
            out.backward(torch.full_like(out, 0.5))
            return leaf.grad
        return run

    def expect_same_training(self, model, batches, loss_of, optimizer_of, rtol=2e-3, **options):
        """The same model on CPU in float32 and on the device: losses agree, and fall or rise together."""
        want = train(copy.deepcopy(model), batches, loss_of, optimizer_of, "cpu")
        got = train(copy.deepcopy(model), batches, loss_of, optimizer_of, DEVICE, **options)
        print("  cpu", " ".join(f"{x:.5f}" for x in want), f"\n  {KIND}", " ".join(f"{x:.5f}" for x in got), flush=True)
        self.expect_close(torch.tensor(got), torch.tensor(want), rtol=rtol, atol=rtol, what="losses")
        return got


def main():
    seed()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
