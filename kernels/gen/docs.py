# SPDX-License-Identifier: Apache-2.0
"""docs/api/aclnn.md: what there is."""

from rows import TYPES


def types_text(row):
    texts = []
    for chip in range(2):
        first = next((p for p in row.params if p.code in ("T", "TL") and p.role != "OUT"), None)
        first = first or next((p for p in row.params if p.code in ("T", "TL")), None)
        texts.append(" ".join(name for name in TYPES if first and name in first.types[chip]))
    return texts


def table(tables):
    lines = ["# aclnn operators", "",
             "Made from `kernels/rows` by `make docs`. Each is a pair `aclnn<Name>GetWorkspaceSize` and `aclnn<Name>` of",
             "`libopapi.so`, declared in `aclnnop/<header>`. Types: those of the first input on 910B1; 910A has them without",
             "bf16 unless said. f64, i64, bool and complex types run on the scalar unit, as they do on the real chip's AI CPUs.",
             "", "| operator | what | types | header |", "|---|---|---|---|"]
    for row in sorted(tables.rows.values(), key=lambda row: row.name):
        if row.internal:
            continue
        a, b = types_text(row)
        text = b or "-"
        if a.split() != [name for name in b.split() if name != "bf16"]:
            text += f"; 910A: {a or 'no'}"
        doc = row.get("doc").replace("|", "\\|")
        if row.twin_of:
            doc = f"{row.twin_of.name} in place"
        lines.append(f"| {row.name} | {doc} | {text} | aclnn_{row.header}.h |")
    return "\n".join(lines) + "\n"
