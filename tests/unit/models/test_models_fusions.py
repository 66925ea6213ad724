#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_models_fusions.py TOOLKIT: nodes that together are one operator: found as exporters write them, with the values of the same
nodes one by one, and left alone where they mean something else."""

import json
import math
import re
import struct

from models_case import RUN, ModelsCase, main, network, node, tensor

ROOT, SLOPE = math.sqrt(2), math.sqrt(2 / math.pi)


def chain(x, *steps):
    """Nodes in a row: type and operands; a number is a constant, "x" the input, "0" the first one's result and so on."""
    nodes, weights = [], []
    for at, (kind, *operands) in enumerate(steps):
        attributes = operands.pop() if isinstance(operands[-1], dict) else {}
        names = []
        for operand in operands:
            if isinstance(operand, float):
                weights.append(tensor(f"c{len(weights)}", [], [operand]))
                names.append(f"c{len(weights) - 1}")
            else:
                names.append(operand if not operand.isdigit() else f"t{operand}")
        nodes.append(node(kind, names, ["y" if at + 1 == len(steps) else f"t{at}"], **attributes))
    return nodes, weights


LAST = {"axes": [-1]}
NORM = (("ReduceMean", "x", LAST), ("Sub", "x", "0"), ("Pow", "1", 2.0), ("ReduceMean", "2", LAST), ("Add", "3", 1e-3),
        ("Sqrt", "4"), ("Div", "1", "5"), ("Mul", "6", "a"), ("Add", "7", "b"))
ROWS = [tensor("a", [8], [1 + i / 8 for i in range(8)]), tensor("b", [8], [i / 4 - 1 for i in range(8)])]
PATTERNS = {
    "LayerNorm": (NORM, "LayerNorm"),
    "LayerNorm of a product": ((*NORM[:2], ("Mul", "1", "1"), *NORM[3:]), "LayerNorm"),
    "LayerNorm turned": ((*NORM[:7], ("Mul", "a", "6"), ("Add", "b", "7")), "LayerNorm"),
    "Gelu": ((("Div", "x", ROOT), ("Erf", "0"), ("Add", "1", 1.0), ("Mul", "x", "2"), ("Mul", "3", 0.5)), "GeluV2"),
    "Gelu halved first": ((("Mul", "x", 1 / ROOT), ("Erf", "0"), ("Add", 1.0, "1"), ("Mul", "2", 0.5), ("Mul", "3", "x")), "GeluV2"),
    "Gelu halved beside": ((("Div", "x", ROOT), ("Erf", "0"), ("Add", "1", 1.0), ("Mul", 0.5, "x"), ("Mul", "3", "2")), "GeluV2"),
    "Gelu by tanh": ((("Mul", "x", "x"), ("Mul", "x", "0"), ("Mul", 0.044715, "1"), ("Add", "x", "2"), ("Mul", SLOPE, "3"),
                      ("Tanh", "4"), ("Add", 1.0, "5"), ("Mul", "x", "6"), ("Mul", 0.5, "7")), "GeluV2"),
    "Gelu by a cube": ((("Pow", "x", 3.0), ("Mul", "0", 0.044715), ("Add", "x", "1"), ("Mul", "2", SLOPE), ("Tanh", "3"),
                        ("Add", "4", 1.0), ("Mul", "x", 0.5), ("Mul", "6", "5")), "GeluV2"),
    "Swish": ((("Sigmoid", "x"), ("Mul", "x", "0")), "Swish"),
    "Mish": ((("Softplus", "x"), ("Tanh", "0"), ("Mul", "x", "1")), "Mish"),
    "MatMulBias": ((("MatMul", "x", "w"), ("Add", "0", "b")), "Addmm"),
}
# What looks like one and is none.
OTHERS = {
    "another number": (("Div", "x", 1.5), ("Erf", "0"), ("Add", "1", 1.0), ("Mul", "x", "2"), ("Mul", "3", 0.5)),
    "another mean": (("ReduceMean", "x", {"axes": [1]}), *NORM[1:3], ("ReduceMean", "2", {"axes": [1]}), *NORM[4:]),
    "other rows": (*NORM[:7], ("Mul", "6", "v"), ("Add", "7", "b")),
    "another operand": (("Sigmoid", "x"), ("Mul", "0", "0")),
    "a row for each matrix": (("MatMul", "x", "w"), ("Add", "0", "v")),
}


