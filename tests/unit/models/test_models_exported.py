#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_models_exported.py TOOLKIT: what torch.onnx writes of networks that failed once: recurrent layers, pads computed by the file,
masks of the least float."""

import math
import random

from models_case import INT64, ModelsCase, main, network, node, tensor

INPUTS, HIDDEN, STEPS, BATCH = 3, 2, 4, 2


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


def lstm(x, w, r, b, h, c):
    """One direction: x of steps of [batch][inputs]; gates in the format's order, input, output, forget, cell."""
    out = []
    for step in x:
        for n in range(BATCH):
            z = [sum(w[g][i] * step[n][i] for i in range(INPUTS)) + sum(r[g][i] * h[n][i] for i in range(HIDDEN)) + b[g] + b[4 * HIDDEN + g]
                 for g in range(4 * HIDDEN)]
            i, o, f, g = (z[k * HIDDEN:(k + 1) * HIDDEN] for k in range(4))
            c[n] = [sigmoid(f[k]) * c[n][k] + sigmoid(i[k]) * math.tanh(g[k]) for k in range(HIDDEN)]
            h[n] = [sigmoid(o[k]) * math.tanh(c[n][k]) for k in range(HIDDEN)]
        out.append([list(row) for row in h])
    return out


def gru(x, w, r, b, h):
    """Gates update, reset, hidden; the reset is applied behind the product (linear_before_reset)."""
    out, rows = [], 3 * HIDDEN
    for step in x:
        for n in range(BATCH):
            a = [sum(w[g][i] * step[n][i] for i in range(INPUTS)) + b[g] for g in range(rows)]
            q = [sum(r[g][i] * h[n][i] for i in range(HIDDEN)) + b[rows + g] for g in range(rows)]
            z = [sigmoid(a[k] + q[k]) for k in range(HIDDEN)]
            s = [sigmoid(a[HIDDEN + k] + q[HIDDEN + k]) for k in range(HIDDEN)]
            m = [math.tanh(a[2 * HIDDEN + k] + s[k] * q[2 * HIDDEN + k]) for k in range(HIDDEN)]
            h[n] = [(1 - z[k]) * m[k] + z[k] * h[n][k] for k in range(HIDDEN)]
        out.append([list(row) for row in h])
    return out


def flat(value):
    return [v for part in value for v in flat(part)] if isinstance(value, list) else [value]


def matrix(rng, rows, columns):
    return [[round(rng.gauss(0, 0.5), 3) for _ in range(columns)] for _ in range(rows)]


