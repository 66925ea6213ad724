# SPDX-License-Identifier: Apache-2.0
"""The pointwise family: from the expression of a row to kernels on the scalar unit and to the reference.

Variables of an expression are the names of tensors, scalars and numbers among the row's parameters (an in-place operator
calls its tensor self). Rows with the same expression share a kernel.
"""

import re

from expression import compile_expression
from rows import RowError

PER_PROGRAM = 12
# What an expression may use beside parameters; enum op_pointwise_var.
EXTRA = {"index": 0xf0, "row": 0xf1, "column": 0xf2, "is_bool": 0xf3}
CLASSES = {"f": "float", "d": "double", "i": "int64_t"}
VARS_MAX = 6


class Expression:
    def __init__(self, text, variables, compute, name):
        self.text, self.variables, self.compute, self.name = text, variables, compute, name
        self.program = None
        self.tile = compile_expression(text, variables) if self.compute in ("any", "float", "int") else None

    @property
    def classes(self):
        return {"any": "fdi", "float": "fd", "int": "i", "wide": "di", "real": "d"}[self.compute]

    @property
    def places(self):
        """Whether the expression asks where its element lies."""
        return any(name in ("index", "row", "column") for name in self.variables)

    @property
    def moves(self):
        """Whether every result is one of the operands or its magnitude: it cannot overflow."""
        text = re.sub(r"\b(max|min|abs)\s*\(", "(", self.text)
        return not re.search(r"[-+*/]|[a-z]\w*\s*\(", text)

    def c_text(self, cls):
        """Calls get the class's suffix, decimal numbers the class's type."""
        text = re.sub(r"\b([a-z]\w*)\s*\(", lambda m: f"pw_{m[1]}_{cls}(", self.text)
        if cls == "f":
            text = re.sub(r"(?<![\w.])(\d+\.\d*(?:e-?\d+)?|\d+e-?\d+)(?![\w.])", r"\1f", text)
        return text

    def function(self, cls, prefix):
        c_type = CLASSES[cls]
        lines = [f"{prefix}{c_type} expression_{self.name}_{cls}(const {c_type} *op_values)", "{"]
        for number, name in enumerate(self.variables):
            lines.append(f"    const {c_type} {name} = op_values[{number}];")
        if not self.variables:
            lines.append("    (void)op_values;")
        lines += [f"    return ({c_type})({self.c_text(cls)});", "}"]
        return "\n".join(lines)


def variables_of(row, text):
    """Pairs (name in the expression, parameter index)."""
    found = []
    words = set(re.findall(r"\b[A-Za-z_]\w*\b", text))
    for index, param in enumerate(row.params):
        name = param.name
        if param.role == "REF":
            name = row.twin_of.params[0].name if row.twin_of else "self"
        if param.role != "OUT" and param.kind in ("TENSOR", "SCALAR", "INT", "REAL") and name in words:
            found.append((name, index))
    names = [name for name, _ in found]
    return found + [(name, code) for name, code in EXTRA.items() if name in words and name not in names]


def only_floats(row):
    types = set().union(*(p.types[1] for p in row.params if p.code == "T" and p.role != "OUT"), set())
    return bool(types) and types <= {"f32", "f16", "bf16", "f64"}


def collect(tables):
    """Sets row.data of the family's rows; returns the expressions, each with its program."""
    expressions = {}
    for row in sorted(tables.rows.values(), key=lambda row: (row.twin_of is not None, row.where)):
        if row.family != "pointwise":
            continue
        text = row.get("expr")
        if not text:
            raise RowError(row.where, f"operator {row.name} has no expr")
        if row.get("let"):
            name, _, value = row.get("let").partition(" = ")
            text = re.sub(rf"\b{name}\b", f"({value})", text)
        compute = row.get("compute", "float" if only_floats(row) else "any")
        if compute not in ("any", "float", "int", "wide", "real"):
            raise RowError(row.where, f"compute {compute} is not any, float, int, wide or real")
        found = variables_of(row, text)
        if len(found) > VARS_MAX:
            raise RowError(row.where, f"{len(found)} variables, at most {VARS_MAX} are possible")
        key = (text, tuple(name for name, _ in found), compute)
        if key not in expressions:
            expressions[key] = Expression(text, key[1], compute, row.name)
            expressions[key].table = row.where.split("/")[1].split(".")[0]
        row.expression, row.found = expressions[key], found
        if not row.expression.places:
            row.keys["native"] = "same"  # elements alone matter, not where they lie
    # Programs by the file of rows, so that a new operator makes few others be compiled again.
    ordered, counts = list(expressions.values()), {}
    for expression in ordered:
        number = counts[expression.table] = counts.get(expression.table, -1) + 1
        expression.program = f"pw_{expression.table}{number // PER_PROGRAM}"
    return ordered


