# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts, quantised layers and attention of inference as torch_npu calls them, beside plain PyTorch on the CPU."""

import unittest

import torch
import torch_npu


def npu(tensor):
    return tensor.npu()


class Inference(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def near(self, got, want, part=2e-2):
        """`part` of the largest element that is wanted."""
        error = (got.cpu().float() - want.float()).abs().max().item()
        self.assertLessEqual(error, part * max(1.0, want.abs().max().item()))

    def same(self, got, want):
        self.assertTrue(torch.equal(got.cpu(), want.to(got.dtype)))


class Experts(Inference):
    def test_groups_have_products(self):
        x, w = torch.randn(10, 16).bfloat16(), torch.randn(3, 16, 8).bfloat16()
        want = torch.cat([x[:4].float() @ w[0].float(), x[4:].float() @ w[2].float()])
        for kind, groups in enumerate([[4, 4, 10], [4, 0, 6]]):
            for weight in (npu(w), npu(w.transpose(1, 2).contiguous()).transpose(1, 2)):
                got = torch_npu.npu_grouped_matmul([npu(x)], [weight], group_list=npu(torch.tensor(groups)), split_item=3,
                                                   group_type=0, group_list_type=kind)[0]
                self.near(got, want)
        got = torch_npu.npu_grouped_matmul([npu(x)], [npu(w[0])], split_item=0, group_type=-1)[0]
        self.near(got, x.float() @ w[0].float())

    def test_groups_of_bytes(self):
        x, w = (torch.randint(-128, 128, shape).to(torch.int8) for shape in ((6, 32), (2, 32, 8)))
        scale, row = torch.rand(2, 8) / 1000, torch.rand(6)
        got = torch_npu.npu_grouped_matmul([npu(x)], [npu(w)], scale=[npu(scale.bfloat16())], per_token_scale=[npu(row)],
                                           group_list=npu(torch.tensor([2, 4])), split_item=2, group_type=0, group_list_type=1,
                                           output_dtype=torch.bfloat16)[0]
        sums = torch.cat([x[:2].float() @ w[0].float(), x[2:].float() @ w[1].float()])
        scales = scale.bfloat16().float()[[0, 0, 1, 1, 1, 1]]
        self.near(got, sums * scales * row[:, None])

    def test_tokens_go_to_experts_and_back(self):
        x, probs, experts = torch.randn(6, 16), torch.rand(6, 2), torch.randint(0, 4, (6, 2))
        order = torch.argsort(experts.view(-1), stable=True)
        a, p = npu(x).requires_grad_(), npu(probs).requires_grad_()
        rows, places = torch_npu.npu_moe_token_permute(a, npu(experts))
        self.same(rows, x[order // 2])
        self.same(places, torch.argsort(order))
        out = torch_npu.npu_moe_token_unpermute(rows, places, p)
        self.near(out, x * probs.sum(1, keepdim=True), 1e-5)
        out.sum().backward()
        self.near(a.grad, probs.sum(1, keepdim=True).expand(6, 16), 1e-5)
        self.near(p.grad, x.sum(1, keepdim=True).expand(6, 2), 1e-5)

    def test_a_layer_of_experts(self):
        x, logits = torch.randn(7, 16).half(), torch.randn(7, 4)
        w = torch.randn(4, 16, 16).half()
        probs, experts, _ = torch_npu.npu_moe_gating_top_k_softmax(npu(logits), None, 2)
        want_probs, want_experts = torch.topk(logits.softmax(-1), 2)
        self.near(probs, want_probs, 1e-5)
        self.same(experts, want_experts)
        rows, places, counts, _ = torch_npu.npu_moe_init_routing_v2(
            npu(x), experts, active_num=14, expert_num=4, expert_tokens_num_type=1, expert_tokens_num_flag=True,
            active_expert_range=[0, 4], quant_mode=-1, row_idx_type=0)
        self.same(counts, torch.bincount(want_experts.view(-1), minlength=4))
        made = torch_npu.npu_grouped_matmul([rows], [npu(w)], group_list=counts, split_item=3, group_type=0, group_list_type=1)[0]
        out = torch_npu.npu_moe_finalize_routing(made, None, None, None, probs.half(), places, None, drop_pad_mode=2)
        each = torch.stack([torch.stack([x[t].float() @ w[e].float() for e in want_experts[t]]) for t in range(7)])
        self.near(out, (each * want_probs[..., None]).sum(1))


class Quantised(Inference):
    def test_rows_have_scales(self):
        x = torch.randn(5, 32).half()
        y, scale = torch_npu.npu_dynamic_quant(npu(x))
        self.near(y.float() * scale[:, None], x)
        y, scale, offset = torch_npu.npu_dynamic_quant_asymmetric(npu(x))
        self.near((y.float() - offset[:, None]) * scale[:, None], x)

    def test_products_of_bytes(self):
        a, b = (torch.randint(-128, 128, shape).to(torch.int8) for shape in ((5, 64), (64, 8)))
        scale, row = torch.rand(8) / 1000, torch.rand(5)
        sums = a.float() @ b.float()
        got = torch_npu.npu_quant_matmul(npu(a), npu(b), npu(scale), output_dtype=torch.float16)
        self.near(got, sums * scale)
        for weight in (npu(b), npu(b.t().contiguous()).t()):
            got = torch_npu.npu_quant_matmul(npu(a), weight, npu(scale), pertoken_scale=npu(row), output_dtype=torch.float16)
            self.near(got, sums * scale * row[:, None])
        got = torch_npu.npu_quant_matmul(npu(a), npu(b), npu(scale), offset=npu(torch.tensor([3.0])))
        self.near(got, (sums * scale + 3).round().clamp(-128, 127), 0.6 / 128)
        x = torch.randn(5, 64).half()
        self.near(torch_npu.npu_weight_quant_batchmatmul(npu(x), npu(b), npu(scale.half())),
                  x.float() @ (b.float() * scale.half().float()))

    def test_norms_and_gates(self):
        a, b, gamma = torch.randn(5, 32).half(), torch.randn(5, 32).half(), torch.randn(32).half()
        x = a.float() + b.float()
        norm = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * gamma.float()
        self.near(torch_npu.npu_add_rms_norm_cast(npu(a), npu(b), npu(gamma))[0], norm, 1e-5)
        y, _, _, scale, _ = torch_npu.npu_add_rms_norm_dynamic_quant(npu(a), npu(b), npu(gamma))
        self.near(y.float() * scale[:, None], norm)
        gated = torch.nn.functional.silu(a[:, :16].float()) * a[:, 16:].float()
        y, factor = torch_npu.npu_swiglu_quant(npu(a), activate_left=True, quant_mode=1)
        self.near(y.float() / factor[:, None], gated)


class Attention(Inference):
    def setUp(self):
        super().setUp()
        self.q, self.k, self.v = torch.randn(2, 4, 10, 32).half(), torch.randn(2, 2, 20, 32).half(), torch.randn(2, 2, 20, 32).half()
        keys, values = (t.repeat_interleave(2, 1).float() for t in (self.k, self.v))
        self.scores = (self.q.float() @ keys.mT) * 0.17
        self.want = self.scores.softmax(-1) @ values
        self.heads = {"num_heads": 4, "num_key_value_heads": 2, "input_layout": "BNSD"}

    def test_prompts(self):
        args = [npu(t) for t in (self.q, self.k, self.v)]
        self.near(torch_npu.npu_prompt_flash_attention(*args, scale_value=0.17, **self.heads), self.want)
        out, lse = torch_npu.npu_fused_infer_attention_score(*args, scale=0.17, softmax_lse_flag=True, **self.heads)
        self.near(out, self.want)
        self.near(lse.squeeze(-1), self.scores.logsumexp(-1), 1e-4)

    def test_one_query(self):
        got = torch_npu.npu_incre_flash_attention(npu(self.q[:, :, :1].contiguous()), npu(self.k), npu(self.v), scale_value=0.17,
                                                  **self.heads)
        self.near(got, self.want[:, :, :1])

    def test_keys_in_pages(self):
        pages, table, lengths = torch.randn(2, 5, 16, 64).half(), torch.tensor([[3, 1], [0, 4]]).int(), [20, 30]
        q = torch.randn(2, 1, 128).half()
        got, _ = torch_npu.npu_fused_infer_attention_score(
            npu(q), npu(pages[0]), npu(pages[1]), num_heads=4, scale=0.17, input_layout="BSH", num_key_value_heads=2,
            block_table=npu(table), block_size=16, actual_seq_lengths_kv=lengths)
        for member, length in enumerate(lengths):
            k, v = (t[table[member].long()].reshape(32, 2, 32)[:length].repeat_interleave(2, 1).float() for t in pages)
            weights = (torch.einsum("hd,lhd->hl", q[member, 0].view(4, 32).float(), k) * 0.17).softmax(-1)
            self.near(got[member, 0], torch.einsum("hl,lhd->hd", weights, v).reshape(128))

    def test_a_cache_of_latent_keys(self):
        kv, gamma = torch.randn(3, 1, 1, 576).half(), torch.randn(512).half()
        cos, sin = torch.randn(3, 1, 1, 64).half(), torch.randn(3, 1, 1, 64).half()
        keys, values = torch.zeros(4, 16, 1, 64).half().npu(), torch.zeros(4, 16, 1, 512).half().npu()
        torch_npu.npu_kv_rmsnorm_rope_cache(npu(kv), npu(gamma), npu(cos), npu(sin), npu(torch.tensor([5, -1, 33])), keys, values,
                                            epsilon=1e-5, cache_mode="PA_BNSD", is_output_kv=True)
        x = kv[..., :512].float()
        norm = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * gamma.float()
        want = torch.zeros(64, 512)
        want[5], want[33] = norm[0, 0, 0], norm[2, 0, 0]
        self.near(values.view(64, 512), want)


if __name__ == "__main__":
    unittest.main()
