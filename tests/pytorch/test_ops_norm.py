# SPDX-License-Identifier: Apache-2.0
"""Normalisations, forward, gradients and running statistics, against the CPU."""

import torch
import torch.nn.functional as F

import common


def operands(shapes, dtype=torch.float32, number=1):
    generator = torch.Generator().manual_seed(number)
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


HALVES = [torch.float16] + ([torch.bfloat16] if common.HAS_BF16 else [])
# Relative to the largest value: float32 of both sides; the halves round results to 11 and 8 bits.
BOUND = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


class Norms(common.Case):
    def expect_same(self, function, tensors, what, bound=None):
        results = []
        for device in ("cpu", common.DEVICE):
            leaves = [tensor.detach().to(device).requires_grad_() for tensor in tensors]
            out = function(*leaves)
            seed = operands([out.shape], out.dtype, 7)[0].to(device)
            results.append([out, *torch.autograd.grad(out, leaves, seed)])
        bound = bound or BOUND[tensors[0].dtype]
        for index, (want, got) in enumerate(zip(*results)):
            scale = max(1.0, float(want.detach().abs().max()))
            self.expect_close(got, want, rtol=bound, atol=bound * scale, what=f"{what}, {'out' if index == 0 else f'gradient {index}'}")

    def test_batch_norm(self):
        for shape in [(4, 3, 5, 7), (8, 17), (2, 20, 9), (2, 5, 3, 4, 5), (2, 64, 16, 16), (3, 7, 61, 67)]:
            for training in (True, False):
                for affine in (True, False):
                    channels = shape[1]
                    results = []
                    for device in ("cpu", common.DEVICE):
                        norm = {1: torch.nn.BatchNorm1d, 2: torch.nn.BatchNorm1d, 3: torch.nn.BatchNorm1d, 4: torch.nn.BatchNorm2d,
                                5: torch.nn.BatchNorm3d}[len(shape)](channels, affine=affine, eps=1e-3, momentum=0.3)
                        norm.running_mean.copy_(operands([(channels,)], number=3)[0])
                        norm.running_var.copy_(operands([(channels,)], number=4)[0].abs() + 0.1)
                        if affine:
                            norm.weight.data.copy_(operands([(channels,)], number=5)[0])
                            norm.bias.data.copy_(operands([(channels,)], number=6)[0])
                        norm = norm.to(device).train(training)
                        x = (operands([shape])[0] * 2 + 3).to(device).requires_grad_()
                        out = norm(x)
                        leaves = [x, *norm.parameters()]
                        seed = operands([shape], number=7)[0].to(device)
                        results.append([out, *torch.autograd.grad(out, leaves, seed), norm.running_mean, norm.running_var])
                    for index, (want, got) in enumerate(zip(*results)):
                        scale = max(1.0, float(want.detach().abs().max()))
                        self.expect_close(got, want, rtol=2e-5, atol=2e-5 * scale, what=f"{shape} training {training} affine {affine} result {index}")

    def test_batch_norm_of_halves_with_float_parameters(self):
        for dtype in HALVES:
            x, w, b = operands([(4, 6, 9, 5)], dtype) + operands([(6,), (6,)], number=2)
            if dtype == torch.bfloat16:
                w, b = w.to(dtype), b.to(dtype)
            self.expect_same(lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), [x, w, b], f"batch_norm {dtype}")

    def test_instance_norm(self):
        self.expect_same(lambda x: F.instance_norm(x), operands([(3, 4, 6, 7)]), "instance_norm")

    def test_layer_norm(self):
        for shape, tail in [((4, 32, 64), (64,)), ((3, 5, 7), (5, 7)), ((2, 17), (17,)), ((129,), (129,)), ((5, 4099), (4099,))]:
            for dtype in [torch.float32, *HALVES]:
                x, w, b = operands([shape, tail, tail], dtype)
                self.expect_same(lambda x, w, b: F.layer_norm(x, tail, w, b), [x, w, b], f"layer_norm {shape} {dtype}")
            self.expect_same(lambda x: F.layer_norm(x, tail), operands([shape]), f"layer_norm {shape}")

    def test_group_norm(self):
        for shape, groups in [((2, 4, 6, 6), 2), ((3, 12, 5), 3), ((2, 6, 1, 1), 2), ((2, 5, 3, 4), 1)]:
            channels = shape[1]
            for dtype in [torch.float32, torch.float16]:
                x, w, b = operands([shape, (channels,), (channels,)], dtype)
                bound = 2e-2 if dtype == torch.float16 else None  # mean and deviation are kept in half
                self.expect_same(lambda x, w, b: F.group_norm(x, groups, w, b), [x, w, b], f"group_norm {shape} {dtype}", bound)
            self.expect_same(lambda x: F.group_norm(x, groups), operands([shape]), f"group_norm {shape}")

    @common.npu_only
    def test_rms_norm(self):
        for shape in [(2, 8), (3, 5, 33)]:
            x, w = operands([shape, shape[-1:]])
            leaves = [x.clone().requires_grad_(), w.clone().requires_grad_()]
            want = leaves[0] * (leaves[0].pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * leaves[1]
            want_gradients = torch.autograd.grad(want, leaves, torch.ones_like(want))
            leaves = [x.to(common.DEVICE).requires_grad_(), w.to(common.DEVICE).requires_grad_()]
            got = common.torch_npu.npu_rms_norm(*leaves, 1e-6)[0]
            gradients = torch.autograd.grad(got, leaves, torch.ones(shape).to(common.DEVICE))
            for one, other in zip([got, *gradients], [want, *want_gradients]):
                self.expect_close(one, other, 2e-5, 2e-5, f"rms_norm {shape}")

    def test_sync_batch_norm_parts(self):
        x, gradient, w, b = (tensor.to(common.DEVICE) for tensor in operands([(4, 5, 6, 7), (4, 5, 6, 7), (5,), (5,)]))
        mean, inverse = torch.batch_norm_stats(x, 1e-5)
        cpu = x.cpu()
        self.expect_close(mean, cpu.mean((0, 2, 3)), 1e-5, 1e-6, "mean")
        self.expect_close(inverse, (cpu.var((0, 2, 3), unbiased=False) + 1e-5).rsqrt(), 1e-5, 1e-6, "invstd")
        half_means, half_inverses = zip(*(torch.batch_norm_stats(part.contiguous(), 1e-5) for part in (x[:1], x[1:])))
        rows = [torch.stack([part.cpu() for part in parts]).to(common.DEVICE) for parts in (half_means, half_inverses)]
        running = [operands([(5,)], number=8)[0].to(common.DEVICE), torch.ones(5).to(common.DEVICE)]
        counts = torch.tensor([42.0, 126.0]).to(common.DEVICE)
        before = [part.cpu() for part in running]
        all_mean, all_inverse = torch.batch_norm_gather_stats_with_counts(x, rows[0], rows[1], running[0], running[1], 0.2, 1e-5, counts)
        self.expect_close(all_mean, mean, 1e-5, 1e-5, "joined mean")
        self.expect_close(all_inverse, inverse, 1e-5, 1e-5, "joined invstd")
        self.expect_close(running[0], before[0] * 0.8 + mean.cpu() * 0.2, 1e-5, 1e-5, "running mean")
        self.expect_close(running[1], before[1] * 0.8 + cpu.var((0, 2, 3)) * 0.2, 1e-5, 1e-5, "running variance")
        out = torch.batch_norm_elemt(x, w, b, mean, inverse, 1e-5)
        leaves = [part.cpu().requires_grad_() for part in (x, w, b)]
        want = F.batch_norm(leaves[0], None, None, leaves[1], leaves[2], True)
        self.expect_close(out, want, 1e-5, 1e-5, "elements")
        grads = torch.autograd.grad(want, leaves, gradient.cpu())
        sum_dy, sum_dy_xmu, grad_w, grad_b = torch.batch_norm_backward_reduce(gradient, x, mean, inverse, w, True, True, True)
        self.expect_close(grad_w, grads[1], 1e-4, 1e-4, "weight")
        self.expect_close(grad_b, grads[2], 1e-4, 1e-4, "bias")
        counter = torch.tensor([4 * 42], dtype=torch.int32).to(common.DEVICE)
        dx = torch.batch_norm_backward_elemt(gradient, x, mean, inverse, w, sum_dy, sum_dy_xmu, counter)
        self.expect_close(dx, grads[0], 1e-4, 1e-4, "input")


common.main()
