# SPDX-License-Identifier: Apache-2.0
"""Order statistics, elements without repetition, counts, elements by index and repeated elements, against the CPU."""

import torch
import torch.nn.functional as F

import common


class Order(common.Case):
    def setUp(self):
        common.seed()
        self.x = torch.randn(7, 9, 5)
        self.nan = self.x.clone()
        self.nan[self.nan > 1.2] = float("nan")
        self.few = torch.randint(-3, 3, (6, 4, 5))

    def test_middle(self):
        for what, x in (("numbers", self.x), ("with NaN", self.nan), ("integers", self.few * 7 + torch.arange(5))):
            self.check(f"median {what}", torch.median, x, tol=0)
            for dim in (0, 1, -1):
                for keep in (False, True):
                    self.check(f"median {what} {dim}", lambda a: torch.median(a, dim, keepdim=keep)[0], x, tol=0)
        for dim in (0, 1, -1):
            self.check(f"median {dim}", lambda a: tuple(torch.median(a, dim)), self.x, tol=0)
            self.check(f"kthvalue {dim}", lambda a: tuple(a.kthvalue(3, dim)), self.x, tol=0)
            self.check(f"kthvalue keep {dim}", lambda a: tuple(a.kthvalue(1, dim, keepdim=True)), self.x, tol=0)
            self.check(f"nanmedian {dim}", lambda a: torch.nanmedian(a, dim)[0], self.nan, tol=0)
        self.check("nanmedian", torch.nanmedian, self.nan, tol=0)
        self.check("gradient", self.gradient(lambda a: torch.median(a, 1)[0]), self.x)
        self.check("kthvalue gradient", self.gradient(lambda a: a.kthvalue(2, 0)[0]), self.x)

    def test_unique(self):
        zeros = torch.tensor([0.0, -0.0, 3.0, 3.0, -1.0, float("inf")])
        for what, x in (("integers", self.few), ("reals", zeros), ("flags", self.few > 0), ("one", torch.tensor([5])),
                        ("a number", torch.tensor(7))):
            self.check(f"unique {what}", torch.unique, x)
            self.check(f"unique all {what}", lambda a: torch.unique(a, return_inverse=True, return_counts=True), x)
            self.check(f"consecutive {what}", lambda a: torch.unique_consecutive(a, return_inverse=True, return_counts=True), x)
        for dim in (0, 1, 2):
            rows = torch.cat([self.few, self.few.flip(dim)], dim)
            self.check(f"unique {dim}", lambda a: torch.unique(a, dim=dim, return_inverse=True, return_counts=True), rows)
            self.check(f"unique values {dim}", lambda a: torch.unique(a, dim=dim), rows)
            self.check(f"consecutive {dim}", lambda a: torch.unique_consecutive(a.repeat_interleave(2, dim), dim=dim), self.few)

    def test_counts(self):
        numbers, weights = torch.randint(0, 9, (50,)), torch.rand(50)
        self.check("bincount", torch.bincount, numbers)
        self.check("bincount of at least", lambda a: torch.bincount(a, minlength=20), numbers)
        self.check("bincount of weights", torch.bincount, numbers, weights)
        for low, high in ((0, 0), (-1, 1), (-0.5, 2.5)):
            for bins in (1, 7, 100):
                self.check(f"histc {low} {high} {bins}", lambda a: torch.histc(a, bins, low, high), self.x)
        edges = torch.linspace(-2, 2, 17)
        self.check("elements on edges", lambda a: torch.histc(a, 16, -2, 2), edges)
        for right in (False, True):
            for small in (False, True):
                self.check("searchsorted", lambda a, b: torch.searchsorted(a, b, right=right, out_int32=small),
                           torch.arange(10.0), torch.randint(-2, 12, (5, 3)).float())
                for number in (3, 3.5, -1, 20, 0.1):
                    for edges in (torch.arange(10.0), torch.arange(10), torch.tensor([0.1, 0.1, 0.2])):
                        self.check(f"searchsorted of {number}", lambda a: torch.searchsorted(a, number, right=right, out_int32=small), edges)
                        self.check(f"bucketize of {number}", lambda a: torch.bucketize(number, a, right=right, out_int32=small), edges)
                self.check("searchsorted of rows", lambda a, b: torch.searchsorted(a, b, right=right, out_int32=small),
                           torch.randint(0, 9, (4, 10)).sort(1)[0], torch.randint(0, 9, (4, 3)))
                self.check("bucketize", lambda a, b: torch.bucketize(b, a, right=right, out_int32=small), torch.arange(5.0),
                           self.x)

    def test_many(self):
        """Lists long enough to be shared among cores."""
        wide = torch.randint(-700, 700, (5001,))
        wide[::7] += 2**40
        wide[::11] -= 2**50
        wide[5], wide[6] = -2**63, 2**63 - 1
        special = torch.randn(3000).round(decimals=1)
        special[1::7], special[::7], special[3] = 0.0, -0.0, float("inf")
        lists = [wide, wide.to(torch.int32), torch.randn(2049).half().round(decimals=1), special, wide > 0, (wide % 100).to(torch.uint8)]
        for x in lists:
            for rest in ((False, False), (True, False), (False, True), (True, True)):
                self.check(f"unique {x.dtype} {rest}", lambda a: torch.unique(a, True, *rest), x, tol=0)
                self.check(f"neighbours {x.dtype} {rest}", lambda a: torch.unique_consecutive(a, *rest), x, tol=0)
            self.check(f"sort {x.dtype}", lambda a: torch.sort(a, stable=True), x, tol=0)
            self.check(f"sort down {x.dtype}", lambda a: torch.sort(a, stable=True, descending=True), x, tol=0)
            count, values = len(x), x.flip(0)
            self.check(f"put {x.dtype}", lambda a, i, v: a.clone().put_(i - count, v), x, torch.randperm(count), values, tol=0)
            self.check(f"one value {x.dtype}", lambda a, i, v: a.clone().index_put_((i,), v[0]), x, torch.randperm(count), values, tol=0)
            mask = torch.rand(count) > 0.4
            self.check(f"masked {x.dtype}", lambda a, m, v: a.clone().masked_scatter_(m, v), x, mask, values, tol=0)
            self.check(f"selected {x.dtype}", lambda a, m: (a[m], a.nonzero(), a[3:][m[3:]]), x, mask, tol=0)
        special[2::9] = float("nan")
        for x in (special.view(3, 1000), special.half().view(3, 1000), wide.to(torch.int32)[:5000].view(5, 1000)):
            for k in (1, 5, 16, 17):
                for largest in (False, True):
                    got = torch.topk(x.to(common.DEVICE), k, largest=largest)
                    want = torch.sort(x, descending=largest, stable=True)
                    for a, b in zip(got, want):
                        self.expect_close(a, b[:, :k], rtol=0, atol=0, what=f"topk {x.dtype} {k}")
        self.check("rows of i64", lambda a: torch.sort(a.view(3, -1), stable=True), wide, tol=0)
        self.check("columns of i64", lambda a: torch.sort(a.view(-1, 3), dim=0, descending=True, stable=True), wide, tol=0)
        self.check("added", lambda a, i, v: a.clone().put_(i, v, True), wide, torch.randint(0, 9, (5001,)), wide, tol=0)
        self.check("histc", lambda a: (torch.histc(a, 17, -2, 2), torch.histc(a, 100)), torch.randn(9001), tol=0)
        self.check("bincount", lambda a: torch.bincount(a, minlength=99), torch.randint(0, 77, (9001,)), tol=0)
        large = torch.randint(-2**62, 2**62, (20001,))
        self.check("sums of i64", lambda a, b: (a + b, a - b, a + 2**33, a.clone().add_(b)), large, large.flip(0), tol=0)
        planes = torch.randn(50, 8, 9)
        self.check("nonzero", lambda a: ((a > 0).nonzero(), (a.transpose(0, 2) > 0).nonzero(), torch.where(a > 1)[1]), planes, tol=0)

    def test_take(self):
        index = torch.tensor([[3, -1], [0, 314]])
        self.check("take", torch.take, self.x, index)
        self.check("take gradient", self.gradient(lambda a, i: torch.take(a, i)), self.x, index)
        self.check("put", lambda a, i: a.clone().put_(i, i.float()), self.x, index)
        self.check("put and add", lambda a, i: a.clone().put_(i, i.float(), accumulate=True), self.x, index % 3)
        places = torch.tensor([4, 0])
        for dim in range(3):
            self.check(f"index_fill {dim}", lambda a, i: a.index_fill(dim, i, 2.5), self.x, places)
            self.check(f"index_copy {dim}", lambda a, i: a.index_copy(dim, i, a.index_select(dim, i + 0) * 2), self.x, places)
        self.check("index_fill of integers", lambda a, i: a.index_fill(0, i, 2**40 + 1), self.few, places)
        mask = self.x > 0.3
        self.check("masked_scatter", lambda a, m: a.masked_scatter(m, a.flip(0) * 2), self.x, mask)
        self.check("masked_scatter broadcast", lambda a, m: a.masked_scatter(m[0], a * 2), self.x, mask)
        self.check("masked_scatter gradient", self.gradient(lambda a, m: a.masked_scatter(m, a * 2)), self.x, mask)

    def test_running_totals_in_lanes(self):
        """Lines as columns, beside each other, in parts, of odd lengths and other types."""
        for shape, dim in (((64, 1030), 1), ((600, 72), 0), ((2, 700, 64), 1), ((3, 700, 5), 1), ((20000,), 0), ((2, 3000), -1)):
            for dtype in (torch.float32, torch.float16, torch.bool, torch.int8):
                x = (torch.rand(shape) * (0.01 if dtype == torch.float16 else 1.5)).to(dtype)
                # A rounding of the half, or the bound of sums in f32.
                self.check(f"cumsum {shape} {dim} {dtype}", lambda a: a.cumsum(dim), x, tol=1e-3 if dtype == torch.float16 else 1e-4)
            self.check(f"cumprod {shape} {dim}", lambda a: a.cumprod(dim), 1 + (torch.rand(shape) - 0.5) * 1e-3, tol=1e-4)
        infinite = torch.ones(4, 2000)
        infinite[1, 700], infinite[2, 5], infinite[2, 900], infinite[3, 1999] = torch.inf, torch.inf, -torch.inf, torch.nan
        self.check("cumsum of infinities", lambda a: a.cumsum(1), infinite)

    def test_repeat(self):
        times = torch.tensor([0, 3, 1, 2, 0, 1, 4])
        for dim in range(3):
            self.check(f"repeat_interleave {dim}", lambda a: a.repeat_interleave(3, dim), self.x)
        self.check("repeat_interleave", lambda a: a.repeat_interleave(2), self.x)
        self.check("repeat_interleave list", lambda a, n: a.repeat_interleave(n, 0), self.x, times)
        self.check("repeat_interleave of a list", lambda a, n: a[:, 0, 0].repeat_interleave(n), self.x, times)
        self.check("repeats alone", torch.repeat_interleave, times)
        self.check("gradient", self.gradient(lambda a: a.repeat_interleave(3, 1)), self.x)
        self.check("gradient of a list", self.gradient(lambda a, n: a.repeat_interleave(n, 0)), self.x, times)
        deep = torch.randn(2, 1, 2, 1, 3, 2, 1, 5)
        self.check("of 8 dimensions", lambda a: a.repeat_interleave(2, 4), deep)
        self.check("of 8 dimensions, strided", lambda a: a.transpose(0, 4).repeat_interleave(3, -1), deep)
        self.check("mask of 8 dimensions", lambda a: a[a > 0], deep)
        self.check("channel_shuffle", lambda a: F.channel_shuffle(a.view(1, 3, 21, 5), 3), self.x)

    def test_multilabel_margin_loss(self):
        for classes in (3, 13, 40):
            labels = torch.full((9, classes), -1)
            for row in range(9):
                count = row * classes // 8
                labels[row, :count] = torch.randperm(classes)[:count]
            for reduction in ("none", "mean", "sum"):
                self.check(f"{classes} {reduction}", lambda a, t: F.multilabel_margin_loss(a, t, reduction=reduction),
                           torch.randn(9, classes), labels)
            self.check(f"{classes} one sample", F.multilabel_margin_loss, torch.randn(classes), labels[3])

    def test_kl_div(self):
        target = torch.rand(6, 5)
        for log in (False, True):
            for reduction in ("none", "mean", "sum", "batchmean"):
                self.check(f"target {log} {reduction}", self.gradient(
                    lambda t, a: F.kl_div(a, t, reduction=reduction, log_target=log)), target, torch.randn(6, 5))


common.main()
