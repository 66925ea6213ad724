# SPDX-License-Identifier: Apache-2.0
"""Prefill and decode of a Llama of 7 B parameters, float16, without its weights: the run of llama.sh. llama.py [LAYERS [PROMPT [STEPS]]]"""
import sys

import torch
import torch_npu  # noqa: F401
import torch.nn.functional as F

LAYERS, PROMPT, STEPS = [int(word) for word in sys.argv[1:]] + [32, 512, 2][len(sys.argv) - 1:]
WIDTH, HEADS, INNER, WORDS = 4096, 32, 11008, 32000
SIZE = WIDTH // HEADS
half = {"dtype": torch.float16, "device": "npu"}


class Layer:
    def __init__(self):
        self.norms = torch.empty(2, WIDTH, **half)
        self.qkv, self.out = torch.empty(3 * WIDTH, WIDTH, **half), torch.empty(WIDTH, WIDTH, **half)
        self.gate_up, self.down = torch.empty(2 * INNER, WIDTH, **half), torch.empty(WIDTH, INNER, **half)
        self.keys, self.values = (torch.empty(1, HEADS, PROMPT + STEPS, SIZE, **half) for _ in range(2))

    def __call__(self, x, at, cos, sin):
        tokens = x.shape[1]
        q, k, v = (part.view(1, tokens, HEADS, SIZE).transpose(1, 2)
                   for part in F.linear(torch_npu.npu_rms_norm(x, self.norms[0])[0], self.qkv).chunk(3, -1))
        q, k = (torch_npu.npu_rotary_mul(part.contiguous(), cos, sin) for part in (q, k))
        self.keys[:, :, at:at + tokens], self.values[:, :, at:at + tokens] = k, v
        keys, values = self.keys[:, :, :at + tokens], self.values[:, :, :at + tokens]
        scores = q @ keys.transpose(-1, -2) * SIZE ** -0.5
        if tokens > 1:
            scores = scores.masked_fill(torch.triu(torch.ones(tokens, tokens, dtype=torch.bool, device=x.device), 1), -10000.0)
        x = x + F.linear((scores.softmax(-1) @ values).transpose(1, 2).reshape(1, tokens, WIDTH), self.out)
        gate, up = F.linear(torch_npu.npu_rms_norm(x, self.norms[1])[0], self.gate_up).chunk(2, -1)
        return x + F.linear(F.silu(gate) * up, self.down)


words, head, norm = torch.empty(WORDS, WIDTH, **half), torch.empty(WORDS, WIDTH, **half), torch.empty(WIDTH, **half)
layers = [Layer() for _ in range(LAYERS)]
cos, sin = (torch.empty(1, 1, PROMPT + STEPS, SIZE, **half) for _ in range(2))
tokens = torch.randint(WORDS, (1, PROMPT)).npu()
at = 0
for step in range(1 + STEPS):
    x = F.embedding(tokens, words)
    here = slice(at, at + x.shape[1])
    for layer in layers:
        x = layer(x, at, cos[:, :, here].contiguous(), sin[:, :, here].contiguous())
    tokens = F.linear(torch_npu.npu_rms_norm(x[:, -1:], norm)[0], head).argmax(-1)
    at = here.stop
torch.npu.synchronize()
print(f"{LAYERS} layers, {PROMPT} tokens, {STEPS} more")
