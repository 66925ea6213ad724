#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""step.py NETWORK BATCH [LAYERS]: simulated times of one training step in mixed precision under torch_npu, as a line of JSON.

The second step is measured by events of the device: forward and backward, and the optimizer for itself, whose time does not
depend on the batch. Images and labels are random and lie on the device. LAYERS: of a network of equal layers.
"""
import json
import sys

import torch
import torch_npu  # noqa: F401
import torchvision
from torch import nn
from torch.nn import functional as F

DEVICE = "npu"


class Attention(nn.Module):
    """Products in 16 bits, the softmax in 32, as published networks of the time have them."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, nn.Dropout(dropout)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, memory, mask=None):
        query, key, value = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
        scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
        scores = scores if mask is None else scores + mask.to(scores.dtype)
        mixed = self.dropout(F.softmax(scores, dim=-1)) @ value
        return self.out(mixed.transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    """Attention to itself, to `memory` if it is a decoder's, and two products; norms before (ViT) or behind (BERT) each."""

    def __init__(self, width, heads, dropout, attention_dropout, before, decoder=False, activation=F.gelu):
        super().__init__()
        self.before, self.activation, self.dropout = before, activation, nn.Dropout(dropout)
        self.attention = nn.ModuleList(Attention(width, heads, attention_dropout) for _ in range(1 + decoder))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 + decoder))

    def around(self, norm, part, x):
        return x + self.dropout(part(norm(x))) if self.before else norm(x + self.dropout(part(x)))

    def forward(self, x, memory=None, mask=None):
        x = self.around(self.norms[0], lambda y: self.attention[0](y, y, mask), x)
        if memory is not None:
            x = self.around(self.norms[1], lambda y: self.attention[1](y, memory), x)
        return self.around(self.norms[-1], lambda y: self.down(self.activation(self.up(y))), x)


class Bert(nn.Module):
    """BERT-base: layers of 768, 12 heads; masked words and the next sentence."""

    def __init__(self, layers, width=768, vocabulary=30522, tokens=128):
        super().__init__()
        self.words, self.places, self.kinds = nn.Embedding(vocabulary, width), nn.Embedding(512, width), nn.Embedding(2, width)
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(0.1)
        self.layers = nn.ModuleList(Layer(width, 12, 0.1, 0.1, before=False) for _ in range(layers))
        self.dense, self.masked, self.next = nn.Linear(width, width), nn.Linear(width, vocabulary), nn.Linear(width, 2)
        self.register_buffer("place", torch.arange(tokens))

    def forward(self, words, kinds, positions):
        x = self.dropout(self.norm(self.words(words) + self.places(self.place) + self.kinds(kinds)))
        for layer in self.layers:
            x = layer(x)
        hidden = torch.gather(x, 1, positions[:, :, None].expand(-1, -1, x.shape[2]))
        return self.masked(F.gelu(self.dense(hidden))), self.next(x[:, 0])


class Translator(nn.Module):
    """Transformer large: 1024 wide, 16 heads, as many layers on both sides, one matrix of words."""

    def __init__(self, layers, width=1024, vocabulary=36560, tokens=128):
        super().__init__()
        self.words, self.places, self.dropout = nn.Embedding(vocabulary, width), nn.Embedding(tokens, width), nn.Dropout(0.2)
        self.encoder = nn.ModuleList(Layer(width, 16, 0.2, 0.2, True, False, F.relu) for _ in range(layers))
        self.decoder = nn.ModuleList(Layer(width, 16, 0.2, 0.2, True, True, F.relu) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.register_buffer("place", torch.arange(tokens))
        self.register_buffer("later", torch.full((tokens, tokens), -1e4).triu(1))

    def forward(self, source, target):
        place = self.places(self.place)
        memory, x = (self.dropout(self.words(words) + place) for words in (source, target))
        for layer in self.encoder:
            memory = layer(memory)
        memory = self.norms[0](memory)
        for layer in self.decoder:
            x = layer(x, memory, self.later)
        return F.linear(self.norms[1](x), self.words.weight)


class Vit(nn.Module):
    """ViT-base of patches of 32 x 32, without dropout."""

    def __init__(self, layers, width=768, patch=32):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.zeros(1, (224 // patch) ** 2 + 1, width))
        self.layers = nn.ModuleList(Layer(width, 12, 0, 0, before=True) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1).to(x.dtype), x], dim=1) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x[:, 0]))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                                 nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))

    def forward(self, x):
        return self.net(x)


