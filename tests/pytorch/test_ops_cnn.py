# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pooling, forward and gradients, against the CPU.

Bounds: where the chip multiplies in half precision (910A), in the types of the half kinds, and in HF32 (910B1,
convolutions: 11 bits) the inputs are rounded; sums are of at most a few hundred products of size 1.
"""

import torch
import torch.nn.functional as F

import common


def operands(shapes, dtype=torch.float32, number=1):
    generator = torch.Generator().manual_seed(number)
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


class Cnn(common.Case):
    def expect_same(self, function, tensors, what, rtol=2e-2, atol=2e-2):
        """function(*tensors) and its gradients by every tensor, on both."""
        results = []
        for device in ("cpu", common.DEVICE):
            leaves = [tensor.detach().to(device).requires_grad_() for tensor in tensors]
            out = function(*leaves)
            seed = operands([out.shape], out.dtype, 7)[0].to(device)
            results.append([out, *torch.autograd.grad(out, leaves, seed)])
        for index, (want, got) in enumerate(zip(*results)):
            scale = max(1.0, float(want.abs().max()))
            self.expect_close(got, want, rtol=rtol, atol=atol * scale, what=f"{what}, {'out' if index == 0 else f'gradient {index}'}")

    def test_convolution(self):
        cases = [
            ((8, 1, 28, 28), (6, 1, 5, 5), dict(padding=2)),
            ((8, 6, 14, 14), (16, 6, 5, 5), dict()),
            ((2, 16, 9, 11), (24, 16, 3, 3), dict(stride=2, padding=1)),
            ((2, 3, 23, 17), (8, 3, 7, 7), dict(stride=2, padding=3)),
            ((2, 8, 7, 7), (32, 8, 1, 1), dict()),
            ((2, 8, 8, 9), (16, 8, 1, 1), dict(stride=2)),
            ((2, 12, 9, 9), (12, 1, 3, 3), dict(padding=1, groups=12)),
            ((2, 12, 9, 9), (24, 4, 3, 3), dict(padding=1, groups=3, stride=2)),
            ((1, 4, 13, 15), (5, 4, 3, 2), dict(padding=(2, 1), dilation=(2, 3))),
        ]
        for x, w, options in cases:
            for bias in (False, True):
                shapes = [x, w] + ([(w[0],)] if bias else [])
                self.expect_same(lambda *t: F.conv2d(*t, **options), operands(shapes), f"conv2d {x} {w} {options}")

    def test_convolution_of_other_ranks_and_types(self):
        self.expect_same(lambda *t: F.conv1d(*t, stride=2, padding=1), operands([(2, 4, 19), (6, 4, 3), (6,)]), "conv1d")
        self.expect_same(lambda *t: F.conv3d(*t, padding=1), operands([(2, 3, 5, 6, 7), (4, 3, 3, 2, 3), (4,)]), "conv3d")
        for dtype in [torch.float16] + ([torch.bfloat16] if common.HAS_BF16 else []):
            self.expect_same(lambda *t: F.conv2d(*t, padding=1), operands([(2, 8, 9, 9), (16, 8, 3, 3), (16,)], dtype), str(dtype))

    def test_convolution_of_integers_is_refused(self):
        x = torch.ones(1, 2, 3, 3, dtype=torch.int64, device=common.DEVICE)
        with self.assertRaisesRegex(RuntimeError, "NOT_SUPPORTED" if common.KIND == "mlu" else "input has type i64"):
            F.conv2d(x, x)

    def test_transposed_convolution(self):
        for x, w, options in [
            ((2, 8, 5, 6), (8, 4, 2, 2), dict(stride=2)),
            ((2, 8, 5, 6), (8, 4, 3, 3), dict(stride=2, padding=1, output_padding=1)),
            ((2, 6, 5, 6), (6, 2, 4, 3), dict(stride=(1, 3), groups=3, dilation=2)),
        ]:
            channels = w[1] * options.get("groups", 1)
            self.expect_same(lambda *t: F.conv_transpose2d(*t, **options), operands([x, w, (channels,)]), f"transposed {x} {w} {options}")

    def test_a_strided_input(self):
        x, w = operands([(9, 2, 9, 4), (6, 4, 3, 3)])
        self.expect_same(lambda x, w: F.conv2d(x.permute(1, 3, 0, 2), w.transpose(2, 3)), [x, w], "permuted")

    def test_pooling(self):
        for shape in [(2, 3, 9, 9), (2, 16, 16, 16), (3, 11, 10)]:
            x = operands([shape])
            for options in [dict(kernel_size=2), dict(kernel_size=3, stride=2, padding=1), dict(kernel_size=3, stride=2, ceil_mode=True),
                            dict(kernel_size=(1, 1), stride=2), dict(kernel_size=5, stride=1, padding=2)]:
                self.expect_same(lambda x: F.max_pool2d(x, **options), x, f"max_pool2d {shape} {options}", 1e-6, 1e-6)
                self.expect_same(lambda x: F.avg_pool2d(x, **options), x, f"avg_pool2d {shape} {options}", 1e-5, 1e-6)
            self.expect_same(lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), x, "avg_pool2d", 1e-5, 1e-6)
            self.expect_same(lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=5), x, "avg_pool2d", 1e-5, 1e-6)
            for size in [(3, 4), (7, 7), (9, 2)]:
                self.expect_same(lambda x: F.adaptive_avg_pool2d(x, size), x, f"adaptive_avg_pool2d {size}", 1e-5, 1e-6)
                self.expect_same(lambda x: F.adaptive_max_pool2d(x, size), x, f"adaptive_max_pool2d {size}", 1e-6, 1e-6)
        self.expect_same(lambda x: F.max_pool2d(x, 3, 2, 1), operands([(2, 3, 9, 9)], torch.float16), "max_pool2d f16", 1e-3, 1e-3)

    @common.npu_only
    def test_regions(self):
        # The example of torch_npu's own documentation.
        x = torch.arange(1.0, 37.0).view(1, 1, 6, 6).to(common.DEVICE)
        rois = torch.tensor([[0, -2.0, -2.0, 22.0, 22.0]]).to(common.DEVICE)
        out = common.torch_npu.npu_roi_align(x, rois, 0.25, 3, 3, 2, 0).cpu()
        self.assertEqual(out.flatten().tolist(), [4.5, 6.5, 8.5, 16.5, 18.5, 20.5, 28.5, 30.5, 32.5])
        # Mode 3 is what torch_npu's own module sends for aligned regions.
        aligned = [common.torch_npu.npu_roi_align(x, rois, 0.25, 3, 3, 2, mode).cpu() for mode in (2, 3)]
        self.assertTrue(torch.equal(*aligned))
        back = common.torch_npu.npu_roi_alignbk(torch.ones(1, 1, 3, 3).to(common.DEVICE), rois, [1, 1, 6, 6], 3, 3, 0.25, 2, 0)
        self.assertAlmostEqual(float(back.sum()), 9.0, places=4)

    @common.npu_only
    def test_boxes(self):
        boxes, scores = torch.rand(100, 4) * 50, torch.rand(100)
        boxes[:, 2:] += boxes[:, :2]
        area = (boxes[:, 2:] - boxes[:, :2]).prod(1)
        common_size = (torch.minimum(boxes[:, None, 2:], boxes[:, 2:]) - torch.maximum(boxes[:, None, :2], boxes[:, :2])).clamp(0)
        both = common_size.prod(2)
        over = both / (area[:, None] + area - both)
        want = []
        for at in scores.argsort(descending=True).tolist():
            if scores[at] > 0.3 and all(over[at, other] <= 0.5 for other in want):
                want.append(at)
        got, count = common.torch_npu.npu_nms_v4(boxes.to(common.DEVICE), scores.to(common.DEVICE), 20, torch.tensor(0.5).to(common.DEVICE),
                                          torch.tensor(0.3).to(common.DEVICE))
        self.assertEqual(got.cpu()[:int(count)].tolist(), want[:20])


common.main()
