#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sessions.py: a model with an open dimension as a program runs it, with no options: several shapes, several threads, two sessions,
models saved beside the program. Run again in the same folder it loads those. Fails by an exception."""

import os
import sys
import threading

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

NEAR = 0.02  # products of 8 numbers around 1 in half precision


def model():
    nodes = [helper.make_node("MatMul", ["a", "b"], ["m"]), helper.make_node("Relu", ["m"], ["y"])]
    shapes = {"a": ["n", 8], "b": [8, 5], "y": ["n", 5]}
    infos = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    graph = helper.make_graph(nodes, "product", [infos["a"], infos["b"]], [infos["y"]])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


def check(session, rows):
    numbers = np.random.default_rng(rows)
    a, b = (numbers.standard_normal(shape).astype(np.float32) for shape in ((rows, 8), (8, 5)))
    far = np.abs(session.run(None, {"a": a, "b": b})[0] - np.maximum(a @ b, 0)).max()
    assert far < NEAR, f"{rows} rows are {far} from the product"


def in_threads(sessions, failed):
    def work():
        try:
            for rows in (3, 9, 4):
                for session in sessions:
                    check(session, rows)
        except Exception as reason:  # reported by the main thread
            failed.append(reason)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    was = [name for name in os.listdir(".") if name.endswith(".om")]
    sessions = [onnxruntime.InferenceSession(model(), providers=["CANNExecutionProvider"]) for _ in range(2)]
    failed = []
    for session in sessions:
        assert session.get_providers()[0] == "CANNExecutionProvider", "the provider was not loaded"
        for rows in (4, 7, 4):
            check(session, rows)
    in_threads(sessions, failed)
    assert not failed, failed
    saved = [name for name in os.listdir(".") if name.endswith(".om")]
    assert len(saved) == 4, saved  # 3, 4, 7 and 9 rows
    print(f"good, {len(was)} models were there, {len(saved)} are")


if __name__ == "__main__":
    sys.exit(main())
