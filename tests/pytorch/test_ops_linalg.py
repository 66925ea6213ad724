# SPDX-License-Identifier: Apache-2.0
"""Decompositions of matrices, inverses and distances, against the CPU or against what they are decompositions of."""

import torch

import common


class Linalg(common.Case):
    def setUp(self):
        common.seed()

    def test_cholesky(self):
        for shape in ((1, 1), (5, 5), (2, 3, 17, 17)):
            x = torch.randn(shape)
            x = x @ x.mT + torch.eye(shape[-1])
            for upper in (False, True):
                self.check(f"cholesky {shape} {upper}", lambda a: torch.linalg.cholesky(a, upper=upper), x, tol=1e-5)

    def test_inverse(self):
        for shape in ((1, 1), (4, 4), (3, 16, 16)):
            x = torch.randn(shape) + 3 * torch.eye(shape[-1])
            self.check(f"inverse {shape}", torch.inverse, x, tol=1e-4)
        turned = torch.tensor([[0.0, 2.0, 0.0], [0.0, 0.0, 4.0], [1.0, 0.0, 0.0]])
        self.check("pivots", torch.inverse, turned, tol=0)

    def test_qr(self):
        for shape in ((3, 3), (7, 4), (4, 7), (2, 5, 5), (6, 1)):
            for mode in ("reduced", "complete", "r"):
                self.check(f"qr {shape} {mode}", lambda a: tuple(torch.linalg.qr(a, mode=mode)), torch.randn(shape), tol=1e-5)

    def test_svd(self):
        for shape in ((3, 3), (9, 4), (4, 9), (2, 6, 6)):
            x = torch.randn(shape)
            self.check(f"singular values {shape}", torch.linalg.svdvals, x, tol=1e-5)
            u, sigma, v = torch.linalg.svd(x.to(common.DEVICE), full_matrices=False)
            self.expect_close((u * sigma.unsqueeze(-2)).cpu() @ v.cpu(), x, rtol=1e-4, atol=1e-5, what=f"svd {shape}")
            least = min(shape[-2:])
            self.expect_close(u.cpu().mT @ u.cpu(), torch.eye(least).expand(*shape[:-2], least, least), rtol=0, atol=1e-5, what="u")
            self.expect_close(v.cpu() @ v.cpu().mT, torch.eye(least).expand(*shape[:-2], least, least), rtol=0, atol=1e-5, what="v")

    def test_distances(self):
        a, b = torch.randn(2, 6, 5), torch.randn(2, 9, 5)
        for p in (0.0, 1.0, 2.0, 3.5, float("inf")):
            self.check(f"cdist {p}", lambda x, y: torch.cdist(x, y, p=p, compute_mode="donot_use_mm_for_euclid_dist"), a, b, tol=1e-5)
        self.check("cdist of matrices", torch.cdist, a[0], b[0], tol=1e-4)
        for p in (1.0, 2.0, 3.0):
            self.check(f"pdist {p}", lambda x: torch.pdist(x, p), a[0], tol=1e-5)
            self.check(f"gradient of cdist {p}", self.gradient(lambda x, y: torch.cdist(x, y, p=p)), a, b, tol=1e-4)
            self.check(f"gradient of cdist {p} of one batch and several", self.gradient(lambda x, y: torch.cdist(x, y, p=p)), a[0], b,
                       tol=1e-4)
            self.check(f"gradient of cdist {p} and no batch", self.gradient(lambda x, y: torch.cdist(x, y, p=p)), a[0], b[:0])
        wide, other = torch.randn(2, 41, 19), torch.randn(2, 30, 19)
        other[:, 3] = wide[:, 5]  # of distance 0
        for p in (1.0, 2.0, float("inf")):
            self.check(f"cdist {p} of more", lambda x, y: torch.cdist(x, y, p=p, compute_mode="donot_use_mm_for_euclid_dist"), wide, other, tol=1e-5)
            self.check(f"gradient of cdist {p} of more", self.gradient(lambda x, y: torch.cdist(x, y, p=p)), wide, other, tol=1e-4)

    def test_triangular(self):
        a, b = torch.randn(2, 5, 5) + 3 * torch.eye(5), torch.randn(2, 5, 3)
        for upper in (False, True):
            for turned in (False, True):
                for unit in (False, True):
                    self.check(f"triangular {upper} {turned} {unit}", lambda x, y: torch.triangular_solve(
                        x, y, upper=upper, transpose=turned, unitriangular=unit)[0], b, a, tol=1e-4)


common.main()
