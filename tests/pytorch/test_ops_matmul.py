# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, forward and gradients, against the CPU. 910A multiplies in half precision: inputs are rounded to 11
bits, so the bound is 1e-3 of what the products of random numbers add up to."""

import torch

import common


def operands(shapes, dtype=torch.float32, number=1):
    generator = torch.Generator().manual_seed(number)
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


TYPES = [torch.float32, torch.float16] + ([torch.bfloat16] if common.HAS_BF16 else [])
BOUND = {torch.float32: 2e-3, torch.float16: 2e-3, torch.bfloat16: 1.5e-2}


class Matmul(common.Case):
    def expect_same(self, function, tensors, what):
        """function(*tensors) and its gradients by every tensor; the CPU computes in float32."""
        results = []
        for device in ("cpu", common.DEVICE):
            leaves = [tensor.detach().to(device).requires_grad_() for tensor in tensors]
            wide = leaves if device != "cpu" else [leaf.float() for leaf in leaves]
            out = function(*wide)
            seed = operands([out.shape], tensors[0].dtype, 7)[0].to(device).to(out.dtype)
            results.append([out, *torch.autograd.grad(out, leaves, seed)])
        bound = BOUND[tensors[0].dtype]
        for index, (want, got) in enumerate(zip(*results)):
            scale = max(1.0, float(want.detach().abs().max()))
            self.expect_close(got.float(), want.float(), rtol=bound, atol=bound * scale, what=f"{what}, {'out' if index == 0 else f'gradient {index}'}")

    def test_mm(self):
        for m, k, n in [(1, 1, 1), (3, 5, 7), (16, 16, 16), (17, 33, 15), (32, 784, 128), (130, 70, 300), (8, 1100, 10)]:
            for dtype in TYPES:
                a, b = operands([(m, k), (k, n)], dtype)
                self.expect_same(torch.mm, [a, b], f"mm {m} {k} {n} {dtype}")
                c, d, e = operands([(k, m), (n, k), (n,)], dtype)
                self.expect_same(lambda c, d, e: torch.addmm(e, c.t(), d.t()), [c, d, e], f"addmm {m} {k} {n} {dtype}")
        a, b, c = operands([(9, 20), (20, 31), (9, 31)])
        self.expect_same(lambda a, b, c: torch.addmm(c, a, b, beta=0.5, alpha=-2), [a, b, c], "addmm beta alpha")

    def test_batches(self):
        for dtype in TYPES:
            a, b, c = operands([(3, 17, 20), (3, 20, 9), (3, 17, 9)], dtype)
            self.expect_same(torch.bmm, [a, b], f"bmm {dtype}")
            self.expect_same(lambda a, b, c: torch.baddbmm(c, a, b, beta=2, alpha=0.5), [a, b, c], f"baddbmm {dtype}")
            a, b = operands([(4, 32, 4, 16), (4, 32, 4, 16)], dtype)
            self.expect_same(lambda a, b: a.transpose(1, 2) @ b.permute(0, 2, 3, 1), [a, b], f"heads {dtype}")
            a, b = operands([(2, 5, 7, 19), (19, 11)], dtype)
            self.expect_same(torch.matmul, [a, b], f"rows {dtype}")
            a, b = operands([(2, 1, 7, 19), (5, 19, 11)], dtype)
            self.expect_same(torch.matmul, [a, b], f"broadcast {dtype}")

    def test_vectors(self):
        a, v, w, m = operands([(19, 23), (23,), (19,), (3, 23, 5)])
        self.expect_same(torch.mv, [a, v], "mv")
        self.expect_same(lambda w, a, v: torch.addmv(w, a, v, beta=0.5, alpha=3), [w, a, v], "addmv")
        whole = [torch.randint(-9, 9, size) for size in ((5,), (5, 7), (7,))]
        want = torch.addmv(*whole, beta=0.6, alpha=2.5)
        got = torch.addmv(*(tensor.to(common.DEVICE) for tensor in whole), beta=0.6, alpha=2.5).cpu()
        self.assertTrue(torch.equal(got, want), "addmv of whole numbers: factors are cut")
        self.expect_same(torch.dot, [v, v * 2], "dot")
        self.expect_same(torch.matmul, [v, m], "vector times matrices")
        self.expect_same(torch.matmul, [m.transpose(1, 2).contiguous(), v], "matrices times vector")

    def test_sums_of_products(self):
        for dtype in TYPES:
            a, b, c, v, w = operands([(3, 17, 20), (3, 20, 9), (17, 9), (17,), (9,)], dtype)
            for beta, alpha in [(1, 1), (0.5, -2), (0, 1.5)]:
                self.expect_same(lambda c, a, b, beta=beta, alpha=alpha: torch.addbmm(c, a, b, beta=beta, alpha=alpha), [c, a, b], f"addbmm {dtype} {beta}")
                self.expect_same(lambda c, v, w, beta=beta, alpha=alpha: torch.addr(c, v, w, beta=beta, alpha=alpha), [c, v, w], f"addr {dtype} {beta}")
            c[::2] = float("nan")  # beta 0 leaves self out, NaN and all
            no_self = [lambda c, a, b: torch.addbmm(c, a, b, beta=0), lambda c, a, b: torch.addbmm(c, a[:0], b[:0], beta=0)]
            for function, operand in [(no_self[0], [a, b]), (no_self[1], [a, b]), (lambda c, v, w: torch.addr(c, v, w, beta=0), [v, w])]:
                got = function(*(tensor.to(common.DEVICE) for tensor in [c, *operand]))
                want = function(*(tensor.float() for tensor in [c, *operand]))
                self.expect_close(got.float(), want, rtol=BOUND[dtype], atol=BOUND[dtype] * max(1.0, float(want.abs().max())), what=f"NaN {dtype}")

    def test_addr_of_integers(self):
        for dtype in [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool]:
            generator = torch.Generator().manual_seed(3)
            c, v, w = (torch.randint(0, 99, shape, generator=generator).to(dtype) for shape in [(5, 7), (5,), (7,)])
            for beta, alpha in [(1, 1), (3, 5), (0, 2)]:
                got = torch.addr(*(tensor.to(common.DEVICE) for tensor in [c, v, w]), beta=beta, alpha=alpha)
                self.assertTrue(torch.equal(got.cpu(), torch.addr(c, v, w, beta=beta, alpha=alpha)), f"{dtype} {beta} {alpha}")


common.main()
