#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_net.py FILE: a small network as an ONNX file, with nothing but Python: pictures x [1, 3, 32, 32] to ten classes y.

Weights are random, the same each time. A file of the format is messages of protocol buffers, which field() writes.
"""

import random
import struct
import sys


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def weight(rng, name, shape):
    count = 1
    for size in shape:
        count *= size
    spread = (2 * shape[0] / count) ** 0.5
    raw = struct.pack(f"<{count}f", *(rng.gauss(0, spread) for _ in range(count)))
    return b"".join(field(1, size) for size in shape) + field(2, 1) + field(8, name) + field(9, raw)


def node(kind, name, inputs, output, **ints):
    attributes = b""
    for key, value in ints.items():
        numbers = field(3, value) if isinstance(value, int) else b"".join(field(8, v) for v in value)
        attributes += field(5, field(1, key) + numbers)
    return b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, name) + field(4, kind) + attributes


def tensor_info(name, shape):
    dims = b"".join(field(1, field(1, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def main():
    rng = random.Random(1)
    nodes = [node("Conv", "conv1", ["x", "w1", "b1"], "c1", pads=[1, 1, 1, 1]), node("Relu", "relu1", ["c1"], "r1"),
             node("MaxPool", "pool1", ["r1"], "p1", kernel_shape=[2, 2], strides=[2, 2]),
             node("Conv", "conv2", ["p1", "w2", "b2"], "c2", pads=[1, 1, 1, 1]), node("Relu", "relu2", ["c2"], "r2"),
             node("GlobalAveragePool", "pool2", ["r2"], "g"), node("Flatten", "flat", ["g"], "f"),
             node("Gemm", "classes", ["f", "w3", "b3"], "s", transB=1), node("Softmax", "softmax", ["s"], "y", axis=1)]
    weights = [weight(rng, name, shape) for name, shape in (("w1", [16, 3, 3, 3]), ("b1", [16]), ("w2", [32, 16, 3, 3]), ("b2", [32]),
                                                            ("w3", [10, 32]), ("b3", [10]))]
    graph = (b"".join(field(1, n) for n in nodes) + field(2, "net") + b"".join(field(5, w) for w in weights) +
             field(11, tensor_info("x", [1, 3, 32, 32])) + field(12, tensor_info("y", [1, 10])))
    with open(sys.argv[1], "wb") as file:
        file.write(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13)))


if __name__ == "__main__":
    main()