class Fusions(ModelsCase):
    def told(self, steps, *options, outputs=("y",)):
        """What the compiled model calls."""
        nodes, weights = chain("x", *steps)
        weights += [*ROWS, tensor("w", [8, 8], [math.sin(i) for i in range(64)]), tensor("v", [1, 3, 1], [1.0, 2.0, 0.5])]
        done = self.atc(network(nodes, [("x", [2, 3, 8])], list(outputs), weights), "--precision_mode=must_keep_origin_dtype", *options)
        self.assertEqual(done.returncode, 0, done.stdout)
        told = self.run_atc("--mode=6", f"--om={self.path / 'net.om'}").stdout
        return dict(re.findall(r"^  (\w+): (\d+)$", told, re.MULTILINE))

    def off(self, text='{"Switch": {"GraphFusion": {"ALL": "off"}}}'):
        (self.path / "off.cfg").write_text(text)
        return f"--fusion_switch_file={self.path / 'off.cfg'}"

    def values(self, *options):
        """What the model gives on the 910B1."""
        (self.path / "in").write_bytes(struct.pack("<48f", *((i * 37 % 48) / 8 - 3 for i in range(48))))
        self.run_python("ascend910b1", RUN, self.path / "net.om", self.path / "out", self.path / "in")
        return struct.unpack("<48f", (self.path / "out").read_bytes())

    def test_patterns_are_found_and_mean_the_same(self):
        for name, (steps, call) in PATTERNS.items():
            with self.subTest(pattern=name):
                calls = self.told(steps)
                self.assertEqual(calls, {call: "1", "InplaceCopy": "1"})
                fused = self.values()
                self.assertGreater(sum(int(n) for n in self.told(steps, self.off()).values()), 2)
                for a, b in zip(fused, self.values()):
                    self.assertLessEqual(abs(a - b), 2e-5 * max(1, abs(b)))

    def test_what_is_another_is_left_alone(self):
        for name, steps in OTHERS.items():
            with self.subTest(pattern=name):
                self.assertGreater(sum(int(n) for n in self.told(steps).values()), 2)

    def test_what_is_read_elsewhere_stays(self):
        self.assertIn("Sigmoid", self.told(PATTERNS["Swish"][0], outputs=("y", "t0")))
        nodes = (*PATTERNS["Swish"][0], ("Add", "0", "1"))
        self.assertIn("Sigmoid", self.told(nodes))

    def test_what_became_what_is_told(self):
        self.told(PATTERNS["Swish"][0])
        self.assertIn('fused into "mul_node" (Mul): "sigmoid_node" (Sigmoid)', self.run_atc("--mode=6", f"--om={self.path / 'net.om'}").stdout)
        self.run_atc("--mode=1", f"--om={self.path / 'net.om'}", f"--json={self.path / 'net.json'}")
        told = json.loads((self.path / "net.json").read_text())
        self.assertEqual(told["nodes"], [{"name": "sigmoid_node", "type": "Sigmoid", "into": "mul_node"},
                                         {"name": "mul_node", "type": "Mul", "into": "mul_node"}])
        self.assertEqual([call["node"] for call in told["calls"]], ["mul_node", ""])

    def test_switches(self):
        steps = PATTERNS["Swish"][0]
        self.assertIn("Swish", self.told(steps, self.off('{"Switch": {"GraphFusion": {"Gelu": "off", "SoftmaxFusionPass": "on"}}}')))
        self.assertIn("Sigmoid", self.told(steps, self.off('{"Switch": {"GraphFusion": {"Swish": "off"}}}')))
        for text in ('{"Switch": {"GraphFusion": {"ALL": "no"}}}', '{"Fusion": {}}', '{"Switch": '):
            done = self.atc(b"", self.off(text))
            self.assertEqual((done.returncode, "E10001: --fusion_switch_file" in done.stdout), (255, True), done.stdout)


if __name__ == "__main__":
    main()