def device_programs(expressions):
    """Name -> source text."""
    texts = {}
    for expression in expressions:
        if expression.program not in texts:
            texts[expression.program] = ['/* Generated from the rows of operators. */\n#include "pointwise_device.h"\n']
        for cls in expression.classes:
            texts[expression.program].append(expression.function(cls, "OP_INLINE ") + "\n")
            texts[expression.program].append(
                f"__global__ __vector__ void pw_{expression.name}_{cls}(struct op_pointwise_args args)\n{{\n"
                f"    const struct op_pointwise_args a = args;\n"
                f"    pw_run{'_places' if expression.places else ''}_{cls}(&a, {len(expression.variables)}, expression_{expression.name}_{cls});\n}}\n")
    return {name: "\n".join(parts) for name, parts in texts.items()}


def tile_data(expression):
    insns, numbers = expression.tile
    name = expression.name
    texts = [f"{{OP_EXPR_{code}, {last}, {', '.join(map(str, operands))}}}" for code, *operands, last in insns] or ["{0}"]
    values = ["INFINITY" if value == float("inf") else repr(value) + "f" if "." in repr(value) or "e" in repr(value)
              else repr(value) for value in numbers] or ["0"]
    return (f"static const struct op_expr_insn insns_{name}[] = {{{', '.join(texts)}}};\n"
            f"static const float numbers_{name}[] = {{{', '.join(values)}}};\n"
            f"static const struct op_expr tile_{name} = {{insns_{name}, {len(insns)}, numbers_{name}}};")


def row_data(tables):
    """C text of the data of the family's rows; sets row.data."""
    lines, tiles = [], set()
    for row in sorted(tables.rows.values(), key=lambda row: row.name):
        if row.family != "pointwise":
            continue
        out = [i for i, p in enumerate(row.params) if p.role != "IN" and p.kind == "TENSOR"]
        if len(out) != 1:
            raise RowError(row.where, f"operator {row.name} has {len(out)} outputs, the family has one")
        indices = ", ".join(str(index) for _, index in row.found)
        tile = "NULL"
        if row.expression.tile:
            tile = f"&tile_{row.expression.name}"
            if row.expression.name not in tiles:
                tiles.add(row.expression.name)
                lines.append(tile_data(row.expression))
        lines.append(
            f"static const struct op_pointwise data_{row.name} = {{\n"
            f'    "{row.expression.program}", "{row.expression.name}", OP_COMPUTE_{row.expression.compute.upper()}, '
            f"{out[0]}, {len(row.found)}, {{{indices or 0}}}, {tile}, {'true' if row.expression.moves else 'false'}}};")
        row.data = f"&data_{row.name}"
    return "\n".join(lines) + "\n"


def reference(expressions):
    parts = ['/* Generated from the rows of operators: what pointwise operators compute, by their expressions. */\n'
             '#include <pointwise_ref.h>\n\n#include <pointwise/pointwise_functions.h>\n#include <string.h>\n']
    entries = []
    for expression in sorted(expressions, key=lambda e: e.name):
        functions = []
        for cls in CLASSES:
            if cls in expression.classes:
                parts.append(expression.function(cls, "static ") + "\n")
                functions.append(f".{cls} = expression_{expression.name}_{cls}")
        entries.append(f'    {{.name = "{expression.name}", {", ".join(functions)}}},')
    parts.append("const struct op_pointwise_ref op_pointwise_refs[] = {\n" + "\n".join(entries) + "\n};\n"
                 f"const unsigned op_pointwise_ref_count = {len(entries)};\n")
    return "\n".join(parts)