def classes(make, size=224, channels=3, count=1000):
    """A network that names pictures."""
    def build(batch, layers):
        del layers
        torch.manual_seed(0)
        net = make()
        images = torch.randn(batch, channels, size, size, device=DEVICE)
        labels = torch.randint(0, count, (batch,), device=DEVICE)

        def loss(model):
            out = model(images)
            if isinstance(out, tuple):  # Inception's second head
                return F.cross_entropy(out[0].float(), labels) + 0.3 * F.cross_entropy(out[1].float(), labels)
            return F.cross_entropy(out.float(), labels)
        return net, loss
    return build


def ssd(make, size=300):
    """The network and dense losses over all its boxes; matching of boxes is not in it."""
    def build(batch, layers):
        del layers
        net = make()
        images = torch.randn(batch, 3, size, size, device=DEVICE)

        class Dense(nn.Module):
            def __init__(self):
                super().__init__()
                self.backbone, self.head = net.backbone, net.head

            def forward(self, x):
                return self.head(list(self.backbone(x).values()))

        def loss(model):
            out = model(images)
            scores, boxes = out["cls_logits"].float(), out["bbox_regression"].float()
            target = torch.zeros(scores.shape[:2], dtype=torch.long, device=DEVICE)
            return F.cross_entropy(scores.flatten(0, 1), target.flatten()) + F.smooth_l1_loss(boxes, torch.zeros_like(boxes))
        return Dense(), loss
    return build


def bert(batch, layers):
    net = Bert(layers)
    words, kinds = torch.randint(0, 30522, (batch, 128), device=DEVICE), torch.zeros(batch, 128, dtype=torch.long, device=DEVICE)
    positions = torch.arange(20, device=DEVICE).expand(batch, 20).contiguous()
    labels, follows = torch.randint(0, 30522, (batch * 20,), device=DEVICE), torch.randint(0, 2, (batch,), device=DEVICE)

    def loss(model):
        masked, follow = model(words, kinds, positions)
        return F.cross_entropy(masked.float().flatten(0, 1), labels) + F.cross_entropy(follow.float(), follows)
    return net, loss


def transformer(batch, layers):
    net = Translator(layers)
    source, target = (torch.randint(0, 36560, (batch, 128), device=DEVICE) for _ in range(2))

    def loss(model):
        return F.cross_entropy(model(source, target).float().flatten(0, 1), target.flatten(), label_smoothing=0.1)
    return net, loss


def vit(batch, layers):
    return classes(lambda: Vit(layers))(batch, 0)


models = torchvision.models
NETWORKS = {
    "resnet50": classes(models.resnet50), "resnet101": classes(models.resnet101), "resnet152": classes(models.resnet152),
    "mobilenet_v2": classes(models.mobilenet_v2), "shufflenet_v2": classes(models.shufflenet_v2_x1_0),
    "densenet121": classes(models.densenet121), "vgg16": classes(models.vgg16), "alexnet": classes(models.alexnet),
    "inception_v3": classes(lambda: models.inception_v3(weights=None, init_weights=False), 299),
    "lenet": classes(LeNet, 32, 1, 10), "vit_base": vit, "bert_base": bert, "transformer_large": transformer,
    "ssd_vgg16": ssd(lambda: models.detection.ssd300_vgg16(weights=None, weights_backbone=None)),
    "ssd_mobilenet": ssd(lambda: models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None), 320),
}
ADAM = {"bert_base", "transformer_large", "vit_base"}


def main():
    name, batch, layers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    net, loss_of = NETWORKS[name](batch, layers)
    net = net.to(DEVICE).train()
    optimizer = (torch.optim.AdamW(net.parameters(), lr=1e-4) if name in ADAM else
                 torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4))
    marks = [torch.npu.Event(enable_timing=True) for _ in range(3)]
    for _ in range(2):
        torch.npu.synchronize()
        marks[0].record()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE, torch.float16):
            loss = loss_of(net)
        (loss * 128).backward()
        marks[1].record()
        optimizer.step()
        marks[2].record()
        torch.npu.synchronize()
    value = loss.item()
    if value != value:
        sys.exit(f"step.py: the loss of {name} is no number")
    print(json.dumps({"pass_ms": marks[0].elapsed_time(marks[1]), "update_ms": marks[1].elapsed_time(marks[2]),
                      "parameters": sum(p.numel() for p in net.parameters()), "loss": value}))


main()
