#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_models.py TOOLKIT: ONNX networks through atc and acl.mdl, against the same computed here in plain Python.

The files are encoded by hand (messages of protocol buffers are simple), so nothing but Python is needed.
"""

import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLKIT = None
FLOAT, INT64 = 1, 7


# --- a file of the format ---------------------------------------------------------------------------

def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while True:
        out += bytes([value & 127 | (128 if value > 127 else 0)])
        value >>= 7
        if not value:
            return out


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name, shape, values, kind=FLOAT):
    raw = struct.pack(f"<{len(values)}{'f' if kind == FLOAT else 'q'}", *values)
    return b"".join(field(1, d) for d in shape) + field(2, kind) + field(8, name) + field(9, raw)


def attribute(name, value):
    out = field(1, name)
    if isinstance(value, float):
        return out + field(2, value)
    if isinstance(value, int):
        return out + field(3, value)
    if isinstance(value, str):
        return out + field(4, value)
    if isinstance(value, bytes):
        return out + field(5, value)
    return out + b"".join(field(8, v) for v in value)


def node(kind, inputs, outputs, **attributes):
    return (b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(3, kind.lower() + "_node") +
            field(4, kind) + b"".join(field(5, attribute(n, v)) for n, v in attributes.items()))


def value_info(name, shape, kind=FLOAT):
    dims = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))


def network(nodes, inputs, outputs, weights=(), opset=13):
    graph = (b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, w) for w in weights) +
             b"".join(field(11, value_info(*i)) for i in inputs) + b"".join(field(12, value_info(n, [])) for n in outputs))
    return field(1, 7) + field(7, graph) + field(8, field(1, "") + field(2, opset))


# --- what they must compute -------------------------------------------------------------------------

def numbers(rng, count, scale=1.0):
    return [struct.unpack("e", struct.pack("e", rng.gauss(0, scale)))[0] for _ in range(count)]


def product(a, b, m, k, n):
    return [sum(a[i * k + t] * b[t * n + j] for t in range(k)) for i in range(m) for j in range(n)]


def softmax(row):
    parts = [math.exp(v - max(row)) for v in row]
    return [p / sum(parts) for p in parts]


RUN = """
import sys
import acl
model, ret = acl.mdl.load_from_file(sys.argv[1])
assert ret == 0, (ret, acl.get_recent_err_msg())
desc = acl.mdl.create_desc()
assert acl.mdl.get_desc(desc, model) == 0
def dataset(count, size_of, files):
    data = acl.mdl.create_dataset()
    places = []
    for i in range(count):
        size = size_of(desc, i)
        place, ret = acl.rt.malloc(size, 0)
        assert ret == 0
        if files:
            raw = open(files[i], "rb").read()
            assert len(raw) == size, (len(raw), size)
            assert acl.rt.memcpy(place, size, acl.util.bytes_to_ptr(raw), size, 1) == 0
        buffer = acl.create_data_buffer(place, size)
        acl.mdl.add_dataset_buffer(data, buffer)
        places.append((place, size))
    return data, places
inputs, _ = dataset(acl.mdl.get_num_inputs(desc), acl.mdl.get_input_size_by_index, sys.argv[3:])
outputs, places = dataset(acl.mdl.get_num_outputs(desc), acl.mdl.get_output_size_by_index, None)
for _ in range(2):
    assert acl.mdl.execute(model, inputs, outputs) == 0, acl.get_recent_err_msg()
stream, ret = acl.rt.create_stream()
assert acl.mdl.execute_async(model, inputs, outputs, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
assert acl.rt.destroy_stream(stream) == 0
with open(sys.argv[2], "wb") as out:
    for place, size in places:
        host = bytes(size)
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(host), size, place, size, 2) == 0
        out.write(host)
