#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_models.py TOOLKIT: ONNX networks through atc and acl.mdl, against the same computed here in plain Python."""

import json
import math
import random
import struct

from models_case import INT64, LOAD, RUN, ModelsCase, main, network, node, tensor


def numbers(rng, count, scale=1.0):
    return [struct.unpack("e", struct.pack("e", rng.gauss(0, scale)))[0] for _ in range(count)]


def product(a, b, m, k, n):
    return [sum(a[i * k + t] * b[t * n + j] for t in range(k)) for i in range(m) for j in range(n)]


def softmax(row):
    parts = [math.exp(v - max(row)) for v in row]
    return [p / sum(parts) for p in parts]


class Models(ModelsCase):
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
                (network([node("Sum", ["x", "", "x"], ["y"])], one, ["y"]), (), "it needs all its inputs"),
                (network([node("Relu", ["z"], ["y"])], one, ["y"]), (), "its input z is made by no node"),
                (network([node("Relu", ["x"], ["y"])], one, ["q"]), (), "output q is made by no node"),
                (b"no model", (), "E13014: the file is no ONNX model"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--input_shape=z:1",), "names input z"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--input_shape=x:a",), "E10001"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--speed=1",), "E10003"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--out_nodes=relu_node:1",), "E10001: --out_nodes: the model"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--out_nodes=relu_node",), "E10001: --out_nodes: 'relu_node' is"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--output_type=FP8",), "E10001: --output_type: 'FP8'"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--input_fp16_nodes=x;q",), "names input q"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--mode=1",), "E10007: [--om]"),
                (network([node("Relu", ["x"], ["y"])], one, ["y"]), ("--precision_mode=high",), "E10001")):
            done = self.atc(data, *options)
            self.assertEqual(done.returncode, 255, text)
            self.assertTrue(done.stdout.startswith("ATC start working now"))
            self.assertIn("ATC run failed", done.stdout)
            self.assertIn(text, done.stdout)

    def test_outputs_and_types_that_options_tell(self):
        # What is behind the chosen output may be anything, and a normalisation there must not change it.
        x, w = [float(i % 7 - 3) for i in range(16)], [2.0]
        data = network([node("Conv", ["x", "w"], ["c"], kernel_shape=[1, 1]),
                        node("BatchNormalization", ["c", "s", "t", "t", "s"], ["n"]),
                        node("Abs", ["x"], ["a"]), node("Einsum", ["n"], ["y"])],
                       [("x", [1, 1, 4, 4])], ["y"],
                       [tensor("w", [1, 1, 1, 1], w), tensor("s", [1], [3.0]), tensor("t", [1], [1.0])])
        names = "--out_nodes=conv_node:0;abs_node:0"
        self.check(data, [x], [2 * v for v in x] + [abs(v) for v in x], 0, names)
        done = self.atc(data, names, "--output_type=abs_node:0:UINT8;conv_node:0:FP16", "--input_fp16_nodes=x", "--log=info")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("output 1: \"a\", u8, [1, 1, 4, 4], 16 bytes", done.stdout)
        (self.path / "in").write_bytes(struct.pack("<16e", *x))
        for soc in ("ascend910a", "ascend910b1"):
            self.run_python(soc, RUN, self.path / "net.om", self.path / "out", self.path / "in")
            got = struct.unpack("<16e16B", (self.path / "out").read_bytes())
            self.assertEqual(list(got), [2 * v for v in x] + [abs(v) for v in x])

    def test_what_a_model_holds(self):
        done = self.atc(network([node("Relu", ["x\"\n"], ["y"])], [("x\"\n", [2, 3])], ["y"]), "--log=error")
        self.assertEqual(done.returncode, 0, done.stdout)
        om, out = self.path / "net.om", self.path / "net.json"
        done = self.run_atc("--mode=6", f"--om={om}")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("output 0: \"y\", f32, [2, 3], 24 bytes", done.stdout)
        done = self.run_atc("--mode", "1", "--om", om, f"--json={out}")
        self.assertEqual(done.returncode, 0, done.stdout)
        told = json.loads(out.read_text())
        self.assertEqual(told["inputs"], [{"name": "x\"\n", "type": "f32", "dims": [2, 3]}])
        self.assertIn("Relu", [call["op"] for call in told["calls"]])
        om.write_bytes(om.read_bytes()[:-1])
        done = self.run_atc("--mode=6", f"--om={om}")
        self.assertEqual(done.returncode, 255)
        self.assertIn("E16001: the model cannot be read: it is cut off", done.stdout)

    def test_runs_again_on_the_same_and_on_other_buffers(self):
        done = self.atc(network([node("Mul", ["x", "w"], ["m"]), node("Neg", ["m"], ["y"])], [("x", [16])], ["y"],
                                [tensor("w", [1], [2.0])]))
        self.assertEqual(done.returncode, 0, done.stdout)
        (self.path / "in").write_bytes(struct.pack("<16f", *range(16)))
        for soc in ("ascend910a", "ascend910b1"):
            self.run_python(soc, LOAD + """
import struct
def run(inputs, outputs, number):
    source, target = (acl.get_data_buffer_addr(acl.mdl.get_dataset_buffer(s, 0)) for s in (inputs, outputs))
    raw, host = struct.pack("<16f", *[number] * 16), bytes(64)
    assert acl.rt.memcpy(source, 64, acl.util.bytes_to_ptr(raw), 64, 1) == 0
    assert acl.mdl.execute(model, inputs, outputs) == 0, acl.get_recent_err_msg()
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(host), 64, target, 64, 2) == 0
    assert struct.unpack("<16f", host) == (-2 * number,) * 16, (number, host)
for number in range(1, 5):
    run(inputs, outputs, float(number))
other, _ = dataset(1, acl.mdl.get_input_size_by_index, sys.argv[3:])
for number in range(5, 8):
    run(other, outputs, float(number))
    run(inputs, outputs, float(-number))
# What was launched is done before the model goes.
stream, ret = acl.rt.create_stream()
for _ in range(20):
    assert acl.mdl.execute_async(model, inputs, outputs, stream) == 0
assert acl.mdl.unload(model) == 0
assert acl.rt.synchronize_stream(stream) == 0
# A device that went before its model.
model, ret = acl.mdl.load_from_file(sys.argv[1])
for number in range(1, 4):
    run(inputs, outputs, float(number))
assert acl.rt.reset_device(0) == 0
acl.mdl.unload(model)
assert acl.rt.set_device(0) == 0
""", self.path / "net.om", "-", self.path / "in")

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
    main()
