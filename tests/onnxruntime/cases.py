#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cases.py SUITE MODE PRECISION FIRST RESULTS [NAME...]: cases of a suite of the onnx package through onnxruntime's provider for the chip.

SUITE is node, simple, pytorch-converted, pytorch-operator, light, or known: the cases of node with all inputs but the first as weights,
as exporters write axes, sizes and limits. MODE graph (the whole model is compiled), subgraph (the parts that
the provider's own list names) or single (operators one by one). Runs the cases from
number FIRST on (all, or those NAMEd) and writes two lines for each to RESULTS: "begin N NAME", and one of
  right       the provider took nodes of it, and the outputs are near the expected ones
  host        the provider took none
  strings     it has tensors of strings, whose objects onnxruntime makes in device memory itself, and ends there: not counted
  cpu         onnxruntime's own CPU provider does not pass it: not counted
  refused     creating or running the session ended with an error; its last line follows
  wrong       it ran, and an output is not what is expected
A process that ends between two lines has crashed in the case that was begun.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

CHIP, CPU = "CANNExecutionProvider", "CPUExecutionProvider"
# Relative and absolute. Half precision has 11 bits, so a value is rounded by at most 2^-11 of itself, here some times over; of a sum
# the share of its largest terms. Single precision: the case's own bounds, but at least those of a product of the Cube unit, whose
# inputs are half precision on the 910A.
NEAR = {"force_fp16": (1e-2, 1e-2), "must_keep_origin_dtype": (5e-3, 5e-3)}


def read_value(path, kind):
    """A file's value; what it is says the type of the model's input or output."""
    data = path.read_bytes()
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def read_values(folder, prefix, infos):
    paths = [folder / f"{prefix}_{i}.pb" for i in range(len(infos))]
    return [read_value(path, info.type.WhichOneof("value")) for path, info in zip(paths, infos) if path.exists()]


def light_cases():
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    for path in sorted(folder.glob("*.onnx")):
        model = onnx.load(path)
        weights = {w.name for w in model.graph.initializer}
        shapes = [[d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input if i.name not in weights]
        # The expected outputs were made for these inputs, says the package's own runner.
        inputs = [(np.arange(np.prod(s)).reshape(s) / np.prod(s)).astype(np.float32) for s in shapes]
        yield path.stem, model, [(inputs, read_values(folder, f"{path.stem}_output", model.graph.output))], 1e-3, 1e-7


def suite_cases(suite):
    for case in sorted(load_model_tests(kind=suite), key=lambda c: c.name):
        folder = Path(case.model_dir)
        model = onnx.load(folder / "model.onnx")
        sets = [(read_values(f, "input", model.graph.input), read_values(f, "output", model.graph.output))
                for f in sorted(folder.glob("test_data_set_*"))]
        yield case.name, model, sets, case.rtol, case.atol


def with_weights(model, sets):
    """The same model for one set of inputs, of which all but the first are weights; None: not all of them are tensors."""
    inputs = sets[0][0] if sets else []
    if len(inputs) < 2 or len(sets) != 1 or any(not isinstance(value, np.ndarray) for value in inputs[1:]):
        return None
    fixed = onnx.ModelProto.FromString(model.SerializeToString())
    infos = list(fixed.graph.input)
    if len(infos) != len(inputs):
        return None
    for info, value in zip(infos[1:], inputs[1:]):
        fixed.graph.initializer.append(numpy_helper.from_array(value, info.name))
        fixed.graph.input.remove(info)
    return fixed, [([inputs[0]], sets[0][1])]


def known_cases():
    for name, model, sets, rtol, atol in suite_cases("node"):
        fixed = with_weights(model, sets)
        if fixed:
            yield name, *fixed, rtol, atol


def session(data, providers, profiles=False):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if profiles:
        options.enable_profiling = True
        options.profile_file_prefix = str(Path.cwd() / "profile")
    return onnxruntime.InferenceSession(data, options, providers=providers)


def differs(want, got, rtol, atol):
    """"" or the text of what is not near."""
    if isinstance(want, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(want) != len(got):
            return "another length"
        return next((text for text in (differs(w, g, rtol, atol) for w, g in zip(want, got)) if text), "")
    if want is None or got is None:
        return "" if want is got else "one is empty"
    want, got = np.asarray(want), np.asarray(got)
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype}{list(got.shape)} for {want.dtype}{list(want.shape)}"
    if want.dtype.kind not in "fV" or want.size == 0:
        return "" if np.array_equal(want, got) else f"{np.sum(want != got)} of {want.size} elements are not equal"
    far = ~np.isclose(got.astype(np.float64), want.astype(np.float64), rtol, atol, equal_nan=True)
    return f"{far.sum()} of {far.size} elements are far, the first {got[far].flat[0]} for {want[far].flat[0]}" if far.any() else ""


def run_sets(the_session, sets, rtol, atol):
    names = [i.name for i in the_session.get_inputs()]
    for inputs, outputs in sets:
        got = the_session.run(None, {n: i if isinstance(i, (list, tuple)) or i is None else np.asarray(i) for n, i in zip(names, inputs)})
        text = next((t for t in (differs(w, g, rtol, atol) for w, g in zip(outputs, got)) if t), "")
        if text:
            return text
    return ""


def nodes_on_chip(the_session):
    path = Path(the_session.end_profiling())
    events = json.loads(path.read_text())
    path.unlink()
    return sum(event.get("args", {}).get("provider") == CHIP for event in events)


def has_strings(model, sets):
    kinds = {np.asarray(value).dtype.kind for pair in sets for values in pair for value in values if not isinstance(value, (list, tuple))}
    values = [*model.graph.input, *model.graph.output, *model.graph.value_info]
    return bool(kinds & set("OUS")) or any(v.type.tensor_type.elem_type == onnx.TensorProto.STRING for v in values)


def run_case(model, sets, rtol, atol, options):
    data = model.SerializeToString()
    if has_strings(model, sets):
        return "strings"
    try:
        if run_sets(session(data, [CPU]), sets, rtol, atol):
            return "cpu not equal"
    except Exception as reason:  # whatever onnxruntime raises
        return "cpu " + str(reason).splitlines()[-1][:100]
    near = NEAR[options["precision_mode"]]
    try:
        chip = session(data, [(CHIP, options), CPU], profiles=True)
        if chip.get_providers()[0] != CHIP:
            return "refused the provider was not loaded"
        text = run_sets(chip, sets, max(rtol, near[0]), max(atol, near[1]))
        taken = nodes_on_chip(chip)
    except Exception as reason:
        return "refused " + str(reason).strip().splitlines()[-1][:300]
    return f"wrong {text}" if text else "right" if taken else "host"


def main():
    suite, mode, precision, first, results, *names = sys.argv[1:]
    options = {"precision_mode": precision, "enable_cann_graph": str(int(mode != "single")),
               "enable_cann_subgraph": str(int(mode == "subgraph")), "dump_om_model": "0"}
    onnxruntime.set_default_logger_severity(4)
    with open(results, "a", encoding="utf-8") as out:
        cases = light_cases() if suite == "light" else known_cases() if suite == "known" else suite_cases(suite)
        for number, (name, model, sets, rtol, atol) in enumerate(cases):
            if number < int(first) or (names and name not in names):
                continue
            print(f"begin {number} {name}", file=out, flush=True)
            print(f"leonardo-case {number} {name}", file=sys.stderr, flush=True)
            print(run_case(model, sets, rtol, atol, options), file=out, flush=True)
        print("end", file=out, flush=True)


if __name__ == "__main__":
    main()
