# SPDX-License-Identifier: Apache-2.0
"""The single-card flow of a user's script: .npu(), hooks, dumps of layers, print of tensors, random state, checkpointing."""

import contextlib
import copy
import io
import re

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

import common
import models
from common import DEVICE


class Script(common.Case):
    def test_modules_and_tensors_move_with_npu(self):
        torch.npu.set_device("npu:0")
        model, x = nn.Linear(4, 3).npu(), torch.randn(2, 4).npu()
        self.assertTrue(x.is_npu)
        self.assertEqual(next(model.parameters()).device, torch.device("npu:0"))
        self.assertEqual(torch.npu.current_device(), 0)
        self.expect_close(model(x), copy.deepcopy(model).cpu()(x.cpu()), rtol=1e-3, atol=1e-3)

    def test_print_shows_the_numbers(self):
        cpu = torch.tensor([[1.5, -2.25, 0.0], [1e-3, 4.0, 1000.0]])
        for x in (cpu, torch.arange(5), torch.tensor(True), torch.randn(40, 50), torch.zeros(0, 3), torch.tensor(3.5)):
            text = repr(x.npu())
            self.assertEqual(re.sub(r",\s*device='npu:0'", "", text).split(), repr(x).split())
        self.assertIn("device='npu:0'", repr(cpu.npu()))

    def test_item_tolist_bool_and_numpy(self):
        x = torch.tensor([3, 4]).npu()
        self.assertEqual((x[0].item(), x.tolist(), bool(x[1] > 3)), (3, [3, 4], True))
        self.assertEqual(x.cpu().numpy().sum(), 7)

    def test_hooks_fire_with_the_values_of_the_cpu(self):
        seen = {}
        def run(device):
            common.seed(3)
            model = models.LeNet().to(device)
            log = seen[device] = []
            for name, module in model.named_children():
                module.register_forward_hook(lambda m, i, o, n=name: log.append((n, "out", o.detach().cpu())))
                module.register_full_backward_hook(lambda m, gi, go, n=name: log.append((n, "grad", go[0].cpu())))
            x = torch.randn(4, 1, 28, 28).to(device).requires_grad_()
            x.register_hook(lambda g: log.append(("x", "grad", g.cpu())))
            F.cross_entropy(model(x), torch.arange(4).to(device)).backward()
        run("cpu")
        run(DEVICE)
        self.assertEqual([entry[:2] for entry in seen["cpu"]], [entry[:2] for entry in seen[DEVICE]])
        for (name, what, want), (_, _, got) in zip(seen["cpu"], seen[DEVICE]):
            self.expect_close(got, want, rtol=5e-3, atol=1e-3, what=f"{name} {what}")

    def test_training_prints_marks(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            for i in range(2):
                print(torch.npu.synchronize(), f"step {i}")
        self.assertEqual(out.getvalue(), "None step 0\nNone step 1\n")

    def test_random_state(self):
        torch.npu.manual_seed_all(7)
        state = torch.npu.get_rng_state()
        first = torch.rand(1000, device=DEVICE), torch.randn(1000, device=DEVICE)
        torch.npu.set_rng_state(state)
        again = torch.rand(1000, device=DEVICE), torch.randn(1000, device=DEVICE)
        other = torch.rand(1000, device=DEVICE)
        for a, b in zip(first, again):
            self.assertTrue(torch.equal(a.cpu(), b.cpu()))
        self.assertFalse(torch.equal(first[0].cpu(), other.cpu()))
        self.assertTrue(0.45 < first[0].cpu().mean() < 0.55 and abs(first[1].cpu().mean()) < 0.15)
        self.assertTrue(0.9 < first[1].cpu().std() < 1.1)

    def test_dropout_keeps_its_share(self):
        x = torch.ones(20000, device=DEVICE, requires_grad=True)
        y = F.dropout(x, 0.25)
        y.sum().backward()
        kept = (y.detach().cpu() != 0)
        self.assertAlmostEqual(kept.float().mean().item(), 0.75, delta=0.02)
        self.expect_close(y.detach().cpu()[kept], torch.full((int(kept.sum()),), 1 / 0.75))
        self.assertTrue(torch.equal(x.grad.cpu() != 0, kept))

    def test_checkpointed_layers_give_the_same_gradients(self):
        block = models.Block(32, 4, causal=True).to(DEVICE)
        x = torch.randn(2, 8, 32).to(DEVICE)
        grads = []
        for use in (False, True):
            block.zero_grad()
            y = checkpoint(block, x, use_reentrant=False) if use else block(x)
            y.square().sum().backward()
            grads.append([p.grad.cpu() for p in block.parameters()])
        for a, b in zip(*grads):
            self.assertTrue(torch.equal(a, b))

    def test_deterministic_mode(self):
        torch.use_deterministic_algorithms(True)
        try:
            self.assertEqual((torch.ones(5).npu() * 2).sum().item(), 10)
        finally:
            torch.use_deterministic_algorithms(False)


common.main()
