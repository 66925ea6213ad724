# SPDX-License-Identifier: Apache-2.0
"""Indexing, joining, sorting, running totals, losses and random numbers, against the CPU."""

import torch
import torch.nn.functional as F

import common


class Index(common.Case):
    def setUp(self):
        common.seed()
        self.x = torch.randn(7, 9, 5)
        self.whole = torch.randint(-50, 50, (7, 9, 5))
        self.list = torch.tensor([3, 0, -1])

    def test_lines(self):
        """Gather and scatter with lines of the table in UB: rows and columns, chunks of indices, odd lengths, all widths."""
        shapes = (((40, 33), 70, 1), ((40, 33), 90, 0), ((3, 50, 64), 20, 1), ((2, 9000), 9000, 1), ((17, 304), 30, 0), ((3000,), 900, 0))
        for shape, count, dim in shapes:
            places = list(shape)
            places[dim] = count
            index = torch.randint(0, shape[dim], places)
            for dtype in (torch.float32, torch.float16, torch.int64, torch.int8):
                x, y = ((torch.randn(s) * 8).to(dtype) for s in (shape, places))
                # Sums of halves in PyTorch's order differ from those in the order of the list.
                z = y if dtype != torch.float16 else y.sign()
                w = x if dtype != torch.float16 else x.sign()
                self.check(f"gather {shape} {dim} {dtype}", lambda a, i: a.gather(dim, i), x, index)
                self.check(f"scatter_add {shape} {dim} {dtype}", lambda a, i, b: a.scatter_add(dim, i, b), w, index, z)
                self.check(f"scatter {shape} {dim} {dtype}", lambda a, i: a.scatter(dim, i, 3), x, index)
                self.check(f"in place {shape} {dim} {dtype}", lambda a, i: a.clone().scatter_(dim, i, 2), x, index)

    def test_planes(self):
        """Every so many elements of rows, read and written, and other orders of dimensions, of all sizes of elements."""
        types = [torch.float32, torch.float16, torch.int64, torch.int32, torch.int16, torch.uint8, torch.bool]
        for dtype in types:
            wide = torch.randint(-2**62, 2**62, (70, 203)) if dtype == torch.int64 else torch.randn(70, 203) * 90
            x = wide > 0 if dtype == torch.bool else wide.to(dtype)
            for step, end in ((2, None), (3, -1), (5, -3), (8, None)):
                def put(a, values):
                    a = a.clone()
                    a[:, 1:end:step] = values[:, 1:end:step]
                    a[::2, :end:step] = 1
                    a.view(-1)[3::step] = a.view(-1)[:a.view(-1)[3::step].numel()].clone()
                    return a
                self.check(f"every {step} {dtype}", lambda a: (a[:, 1:end:step].contiguous(), a.view(-1)[::step].clone()), x, tol=0)
                self.check(f"put every {step} {dtype}", put, x, x.flip(0), tol=0)
            for order in ((1, 0, 2), (2, 1, 0), (0, 2, 1)):
                self.check(f"turned {order} {dtype}", lambda a: a.view(14, 5, 203).permute(order).contiguous(), x, tol=0)
            self.check(f"repeated {dtype}", lambda a: (a[:, :1].expand(70, 203).contiguous(), a[0, :1].expand(70, 203).contiguous(),
                                                       a[:, 2:3].expand(-1, 90).t().contiguous()), x, tol=0)
        self.check("ones", lambda a: torch.ones_like(a), torch.zeros(20003, dtype=torch.int64), tol=0)
        numbers = torch.cat([torch.randn(18000) * 10.0**torch.randint(-3, 19, (18000,)), torch.tensor(
            [0.0, -0.0, 0.99999, -0.5, 2.0**24, 2.0**31, 2.0**31 - 128, -2.0**32, 2.0**32 - 256, 2.0**63 - 2.0**39, -2.0**63])])
        for dtype in (torch.float32, torch.float16):
            x = numbers.to(dtype)
            self.check(f"long {dtype}", lambda a: a.long(), x[x.float().abs() < 9.2e18], tol=0)

    def test_conversions_that_do_not_fit(self):
        x = torch.tensor([float("inf"), -float("inf"), float("nan"), 1e30, -1e30] * 4000)
        want = torch.tensor([2**63 - 1, -2**63, 0, 2**63 - 1, -2**63] * 4000)
        self.assertTrue(torch.equal(x.to(common.DEVICE).long().cpu(), want))
        self.assertTrue(torch.equal(x[:5].to(common.DEVICE).long().cpu(), want[:5]))

    def test_steps(self):
        """Every so many elements of rows: short ones, odd ones, rows that do not follow each other evenly, up to eight apart."""
        for dtype in (torch.float32, torch.float16, torch.int32, torch.int64):
            x = torch.randint(-500, 500, (6, 7, 33, 61)).to(dtype)
            for name, view in {"two": lambda a: a[:, :, ::2, ::2], "three": lambda a: a[..., 1::3], "last of a row": lambda a: a[..., ::4],
                               "two of some": lambda a: a[1:5, ::3, 2:30, 1::2], "eight": lambda a: a[:, :, :, 5::8]}.items():
                self.check(f"steps {name} {dtype}", lambda a, view=view: view(a).contiguous(), x)
                self.check(f"sums of steps {name} {dtype}", lambda a, view=view: view(a) + view(a), x)

    def test_join(self):
        for name, function in {
            "cat": lambda a: torch.cat([a, 2 * a, a], 1), "cat turned": lambda a: torch.cat([a.transpose(0, 2)] * 2, 0),
            "stack": lambda a: torch.stack([a, -a], 1), "stack of numbers": lambda a: torch.stack([a.sum(), a.mean()]),
            "repeat": lambda a: a.repeat(2, 1, 3), "repeat more": lambda a: a.repeat(2, 3, 1, 2),
            "pad": lambda a: F.pad(a, (1, 2, 3, -1), value=1.5), "roll": lambda a: torch.roll(a, (2, -1), (0, 2)),
            "roll as a line": lambda a: torch.roll(a, 7), "flip": lambda a: a.flip(0, 2),
        }.items():
            self.check(name, function, self.x)
        self.check("flip of integers", lambda a: a.flip(1), self.whole)

    @common.npu_only
    def test_sparse(self):
        places, values = torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]]), torch.tensor([3.0, 4.0, 5.0, 6.0])

        def sums(rows, columns, values):
            whole = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (2, 3)).coalesce()
            return whole.indices(), whole.values(), whole.to_dense()
        self.check("coalesce", sums, places[0], places[1], values)
        table = torch.nn.Embedding(10, 3, sparse=True)
        before = table.weight.detach().clone()
        table = table.to(common.KIND)
        optimizer = torch.optim.SGD(table.parameters(), 0.5)
        table(torch.tensor([1, 2, 1]).to(common.KIND)).sum().backward()
        self.assertEqual(table.weight.grad.coalesce().values().cpu().tolist(), [[2.0] * 3, [1.0] * 3])
        optimizer.step()
        moved = (table.weight.cpu() != before).any(1)
        self.assertEqual(moved.nonzero().flatten().tolist(), [1, 2])

    def test_rows_and_shares_of_many(self):
        """Sizes at which cores share the table: by rows, by columns, or not at all."""
        for shape in ((65, 64), (64, 33), (9, 48, 16), (5, 16, 9), (3, 7, 5, 32)):
            x = torch.randn(shape)
            for dim in range(x.dim()):
                at = torch.randint(0, x.size(dim), shape)
                places = torch.randint(0, x.size(dim), (x.size(dim),))
                for name, function in {
                    "scatter_add": lambda a, i, p: torch.zeros_like(a).scatter_add(dim, i, a),
                    "scatter of one": lambda a, i, p: a.scatter(dim, i, 2.5),
                    "gather": lambda a, i, p: a.gather(dim, i),
                    "index_add": lambda a, i, p: torch.ones_like(a).index_add(dim, p, a, alpha=2),
                    "index_select": lambda a, i, p: a.index_select(dim, p),
                    "turned": lambda a, i, p: torch.zeros_like(a).transpose(0, 1).scatter_add(dim, i.transpose(0, 1), a.transpose(0, 1))
                    if a.size(0) == a.size(1) else a,
                }.items():
                    self.check(f"{name} {shape} {dim}", function, x, at, places)
            rows = torch.randint(-x.size(0), x.size(0), (41,))

            def put(a, i, accumulate):
                out = torch.zeros_like(a)
                return out.index_put((i,), a[i] + 1, accumulate=accumulate)
            self.check(f"rows {shape}", lambda a, i: a[i], x, rows)
            self.check(f"rows in two dimensions {shape}", lambda a, i: a[i], x, rows[:40].view(4, 10))
            self.check(f"rows of half {shape}", lambda a, i: a[i], x.half(), rows)
            self.check(f"rows put {shape}", lambda a, i: put(a, i, False), x, rows)
            self.check(f"rows added {shape}", lambda a, i: put(a, i, True), x, rows)

    def test_index(self):
        for name, function in {
            "one": lambda a, i: a[i], "second": lambda a, i: a[:, i], "apart": lambda a, i: a[i, :, i],
            "together": lambda a, i: a[i, i], "broadcast": lambda a, i: a[:, i.view(3, 1), i],
            "mask": lambda a, i: a[a > 0], "nonzero": lambda a, i: (a > 0.5).nonzero(),
            "masked_select": lambda a, i: torch.masked_select(a, a > 0),
        }.items():
            self.check(name, function, self.x, self.list)
            self.check(f"{name} of integers", function, (self.x * 4).long(), self.list)
        self.check("nothing of integers", lambda a, i: a[i[:0]], self.whole, self.list)
        self.check("nothing in two dimensions", lambda a, i: a[i[:0], i[:1]], self.whole, self.list)
        self.check("gradient", self.gradient(lambda a, i: a[i] * 2), self.x, self.list)

    def test_whole_rows(self):
        """Rows put and added by one list, with repetitions; flips by rows; odd rows take the other way."""
        for shape, count in (((40, 64), 30), ((9, 3, 64), 33), ((70, 33), 40)):
            many, once = torch.randint(-shape[0], shape[0], (count,)), torch.randperm(shape[0])[:count]
            for dtype in (torch.float32, torch.float16, torch.int64, torch.int8):
                x, rows = ((torch.randn(n, *shape[1:]) * 9).to(dtype) for n in (shape[0], count))
                self.check(f"put {shape} {dtype}", lambda a, i, v: a.clone().index_put_((i,), v[:len(i)]), x, once, rows)
                one = torch.zeros(count, dtype=torch.long).to(common.DEVICE)  # all the same row: the last value stays
                got = x.to(common.DEVICE).index_put_((one,), rows.to(common.DEVICE)).cpu()
                self.assertTrue(torch.equal(got, torch.cat([rows[-1:], x[1:]])))
                self.check(f"copy {shape} {dtype}", lambda a, i, v: a.index_copy(0, i, v[:len(i)]), x, once, rows)
                self.check(f"flip {shape} {dtype}", lambda a: (a.flip(0), a.flip(-1), a.flip(0, 1)), x)
                self.check(f"select {shape} {dtype}", lambda a, i: a.index_select(-1, i), x.repeat(1, *[8] * (len(shape) - 1)), once)
                if dtype != torch.float16:  # PyTorch rounds each sum to a half, we the last one
                    self.check(f"accumulate {shape} {dtype}", lambda a, i, v: a.clone().index_put_((i,), v, accumulate=True),
                               x, many, rows, tol=1e-4)
                    self.check(f"index_add {shape} {dtype}", lambda a, i, v: a.index_add(0, i, v, alpha=2),
                               x, many % shape[0], rows, tol=1e-4)

    def test_index_put(self):
        def put(a, i):
            a = a.clone()
            a[i] = 7.0
            return a

        def add(a, i):
            return a.clone().index_put_((i, i), torch.ones(3, 5, device=a.device), accumulate=True)

        def mask(a, i):
            a = a.clone()
            a[a > 0] = 0.0
            return a

        def second(a, i):
            a = a.clone()
            a[:, i] = 3
            a[i, :, i] = 4
            a[i[:0]] = 5
            return a

        for function in (put, add, mask, second):
            self.check(function.__name__, function, self.x, self.list)
        self.check("integers", second, self.whole, self.list)

    def test_along_a_dimension(self):
        index = torch.randint(0, 7, (4, 9, 5))
        once = torch.stack([torch.randperm(7) for _ in range(45)], 1).view(7, 9, 5)[:4]
        values, rows = torch.randn(4, 9, 5), torch.tensor([1, 1, 8])
        self.check("gather", lambda a, i: a.gather(0, i), self.x, index)
        self.check("gather gradient", self.gradient(lambda a, i: a.gather(0, i)), self.x, index)
        self.check("scatter of a number", lambda a, i: a.scatter(0, i, 2.5), self.x, index)
        self.check("scatter", lambda a, i, v: a.scatter(0, i, v), self.x, once, values)
        self.check("scatter_add", lambda a, i, v: a.scatter_add(0, i, v), self.x, index, values, tol=1e-4)
        self.check("index_select", lambda a, i: a.index_select(1, i), self.x, rows)
        number, zero = torch.tensor(1.5), torch.tensor(0)
        for name, function in {
            "scatter of one": lambda a, i: a.scatter(0, i, 2.5), "scatter": lambda a, i: a.scatter(0, i, 2 * a),
            "scatter_add": lambda a, i: a.scatter_add(0, i, a), "gather": lambda a, i: a.gather(0, i),
            "index_select": lambda a, i: a.index_select(0, i),
        }.items():
            self.check(f"{name} of a number", function, number, zero)
        if common.HAS_BF16:  # torch_npu has no gradient of unfold on the 910A
            self.check("unfold of a number", self.gradient(lambda a: a.unfold(0, 1, 1)), number)
        self.check("prelu of a number", self.gradient(F.prelu), -number, number)
        self.check("index_add", lambda a, i: a.index_add(1, i, a[:, :3], alpha=2), self.x, rows)

    def test_diagonal(self):
        for shape in ((5, 5), (4, 9), (9, 4), (17, 3), (10, 4), (40, 1), (1, 6), (0, 3), (4, 4, 4)):
            for wrap in (False, True):
                for dtype in (torch.float32, torch.float16, torch.int64, torch.bool):
                    self.check(f"fill_diagonal_ {shape} {wrap} {dtype}", lambda a: a.fill_diagonal_(1, wrap=wrap), torch.zeros(shape, dtype=dtype))
        self.check("fill_diagonal_ of a view", lambda a: a.clone()[1:, ::2].fill_diagonal_(7.5), torch.randn(6, 9))
        self.check("fill_diagonal_ turned", lambda a: a.clone().T.fill_diagonal_(7.5), torch.randn(6, 19))  # with wrap the CPU fails

    def test_embedding(self):
        weight, tokens = torch.randn(11, 6), torch.randint(0, 11, (4, 3))
        self.check("rows", lambda w, i: F.embedding(i, w), weight, tokens)
        self.check("gradient", self.gradient(lambda w, i: F.embedding(i, w) * F.embedding(i, w)), weight, tokens)

    def test_order(self):
        for dim in range(3):
            self.check(f"sort {dim}", lambda a: tuple(torch.sort(a, dim=dim)), self.x)
            self.check(f"stable {dim}", lambda a: tuple(torch.sort(a, dim=dim, descending=True, stable=True)), self.whole)
            self.check(f"topk {dim}", lambda a: tuple(a.topk(3, dim)), self.x)
            self.check(f"cumsum {dim}", lambda a: a.cumsum(dim), self.x)
            self.check(f"cumsum of integers {dim}", lambda a: a.cumsum(dim), self.whole)
            self.check(f"cumprod {dim}", lambda a: a.cumprod(dim), self.x)
            self.check(f"cummax {dim}", lambda a: tuple(a.cummax(dim)), self.x)

    def test_losses(self):
        probability, target = torch.rand(7, 9, 5), torch.rand(7, 9, 5)
        losses = {"mse": F.mse_loss, "l1": F.l1_loss, "smooth": F.smooth_l1_loss, "bce": F.binary_cross_entropy,
                  "logits": F.binary_cross_entropy_with_logits, "kl": F.kl_div}
        for name, function in losses.items():
            for reduction in ("mean", "sum", "none"):
                loss = lambda a, b: function(a, b, reduction=reduction)
                given = probability if name == "bce" else self.x
                self.check(f"{name} {reduction}", loss, given, target)
                self.check(f"{name} {reduction} gradient", self.gradient(loss), given, target, tol=1e-4)
        self.check("batchmean", lambda a, b: F.kl_div(a, b, reduction="batchmean"), self.x, target)
        self.check("pos_weight", lambda a, b, p: F.binary_cross_entropy_with_logits(a, b, pos_weight=p), self.x, target,
                   torch.rand(5))

    def test_random_numbers(self):
        def draw(function):
            common.card.manual_seed(5)
            return function().cpu()

        uniform = draw(lambda: torch.rand(10001, device=common.DEVICE))
        normal = draw(lambda: torch.randn(10001, device=common.DEVICE))
        coin = draw(lambda: torch.empty(5000, device=common.DEVICE).bernoulli_(0.3))
        dice = draw(lambda: torch.randint(3, 9, (1000,), device=common.DEVICE))
        order = draw(lambda: torch.randperm(50, device=common.DEVICE))
        dropped = draw(lambda: F.dropout(torch.ones(1000, 37, device=common.DEVICE), 0.25))
        # Five standard deviations of the means.
        self.assertLess(abs(uniform.mean() - 0.5), 0.0145)
        self.assertLess(abs(normal.mean()), 0.05)
        self.assertLess(abs(normal.std() - 1), 0.036)
        self.assertLess(abs(coin.mean() - 0.3), 0.033)
        self.assertLess(abs((dropped == 0).float().mean() - 0.25), 0.012)
        self.assertEqual(sorted(set(dice.tolist())), [3, 4, 5, 6, 7, 8])
        self.assertEqual(sorted(order.tolist()), list(range(50)))
        self.assertTrue(torch.all((dropped == 0) | ((dropped - 4 / 3).abs() < 1e-6)))
        self.assertTrue(torch.equal(uniform, draw(lambda: torch.rand(10001, device=common.DEVICE))))


common.main()