class Exported(ModelsCase):
    def layer(self, kind, gates, directions, known, direction, **attributes):
        rng = random.Random(directions)
        x = [matrix(rng, BATCH, INPUTS) for _ in range(STEPS)]
        w, r = ([matrix(rng, gates * HIDDEN, n) for _ in range(directions)] for n in (INPUTS, HIDDEN))
        b = matrix(rng, directions, 2 * gates * HIDDEN)
        ways = {"forward": [1], "reverse": [-1], "bidirectional": [1, -1]}[direction]
        sequences, states = [], []
        for d, way in enumerate(ways):
            h, c = ([[0.0] * HIDDEN for _ in range(BATCH)] for _ in range(2))
            made = lstm(x[::way], w[d], r[d], b[d], h, c) if gates == 4 else gru(x[::way], w[d], r[d], b[d], h)
            sequences.append(made[::way])
            states.append((h, c)[:1 if gates == 3 else 2])
        want = flat([[sequences[d][t] for d in range(directions)] for t in range(STEPS)])
        for part in range(len(states[0])):
            want += flat([states[d][part] for d in range(directions)])
        names = ["y", "h", "c"][:len(states[0]) + 1]
        weights = {"w": ([directions, gates * HIDDEN, INPUTS], flat(w)), "r": ([directions, gates * HIDDEN, HIDDEN], flat(r)),
                   "b": ([directions, 2 * gates * HIDDEN], flat(b))}
        data = network([node(kind, ["x", "w", "r", "b"], names, hidden_size=HIDDEN, direction=direction, **attributes)],
                       [("x", [STEPS, BATCH, INPUTS])] + ([] if known else [(n, s) for n, (s, _) in weights.items()]), names,
                       [tensor(n, s, v) for n, (s, v) in weights.items()] if known else [], opset=14)
        inputs = [flat(x)] + ([] if known else [v for _, v in weights.values()])
        self.check(data, inputs, want, 1e-3, "--precision_mode=must_keep_origin_dtype")
        self.check(data, inputs, want, 1e-2)

    def test_lstm(self):
        self.layer("LSTM", 4, 1, True, "forward")
        self.layer("LSTM", 4, 2, True, "bidirectional")
        self.layer("LSTM", 4, 1, False, "reverse")

    def test_gru(self):
        self.layer("GRU", 3, 2, True, "bidirectional", linear_before_reset=1)
        self.layer("GRU", 3, 1, False, "reverse", linear_before_reset=1)

    def test_other_layers_are_refused(self):
        weights = [tensor("w", [1, 6, 3], [0.1] * 18), tensor("r", [1, 6, 2], [0.1] * 12)]
        for inputs, attributes in ((["x", "w", "r"], {}), (["x", "w", "r"], {"linear_before_reset": 1, "clip": 1.0}),
                                   (["x", "w", "r", "", "l"], {"linear_before_reset": 1})):
            done = self.atc(network([node("GRU", inputs, ["y"], hidden_size=2, **attributes)], [("x", [4, 2, 3])], ["y"],
                                    weights + [tensor("l", [2], [4, 3], INT64)], opset=14))
            self.assertEqual(done.returncode, 255, done.stdout)
            self.assertIn("gru_node", done.stdout)

    def test_shapes_that_do_not_fit_are_refused(self):
        weights = [tensor("w", [1, 8, 3], [0.1] * 24), tensor("r", [1, 8, 2], [0.1] * 16), tensor("short", [1, 8], [0.1] * 8),
                   tensor("flat", [4], [0.1] * 4), tensor("deep", [1, 1, 2, 2], [0.1] * 4), tensor("lengths", [2], [4.0, 4.0])]
        for rest, layout, words in ((["short"], 0, "its bias"), (["", "", "flat"], 0, "first state"), (["", "", "deep"], 1, "first state"),
                                    (["", "", "", "flat"], 0, "first state"), (["", "lengths"], 0, "its sequence_lens")):
            done = self.atc(network([node("LSTM", ["x", "w", "r"] + rest, ["y"], hidden_size=2, layout=layout)], [("x", [4, 2, 3])], ["y"],
                                    weights, opset=14))
            self.assertEqual(done.returncode, 255, done.stdout)
            self.assertIn(words, done.stdout)

    def test_pads_are_computed_by_the_file(self):
        """As of Swin: [[left, right], ...] of dimensions from the last on, turned round and transposed."""
        data = network([node("Transpose", ["pairs"], ["turned"], perm=[1, 0]), node("Reshape", ["turned", "all"], ["pads"]),
                        node("Pad", ["x", "pads"], ["y"])],
                       [("x", [2, 2])], ["y"], [tensor("pairs", [2, 2], [1, 0, 0, 2], INT64), tensor("all", [1], [-1], INT64)])
        self.check(data, [[1.0, 2.0, 3.0, 4.0]], [0.0] * 4 + [1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0], 0)

    def test_masks_of_the_least_float_stay_finite_in_half_precision(self):
        data = network([node("Sub", ["one", "mask"], ["hidden"]), node("Mul", ["hidden", "least"], ["added"]),
                        node("Add", ["x", "added"], ["scores"]), node("Softmax", ["scores"], ["y"], axis=-1)],
                       [("x", [1, 3]), ("mask", [1, 3])], ["y"], [tensor("one", [1], [1.0]), tensor("least", [1], [-3.4028234663852886e38])])
        self.check(data, [[1.0, 1.0, 5.0], [1.0, 1.0, 0.0]], [0.5, 0.5, 0.0], 1e-3)


if __name__ == "__main__":
    main()
