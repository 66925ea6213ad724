#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_models_attention.py TOOLKIT: attention as exporters write it becomes one operator on the 910B, and keeps its values on both
chips; what only looks like it stays."""

import math
import random
import struct

from models_case import INT64, RUN, ModelsCase, main, network, node, tensor

BATCH, HEADS, ROWS, WIDTH = 2, 2, 16, 16
FLAT, SPLIT = [BATCH, ROWS, HEADS * WIDTH], [BATCH, ROWS, HEADS, WIDTH]


def softmax(row):
    parts = [math.exp(v - max(row)) for v in row]
    return [p / sum(parts) for p in parts]


def rounded(value):
    return struct.unpack("e", struct.pack("e", value))[0]


def split(name, perm):
    return [node("Reshape", [name, "split"], [name + "r"]), node("Transpose", [name + "r"], [name + "t"], perm=perm)]


HEAD = split("q", [0, 2, 1, 3]) + split("k", [0, 2, 3, 1]) + split("v", [0, 2, 1, 3])
ROOT = [node("Sqrt", ["scale"], ["root"]), node("Mul", ["qt", "root"], ["a"]), node("Sqrt", ["scale"], ["root2"]),
        node("Mul", ["kt", "root2"], ["b"]), node("MatMul", ["a", "b"], ["s"])]
FORMS = { # by the name of the scores
    "scaled_dot_product_attention": (ROOT, "s"),
    "divided": ([node("MatMul", ["qt", "kt"], ["p"]), node("Div", ["p", "divisor"], ["s"])], "s"),
    "multiplied": ([node("MatMul", ["qt", "kt"], ["p"]), node("Mul", ["p", "scale"], ["s"])], "s"),
}


def tail(scores, axis=-1, masked=True):
    return ([node("Add", [scores, "mask"], ["m"])] if masked else []) + [
        node("Softmax", ["m" if masked else scores], ["w"], axis=axis), node("MatMul", ["w", "vt"], ["o"]), node("Identity", ["o"], ["y"])]


class Attention(ModelsCase):
    def setUp(self):
        super().setUp()
        rng = random.Random(4)
        self.q, self.k, self.v = ([rounded(rng.gauss(0, 1)) for _ in range(math.prod(FLAT))] for _ in range(3))
        # The last key of the second sequence is hidden.
        self.mask = [[0.0] * ROWS, [0.0] * (ROWS - 1) + [-3.4028234663852886e38]]

    def net(self, nodes, shape=(BATCH, 1, 1, ROWS)):
        weights = [tensor("split", [4], SPLIT, INT64), tensor("scale", [], [WIDTH ** -0.5]), tensor("divisor", [], [WIDTH ** 0.5]),
                   tensor("mask", list(shape), sum(self.mask, []) if shape[0] == BATCH else self.mask[1])]
        return network(HEAD + nodes, [(n, FLAT) for n in "qkv"], ["y"], weights)

    def want(self, masked):
        out = []
        at = lambda data, n, row, h: data[((n * ROWS + row) * HEADS + h) * WIDTH:][:WIDTH]
        for n in range(BATCH):
            for h in range(HEADS):
                for row in range(ROWS):
                    scores = [sum(a * b for a, b in zip(at(self.q, n, row, h), at(self.k, n, key, h))) * WIDTH ** -0.5 +
                              (self.mask[n][key] if masked else 0) for key in range(ROWS)]
                    shares = softmax(scores)
                    out += [sum(p * at(self.v, n, key, h)[i] for key, p in enumerate(shares)) for i in range(WIDTH)]
        return out

    def told(self, data, *options):
        done = self.atc(data, "--log=info", *options)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_forms(self):
        for name, (nodes, scores) in FORMS.items():
            for masked in (False, True):
                with self.subTest(name, masked=masked):
                    data = self.net(nodes + tail(scores, masked=masked))
                    # For the 910A, which has no such operator: products, which both chips run.
                    self.assertNotIn("PromptFlashAttention", self.told(data))
                    self.run_and_compare([self.q, self.k, self.v], self.want(masked), 5e-3)
                    text = self.told(data, "--soc_version=Ascend910B1")
                    self.assertIn("PromptFlashAttention: 1", text)
                    self.assertIn('fused into "matmul_node" (MatMul): ', text)
                    for i, values in enumerate((self.q, self.k, self.v)):
                        (self.path / f"in{i}").write_bytes(struct.pack(f"<{len(values)}f", *values))
                    self.run_python("ascend910b1", RUN, self.path / "net.om", self.path / "out", *(self.path / f"in{i}" for i in range(3)))
                    want = self.want(masked)
                    got = struct.unpack(f"<{len(want)}f", (self.path / "out").read_bytes())
                    self.assertLessEqual(max(abs(a - b) for a, b in zip(got, want)), 5e-3)

    def test_what_only_looks_like_it_stays(self):
        on_910b = "--soc_version=Ascend910B1"
        nodes, scores = FORMS["scaled_dot_product_attention"]
        for data in (self.net(nodes + tail(scores, axis=2)), # shares of another dimension
                     self.net(nodes + tail(scores)[:-1] + [node("Add", ["o", "w"], ["y"])])): # the shares are read elsewhere
            self.assertNotIn("PromptFlashAttention", self.told(data, on_910b))
        data = self.net(nodes + tail(scores))
        self.assertNotIn("PromptFlashAttention", self.told(data, on_910b, "--precision_mode=must_keep_origin_dtype"))
        (self.path / "off.json").write_text('{"Switch": {"GraphFusion": {"Attention": "off"}}}')
        self.assertNotIn("PromptFlashAttention", self.told(data, on_910b, f"--fusion_switch_file={self.path / 'off.json'}"))

    def test_the_other_chip_says_what_it_lacks(self):
        nodes, scores = FORMS["divided"]
        self.told(self.net(nodes + tail(scores)), "--soc_version=Ascend910B1")
        self.run_python("ascend910a", """
import sys
model, ret = acl.mdl.load_from_file(sys.argv[1])
assert ret == 500000 and "PromptFlashAttention" in acl.get_recent_err_msg(), acl.get_recent_err_msg()
""", self.path / "net.om")


if __name__ == "__main__":
    main()
