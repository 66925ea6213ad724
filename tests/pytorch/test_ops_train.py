# SPDX-License-Identifier: Apache-2.0
"""Operators around training: fused optimisers, samples, bags of embeddings, CTC, quantisation and small ones, against the CPU."""

import torch
import torch.nn.functional as F

import common
from common import DEVICE


class Train(common.Case):
    def setUp(self):
        common.seed()
        self.x = torch.randn(4, 5, 6)

    def test_fused_optimisers(self):
        makers = {
            "adamw": lambda p: torch.optim.AdamW(p, lr=1e-2, weight_decay=0.1, fused=True),
            "adamw amsgrad": lambda p: torch.optim.AdamW(p, lr=1e-2, amsgrad=True, fused=True),
            "sgd momentum": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9, weight_decay=0.01, fused=True),
            "sgd nesterov": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9, nesterov=True, fused=True),
            "sgd maximize": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.5, dampening=0.3, maximize=True, fused=True),
        }
        for name, make in makers.items():
            results = []
            for device in ("cpu", DEVICE):
                common.seed(1)
                params = [torch.randn(shape).to(device).requires_grad_() for shape in ((8, 6), (8,), (), (3, 8), (130,))]
                optimizer = make(params)
                for _ in range(4):
                    for p in params:
                        p.grad = torch.randn(p.shape).to(device)
                    optimizer.step()
                results.append(params)
            for want, got in zip(*results):
                self.expect_close(got, want, rtol=1e-5, atol=1e-5, what=name)

    def test_samples(self):
        weights = torch.tensor([[1.0, 0.0, 3.0, 6.0], [5.0, 5.0, 0.0, 0.0]])

        def draw(function):
            common.card.manual_seed(9)
            return function().cpu()

        many = draw(lambda: torch.multinomial(weights.to(DEVICE), 10000, replacement=True))
        share = torch.stack([torch.bincount(row, minlength=4) for row in many]) / 10000
        # Five standard deviations of a share of 10000 draws.
        self.expect_close(share, weights / weights.sum(1, keepdim=True), rtol=0, atol=0.025, what="shares")
        two = draw(lambda: torch.multinomial(weights.to(DEVICE), 2))
        self.assertEqual(sorted(two[1].tolist()), [0, 1])
        self.assertTrue(all(len(set(row.tolist())) == 2 for row in two))
        self.assertTrue(torch.equal(two, draw(lambda: torch.multinomial(weights.to(DEVICE), 2))))
        firsts = torch.bincount(draw(lambda: torch.multinomial(weights[:1].expand(4000, 4).to(DEVICE), 1)).flatten(), minlength=4)
        self.expect_close(firsts / 4000, weights[0] / 10, rtol=0, atol=0.04, what="first of a sample")
        self.assertIn(int(draw(lambda: torch.multinomial(weights[0].to(DEVICE), 1))), (0, 2, 3))
        mean, std = torch.arange(-2.0, 3.0).repeat(20000, 1), torch.arange(1.0, 6.0).repeat(20000, 1)
        for name, function in {"mean and std": lambda: torch.normal(mean.to(DEVICE), std.to(DEVICE)),
                               "mean": lambda: torch.normal(mean.to(DEVICE), 2.0),
                               "std": lambda: torch.normal(1.0, std.to(DEVICE))}.items():
            got = draw(function)
            want_mean = mean[0] if "mean" in name else torch.ones(5)
            want_std = std[0] if "std" in name else torch.full((5,), 2.0)
            self.assertTrue(bool(((got.mean(0) - want_mean).abs() < 5 * want_std / 20000**0.5).all()), name)
            self.assertTrue(bool(((got.std(0) / want_std - 1).abs() < 0.025).all()), name)
        x = torch.randn(1000)
        slopes = draw(lambda: F.rrelu(x.to(DEVICE), 0.1, 0.3, training=True))
        self.assertTrue(torch.equal(slopes[x > 0], x[x > 0]))
        ratio = slopes[x < 0] / x[x < 0]
        self.assertTrue(0.0999 < float(ratio.min()) and float(ratio.max()) < 0.3001 and abs(float(ratio.mean()) - 0.2) < 0.02)
        self.check("rrelu without training", lambda a: F.rrelu(a, 0.1, 0.3), x)

    def test_bags(self):
        weight, indices, offsets = torch.randn(10, 4), torch.randint(0, 10, (15,)), torch.tensor([0, 4, 4, 9])
        for mode in ("sum", "mean", "max"):
            for padding in (None, 3):
                self.check(f"{mode} {padding}", lambda w, i, o: F.embedding_bag(i, w, o, mode=mode, padding_idx=padding), weight,
                           indices, offsets)
            self.check(f"{mode} of rows", lambda w, i: F.embedding_bag(i, w, mode=mode), weight, indices.view(3, 5))
        self.check("weights", lambda w, i, o, p: F.embedding_bag(i, w, o, mode="sum", per_sample_weights=p), weight, indices,
                   offsets, torch.rand(15))
        self.check("last offset", lambda w, i, o: F.embedding_bag(i, w, o, include_last_offset=True), weight, indices,
                   torch.tensor([0, 4, 9, 15]))
        for norm in (1.0, 2.0, 3.0):
            self.check(f"max_norm {norm}", lambda w, i: F.embedding(i, w.clone(), max_norm=1.5, norm_type=norm), weight, indices)

    def test_ctc(self):
        probs = torch.randn(12, 3, 6).log_softmax(2)
        targets, lengths = torch.randint(1, 6, (3, 5)), (torch.tensor([12, 9, 10]), torch.tensor([5, 2, 4]))
        targets[0, 1] = targets[0, 0]
        flat = torch.cat([row[:n] for row, n in zip(targets, lengths[1])])
        for name, labels in (("rows", targets), ("list", flat)):
            for reduction in ("none", "mean", "sum"):
                loss = lambda p, t: F.ctc_loss(p, t, *lengths, reduction=reduction)
                self.check(f"{name} {reduction}", loss, probs, labels)
                self.check(f"{name} {reduction} gradient", self.gradient(loss), probs, labels)
        impossible = lambda p, t: F.ctc_loss(p, t, torch.tensor([2, 9, 10]), lengths[1], zero_infinity=True)
        self.check("zero_infinity", impossible, probs, targets)
        self.check("zero_infinity gradient", self.gradient(impossible), probs, targets)

    @common.npu_only
    def test_small_ones(self):
        nan = self.x.clone()
        nan[0, 0, 0] = float("nan")
        for x in (self.x, nan):
            self.check("aminmax", lambda a: tuple(torch.aminmax(a)), x)
            for dim in (0, -1):
                self.check(f"aminmax {dim}", lambda a: tuple(torch.aminmax(a, dim=dim, keepdim=dim == 0)), x)
        self.check("trace", torch.trace, torch.randn(4, 6))
        self.check("trace of integers", torch.trace, torch.arange(12).view(3, 4))
        self.check("cross", lambda a, b: torch.linalg.cross(a, b), torch.randn(4, 3), torch.randn(4, 3))
        self.check("cross of a row", lambda a, b: torch.linalg.cross(a, b, dim=0), torch.randn(3, 4), torch.randn(3, 1))
        cos, sin = torch.rand(1, 1, 8, 16), torch.rand(1, 1, 8, 16)

        def turned(a):
            return torch.cat([-a[..., 8:], a[..., :8]], -1)

        x = torch.randn(2, 4, 8, 16)
        got = common.torch_npu.npu_rotary_mul(x.to(DEVICE), cos.to(DEVICE), sin.to(DEVICE))
        self.expect_close(got, x * cos + turned(x) * sin, rtol=1e-5, atol=1e-5, what="rotary")

    @common.npu_only
    def test_quantisation(self):
        x = torch.randn(4, 6)
        got = common.torch_npu.npu_quantize(x.to(DEVICE), torch.tensor([0.02]).to(DEVICE), torch.tensor([3], dtype=torch.int32).to(DEVICE),
                                     torch.qint8, 1)
        want = (x / 0.02).round().add(3).clamp(-128, 127)
        self.expect_close(got.cpu().to(torch.float32), want, rtol=0, atol=0, what="quantize")


common.main()
