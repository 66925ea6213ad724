# SPDX-License-Identifier: Apache-2.0
"""Mistakes in rows that nothing after the generator would tell, or only the compiler in generated C."""

import re
from pathlib import Path

import expression
from rows import RowError

KERNELS = Path(__file__).resolve().parents[1]
WORDS = set("types chips inplace params doc entry header internal test native same expr rows compute let most".split())
BY_PARAMETER = {"types", "absent"}  # word.parameter
CHIPS = {"910a", "910b"}
NO_CHIP = {"elsewhere"}  # operators of other chips alone
VALUES = {"test": (r"ulp=\d+(\.\d+)?", "ulp=N"), "native": ("own|same", "own or same"), "internal": ("yes", "yes"), "most": ("yes", "yes"), "header": (r"\w+", "a word")}


def sources(pattern):
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(KERNELS.glob(pattern)))


def check(tables):
    """Words, parameters and names; before expressions are collected."""
    code = sources("*/*.[ch]")
    read = set(re.findall(r'op_row_attr\([^;]*?"(\w+)"\)', code))
    plans = set(re.findall(r"^leo_status op_plan_(\w+)\(const struct op_call \*call\)", code, re.MULTILINE))
    for row in tables.rows.values():
        if row.family not in plans:
            raise RowError(row.where, f"operator {row.name}: no file of kernels has op_plan_{row.family}, the plan of its family")
        if not row.twin_of:
            check_row(tables, row, WORDS | read)
            check_values(row)
    for source in tables.sources + [source for program in tables.programs for source in program[1:]]:
        if source != "-" and not (KERNELS / source).exists():
            raise RowError("rows", f"kernels/{source} of a 'source' or 'program' line does not exist")


def check_values(row):
    for key, value in row.keys.items():
        pattern, text = VALUES.get(key, (".*", ""))
        if not re.fullmatch(pattern, value):
            raise RowError(row.where, f"operator {row.name}: '{key} {value}': {key} is {text}")


def check_row(tables, row, words):
    if not row.internal and row.name not in tables.signatures:
        raise RowError(row.where, f"{row.name} is not in signatures.txt: an operator that is not public says 'internal yes'")
    names = [param.name for param in row.params]
    for key, value in row.keys.items():
        word, _, of = key.partition(".")
        if word not in words and key != f"absent.{of}":
            raise RowError(row.where, f"operator {row.name}: no part of the generator or of kernels reads '{key}'")
        if not of:
            continue
        chip = of.rpartition(".")[2] if word == "types" else ""
        name = of.removesuffix(chip).rstrip(".") if chip in CHIPS else of
        if word not in BY_PARAMETER or (name and name not in names):
            raise RowError(row.where, f"operator {row.name}: '{key}' names no parameter; there are {' '.join(names)}")
    unknown = set(row.get("chips", "").split()) - CHIPS - NO_CHIP
    if unknown:
        raise RowError(row.where, f"operator {row.name}: '{unknown.pop()}' is no chip; there are 910a 910b")
    if row.get("single", names[0] if names else None) not in names and names:
        raise RowError(row.where, f"operator {row.name}: single {row.get('single')} names no parameter")
    if row.family == "pointwise" and row.get("let") and not re.match(r"\w+ = ", row.get("let")):
        raise RowError(row.where, f"operator {row.name}: let is 'let name = expression'")


def names_in(node):
    """Triples (kind, name, number of arguments) of a tree."""
    if node[0] in ("name", "call"):
        yield node[0], node[1], len(node) - 2
    for part in node[1:]:
        if isinstance(part, tuple):
            yield from names_in(part)


def check_expressions(tables):
    """After pointwise.collect."""
    code = sources("pointwise/pointwise_math.h") + sources("pointwise/pointwise_functions.h")
    functions = {name: 0 if args in ("", "void") else args.count(",") + 1
                 for name, args in re.findall(r"^static [^\n(]*\bpw_(\w+_[fdi])\(([^)]*)\)", code, re.MULTILINE)}
    for row in tables.rows.values():
        if row.family != "pointwise" or row.twin_of:
            continue
        text = row.expression.text
        try:
            parser = expression.Parser(text)
            tree = parser.ternary()
            if parser.peek() is not None:
                raise expression.Unsupported(f"nothing may follow, but there is {parser.peek()}")
        except expression.Unsupported as error:
            raise RowError(row.where, f"operator {row.name}: expression '{text}': {error}") from None
        variables = [name for name, _ in row.found]
        for kind, name, count in names_in(tree):
            if kind == "name" and name not in variables:
                raise RowError(row.where, f"operator {row.name}: '{name}' in its expression is no parameter it may use")
            missing = [cls for cls in row.expression.classes if f"{name}_{cls}" not in functions]
            if kind == "call" and missing:
                raise RowError(row.where, f"operator {row.name}: there is no pw_{name}_{missing[0]} in pointwise/pointwise_math.h or "
                                          "pointwise/pointwise_functions.h (f: float, d: double, i: int64_t; 'compute' says which are needed)")
            wanted = functions[f"{name}_{row.expression.classes[0]}"] if kind == "call" else count
            if count != wanted:
                raise RowError(row.where, f"operator {row.name}: {name}() takes {wanted} arguments, there are {count}")
