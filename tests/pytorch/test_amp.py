# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: autocast and GradScaler, overflow and what follows, saturation on the 910A, bf16 on the 910B."""

import functools
import unittest

import torch
import torch_npu
from torch.nn import functional as F

import common
import models
from common import DEVICE

SGD = functools.partial(torch.optim.SGD, lr=0.05, momentum=0.9)


class Amp(common.Case):
    def test_autocast_trains_like_float32(self):
        self.expect_same_training(*models.lenet(), SGD, rtol=3e-2, half=torch.float16,
                                  scaler=torch.npu.amp.GradScaler(init_scale=1024))

    def test_gpt_under_autocast(self):
        self.expect_same_training(*models.gpt(), functools.partial(torch.optim.AdamW, lr=1e-3), rtol=3e-2,
                                  half=torch.float16, scaler=torch.amp.GradScaler("npu", init_scale=1024))

    @unittest.skipUnless(common.HAS_BF16, "bf16 came with the 910B")
    def test_bf16(self):
        self.expect_same_training(*models.lenet(), SGD, rtol=6e-2, half=torch.bfloat16)

    def test_autocast_chooses_types_by_operator(self):
        a, b = torch.randn(4, 4).npu(), torch.randn(4, 4).npu()
        with torch.npu.amp.autocast():
            self.assertEqual((a @ b).dtype, torch.float16)
            self.assertEqual(F.softmax(a.half(), dim=-1).dtype, torch.float32)
            self.assertEqual((a.half() + a).dtype, torch.float32)
        with torch.npu.amp.autocast(enabled=False):
            self.assertEqual((a @ b).dtype, torch.float32)

    def scaled_steps(self, scaler, gradients):
        """One step for each gradient; whether the parameter moved, and the scale after."""
        weight = torch.ones(3, device=DEVICE, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.5)
        story = []
        for gradient in gradients:
            before = weight.detach().cpu()
            optimizer.zero_grad()
            # In half: a large factor overflows there.
            loss = (weight.half() * gradient).float().sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            story.append((not torch.equal(before, weight.detach().cpu()), scaler.get_scale()))
        self.assertTrue(torch.isfinite(weight.detach().cpu()).all())
        return story

    def test_overflow_skips_the_step_and_halves_the_scale_which_grows_again(self):
        scaler = torch.npu.amp.GradScaler(init_scale=1024.0, growth_interval=2)
        story = self.scaled_steps(scaler, [1.0, 1000.0, 1.0, 1.0])
        self.assertEqual(story, [(True, 1024.0), (False, 512.0), (True, 512.0), (True, 1024.0)])

    @unittest.skipIf(common.HAS_BF16, "the first 910 only")
    def test_910a_saturates_and_remembers(self):
        torch_npu.npu.utils.clear_npu_overflow_flag()
        x = torch.full((4,), 60000.0).half().npu()
        self.assertFalse(torch_npu.npu.utils.get_npu_overflow_flag())
        self.assertEqual((x + x).cpu().tolist(), [65504.0] * 4)
        self.assertTrue(torch_npu.npu.utils.get_npu_overflow_flag())
        torch_npu.npu.utils.clear_npu_overflow_flag()
        self.assertFalse(torch_npu.npu.utils.get_npu_overflow_flag())
        self.assertFalse(torch_npu.npu.utils.is_support_inf_nan())

    @unittest.skipIf(common.HAS_BF16, "the first 910 only")
    def test_what_earlier_results_left_behind_is_no_overflow(self):
        # Results leave the core in whole fractals: rows and columns that no result has must not raise the status.
        large, left, images = (60000 * torch.randn(64, 512)).half().npu(), torch.randn(33, 40).half().npu(), torch.randn(2, 5, 9, 9)
        weight, bias, filters = torch.randn(21, 40).half().npu(), torch.randn(21).half().npu(), torch.randn(7, 5, 3, 3).half().npu()
        images = images.half().npu().requires_grad_()
        for name, compute in (("product", lambda: left @ weight.t()), ("with a bias", lambda: F.linear(left, weight, bias)),
                              ("batch", lambda: left.view(3, 11, 40) @ weight.t()), ("convolution", lambda: F.conv2d(images, filters)),
                              ("its gradient", lambda: torch.autograd.grad(F.conv2d(images, filters).sum(), images))):
            self.assertEqual((large @ large.t()).abs().max().item(), 65504.0)
            torch_npu.npu.utils.clear_npu_overflow_flag()
            compute()
            self.assertFalse(torch_npu.npu.utils.get_npu_overflow_flag(), name)

    @unittest.skipIf(common.HAS_BF16, "the first 910 only")
    def test_what_lies_between_rows_is_no_overflow(self):
        """Rows that are no whole blocks, in memory that held the largest numbers or none: gaps are loaded and computed with the rest."""
        norm, some = torch.nn.BatchNorm2d(64).half().npu(), torch.nn.BatchNorm2d(20).npu()

        def gradient(function, *shape):
            x = torch.randn(*shape).half().npu().requires_grad_()
            y = function(x)
            return torch.autograd.grad(y, x, torch.ones_like(y))

        for name, compute in (("softmax", lambda: gradient(lambda x: F.softmax(x, -1), 5, 7)),
                              ("logarithm", lambda: gradient(lambda x: F.log_softmax(x, -1), 3, 9000 + 3)),
                              ("layer norm", lambda: gradient(lambda x: F.layer_norm(x, (13,)), 9, 13)),
                              ("group norm", lambda: gradient(lambda x: F.group_norm(x, 3), 2, 6, 5, 7)),
                              ("batch norm", lambda: gradient(norm, 4, 64, 7, 7)), ("of few channels", lambda: gradient(some, 3, 20, 5, 5))):
            for before in (65504.0, float("nan")):
                large = [torch.full((size,), before).half().npu() for size in (64, 256, 512, 20000, 100000, 1 << 20)
                         for _ in range(8)]
                torch.maximum(large[-1], large[-1])
                del large
                torch_npu.npu.utils.clear_npu_overflow_flag()
                compute()
                self.assertFalse(torch_npu.npu.utils.get_npu_overflow_flag(), f"{name} {before}")

    @unittest.skipUnless(common.HAS_BF16, "from the 910B on")
    def test_910b_has_infinities(self):
        x = torch.full((4,), 60000.0).half().npu()
        self.assertEqual((x + x).cpu().tolist(), [float("inf")] * 4)
        self.assertTrue(torch_npu.npu.utils.is_support_inf_nan())


common.main()
