# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 of cells, as MindSpore's migration guide builds it: residual blocks of 1x1, 3x3 and 1x1 convolutions."""

from mindspore import nn, ops


def convolution(channels_in, channels_out, kernel, stride=1):
    return nn.SequentialCell(
        nn.Conv2d(channels_in, channels_out, kernel, stride, pad_mode="pad", padding=kernel // 2, weight_init="HeUniform"),
        nn.BatchNorm2d(channels_out))


class Block(nn.Cell):
    def __init__(self, channels_in, width, stride):
        super().__init__()
        self.first = convolution(channels_in, width, 1)
        self.second = convolution(width, width, 3, stride)
        self.third = convolution(width, 4 * width, 1)
        self.relu = nn.ReLU()
        same = stride == 1 and channels_in == 4 * width
        self.shortcut = nn.Identity() if same else convolution(channels_in, 4 * width, 1, stride)

    def construct(self, x):
        y = self.relu(self.first(x))
        y = self.relu(self.second(y))
        return self.relu(self.third(y) + self.shortcut(x))


class ResNet(nn.Cell):
    """blocks: of each of the four stages; (3, 4, 6, 3) is ResNet-50. width: channels of the first stage."""

    def __init__(self, classes=10, blocks=(3, 4, 6, 3), width=64):
        super().__init__()
        self.start = convolution(3, width, 7, 2)
        self.relu = nn.ReLU()
        # PyTorch's pooling with a border of one: behind ReLU a border of zeros is the same.
        self.border = nn.Pad(((0, 0), (0, 0), (1, 1), (1, 1)))
        self.pool = nn.MaxPool2d(3, 2)
        cells, channels = [], width
        for stage, count in enumerate(blocks):
            for i in range(count):
                cells.append(Block(channels, width << stage, 2 if stage > 0 and i == 0 else 1))
                channels = 4 * (width << stage)
        self.stages = nn.SequentialCell(*cells)
        self.head = nn.Dense(channels, classes)

    def construct(self, x):
        x = self.pool(self.border(self.relu(self.start(x))))
        return self.head(ops.mean(self.stages(x), (2, 3)))
