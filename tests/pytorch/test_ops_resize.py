# SPDX-License-Identifier: Apache-2.0
"""Resizing, padding and sampling, forward and gradients, against the CPU."""

import torch
import torch.nn.functional as F

import common

TYPES = [torch.float32, torch.float16] + ([torch.bfloat16] if common.HAS_BF16 else [])
BOUND = {torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}
PLANES = {1: (2, 3, 7), 2: (2, 3, 5, 6), 3: (1, 2, 3, 4, 5)}


class Resize(common.Case):
    def setUp(self):
        common.seed()

    def both(self, name, function, *args, dtype=torch.float32):
        """Result and gradient by the first argument; the CPU computes in float32."""
        wide = [arg.float() if torch.is_tensor(arg) and arg.is_floating_point() else arg for arg in args]
        for what, run in (("", function), (" gradient", self.gradient(function))):
            want = run(*wide)
            got = run(*[arg.to(common.DEVICE) if torch.is_tensor(arg) else arg for arg in args])
            self.assertEqual((got.dtype, got.shape), (dtype, want.shape), name)
            self.expect_close(got, want, rtol=BOUND[dtype], atol=BOUND[dtype], what=f"{name} {dtype}{what}")

    def test_interpolate(self):
        modes = {1: ("nearest", "nearest-exact", "linear"), 2: ("nearest", "nearest-exact", "bilinear", "bicubic"),
                 3: ("nearest", "nearest-exact", "trilinear")}
        for dims, names in modes.items():
            for dtype in TYPES:
                x = torch.randn(PLANES[dims]).to(dtype)
                for mode in names:
                    for options in ({"scale_factor": 2}, {"scale_factor": 1.7}, {"scale_factor": 0.6}, {"size": (9, 4, 7)[:dims]},
                                    {"size": (1, 13, 3)[:dims]}):
                        for align in ((False,) if mode.startswith("nearest") else (False, True)):
                            call = dict(options, mode=mode)
                            if not mode.startswith("nearest"):
                                call["align_corners"] = align
                            self.both(f"{dims} {call}", lambda a, c=call: F.interpolate(a, **c), x, dtype=dtype)

    def test_rows(self):
        """Maps large enough for whole rows of the vector unit."""
        shapes = {1: (3, 16, 500), 2: (2, 17, 33, 29), 3: (2, 9, 7, 12, 10)}
        modes = {1: ("nearest-exact", "linear"), 2: ("nearest", "bilinear", "bicubic"), 3: ("nearest", "trilinear")}
        pools = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
        for dims, shape in shapes.items():
            for dtype in TYPES:
                x = torch.randn(shape).to(dtype)
                for mode in modes[dims]:
                    for options in ({"scale_factor": 2}, {"scale_factor": 0.6}, {"size": (64, 50, 7)[:dims]}):
                        call = dict(options, mode=mode)
                        self.both(f"{dims} {call}", lambda a, c=call: F.interpolate(a, **c), x, dtype=dtype)
                for size in ((5, 7, 3), (1, 6, 10), (11, 31, 4)):
                    size = size[:dims] if dims > 1 else size[0]
                    self.both(f"shares {size}", lambda a: pools[dims](a, size), x, dtype=dtype)
                for mode in ("reflect", "replicate", "circular"):
                    self.both(f"{mode} {dims}", lambda a: F.pad(a, (2, 3, 0, 1, 3, 2)[:2 * dims], mode=mode), x, dtype=dtype)
        for options in ({"stride": 2}, {"stride": (1, 2, 1), "padding": 1}, {"padding": 1, "count_include_pad": False},
                        {"ceil_mode": True, "divisor_override": 5}):
            self.both(f"windows {options}", lambda a: F.avg_pool3d(a, 3, **options), torch.randn(2, 9, 8, 13, 10))
        x = torch.randn(4, 8, 32, 32)
        x[0, 0, 3, 3], x[1, 1, 0, 0], x[2, 2] = float("inf"), float("nan"), -0.0
        for mode in ("nearest", "bilinear"):
            self.check(f"special values {mode}", lambda a: F.interpolate(a, scale_factor=2, mode=mode), x, tol=1e-6)

    def test_antialias(self):
        for mode in ("bilinear", "bicubic"):
            for size in ((3, 3), (2, 11), (17, 23)):
                for align in (False, True):
                    self.both(f"{mode} {size} {align}", lambda a: F.interpolate(a, size=size, mode=mode, align_corners=align,
                                                                                antialias=True), torch.randn(2, 3, 16, 21))

    def test_layouts(self):
        x = torch.randn(2, 6, 5, 7)
        for mode in ("nearest", "bilinear"):
            self.both(mode, lambda a: F.interpolate(a.transpose(1, 3), scale_factor=2, mode=mode), x)
            self.both(mode, lambda a: F.interpolate(a[:, 1:4, ::2], scale_factor=2, mode=mode), x)
        self.both("reflect", lambda a: F.pad(a.transpose(2, 3), (2, 1, 1, 2), mode="reflect"), x)

    def test_pads(self):
        pads = {1: [(1, 2), (0, 3), (4, 0)], 2: [(1, 2, 2, 1), (0, 0, 3, 0), (4, 3, 2, 1)], 3: [(1, 1, 1, 1, 1, 1), (2, 0, 0, 3, 1, 2)]}
        for dims, lists in pads.items():
            for pad in lists:
                for mode in ("reflect", "replicate", "circular"):
                    for dtype in TYPES:
                        self.both(f"{mode} {pad}", lambda a: F.pad(a, pad, mode=mode), torch.randn(PLANES[dims]).to(dtype),
                                  dtype=dtype)
        self.both("without batch", lambda a: F.pad(a, (1, 2), mode="reflect"), torch.randn(3, 6))
        self.check("integers", lambda a: F.pad(a, (1, 2), mode="replicate"), torch.randint(-2**60, 2**60, (2, 3, 5)))

    def test_windows(self):
        for dtype in TYPES:
            x = torch.randn(2, 3, 7, 9).to(dtype)
            for options in ({"kernel_size": 3, "padding": 1}, {"kernel_size": (2, 3), "dilation": (3, 2), "stride": (2, 1)},
                            {"kernel_size": 1, "stride": 3}, {"kernel_size": (7, 9)}):
                self.both(f"unfold {options}", lambda a: F.unfold(a, **options), x, dtype=dtype)
            self.both("fold", lambda a: F.fold(a, (7, 9), (3, 2), padding=1, stride=2), torch.randn(2, 18, 20).to(dtype),
                      dtype=dtype)
        self.both("without batch", lambda a: F.unfold(a, 2), torch.randn(3, 5, 4))
        if common.HAS_BF16:  # torch_npu computes this gradient on the CPU for the first generation
            self.both("windows of a dimension", lambda a: a.unfold(1, 3, 2) * 2, torch.randn(4, 9, 2))

    def test_grid_sample(self):
        x, grid = torch.randn(2, 3, 6, 5), torch.rand(2, 4, 7, 2) * 2.8 - 1.4
        for mode in ("bilinear", "nearest", "bicubic"):
            for padding in ("zeros", "border", "reflection"):
                for align in (False, True):
                    what = f"{mode} {padding} {align}"
                    def sample(a, g, m=mode, p=padding, c=align):
                        return F.grid_sample(a, g, m, p, c)
                    self.both(what, sample, x, grid)
                    if mode != "nearest":  # its gradient by the grid is 0, which PyTorch need not ask for
                        self.both(f"{what} by the grid", lambda g, a: sample(a, g), grid, x)
        x, grid = torch.randn(2, 3, 4, 5, 6), torch.rand(2, 3, 2, 4, 3) * 2.6 - 1.3
        for mode in ("bilinear", "nearest"):
            for padding in ("zeros", "border", "reflection"):
                self.both(f"volume {mode} {padding}", lambda a, g: F.grid_sample(a, g, mode, padding, False), x, grid)
        self.both("volume by the grid", lambda g, a: F.grid_sample(a, g, align_corners=True), grid, x)

    def test_affine_grid(self):
        for size, theta in (((2, 3, 4, 5), torch.randn(2, 2, 3)), ((2, 3, 4, 5, 1), torch.randn(2, 3, 4))):
            for align in (False, True):
                self.check(f"affine_grid {size} {align}", lambda a: F.affine_grid(a, size, align), theta, tol=1e-5)


common.main()
