# SPDX-License-Identifier: Apache-2.0
"""A small detector built as YOLOv5n is (CSP blocks, pyramid pooling, feature pyramid, three scales), its loss and NMS."""

import torch
from torch import nn
from torch.nn import functional as F

CLASSES, ANCHORS = 3, ((10.0, 13.0), (16.0, 30.0), (33.0, 23.0))
STRIDES = (8, 16, 32)


def conv(inputs, outputs, size=1, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs), nn.SiLU())


class Csp(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        half = outputs // 2
        self.left, self.right, self.join = conv(inputs, half), conv(inputs, half), conv(2 * half, outputs)
        self.inner = nn.Sequential(conv(half, half), conv(half, half, 3))

    def forward(self, x):
        left = self.left(x)
        return self.join(torch.cat((left + self.inner(left), self.right(x)), 1))


class PyramidPooling(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.last = conv(width, width // 2), conv(2 * width, width)

    def forward(self, x):
        parts = [self.first(x)]
        for _ in range(3):
            parts.append(F.max_pool2d(parts[-1], 5, 1, 2))
        return self.last(torch.cat(parts, 1))


class Yolo(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        w = width
        self.stem = nn.Sequential(conv(3, w, 6 - 1, 2), conv(w, 2 * w, 3, 2), Csp(2 * w, 2 * w))
        self.down3 = nn.Sequential(conv(2 * w, 4 * w, 3, 2), Csp(4 * w, 4 * w))
        self.down4 = nn.Sequential(conv(4 * w, 8 * w, 3, 2), Csp(8 * w, 8 * w))
        self.down5 = nn.Sequential(conv(8 * w, 8 * w, 3, 2), Csp(8 * w, 8 * w), PyramidPooling(8 * w))
        self.join4, self.join3 = Csp(16 * w, 8 * w), Csp(12 * w, 4 * w)
        each = len(ANCHORS) * (5 + CLASSES)
        self.heads = nn.ModuleList(nn.Conv2d(channels, each, 1) for channels in (4 * w, 8 * w, 8 * w))

    def forward(self, x):
        """Per scale [picture, anchor, row, column, x y w h object classes]."""
        p3 = self.down3(self.stem(x))
        p4 = self.down4(p3)
        p5 = self.down5(p4)
        p4 = self.join4(torch.cat((F.interpolate(p5, scale_factor=2, mode="nearest"), p4), 1))
        p3 = self.join3(torch.cat((F.interpolate(p4, scale_factor=2, mode="nearest"), p3), 1))
        out = []
        for head, features in zip(self.heads, (p3, p4, p5)):
            y = head(features)
            pictures, _, rows, columns = y.shape
            out.append(y.view(pictures, len(ANCHORS), 5 + CLASSES, rows, columns).permute(0, 1, 3, 4, 2).contiguous())
        return out


def boxes_of(raw, stride):
    """Corner boxes in pixels of one scale."""
    rows, columns = raw.shape[2:4]
    y, x = torch.meshgrid(torch.arange(rows, device=raw.device), torch.arange(columns, device=raw.device), indexing="ij")
    grid = torch.stack((x, y), -1).to(raw.dtype)
    centre = (raw[..., :2].sigmoid() * 2 - 0.5 + grid) * stride
    anchors = torch.tensor(ANCHORS, device=raw.device, dtype=raw.dtype).view(1, -1, 1, 1, 2)
    half = (raw[..., 2:4].sigmoid() * 2) ** 2 * anchors / 2
    return torch.cat((centre - half, centre + half), -1)


def overlap(a, b):
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    common = (high - low).clamp(min=0).prod(-1)
    area = lambda t: (t[..., 2] - t[..., 0]) * (t[..., 3] - t[..., 1])
    return common / (area(a) + area(b) - common + 1e-7)


def loss_of(model, images, wanted, kinds):
    """`wanted` [picture, object, corners], `kinds` [picture, object]: each object belongs to the cell of its centre at each scale."""
    total = 0.0
    pictures = torch.arange(images.shape[0], device=images.device).view(-1, 1).expand(kinds.shape)
    for raw, stride in zip(model(images), STRIDES):
        centre = ((wanted[..., :2] + wanted[..., 2:]) / 2 / stride).long()
        anchor = (kinds % len(ANCHORS)).long()
        at = (pictures, anchor, centre[..., 1], centre[..., 0])
        match = overlap(boxes_of(raw, stride)[at], wanted)
        target = torch.zeros_like(raw[..., 4])
        target[at] = match.detach().clamp(min=0)
        labels = F.one_hot(kinds, CLASSES).to(raw.dtype)
        total = (total + (1 - match).mean() + F.binary_cross_entropy_with_logits(raw[..., 4], target)
                 + 0.5 * F.binary_cross_entropy_with_logits(raw[at][..., 5:], labels))
    return total


def keep_best(boxes, scores, bound):
    """Indexes of the boxes that greedy non-maximum suppression keeps."""
    order = scores.argsort(descending=True)
    kept = []
    while order.numel() > 0:
        best = order[0]
        kept.append(best)
        order = order[1:][overlap(boxes[best], boxes[order[1:]]) <= bound]
    return torch.stack(kept)


def detect(model, images, bound=0.5, count=40):
    """Of each picture: the boxes kept among the `count` most likely ones, and their scores."""
    raw = model(images)
    boxes = torch.cat([boxes_of(part, stride).flatten(1, 3) for part, stride in zip(raw, STRIDES)], 1)
    score = torch.cat([(part[..., 4].sigmoid() * part[..., 5:].sigmoid().amax(-1)).flatten(1) for part in raw], 1)
    found = []
    for box, likely in zip(boxes, score):
        likely, at = likely.topk(count)
        keep = keep_best(box[at], likely, bound)
        found.append((box[at][keep], likely[keep]))
    return found


def yolo(steps=3, batch=4, size=64):
    low = torch.rand(steps, batch, 2, 2) * (size - 34)
    wanted = torch.cat((low, low + 8 + torch.rand(steps, batch, 2, 2) * 24), -1)
    kinds = torch.randint(0, CLASSES, (steps, batch, 2))
    images = torch.randn(steps, batch, 3, size, size)
    return Yolo(), list(zip(images, wanted, kinds)), loss_of
