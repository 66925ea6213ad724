# SPDX-License-Identifier: Apache-2.0
"""apex.amp and apex.optimizers: O0 to O3, static and dynamic scale, combined gradients, fused optimisers, state."""

import contextlib
import copy
import functools
import io
import warnings

import torch
from apex import amp
from apex.amp import frontend
from apex.optimizers import NpuFusedAdam, NpuFusedSGD
from torch import nn

import common
import models
from common import DEVICE

SGD = functools.partial(torch.optim.SGD, lr=0.05, momentum=0.9, weight_decay=1e-4)


def train(model, batches, optimizer_of, **options):
    model = copy.deepcopy(model).to(DEVICE)
    with contextlib.redirect_stdout(io.StringIO()):
        model, optimizer = amp.initialize(model, optimizer_of(model.parameters()), **options)
    losses = []
    for images, labels in batches:
        loss = nn.functional.cross_entropy(model(images.to(DEVICE)), labels.to(torch.int32).to(DEVICE))
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
        losses.append(loss.detach())
    torch.set_autocast_enabled("npu", False)  # O1 leaves it on, as it says
    return [float(loss) for loss in losses], model, optimizer


class Apex(common.Case):
    def setUp(self):
        common.seed(1)
        self.model, self.batches, _ = models.lenet(5)
        self.wanted = common.train(copy.deepcopy(self.model), self.batches, models.classify, SGD, "cpu")

    def expect(self, losses, rtol):
        print("  cpu", " ".join(f"{x:.4f}" for x in self.wanted), "\n  npu", " ".join(f"{x:.4f}" for x in losses), flush=True)
        self.expect_close(torch.tensor(losses), torch.tensor(self.wanted), rtol=rtol, atol=rtol)

    def test_o0_is_float32(self):
        losses, model, _ = train(self.model, self.batches, SGD, opt_level="O0")
        self.expect(losses, 2e-3)
        self.assertEqual(next(model.parameters()).dtype, torch.float32)

    def test_o1_keeps_the_model_in_float32(self):
        losses, model, _ = train(self.model, self.batches, SGD, opt_level="O1", loss_scale=128.0)
        self.expect(losses, 3e-2)
        self.assertEqual(next(model.parameters()).dtype, torch.float32)

    def test_o2_has_half_weights_and_float32_masters(self):
        for scale in (128.0, "dynamic", -1):
            losses, model, optimizer = train(self.model, self.batches, SGD, opt_level="O2", loss_scale=scale)
            self.expect(losses, 3e-2)
            self.assertEqual(next(model.parameters()).dtype, torch.float16)
            self.assertEqual({p.dtype for p in amp.master_params(optimizer)}, {torch.float32})
            state = amp.state_dict()["loss_scaler0"]
            self.assertEqual(state["loss_scale"], 128.0 if scale == 128.0 else 65536.0)
            self.assertEqual(state["unskipped"], 0 if scale == 128.0 else 5)

    def test_o3_is_half(self):
        losses, model, _ = train(self.model, self.batches, SGD, opt_level="O3", loss_scale=128.0)
        self.expect(losses, 8e-2)
        self.assertEqual({p.dtype for p in model.parameters()}, {torch.float16})

    def test_batch_norm_stays_in_float32_under_o2_only(self):
        for level, dtype in (("O2", torch.float32), ("O3", torch.float16)):
            model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)).to(DEVICE)
            with contextlib.redirect_stdout(io.StringIO()):
                model, _ = amp.initialize(model, SGD(model.parameters()), opt_level=level)
            self.assertEqual((model[0].weight.dtype, model[1].weight.dtype), (torch.float16, dtype))

    def test_combined_gradients_change_nothing(self):
        plain, _, _ = train(self.model, self.batches, SGD, opt_level="O2", loss_scale=128.0)
        combined, _, optimizer = train(self.model, self.batches, SGD, opt_level="O2", loss_scale=128.0, combine_grad=True)
        self.assertEqual(plain, combined)
        self.assertIsNotNone(optimizer._amp.masters.gradients.flat)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            train(self.model, self.batches[:1], SGD, opt_level="O0", combine_grad=True)
        self.assertTrue(any("combine_grad" in str(w.message) for w in seen))

    def test_fused_optimisers(self):
        fused_sgd = functools.partial(NpuFusedSGD, lr=0.05, momentum=0.9, weight_decay=1e-4)
        losses, _, _ = train(self.model, self.batches, fused_sgd, opt_level="O2", loss_scale=128.0, combine_grad=True)
        self.expect(losses, 3e-2)
        adam = functools.partial(torch.optim.Adam, lr=1e-3)
        self.wanted = common.train(copy.deepcopy(self.model), self.batches, models.classify, adam, "cpu")
        losses, _, _ = train(self.model, self.batches, functools.partial(NpuFusedAdam, lr=1e-3), opt_level="O1",
                             loss_scale=128.0, combine_grad=True)
        self.expect(losses, 3e-2)

    def test_fused_optimisers_take_combined_gradients(self):
        """Parameters in half with masters, and norms that stay as they are, beside each other in one optimiser."""
        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5))
        batches = [(torch.randn(8, 3, 8, 8), torch.randint(0, 5, (8,)))] * 4
        wanted = common.train(copy.deepcopy(model), batches, models.classify, SGD, "cpu")
        fused = functools.partial(NpuFusedSGD, lr=0.05, momentum=0.9, weight_decay=1e-4)
        for level in ("O1", "O2"):
            for scale in (128.0, "dynamic"):
                plain, combined = (train(model, batches, fused, opt_level=level, loss_scale=scale, combine_grad=combine)[0]
                                   for combine in (False, True))
                self.assertEqual(plain, combined, (level, scale))
                self.expect_close(torch.tensor(combined), torch.tensor(wanted), rtol=3e-2, atol=3e-2, what=f"{level} {scale}")

    def overflow(self, level, **options):
        weight = nn.Linear(4, 1, bias=False).to(DEVICE)
        nn.init.constant_(weight.weight, 0.5)
        text = io.StringIO()
        story = []
        with contextlib.redirect_stdout(text):
            weight, optimizer = amp.initialize(weight, torch.optim.SGD(weight.parameters(), lr=0.01), opt_level=level, **options)
            for factor in (0.1, 1000.0, 0.1):
                before = [p.detach().cpu().clone() for p in amp.master_params(optimizer)]
                optimizer.zero_grad()
                # In float: the scale itself, 65536, is no number of half precision.
                loss = (weight(torch.full((1, 4), 0.25).to(DEVICE)).float() * factor).sum()
                with amp.scale_loss(loss, optimizer) as scaled:
                    scaled.backward()
                optimizer.step()
                after = [p.detach().cpu() for p in amp.master_params(optimizer)]
                story.append(not all(torch.equal(a, b) for a, b in zip(before, after)))
        torch.set_autocast_enabled("npu", False)
        return story, text.getvalue()

    def test_overflow_skips_one_step_and_halves_the_scale(self):
        for level in ("O1", "O2"):
            story, text = self.overflow(level, loss_scale="dynamic")
            self.assertEqual(story, [True, False, True], level)
            self.assertIn("Gradient overflow. Skipping step", text)
            self.assertIn("Loss scaler reducing loss scale to 32768.0", text)

    def test_the_scale_grows_after_many_good_steps(self):
        scaler = frontend.LossScaler("dynamic", max_scale=2.0**17)
        self.assertEqual(scaler.scale, 2.0**16)
        for _ in range(4000):
            scaler.update()
        self.assertEqual((scaler.scale, scaler.unskipped), (2.0**17, 0))

    def test_a_resumed_run_goes_on_as_if_it_had_not_stopped(self):
        whole, _, _ = train(self.model, self.batches, SGD, opt_level="O2", loss_scale="dynamic")
        first, model, optimizer = train(self.model, self.batches[:3], SGD, opt_level="O2", loss_scale="dynamic")
        saved = io.BytesIO()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "amp": amp.state_dict()}, saved)
        saved.seek(0)
        state = torch.load(saved, map_location=DEVICE)
        common.seed(99)
        model = models.LeNet().to(DEVICE)
        with contextlib.redirect_stdout(io.StringIO()):
            model, optimizer = amp.initialize(model, SGD(model.parameters()), opt_level="O2", loss_scale="dynamic")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        amp.load_state_dict(state["amp"])
        rest = []
        for images, labels in self.batches[3:]:
            loss = nn.functional.cross_entropy(model(images.to(DEVICE)), labels.to(torch.int32).to(DEVICE))
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            optimizer.step()
            rest.append(float(loss))
        self.assertEqual(first + rest, whole)
        self.assertEqual(amp.state_dict()["loss_scaler0"]["unskipped"], 5)

    def test_gradients_add_up_over_passes(self):
        images, labels = self.batches[0]
        grads = []
        for parts in (1, 2):
            model = copy.deepcopy(self.model).to(DEVICE)
            with contextlib.redirect_stdout(io.StringIO()):
                model, optimizer = amp.initialize(model, SGD(model.parameters()), opt_level="O2", loss_scale=128.0)
            optimizer.zero_grad()
            for x, t in zip(images.chunk(parts), labels.chunk(parts)):
                loss = nn.functional.cross_entropy(model(x.to(DEVICE)), t.to(DEVICE)) / parts
                with amp.scale_loss(loss, optimizer) as scaled:
                    scaled.backward()
            grads.append([p.grad.cpu() for p in amp.master_params(optimizer)])
        for a, b in zip(*grads):
            self.expect_close(b, a, rtol=5e-2, atol=2e-3)

    def test_learning_rate_schedulers(self):
        images, labels = (x.to(DEVICE) for x in self.batches[0])
        for before in (True, False):
            model = copy.deepcopy(self.model).to(DEVICE)
            optimizer = SGD(model.parameters())
            schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.1) if before else None
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("error")
                model, optimizer = amp.initialize(model, optimizer, opt_level="O2", loss_scale=128.0)
                schedule = schedule or torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.1)
                for _ in range(2):
                    weights = next(model.parameters()).detach().clone()
                    loss = nn.functional.cross_entropy(model(images), labels)
                    optimizer.zero_grad()
                    with amp.scale_loss(loss, optimizer) as scaled:
                        scaled.backward()
                    optimizer.step()
                    schedule.step()
            self.assertFalse(torch.equal(next(model.parameters()), weights))
            self.assertAlmostEqual(optimizer.param_groups[0]["lr"], 0.0005)

    def test_wrong_use_is_told(self):
        model = nn.Linear(2, 2).to(DEVICE)
        with self.assertRaisesRegex(RuntimeError, "opt_level '02'"):
            amp.initialize(model, SGD(model.parameters()), opt_level="02")
        with self.assertRaisesRegex(RuntimeError, "on the CPU"):
            cpu = nn.Linear(2, 2)
            amp.initialize(cpu, SGD(cpu.parameters()), opt_level="O2", verbosity=0)
        same, optimizer = amp.initialize(model, SGD(model.parameters()), enabled=False)
        with amp.scale_loss(model(torch.ones(1, 2).to(DEVICE)).sum(), optimizer) as loss:
            loss.backward()
        self.assertIs(same, model)


common.main()
