# SPDX-License-Identifier: Apache-2.0
"""Pointwise operators, copies and fills as scripts use them: types promoted, views written in place, broadcasts."""

import itertools

import torch

import common
from common import DEVICE


def both(function, *tensors):
    """(result on the device, result on the CPU)"""
    return function(*(t.to(DEVICE) for t in tensors)), function(*(t.clone() for t in tensors))


class Pointwise(common.Case):
    def same(self, function, *tensors, saturates=False, **limits):
        """saturates: a result that half precision cannot hold is its largest number on the 910A."""
        got, want = both(function, *tensors)
        if saturates and common.SOC == "ascend910a" and want.dtype == torch.float16:
            want = want.clamp(-65504, 65504)
        self.assertEqual((got.shape, got.dtype), (want.shape, want.dtype))
        got = got.cpu()
        if want.is_floating_point():
            self.assertTrue(torch.equal(got.isnan(), want.isnan()))
            got, want = (torch.where(t.isnan(), torch.zeros_like(t), t) for t in (got, want))
        self.expect_close(got, want, what=str([t.dtype for t in tensors]), **{"rtol": 1e-5, "atol": 1e-6, **limits})

    def test_types_are_promoted(self):
        make = {
            torch.float32: torch.linspace(-3, 3, 70), torch.float16: torch.linspace(-2, 2, 70).half(),
            torch.int64: torch.arange(70) - 30, torch.int32: (torch.arange(70) - 20).int(),
            torch.uint8: torch.arange(70).to(torch.uint8), torch.bool: torch.arange(70) % 3 == 0,
        }
        for a, b in itertools.product(make.values(), repeat=2):
            self.same(torch.add, a, b, rtol=2e-3)
            self.same(torch.mul, a, b, rtol=2e-3)
            self.same(torch.maximum, a, b)
            self.same(torch.lt, a, b)
            self.same(torch.eq, a, b)
            self.same(torch.div, a, b + 1 if b.dtype != torch.bool else b, saturates=True, rtol=2e-3)
        for a in make.values():
            self.same(lambda t: t + 1, a)
            self.same(lambda t: t * 2.5, a, rtol=2e-3)
            self.same(lambda t: t > 0.5, a)

    def test_types_are_converted(self):
        types = (torch.float32, torch.float16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)
        values = torch.tensor([0.0, 1.0, 2.5, 3.5, 7.9, 100.0, 0.1] * 11)
        for a, b in itertools.product(types, repeat=2):
            self.same(lambda t, to=b: t.to(to), values.to(a))

    def test_views_are_written_in_place(self):
        def change(t):
            t[:, 1] = 5
            t[1:3, ::2] += 1
            t.t().mul_(2)
            t[2].copy_(t[0])
            t[:, 2:4] = t[:, 0:2]
            t.masked_fill_(t > 9, -1)
            return t

        self.same(change, torch.arange(48.0).view(6, 8))
        self.same(change, torch.arange(48).view(6, 8))

    def test_overlapping_views_shift(self):
        def shift(t):
            t[1:] = t[:-1].clone()
            return t

        self.same(shift, torch.arange(3000.0))

    def test_layouts(self):
        x = torch.randn(3, 40, 17, 5)
        for order in itertools.permutations(range(4)):
            self.same(lambda t, o=order: t.permute(o).contiguous(), x)
            self.same(lambda t, o=order: t.permute(o) + t.permute(o), x)
        self.same(lambda t: t.half().permute(3, 1, 0, 2).contiguous(), x)
        self.same(lambda t: t.expand(4, 3, 40, 17, 5).contiguous(), x)
        self.same(lambda t: t[:, ::3, 2:, 1].contiguous(), x)

    def test_broadcasts(self):
        for rows, columns in ((5, 3), (64, 64), (33, 1000), (700, 8)):
            x, row, column = torch.randn(rows, columns), torch.randn(columns), torch.randn(rows, 1)
            self.same(lambda a, b: a * b, x, row)
            self.same(lambda a, b: a + b, x, column)
            self.same(lambda a, b: (a.half() - b.half()).float(), x, column, rtol=2e-3, atol=2e-3)
            self.same(lambda a, b: torch.where(a > b, a, b), x, row)
            self.same(lambda a, b: b - a, x, column)

    def test_special_values(self):
        x = torch.tensor([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-42, 3e38, -3e38] * 20)
        for name in ("abs", "neg", "sqrt", "exp", "sigmoid", "tanh", "relu", "isnan", "isinf", "isfinite", "sign", "floor",
                     "round", "signbit", "nan_to_num", "reciprocal"):
            self.same(getattr(torch, name), x)
        self.same(lambda t: t.clamp(-1, 1), x)
        self.same(lambda t: torch.maximum(t, t.flip(0)) if t.device.type == "cpu" else torch.maximum(t, t.cpu().flip(0).to(t.device)), x)

    def test_halves_with_a_number(self):
        # In sums, remainders and comparisons PyTorch rounds the number to the tensor's type first, in products it does not.
        torch.manual_seed(0)
        for dtype in (torch.float16, torch.bfloat16) if common.HAS_BF16 else (torch.float16,):
            x = (torch.rand(3000) * 100).to(dtype)
            functions = [lambda t: t + 50.3731, lambda t: t - 50.3731, lambda t: 50.3731 - t, lambda t: torch.fmod(t, 3.3731),
                         lambda t: torch.remainder(t, 3.3731), lambda t: t < 50.3731, lambda t: t.add_(0.3731)]
            if common.KIND == "npu":  # CNNL takes the number of a product as a tensor of its type
                functions += [lambda t: t * 50.3731, lambda t: t / 50.3731]
            for function in functions:
                self.same(function, x, rtol=0, atol=0)

    def test_quotients_of_edges(self):
        inf, nan = float("inf"), float("nan")
        edges = torch.tensor([1.0, -1.0, 0.0, -0.0, inf, -inf, nan, 3.0e38, -3.0e38, 0.5, -0.5, 7.0, -7.0])
        for times in (1, 20):
            a, b = (t.flatten().repeat(times) for t in torch.meshgrid(edges, edges, indexing="ij"))
            for mode in ("floor", "trunc", None):
                self.check(f"{mode}", lambda x, y: torch.div(x, y, rounding_mode=mode), a, b, tol=0)
            for number in (inf, -inf, 0.0, -0.5, 3.0):
                self.check(f"// {number}", lambda x: x // number, a, tol=0)


class Wide(common.Case):
    """64-bit integers and steps over elements, at sizes for the vector unit."""

    def setUp(self):
        common.seed()
        edges = torch.tensor([0, 1, -1, 2**31, 2**31 - 1, -2**31, -2**31 - 1, 2**32, 2**32 - 1, -2**32, 2**63 - 1, -2**63, 2**62])
        count = 17 * 1031
        self.a = torch.randint(-2**63, 2**63 - 1, (count,))
        self.a[::3] = edges[torch.randint(0, len(edges), (len(self.a[::3]),))]
        self.a[1::3] = torch.randint(-9, 9, (len(self.a[1::3]),))
        self.b = self.a.roll(1)
        self.b[::7] = self.a[::7]

    def test_two_words(self):
        cases = {
            "add": torch.add, "sub": torch.sub, "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt,
            "ge": torch.ge, "and": torch.bitwise_and, "or": torch.bitwise_or, "xor": torch.bitwise_xor,
        }
        a, b = self.a.view(17, 1031), self.b.view(17, 1031)
        cases |= {"max": torch.maximum, "min": torch.minimum, "where": lambda x, y: torch.where(x > y, x, y)}
        for name, function in cases.items():
            self.check(name, function, a, b)
            self.check(f"{name} row", function, a, b[:1])
            self.check(f"{name} column turned", function, a.t(), b[0].view(-1, 1))
            self.check(f"{name} narrow", function, a, b.int())
            if name != "sub":  # PyTorch subtracts no truth values
                self.check(f"{name} truth", function, a, b > 0)
        for number in (0, -1, 2**31, -2**31 - 1, 2**40 + 7):
            for name in ("add", "sub", "eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor"):
                self.check(f"{name} {number}", lambda x, f=getattr(torch, name): f(x, number), a)
            self.check(f"rsub {number}", lambda x: torch.rsub(x, number), a)
            self.check(f"fill {number}", lambda x: torch.full_like(x, number), a)
            self.check(f"alpha {number}", lambda x, y: torch.add(x, y, alpha=number), a, b)

        def in_place(x, y):
            x = x.clone()
            x += y
            x[:, ::2] -= 3
            x.t().bitwise_and_(2**40 - 1)
            return x
        self.check("in place", in_place, a, b)

    def test_one_operand_of_two_words(self):
        ends = [0, 1, -1, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**32 - 1, 2**32, -2**32, 2**63 - 1, -2**63, -2**63 + 1]
        a = self.a.clone().view(17, 1031)
        a[0, :len(ends)] = torch.tensor(ends)
        for name, function in {"neg": torch.neg, "abs": torch.abs}.items():
            self.check(name, function, a)
            self.check(f"{name} turned", function, a.t())
            self.check(f"{name} in place", lambda x, f=getattr(torch.Tensor, f"{name}_"): f(x.clone()), a)

    def test_all_operands_repeat(self):
        cases = {"neg": torch.neg, "abs": torch.abs, "sub": lambda x: x - 2**40, "add": lambda x: x + x, "eq": lambda x: x == 7,
                 "max": lambda x: torch.maximum(x, x), "and": lambda x: x & 5, "where": lambda x: torch.where(x > 3, x, 0 * x),
                 "bool": lambda x: x.bool(), "int": lambda x: x.int()}
        a = self.a.view(17, 1031)
        for name, function in cases.items():
            for part in (a[:1], a[:, :1], a[:1, :1]):
                self.check(f"{name} of {tuple(part.shape)}", lambda x, f=function: f(x.expand(17, 1031)), part)
        self.check("long", lambda x: x.expand(17, 1031).long(), a[:1].int())

    def test_casts(self):
        for dtype in (torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool):
            self.check(f"to {dtype}", lambda x: x.to(dtype), self.a)
            self.check(f"from {dtype}", lambda x: x.to(dtype).long(), self.a)

    def test_steps(self):
        for dtype in (torch.float32, torch.float16, torch.int64, torch.bool):
            line, rows = torch.arange(5000 * 9).to(dtype), torch.arange(64 * 999).to(dtype).view(64, 999)
            for step in (2, 3, 5, 8, 9):
                for first in (0, 1, step - 1):
                    self.check(f"{dtype} {first}::{step}", lambda x: x[first:5000 * step:step].contiguous(), line)
                self.check(f"rows {dtype} 1::{step}", lambda x: x[:, 1::step].contiguous(), rows)
                self.check(f"rows {dtype} ::{step}, 2::{step}", lambda x: x[::step, 2::step].float() + 1, rows)


if __name__ == "__main__":
    common.main()