assert acl.mdl.unload(model) == 0
assert acl.mdl.unload(model) == 145003
assert acl.mdl.destroy_desc(desc) == 0
"""


class Models(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def atc(self, data, *options):
        (self.path / "net.onnx").write_bytes(data)
        return subprocess.run([TOOLKIT / "bin/atc", "--framework=5", f"--model={self.path / 'net.onnx'}",
                               f"--output={self.path / 'net'}", "--soc_version=Ascend910A", *options],
                              capture_output=True, text=True, check=False)

    def run_python(self, soc, script, *args):
        env = {**os.environ, "LEO_SOC": soc, "LEO_CHECK": "all", "PYTHONPATH": str(TOOLKIT / "python/site-packages"),
               "LD_LIBRARY_PATH": str(TOOLKIT / "lib64")}
        start = "import acl\nassert acl.init() == 0\nassert acl.rt.set_device(0) == 0\n"
        done = subprocess.run([sys.executable, "-B", "-c", start + script, *map(str, args)], env=env, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def check(self, data, inputs, want, tolerance, *options):
        done = self.atc(data, *options)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("ATC run success, welcome to the next use.", done.stdout)
        files = []
        for i, values in enumerate(inputs):
            files.append(self.path / f"in{i}")
            kind = "q" if isinstance(values[0], int) else "f"
            files[-1].write_bytes(struct.pack(f"<{len(values)}{kind}", *values))
        for soc in ("ascend910a", "ascend910b1"):
            self.run_python(soc, RUN, self.path / "net.om", self.path / "out", *files)
            got = struct.unpack(f"<{len(want)}f", (self.path / "out").read_bytes())
            for i, (a, b) in enumerate(zip(got, want)):
                self.assertLessEqual(abs(a - b), tolerance, f"{soc}: element {i}: {a} for {b}")

    def test_perceptron_in_both_precisions(self):
        rng = random.Random(1)
        x, w, b, v = numbers(rng, 40), numbers(rng, 80, 0.3), numbers(rng, 8, 0.3), numbers(rng, 24, 0.3)
        hidden = [max(0.0, s + b[i % 8]) for i, s in enumerate(product(x, w, 4, 10, 8))]
        last = product(hidden, v, 4, 8, 3)
        want = [p for i in range(4) for p in softmax(last[3 * i:3 * i + 3])]
        data = network([node("Gemm", ["x", "w", "b"], ["h"]), node("Relu", ["h"], ["r"]),
                        node("MatMul", ["r", "v"], ["m"]), node("Softmax", ["m"], ["y"], axis=-1)],
                       [("x", ["n", 10])], ["y"], [tensor("w", [10, 8], w), tensor("b", [8], b), tensor("v", [8, 3], v)])
        done = self.atc(data)
        self.assertEqual(done.returncode, 255)
        self.assertIn("--input_shape", done.stdout)
        self.check(data, [x], want, 2e-3, "--input_shape=x:4,10")
        self.check(data, [x], want, 1e-5, "--input_shape", "x:4,10", "--precision_mode=must_keep_origin_dtype")

    def convolution(self, x, w, channels, side, filters, pad_before, pad_after, stride):
        out_side = (side + pad_before + pad_after - 3) // stride + 1
        out = []
        for f in range(filters):
            for i in range(out_side):
                for j in range(out_side):
                    total = 0.0
                    for c in range(channels):
                        for p in range(3):
                            for q in range(3):
                                y, z = i * stride + p - pad_before, j * stride + q - pad_before
                                if 0 <= y < side and 0 <= z < side:
                                    total += x[(c * side + y) * side + z] * w[((f * channels + c) * 3 + p) * 3 + q]
                    out.append(total)
        return out, out_side

    def test_convolutions_with_normalisation_and_pooling(self):
        rng = random.Random(2)
        x, w = numbers(rng, 3 * 9 * 9), numbers(rng, 5 * 27, 0.3)
        scale, shift, mean = numbers(rng, 5), numbers(rng, 5), numbers(rng, 5)
        variance = [rng.uniform(0.5, 2) for _ in range(5)]
        for before, after, stride in ((1, 1, 1), (0, 1, 2)):
            planes, side = self.convolution(x, w, 3, 9, 5, before, after, stride)
            want = []
            for c in range(5):
                plane = [max(0.0, (v - mean[c]) / math.sqrt(variance[c] + 1e-3) * scale[c] + shift[c])
                         for v in planes[c * side * side:(c + 1) * side * side]]
                # Means of 2 x 2 with pads behind that do not count, then of all.
                pooled = []
                for i in range(0, side, 2):
                    for j in range(0, side, 2):
                        part = [plane[y * side + z] for y in range(i, min(i + 2, side)) for z in range(j, min(j + 2, side))]
                        pooled.append(sum(part) / len(part))
                want.append(sum(pooled) / len(pooled))
            pads = [0, 0, side % 2, side % 2]
            data = network([node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3], pads=[before, before, after, after],
                                 strides=[stride, stride]),
                            node("BatchNormalization", ["c", "s", "t", "m", "v"], ["n"], epsilon=0.001),
                            node("Relu", ["n"], ["r"]),
                            node("AveragePool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2], pads=pads),
                            node("GlobalAveragePool", ["p"], ["g"]), node("Flatten", ["g"], ["y"])],
                           [("x", [1, 3, 9, 9])], ["y"],
                           [tensor("w", [5, 3, 3, 3], w), tensor("s", [5], scale), tensor("t", [5], shift), tensor("m", [5], mean),
                            tensor("v", [5], variance)])
            self.check(data, [x], want, 1e-2)
            self.check(data, [x], want, 1e-4, "--precision_mode=force_fp32")

    def test_attention_with_shapes_computed_in_the_file(self):
        rng = random.Random(3)
        length, heads, width = 6, 2, 4
        x, w = numbers(rng, length * 8), numbers(rng, 8 * 24, 0.4)
        g, b = numbers(rng, 8), numbers(rng, 8)
        mixed = product(x, w, length, 8, 24)
        joined = [[0.0] * 8 for _ in range(length)]
        for h in range(heads):
            part = [[[mixed[t * 24 + 8 * k + 4 * h + i] for i in range(width)] for t in range(length)] for k in range(3)]
            for t in range(length):
                row = softmax([sum(p * q for p, q in zip(part[0][t], part[1][u])) / 2 for u in range(length)])
                for i in range(width):
                    joined[t][4 * h + i] = sum(row[u] * part[2][u][i] for u in range(length))
        want = []
        for row in joined:
            middle = sum(row) / 8
            spread = math.sqrt(sum((v - middle) ** 2 for v in row) / 8 + 1e-5)
            want += [(v - middle) / spread * g[i] + b[i] for i, v in enumerate(row)]
        ints = lambda name, *v: tensor(name, [len(v)], v, INT64)
        data = network(
            [node("MatMul", ["x", "w"], ["m"]), node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "zero"], ["len"]),
             node("Unsqueeze", ["len", "axis0"], ["len1"]), node("Concat", ["len1", "rest"], ["dims"], axis=0),
             node("Reshape", ["m", "dims"], ["three"]), node("Split", ["three"], ["q3", "k3", "v3"], axis=1),
             node("Squeeze", ["q3", "axis1"], ["q2"]), node("Squeeze", ["k3", "axis1"], ["k2"]),
             node("Squeeze", ["v3", "axis1"], ["v2"]), node("Transpose", ["q2"], ["q"], perm=[1, 0, 2]),
             node("Transpose", ["k2"], ["k"], perm=[1, 2, 0]), node("Transpose", ["v2"], ["v"], perm=[1, 0, 2]),
             node("MatMul", ["q", "k"], ["s"]), node("Div", ["s", "two"], ["d"]), node("Softmax", ["d"], ["p"], axis=-1),
             node("MatMul", ["p", "v"], ["o"]), node("Transpose", ["o"], ["ot"], perm=[1, 0, 2]),
             node("Reshape", ["ot", "flat"], ["f"]), node("LayerNormalization", ["f", "g", "b"], ["y"], axis=-1)],
            [("x", [length, 8])], ["y"],
            [tensor("w", [8, 24], w), tensor("zero", [], [0], INT64), ints("axis0", 0), ints("axis1", 1),
             ints("rest", 3, heads, width), ints("flat", 0, -1), tensor("two", [], [2.0]), tensor("g", [8], g),
             tensor("b", [8], b)], opset=17)
        self.check(data, [x], want, 1e-4, "--precision_mode=force_fp32")
        self.check(data, [x], want, 2e-2)

    def test_rows_picked_by_an_input(self):
        table = [float(i) for i in range(40)]
        data = network([node("Gather", ["t", "i"], ["p"]), node("Slice", ["p", "s", "e", "a"], ["y"])],
                       [("i", [2, 3], INT64)], ["y"],
                       [tensor("t", [10, 4], table), tensor("s", [1], [1], INT64), tensor("e", [1], [3], INT64),
                        tensor("a", [1], [2], INT64)])
        index = [3, 9, 0, 1, 1, 7]
        self.check(data, [index], [table[4 * i + c] for i in index for c in (1, 2)], 0)

    def test_what_is_not_served_is_told(self):
        one = [("x", [2, 3])]
        for data, options, text in (
                (network([node("Einsum", ["x"], ["y"])], one, ["y"]), (), "E10501: node einsum_node of type Einsum"),
                (network([node("Relu", ["z"], ["y"])], one, ["y"]), (), "its input z is made by no node"),
                (network([node("Relu", ["x"], ["y"])], one, ["q"]), (), "output q is made by no node"),
                (b"no model", (), "E13014: the file is no ONNX model"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--input_shape=z:1",), "names input z"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--input_shape=x:a",), "E10001"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--speed=1",), "E10003"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--precision_mode=high",), "E10001")):
            done = self.atc(data, *options)
            self.assertEqual(done.returncode, 255, text)
            self.assertTrue(done.stdout.startswith("ATC start working now"))
            self.assertIn("ATC run failed", done.stdout)
            self.assertIn(text, done.stdout)

    def test_damaged_files_are_refused(self):
        done = self.atc(network([node("Relu", ["x"], ["y"])], [("x", [2, 3])], ["y"]))
        self.assertEqual(done.returncode, 0, done.stdout)
        good = (self.path / "net.om").read_bytes()
        rng = random.Random(4)
        bad = [(good[:-1], "cut off"), (good + b"x", "behind its end"), (b"IMOD" + good[4:], "vendor"), (b"text", "no model"),
               (good[:8] + b"\x09" + good[9:], "version")]
        for _ in range(40):
            at = rng.randrange(32, len(good))
            bad.append((good[:at] + bytes([good[at] ^ 1 << rng.randrange(8)]) + good[at + 1:], "checksum"))
        for i, (data, _) in enumerate(bad):
            (self.path / f"{i}.om").write_bytes(data)
        self.run_python("ascend910a", """
import sys
for path, text in zip(sys.argv[2::2], sys.argv[3::2]):
    model, ret = acl.mdl.load_from_file(path)
    assert ret == 545002 and text in acl.get_recent_err_msg(), (path, ret, acl.get_recent_err_msg())
""", "-", *(a for i, (_, text) in enumerate(bad) for a in (self.path / f"{i}.om", text)))


if __name__ == "__main__":
    TOOLKIT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
