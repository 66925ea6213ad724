# SPDX-License-Identifier: Apache-2.0
"""Networks of the kinds people train, small enough for a test. Each function gives model, batches and loss."""

import torch
from torch import nn
from torch.nn import functional as F


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


def classify(model, images, labels):
    return F.cross_entropy(model(images), labels)


def pictures(steps, batch, channels, size, classes=10):
    return [(torch.randn(batch, channels, size, size), torch.randint(0, classes, (batch,))) for _ in range(steps)]


def lenet(steps=6):
    return LeNet(), pictures(steps, 16, 1, 28), classify


class Block(nn.Module):
    """A transformer block, causal as in GPT or not as in BERT."""

    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).split(width, dim=2)
        q, k, v = (t.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
        if self.causal:
            mask = torch.tril(torch.ones(tokens, tokens, device=x.device, dtype=torch.bool))
            scores = scores.masked_fill(~mask, float("-inf"))
        y = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(batch, tokens, width)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary, tokens, width, heads, layers, causal=True):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(tokens, width)
        self.blocks = nn.ModuleList(Block(width, heads, causal) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.token.weight = self.head.weight

    def forward(self, tokens):
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def next_token(model, tokens):
    scores = model(tokens[:, :-1])
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), tokens[:, 1:].reshape(-1))


def gpt(steps=4, vocabulary=512, tokens=64, width=128, heads=4, layers=2, batch=4):
    model = Gpt(vocabulary, tokens, width, heads, layers)
    return model, [(torch.randint(0, vocabulary, (batch, tokens + 1)),) for _ in range(steps)], next_token


def masked_token(model, tokens, labels):
    scores = model(tokens)
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), labels.reshape(-1), ignore_index=-100)


def bert(steps=4, vocabulary=256, tokens=32, batch=4):
    model = Gpt(vocabulary, tokens, 96, 4, 2, causal=False)
    batches = []
    for _ in range(steps):
        text = torch.randint(1, vocabulary, (batch, tokens))
        hidden = torch.rand(batch, tokens) < 0.15
        hidden[:, 0] = True
        batches.append((text.masked_fill(hidden, 0), text.masked_fill(~hidden, -100)))
    return model, batches, masked_token


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(16, 32, batch_first=True)
        self.head = nn.Linear(32, 5)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def lstm(steps=4):
    return Lstm(), [(torch.randn(8, 12, 16), torch.randint(0, 5, (8,))) for _ in range(steps)], classify


def double_conv(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
                         nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = double_conv(3, 8), double_conv(8, 16), double_conv(16, 32)
        self.up2, self.up1 = nn.ConvTranspose2d(32, 16, 2, stride=2), nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.join2, self.join1 = double_conv(32, 16), double_conv(16, 8)
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        y = self.bottom(F.max_pool2d(b, 2))
        y = self.join2(torch.cat([self.up2(y), b], dim=1))
        return self.out(self.join1(torch.cat([self.up1(y), a], dim=1)))


def segment(model, images, masks):
    scores = model(images)
    share = torch.sigmoid(scores)
    dice = 1 - (2 * (share * masks).sum() + 1) / (share.sum() + masks.sum() + 1)
    return F.binary_cross_entropy_with_logits(scores, masks) + dice


def unet(steps=3):
    return Unet(), [(torch.randn(2, 3, 32, 32), (torch.rand(2, 1, 32, 32) < 0.3).float()) for _ in range(steps)], segment


class Denoiser(nn.Module):
    """A step of a diffusion: convolutions, group norm, attention between pixels, the time as sines."""

    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32))
        self.first, self.down = nn.Conv2d(1, 32, 3, padding=1), nn.Conv2d(32, 64, 3, stride=2, padding=1)
        self.norm1, self.norm2 = nn.GroupNorm(8, 32), nn.GroupNorm(8, 64)
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)
        self.up, self.out = nn.Conv2d(96, 32, 3, padding=1), nn.Conv2d(32, 1, 1)

    def forward(self, x, step):
        angle = step[:, None] * torch.exp(-0.9 * torch.arange(8, device=x.device))
        wide = self.first(x) + self.time(torch.cat([angle.sin(), angle.cos()], 1))[:, :, None, None]
        deep = self.down(F.silu(self.norm1(wide)))
        pixels = self.norm2(deep).flatten(2).transpose(1, 2)
        deep = deep + self.attention(pixels, pixels, pixels, need_weights=False)[0].transpose(1, 2).view_as(deep)
        return self.out(F.silu(self.up(torch.cat([F.interpolate(deep, scale_factor=2), wide], 1))))


def diffusion(steps=3):
    kept = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 100), 0)

    def loss(model, x, step, noise):
        share = kept.to(x.device)[step].view(-1, 1, 1, 1)
        return F.mse_loss(model(share.sqrt() * x + (1 - share).sqrt() * noise, step.float()), noise)
    batches = [(torch.randn(4, 1, 16, 16), torch.randint(0, 100, (4,)), torch.randn(4, 1, 16, 16)) for _ in range(steps)]
    return Denoiser(), batches, loss


class GraphAttention(nn.Module):
    """Messages along edges, weighed by a softmax over the edges that end in the same node."""

    def __init__(self):
        super().__init__()
        self.first, self.weigh, self.last = nn.Linear(12, 32), nn.Linear(64, 1), nn.Linear(32, 5)
        self.cell = nn.GRUCell(32, 32)

    def forward(self, x, edges):
        begin, end = edges
        state = torch.tanh(self.first(x)).float()
        for _ in range(2):
            weight = F.leaky_relu(self.weigh(torch.cat([state[begin], state[end]], 1))).squeeze(1).float()
            most = torch.full((len(x),), -1e4, device=x.device).scatter_reduce(0, end, weight, "amax")
            weight = (weight - most[end]).exp()
            weight = weight / torch.zeros(len(x), device=x.device).scatter_add(0, end, weight)[end]
            message = torch.zeros_like(state).index_add(0, end, state[begin] * weight[:, None])
            state = self.cell(message / torch.bincount(end, minlength=len(x)).clamp(min=1)[:, None], state).float()
        return self.last(state)


def graph(steps=4):
    batches = [(torch.randn(40, 12), torch.randint(0, 40, (2, 160)), torch.randint(0, 5, (40,))) for _ in range(steps)]
    return GraphAttention(), batches, lambda model, x, edges, kinds: F.cross_entropy(model(x, edges), kinds)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.LayerNorm(32))
        self.action, self.value = nn.Linear(32, 4), nn.Linear(32, 1)

    def forward(self, x):
        state = self.body(x)
        return torch.distributions.Categorical(logits=self.action(state)), self.value(state).squeeze(1)


def policy(steps=4):
    """Proximal policy optimisation of given actions and rewards."""
    def loss(model, x, action, reward):
        choice, value = model(x)
        gain, ratio = (reward - value).detach(), (choice.log_prob(action) + 1.3).exp()
        return F.smooth_l1_loss(value, reward) - torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean() - 0.01 * choice.entropy().mean()
    return Policy(), [(torch.randn(20, 6), torch.randint(0, 4, (20,)), torch.randn(20)) for _ in range(steps)], loss
