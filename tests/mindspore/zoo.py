# SPDX-License-Identifier: Apache-2.0
"""Small networks of the kinds in MindSpore's model zoo. Each is a class with construct(*inputs) -> loss and a function batch(random)
-> the inputs of one step; NETWORKS names them."""

import mindspore as ms
import numpy
from mindspore import nn, ops

CLASSES = 10


def floats(random, *shape):
    return random.standard_normal(shape).astype(numpy.float32)


def integers(random, below, *shape):
    return random.integers(0, below, shape).astype(numpy.int32)


class Classifier(nn.Cell):
    """A network for pictures under the loss of its outputs."""

    def __init__(self, network):
        super().__init__()
        self.network = network
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, pictures, labels):
        return self.loss(self.network(pictures), labels)


class Halved(nn.Cell):
    """A value rounded to float16; its gradient passes."""

    def construct(self, x):
        return x.astype(ms.float16).astype(ms.float32)

    def bprop(self, _x, _out, gradient):
        return (gradient,)


class HalvedGradient(nn.Cell):
    """A value as it is; its gradient rounded to float16."""

    def construct(self, x):
        return x * 1.0

    def bprop(self, _x, _out, gradient):
        return (gradient.astype(ms.float16).astype(ms.float32),)


class HalvedConv2d(nn.Conv2d):
    """A convolution of what the 910A's Cube unit gets: all inputs of the three products rounded to float16, sums in float32."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.picture, self.filter, self.result = Halved(), Halved(), HalvedGradient()

    def construct(self, x):
        y = self.result(self.conv2d(self.picture(x), self.filter(self.weight)))
        return ops.bias_add(y, self.bias) if self.has_bias else y


def halve_convolutions():
    """All convolutions made from here on are of that kind."""
    nn.Conv2d = HalvedConv2d


def lenet():
    return Classifier(nn.SequentialCell(
        nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Flatten(), nn.Dense(16 * 5 * 5, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, CLASSES)))


def lenet_batch(random):
    return floats(random, 8, 1, 32, 32), integers(random, CLASSES, 8)


def normed(channels_in, channels_out, kernel, stride=1, group=1, activation=nn.ReLU6):
    cells = [nn.Conv2d(channels_in, channels_out, kernel, stride, pad_mode="pad", padding=kernel // 2, group=group),
             nn.BatchNorm2d(channels_out)]
    return nn.SequentialCell(*cells, *([activation()] if activation else []))


class InvertedResidual(nn.Cell):
    def __init__(self, channels_in, channels_out, stride, wider):
        super().__init__()
        hidden = channels_in * wider
        self.body = nn.SequentialCell(normed(channels_in, hidden, 1), normed(hidden, hidden, 3, stride, group=hidden),
                                      normed(hidden, channels_out, 1, activation=None))
        self.same = stride == 1 and channels_in == channels_out

    def construct(self, x):
        return x + self.body(x) if self.same else self.body(x)


def mobilenet():
    rows = ((16, 1, 1), (24, 2, 6), (24, 1, 6), (32, 2, 6))
    cells, channels = [normed(3, 16, 3, 2)], 16
    for channels_out, stride, wider in rows:
        cells.append(InvertedResidual(channels, channels_out, stride, wider))
        channels = channels_out
    return Classifier(nn.SequentialCell(*cells, normed(channels, 64, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                        nn.Dropout(p=0.0), nn.Dense(64, CLASSES)))


def mobilenet_batch(random):
    return floats(random, 8, 3, 32, 32), integers(random, CLASSES, 8)


class Bert(nn.Cell):
    """Masked words and the order of two sentences, as BERT is pretrained."""

    WORDS, PLACES, WIDTH, HEADS, LAYERS, MASKED = 100, 16, 32, 4, 2, 3

    class Layer(nn.Cell):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.query, self.key, self.value = (nn.Dense(width, width) for _ in range(3))
            self.out, self.norm = nn.Dense(width, width), nn.LayerNorm((width,))
            self.wide, self.narrow, self.last = nn.Dense(width, 4 * width), nn.Dense(4 * width, width), nn.LayerNorm((width,))
            self.gelu, self.softmax = nn.GELU(), nn.Softmax()

        def split(self, x):
            return x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(0, 2, 1, 3)

        def construct(self, x, mask):
            query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
            scores = ops.BatchMatMul(transpose_b=True)(query, key) / query.shape[-1] ** 0.5 + mask
            seen = ops.BatchMatMul()(self.softmax(scores), value).transpose(0, 2, 1, 3).reshape(x.shape)
            x = self.norm(x + self.out(seen))
            return self.last(x + self.narrow(self.gelu(self.wide(x))))

    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(self.WORDS, self.WIDTH)
        self.place, self.sentence = nn.Embedding(self.PLACES, self.WIDTH), nn.Embedding(2, self.WIDTH)
        self.norm = nn.LayerNorm((self.WIDTH,))
        self.layers = nn.CellList([Bert.Layer(self.WIDTH, self.HEADS) for _ in range(self.LAYERS)])
        self.pool, self.order, self.tanh = nn.Dense(self.WIDTH, self.WIDTH), nn.Dense(self.WIDTH, 2), nn.Tanh()
        self.transform, self.transform_norm, self.gelu = nn.Dense(self.WIDTH, self.WIDTH), nn.LayerNorm((self.WIDTH,)), nn.GELU()
        self.bias = ms.Parameter(ms.Tensor(numpy.zeros(self.WORDS, numpy.float32)), name="bias")
        self.matmul, self.log_softmax, self.one_hot = ops.MatMul(transpose_b=True), nn.LogSoftmax(axis=-1), ops.OneHot()

    def loss(self, logits, labels):
        rows = self.one_hot(labels, logits.shape[-1], ms.Tensor(1.0, ms.float32), ms.Tensor(0.0, ms.float32))
        return -(self.log_softmax(logits) * rows).sum(-1).mean()

    def construct(self, words, sentences, mask, places, masked, order):
        x = self.word(words) + self.sentence(sentences)
        x = self.norm(x + self.place(ops.arange(self.PLACES)))
        hidden = (1.0 - mask.reshape(mask.shape[0], 1, 1, -1)) * -10000.0
        for layer in self.layers:
            x = layer(x, hidden)
        flat = x.reshape(-1, self.WIDTH)
        rows = ops.gather(flat, (places + (ops.arange(x.shape[0]) * self.PLACES).reshape(-1, 1)).reshape(-1), 0)
        rows = self.transform_norm(self.gelu(self.transform(rows)))
        first = self.tanh(self.pool(x[:, 0, :]))
        return (self.loss(self.matmul(rows, self.word.embedding_table) + self.bias, masked.reshape(-1)) +
                self.loss(self.order(first), order))


def bert_batch(random, batch=4):
    lengths = random.integers(Bert.PLACES // 2, Bert.PLACES + 1, batch)
    mask = (numpy.arange(Bert.PLACES) < lengths[:, None]).astype(numpy.float32)
    return (integers(random, Bert.WORDS, batch, Bert.PLACES), integers(random, 2, batch, Bert.PLACES), mask,
            integers(random, Bert.PLACES // 2, batch, Bert.MASKED), integers(random, Bert.WORDS, batch, Bert.MASKED),
            integers(random, 2, batch))


class Translator(nn.Cell):
    """nn.Transformer between two embeddings, with smoothed labels."""

    WORDS, PLACES, WIDTH = 60, 10, 32

    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(self.WORDS, self.WIDTH), nn.Embedding(self.WORDS, self.WIDTH)
        self.place = ms.Tensor(self.waves())
        self.body = nn.Transformer(d_model=self.WIDTH, nhead=4, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=64,
                                   dropout=0.0, batch_first=True)
        self.head = nn.Dense(self.WIDTH, self.WORDS)
        self.later = ms.Tensor(numpy.triu(numpy.full((self.PLACES, self.PLACES), -1e4, numpy.float32), 1))

    def waves(self):
        angles = numpy.arange(self.PLACES)[:, None] / 10000 ** (numpy.arange(self.WIDTH // 2) * 2 / self.WIDTH)
        return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1).astype(numpy.float32)

    def construct(self, source, target, labels):
        scale = self.WIDTH ** 0.5
        y = self.body(self.source(source) * scale + self.place, self.target(target) * scale + self.place, tgt_mask=self.later)
        return ops.cross_entropy(self.head(y).reshape(-1, self.WORDS), labels.reshape(-1), label_smoothing=0.1)


def translator_batch(random):
    return tuple(integers(random, Translator.WORDS, 4, Translator.PLACES) for _ in range(3))


class Yolo(nn.Cell):
    """Two scales of a detector: the coarser one is enlarged and put beside the finer one. Boxes of a grid, the loss of YOLOv3."""

    ANCHORS, KINDS, SIZE, BOXES = ((0.1, 0.13), (0.16, 0.3), (0.33, 0.23)), 5, 64, 4

    def __init__(self):
        super().__init__()
        act = lambda: nn.LeakyReLU(0.1)
        outputs = len(self.ANCHORS) * (5 + self.KINDS)
        self.first = nn.SequentialCell(normed(3, 8, 3, 2, activation=act), normed(8, 16, 3, 2, activation=act),
                                       normed(16, 32, 3, 2, activation=act))
        self.second = normed(32, 64, 3, 2, activation=act)
        self.narrow = normed(64, 32, 1, activation=act)
        self.coarse, self.fine = nn.Conv2d(64, outputs, 1, has_bias=True), nn.Conv2d(64, outputs, 1, has_bias=True)
        self.concat, self.enlarge = ops.Concat(1), ops.ResizeNearestNeighbor((self.SIZE // 8, self.SIZE // 8))
        self.cross = ops.SigmoidCrossEntropyWithLogits()
        self.anchors = ms.Tensor(numpy.array(self.ANCHORS, numpy.float32).reshape(1, 1, 1, -1, 2))

    def ratio(self, boxes, truth):
        """Overlap of boxes (..., 4) with each true one (b, n, 4)."""
        boxes, truth = boxes.expand_dims(-2), truth.reshape(truth.shape[0], 1, 1, 1, -1, 4)
        low = ops.maximum(boxes[..., :2] - boxes[..., 2:] / 2, truth[..., :2] - truth[..., 2:] / 2)
        high = ops.minimum(boxes[..., :2] + boxes[..., 2:] / 2, truth[..., :2] + truth[..., 2:] / 2)
        sides = ops.maximum(high - low, ms.Tensor(0.0, ms.float32))
        both = sides[..., 0] * sides[..., 1]
        return both / (boxes[..., 2] * boxes[..., 3] + truth[..., 2] * truth[..., 3] - both + 1e-6)

    def scale_loss(self, outputs, wanted, truth):
        """wanted: (b, rows, columns, anchors, 5 + kinds): x, y, width, height, whether there is a box, its kind."""
        batch, _, rows, columns = outputs.shape
        raw = outputs.reshape(batch, len(self.ANCHORS), 5 + self.KINDS, rows, columns).transpose(0, 3, 4, 1, 2)
        across = ops.tile(ops.arange(columns).astype(ms.float32).reshape(1, 1, columns, 1, 1), (1, rows, 1, 1, 1))
        down = ops.tile(ops.arange(rows).astype(ms.float32).reshape(1, rows, 1, 1, 1), (1, 1, columns, 1, 1))
        grid = self.concat_last(across, down)
        places = (ops.sigmoid(raw[..., :2]) + grid) / rows
        sides = ops.exp(raw[..., 2:4]) * self.anchors
        there = wanted[..., 4:5]
        best = self.ratio(ops.Concat(-1)((places, sides)), truth).max(axis=-1)
        ignored = ops.stop_gradient((best < 0.5).astype(ms.float32)).expand_dims(-1)
        weight = there * (2.0 - wanted[..., 2:3] * wanted[..., 3:4])
        inside = wanted[..., :2] * rows - grid
        place_loss = (weight * self.cross(raw[..., :2], inside * there)).sum()
        logs = ops.select(there.broadcast_to(sides.shape) > 0, ops.log(wanted[..., 2:4] / self.anchors + 1e-9), ops.zeros_like(sides))
        side_loss = (weight * 0.5 * ops.square(logs - raw[..., 2:4])).sum()
        cross = self.cross(raw[..., 4:5], there)
        box_loss = (there * cross + (1 - there) * cross * ignored).sum()
        kind_loss = (there * self.cross(raw[..., 5:], wanted[..., 5:])).sum()
        return (place_loss + side_loss + box_loss + kind_loss) / batch

    def concat_last(self, *parts):
        return ops.Concat(-1)(parts)

    def construct(self, pictures, coarse, fine, truth):
        x = self.first(pictures)
        y = self.second(x)
        z = self.concat((self.enlarge(self.narrow(y)), x))
        return self.scale_loss(self.coarse(y), coarse, truth) + self.scale_loss(self.fine(z), fine, truth)


def yolo_batch(random, batch=2):
    truth = numpy.concatenate([random.uniform(0.2, 0.8, (batch, Yolo.BOXES, 2)), random.uniform(0.1, 0.3, (batch, Yolo.BOXES, 2))], -1)
    kinds = random.integers(0, Yolo.KINDS, (batch, Yolo.BOXES))
    wanted = []
    for cells in (Yolo.SIZE // 16, Yolo.SIZE // 8):
        grid = numpy.zeros((batch, cells, cells, len(Yolo.ANCHORS), 5 + Yolo.KINDS), numpy.float32)
        for picture in range(batch):
            for box, kind in zip(truth[picture], kinds[picture]):
                at = grid[picture, int(box[1] * cells), int(box[0] * cells), int(kind) % len(Yolo.ANCHORS)]
                at[:4], at[4], at[5 + kind] = box, 1, 1
        wanted.append(grid)
    return floats(random, batch, 3, Yolo.SIZE, Yolo.SIZE), *wanted, truth.astype(numpy.float32)


class Sentiment(nn.Cell):
    """Words, an LSTM of two layers in both directions, and the kind of the text."""

    WORDS, PLACES, WIDTH, HIDDEN = 50, 12, 16, 16

    def __init__(self, recurrent):
        super().__init__()
        self.word = nn.Embedding(self.WORDS, self.WIDTH)
        self.body = recurrent(self.WIDTH, self.HIDDEN, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Dense(4 * self.HIDDEN, 2)
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, words, labels):
        y, _ = self.body(self.word(words))
        return self.loss(self.head(ops.Concat(1)((y[:, 0, :], y[:, -1, :]))), labels)


class SentimentOfLengths(Sentiment):
    """The same for texts of several lengths."""

    def __init__(self):
        super().__init__(nn.LSTM)
        self.lengths = ms.Tensor([self.PLACES, 7, 3, 1], ms.int32)

    def construct(self, words, labels):
        y, _ = self.body(self.word(words), None, self.lengths)
        return self.loss(self.head(ops.Concat(1)((y[:, 0, :], y.sum(axis=1)))), labels)


class SentimentOfStates(Sentiment):
    """The kind of the text by the last states of both layers and directions: with lengths by those of y (MindSpore's own rule drops
    what comes to states before the last step, docs/mindspore.md), else by h and c."""

    def __init__(self, lengths):
        super().__init__(nn.LSTM)
        self.lengths = ms.Tensor(lengths, ms.int32) if lengths else None
        self.last = lengths and ms.Tensor([[i, n - 1] for i, n in enumerate(lengths)], ms.int32)

    def construct(self, words, labels):
        y, (h, c) = self.body(self.word(words), None, self.lengths)
        if self.last is None:
            states = ops.Concat(1)((h[0], h[3], c[1], c[2]))
        else:
            # Behind the text's last word forwards, behind its first one backwards.
            states = ops.Concat(1)((ops.gather_nd(y, self.last)[:, :self.HIDDEN], y[:, 0, self.HIDDEN:], y.sum(axis=1)))
        return self.loss(self.head(states), labels)


def sentiment_batch(random):
    return integers(random, Sentiment.WORDS, 4, Sentiment.PLACES), integers(random, 2, 4)


# name: the network, the inputs of a step
NETWORKS = {
    "lenet": (lenet, lenet_batch),
    "mobilenet": (mobilenet, mobilenet_batch),
    "bert": (Bert, bert_batch),
    "transformer": (Translator, translator_batch),
    "yolo": (Yolo, yolo_batch),
    "lstm": (lambda: Sentiment(nn.LSTM), sentiment_batch),
    "lengths": (SentimentOfLengths, sentiment_batch),
    "states": (lambda: SentimentOfStates(None), sentiment_batch),
    "laststates": (lambda: SentimentOfStates([12, 7, 3, 1]), sentiment_batch),
    "gru": (lambda: Sentiment(nn.GRU), sentiment_batch),
}
