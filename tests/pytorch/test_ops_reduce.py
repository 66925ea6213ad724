# SPDX-License-Identifier: Apache-2.0
"""Reductions, softmax, likelihood losses and lists of tensors, forward and gradients, against the CPU."""

import torch
import torch.nn.functional as F

import common


class Reduce(common.Case):
    def setUp(self):
        common.seed()
        self.x = torch.randn(7, 33, 5)
        self.whole = torch.randint(-50, 50, (7, 33, 5))

    def test_reductions(self):
        for dim in (0, 1, 2, -1, (0, 2), (0, 1, 2)):
            for name, function in {
                "sum": lambda t: t.sum(dim), "mean": lambda t: t.mean(dim), "amax": lambda t: t.amax(dim),
                "std": lambda t: t.std(dim), "var": lambda t: t.var(dim, correction=0),
                "norm": lambda t: torch.linalg.vector_norm(t, 2, dim),
                "norm inf": lambda t: torch.linalg.vector_norm(t, float("inf"), dim),
                "logsumexp": lambda t: torch.logsumexp(t, dim),
                "any": lambda t: (t > 2).any(dim), "all": lambda t: (t > -2).all(dim),
            }.items():
                self.check(f"{name} {dim}", function, self.x)

    def test_one_dimension(self):
        for dim in range(3):
            self.check(f"max {dim}", lambda t: tuple(t.max(dim)), self.x)
            self.check(f"min {dim}", lambda t: tuple(t.min(dim)), self.whole)
            self.check(f"argmax {dim}", lambda t: t.argmax(dim), self.x)
            self.check(f"prod {dim}", lambda t: t.prod(dim), self.x, tol=1e-4)

    def test_all_elements(self):
        self.check("argmax", lambda t: t.argmax(), self.x)
        self.check("max", lambda t: t.max(), self.x)
        self.check("min", lambda t: t.min(), self.whole)
        self.check("sum", lambda t: t.sum(), self.whole)
        self.check("var_mean", lambda t: torch.var_mean(t, 1), self.x)
        self.check("std_mean", lambda t: torch.std_mean(t, 1), self.x)

    def test_steps_of_many(self):
        """Sizes at which a reduction is several steps on the vector unit; far from 0, and with infinities and NaN."""
        near = torch.randn(20, 33, 129)
        far, holes = near * 0.5 + 1000, near.clone()
        holes[0, :, 3], holes[:, 5, 7], holes[2, 1], holes[4, 4, 4] = float("inf"), float("nan"), -float("inf"), -float("inf")
        for name, x in (("near", near), ("far", far), ("turned", near.transpose(0, 2)), ("holes", holes)):
            for dim in (0, 1, 2, (0, 2), (0, 1, 2)):
                for word, function in {
                    "logsumexp": lambda t: torch.logsumexp(t, dim, True), "std": lambda t: t.std(dim), "var": lambda t: t.var(dim, correction=0),
                    "norm 0": lambda t: torch.linalg.vector_norm(t, 0, dim), "norm inf": lambda t: torch.linalg.vector_norm(t, float("inf"), dim),
                    "norm -inf": lambda t: torch.linalg.vector_norm(t, -float("inf"), dim),
                    "norm 1": lambda t: torch.linalg.vector_norm(t.double() if t.device.type == "cpu" else t, 1, dim).float(),
                    "nansum": lambda t: t.isnan().sum(dim) if name == "holes" else torch.nansum(t, dim),
                    "all": lambda t: (t > -3).all(dim), "any": lambda t: (t > 3).any(dim), "any float": lambda t: (t * 0).any(dim),
                }.items():
                    self.check(f"{word} {name} {dim}", function, x, tol=3e-5)
            if name in ("near", "far"):
                self.check(f"var_mean {name}", lambda t: torch.var_mean(t, 1), x, tol=3e-5)
                self.check(f"std_mean {name} half", lambda t: torch.std_mean(t, (0, 2)), (x / 10).half(), tol=2e-2)
                self.check(f"logsumexp {name} half", lambda t: torch.logsumexp(t, 1), x.half(), tol=2e-3)

    def test_places_of_many(self):
        """Sizes for the vector unit, with equal elements and NaN."""
        equal = torch.randint(-9, 9, (37, 70, 33)).float()
        holes = equal.clone()
        holes[3, 7], holes[5, :, 2], holes[-1, -1, -1] = float("nan"), float("nan"), -float("inf")
        for name, x in (("equal", equal), ("holes", holes), ("turned", equal.transpose(0, 2)), ("-inf", torch.full((64, 40), -float("inf")))):
            for dim in range(x.dim()):
                self.check(f"argmax {name} {dim}", lambda t: t.argmax(dim), x)
                self.check(f"argmin {name} {dim}", lambda t: t.argmin(dim), x)
                if name != "holes":  # the 910A has no NaN in half
                    self.check(f"max {name} {dim} half", lambda t: tuple(t.max(dim)), x.half())
                self.check(f"min {name} {dim}", lambda t: tuple(t.min(dim)), x)
            self.check(f"argmax {name}", lambda t: t.argmax(), x)

    def test_sums_of_many_integers(self):
        x = torch.randint(-(1 << 40), 1 << 40, (50, 61, 7))
        for dtype in (torch.int64, torch.int32, torch.int16, torch.uint8, torch.int8, torch.bool):
            t = (x >> 20).to(dtype) if dtype != torch.int64 else x
            for name, function in {
                "sum": lambda a: a.sum(), "sum 1": lambda a: a.sum(1), "sum 0 2": lambda a: a.sum((0, 2)),
                "turned": lambda a: a.transpose(0, 2).sum(), "max": lambda a: a.amax((0, 1)), "min": lambda a: a.amin(2),
                "largest": lambda a: a.max(), "least": lambda a: a[1:, 3:].min(),
            }.items():
                self.check(f"{name} {dtype}", function, t)

    def test_softmax(self):
        for dim in range(3):
            self.check(f"softmax {dim}", lambda t: F.softmax(t, dim), self.x)
            self.check(f"log_softmax {dim}", lambda t: F.log_softmax(t, dim), self.x)
            self.check(f"turned {dim}", lambda t: F.softmax(t.transpose(0, 2), dim), self.x)
        square = lambda out: (out * out).sum()
        self.check("softmax gradient", self.gradient(lambda t: square(F.softmax(t, 1))), self.x)
        self.check("log_softmax gradient", self.gradient(lambda t: square(F.log_softmax(t, -1))), self.x)

    def test_likelihood(self):
        logits, target = torch.randn(65, 10), torch.randint(0, 10, (65,))
        ignored = target.clone()
        ignored[3] = -100
        maps, labels = torch.randn(2, 5, 6, 7), torch.randint(0, 5, (2, 6, 7))
        for reduction in ("mean", "sum", "none"):
            loss = lambda a, b: F.cross_entropy(a, b, reduction=reduction)
            for name, a, b in (("plain", logits, target), ("ignored", logits, ignored), ("maps", maps, labels)):
                self.check(f"{name} {reduction}", loss, a, b)
                self.check(f"{name} {reduction} gradient", self.gradient(loss), a, b)

    def test_lists(self):
        parts = [torch.randn(3, 4), torch.randn(7), torch.randn(2, 2, 2)]

        def on_copies(function):
            return lambda *tensors: function([tensor.clone() for tensor in tensors])

        def in_place(tensors):
            torch._foreach_mul_(tensors, 0.5)
            torch._foreach_add_(tensors, tensors, alpha=2.0)
            return tensors

        for name, function in {
            "add": lambda t: torch._foreach_add(t, t, alpha=0.5), "mul": lambda t: torch._foreach_mul(t, 0.9),
            "div": lambda t: torch._foreach_div(t, [1.0, 2.0, 3.0]),
            "sqrt": lambda t: torch._foreach_sqrt([x.abs() for x in t]), "lerp": lambda t: torch._foreach_lerp(t, t, 0.3),
            "addcmul": lambda t: torch._foreach_addcmul(t, t, t, 0.3),
            "addcdiv": lambda t: torch._foreach_addcdiv(t, t, [x.abs() + 1 for x in t], 0.3),
            "norm": torch._foreach_norm, "in place": in_place,
        }.items():
            self.check(name, on_copies(function), *parts)


common.main()
