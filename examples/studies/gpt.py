# SPDX-License-Identifier: Apache-2.0
"""Three steps of a small GPT in mixed precision: the run of gpt.sh."""
import torch
import torch_npu  # noqa: F401
from torch import nn
torch.manual_seed(0)
D, H, T, B, L, V = 128, 4, 64, 4, 4, 256

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
    def forward(self, x):
        q, k, v = (t.view(B, T, H, D // H).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        a = (q @ k.transpose(-1, -2)) * (D // H) ** -0.5
        a = a.masked_fill(torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device), 1), -10000.0).softmax(-1)
        x = x + self.out((a @ v).transpose(1, 2).reshape(B, T, D))
        return x + self.mlp(self.norm2(x))

class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, D), nn.Embedding(T, D)
        self.blocks, self.norm, self.head = nn.Sequential(*[Block() for _ in range(L)]), nn.LayerNorm(D), nn.Linear(D, V)
    def forward(self, i):
        return self.head(self.norm(self.blocks(self.wte(i) + self.wpe.weight)))

net = GPT().npu()
opt = torch.optim.SGD(net.parameters(), 0.1)
data = torch.randint(V, (B, T + 1)).npu()
for _ in range(3):
    with torch.autocast("npu", torch.float16):
        loss = nn.functional.cross_entropy(net(data[:, :-1]).float().reshape(-1, V), data[:, 1:].reshape(-1))
    opt.zero_grad(); loss.backward(); opt.step()
print(float(loss))
