# SPDX-License-Identifier: Apache-2.0
"""docs/api/aclnn.md: what there is."""

import csv
import re
from pathlib import Path

from rows import TYPES

ROOT = Path(__file__).resolve().parents[2]
# Where the rows of a file are tested beside what names an operator itself: tests/pytorch/test_<name>.py, against PyTorch's CPU.
BY_FILE = {"attention": "ops_attention", "amp": "amp", "bag": "ops_index", "compose": "operators", "convolution": "ops_cnn",
           "ctc": "ops_train", "detect": "ops_cnn", "distance": "ops_linalg", "foreach": "ops_train", "index": "ops_index", "join": "ops_index",
           "linalg": "ops_linalg", "loss": "operators", "matmul": "ops_matmul", "momentum": "ops_train", "nll_loss": "operators",
           "multilabel": "ops_order", "norm": "ops_norm", "optimizer": "ops_train", "order": "ops_order", "pooling": "ops_cnn", "quant": "qat",
           "random": "operators", "recurrent": "ops_rnn", "reduce": "ops_reduce", "resample": "ops_resize", "sampler": "ops_resize",
           "select": "ops_order", "softmax": "operators", "sort": "ops_order", "take": "ops_index"}

# Tests that every operator is in: what they name, they do not test more than others.
OF_ALL = {"test_aclnn_bad_input", "test_aclnn_layouts"}
# Types of aclopCompileAndExecute, whose names may be those of other functions.
OF_TYPES = ("test_aclnn_by_name", "test_aclnn_named_")


def tested(row, sources):
    if row.family == "pointwise":
        return "aclnn_pointwise"
    names = {row.name, row.twin_of.name} if row.twin_of else {row.name}
    for name, text in sources.items():
        if any(re.search(rf'"{one}"|aclnn{one}\b', text) for one in names):
            return name
    return BY_FILE.get(re.match(r"\w+/(\w+)\.op", row.where)[1], "aclnn_bad_input")


def c_tests():
    return {path.stem.removeprefix("test_"): path.read_text(encoding="utf-8")
            for path in sorted((ROOT / "tests/unit/aclnn").rglob("test_*.c"))
            if path.stem not in OF_ALL and not path.stem.startswith(OF_TYPES)}


def times():
    with open(ROOT / "docs/api/aclnn_times.csv", encoding="ascii") as file:
        return {line["operator"]: line for line in csv.DictReader(file)}


def types_text(row):
    texts = []
    for chip in range(2):
        first = next((p for p in row.params if p.code in ("T", "TL") and p.role != "OUT"), None)
        first = first or next((p for p in row.params if p.code in ("T", "TL")), None)
        texts.append(" ".join(name for name in TYPES if first and name in first.types[chip]))
    return texts


def table(tables):
    lines = ["# aclnn operators", "",
             "Made from the rows of operators (`kernels/*/*.op`) by `make docs`. Each is a pair `aclnn<Name>GetWorkspaceSize` and `aclnn<Name>` of",
             "`libopapi.so`, declared in `aclnnop/<header>`. Types: those of the first input on 910B1; 910A has them without",
             "bf16 unless said. f64 and complex types run on the scalar unit, as they do on the real chip's AI CPUs, i64 where it is",
             "no pair of words ([decision 32](../decisions/0032-integers-in-lanes.md)), and all that has data-dependent",
             "addresses (scattering, searching) on any type.",
             "",
             "Test: `test_<name>.c` in `tests/unit/aclnn` or a folder of it, or `tests/pytorch/test_<name>.py` against PyTorch on the CPU. Every operator",
             "is in test_aclnn_bad_input (wrong calls of each parameter, odd shapes, workspaces, streams) and in test_aclnn_layouts",
             "(strides, offsets, overlaps against dense tensors, NaN, infinities and -0 among them) too; pointwise rows see every pair of special",
             "values, and reductions, scans, sorting and softmax have references for them (test_aclnn_special). How exact they are:",
             "[bounds](aclnn_bounds.md). Times: one call, tensors of zeros, all of the shape named or, if the operator takes no such",
             "call, as its line in tests/bench/op_calls.txt says (the shape is the first tensor's that is not one number), simulated on both chips",
             "(us) and on the host (us, both phases and the wait, the least of several runs; two cores, others at work): `op_times` in tests/bench, kept in",
             "[aclnn_times.csv](aclnn_times.csv). No time on the 910A: the operator is not there.",
             "", "| operator | what | types | header | test | shape | 910A | 910B1 | host |", "|---|---|---|---|---|---|---|---|---|"]
    sources, measured = c_tests(), times()
    for row in sorted(tables.rows.values(), key=lambda row: row.name):
        if row.internal or is_refused(row):
            continue
        a, b = types_text(row)
        text = b or "-"
        if a.split() != [name for name in b.split() if name != "bf16"]:
            text += f"; 910A: {a or 'no'}"
        doc = row.get("doc").replace("|", "\\|")
        if row.twin_of:
            doc = f"{row.twin_of.name} in place"
        time = measured.get(row.name, {})
        lines.append(f"| {row.name} | {doc} | {text} | aclnn_{row.header}.h | {tested(row, sources)} | {time.get('shape', '')} | "
                     f"{time.get('ascend910a_us', '')} | {time.get('ascend910b1_us', '')} | {time.get('host_us', '')} |")
    return "\n".join([*lines, *elsewhere(tables)]) + "\n"


def is_refused(row):
    """Whether it is there to be linked alone."""
    return row.get("chips") == "elsewhere" or row.family == "later"


def elsewhere(tables):
    """Operators that only other chips have, and those that are not computed yet."""
    rows = [row for row in sorted(tables.rows.values(), key=lambda row: row.name) if is_refused(row)]
    return ["", "## On other chips alone, or not computed yet", "",
            "The documentation of neither chip has most of these, though adapters name them. They are exported, and each call ends with",
            "\"this operator is not on <chip>\" or \"not computed yet\" (161002; `kernels/compose/elsewhere.op`).", "",
            "| operator | what |", "|---|---|", *(f"| {row.name} | {row.get('doc')} |" for row in rows)] if rows else []
