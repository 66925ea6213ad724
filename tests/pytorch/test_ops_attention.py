# SPDX-License-Identifier: Apache-2.0
"""Attention, forward and gradients, against products and softmax in float32 on the CPU."""

import math

import torch
import torch.nn.functional as F

import common

TYPES = [torch.float32, torch.float16] + ([torch.bfloat16] if common.HAS_BF16 else [])
# The first 910 multiplies float32 matrices as half; bfloat16 rounds weights and results to 8 bits.
BOUND = {torch.float32: 2e-4 if common.HAS_BF16 else 1e-2, torch.float16: 1e-2, torch.bfloat16: 5e-2}


class Attention(common.Case):
    def setUp(self):
        common.seed()

    def both(self, name, run, *tensors, dtype=torch.float32, reference=None):
        """Result and gradients of `run` on the device against those of `reference` (or `run`) in float32 on the CPU."""
        results = []
        for device in ("cpu", common.DEVICE):
            leaves = [t.float() if device == "cpu" and t.is_floating_point() else t for t in tensors]
            leaves = [t.detach().to(device).requires_grad_(t.is_floating_point()) for t in leaves]
            out = (reference or run)(*leaves) if device == "cpu" else run(*leaves)
            out.backward(torch.linspace(-1, 1, out.numel(), device=device).view(out.shape).to(out.dtype))
            results.append([out, *(leaf.grad for leaf in leaves if leaf.requires_grad)])
        for number, (want, got) in enumerate(zip(*results)):
            scale = max(1.0, float(want.detach().abs().max()))
            self.expect_close(got, want, rtol=BOUND[dtype], atol=BOUND[dtype] * scale, what=f"{name} {dtype}, tensor {number}")

    def test_plain(self):
        for dtype in TYPES:
            for shape, keys in (((2, 4, 17, 16), 17), ((1, 2, 33, 64), 20), ((3, 1, 1, 8), 50), ((2, 3, 130, 32), 130)):
                q = torch.randn(shape).to(dtype)
                k, v = (torch.randn(*shape[:2], keys, shape[3]).to(dtype) for _ in range(2))
                self.both(f"{shape} {keys}", F.scaled_dot_product_attention, q, k, v, dtype=dtype)

    def test_masks(self):
        for dtype in TYPES:
            q, k, v = (torch.randn(2, 4, 32, 16).to(dtype) for _ in range(3))
            self.both("causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), q, k, v, dtype=dtype)
            for shape in ((32, 32), (2, 1, 32, 32), (2, 4, 32, 32), (1, 1, 32, 32)):
                mask = torch.rand(shape) > 0.3
                mask[..., 0] = True
                self.both(f"mask {shape}", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m), q, k, v, mask,
                          dtype=dtype)

    def test_strides(self):
        qkv = torch.randn(2, 17, 3, 4, 16)
        self.both("slices of one tensor", lambda a: F.scaled_dot_product_attention(*[a[:, :, i].transpose(1, 2) for i in range(3)]),
                  qkv)

    @common.npu_only
    def test_layouts(self):
        if not common.HAS_BF16:
            return  # the fused operator is one of the second generation
        heads, features = 4, 16
        orders = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "SBH": (2, 0, 1, 3)}
        for keys_heads in (4, 2, 1):
            base = [torch.randn(2, n, 20, features) for n in (heads, keys_heads, keys_heads)]
            for layout, order in orders.items():
                def seen(t, layout=layout, order=order):
                    t = t.permute(order)
                    return t.flatten(2) if layout.endswith("H") else t

                def run(q, k, v):
                    return common.torch_npu.npu_fusion_attention(seen(q), seen(k), seen(v), heads, layout,
                                                          scale=1 / math.sqrt(features))[0]

                def reference(q, k, v):
                    k, v = (t.repeat_interleave(heads // keys_heads, 1) for t in (k, v))
                    return seen(F.scaled_dot_product_attention(q, k, v))

                self.both(f"{layout} {keys_heads}", run, *base, reference=reference)

    @common.npu_only
    def test_bands(self):
        if not common.HAS_BF16:
            return
        q, k, v = (torch.randn(1, 2, n, 16) for n in (24, 40, 40))
        pattern = torch.ones(2048, 2048, dtype=torch.bool).triu(1)
        distance = torch.arange(40)[None, :] - torch.arange(24)[:, None]
        for mode, before, after, hidden in ((2, 2**31 - 1, 0, distance > 0), (3, 2**31 - 1, 0, distance > 16),
                                            (4, 5, 3, (distance - 16 > 3) | (distance - 16 < -5))):
            def run(q, k, v):
                return common.torch_npu.npu_fusion_attention(q, k, v, 2, "BNSD", atten_mask=pattern.to(q.device), scale=0.25,
                                                      sparse_mode=mode, pre_tockens=before, next_tockens=after)[0]
            self.both(f"mode {mode}", run, q, k, v, reference=lambda q, k, v: F.scaled_dot_product_attention(
                q, k, v, attn_mask=~hidden, scale=0.25))

    def test_dropout(self):
        q, k, v = (torch.randn(2, 4, 32, 16).to(common.DEVICE) for _ in range(3))
        common.card.manual_seed(3)
        ones = F.scaled_dot_product_attention(q, k, torch.ones_like(v), dropout_p=0.25)
        # Sums of kept weights, divided by 0.75: 1 on average over 256 rows.
        self.assertLess(abs(float(ones.mean()) - 1), 0.05)
        self.assertGreater(float(ones.std()), 0.02)
        common.card.manual_seed(3)
        self.assertTrue(torch.equal(ones, F.scaled_dot_product_attention(q, k, torch.ones_like(v), dropout_p=0.25)))
        # The gradient of v sees the same bits: sum(dv) over keys is the sum of the rows' kept weights.
        v.requires_grad_()
        common.card.manual_seed(3)
        F.scaled_dot_product_attention(q, k, v, dropout_p=0.25).sum().backward()
        self.expect_close(v.grad[..., 0].sum(), ones[..., 0].sum(), rtol=1e-3, what="dropped weights in the gradient")


common.main()
