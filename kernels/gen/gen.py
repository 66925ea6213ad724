#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gen.py --rows DIR --out DIR WHAT: from the rows of operators (DIR/*/*.op) to C.

WHAT: all (everything below), list (for CMake: sources, programs and generated files, one a line), docs and
cnnl-docs (the tables of operators, to --out as a file), arguments (whether plans ask for arguments that there are; makes the file --out
if they do). --digits: device programs of op_programs_digits.c.
"""

import argparse
import sys
from pathlib import Path

import arguments
import check
import cnnl
import docs
import emit
import pointwise
import row_programs
import rows
import tests


def some_programs(programs, names):
    """The table of those programs, with their images for the 910A."""
    missing = set(names) - {name for name, *_ in programs}
    if missing:
        raise rows.RowError(f"there is no device program {', '.join(sorted(missing))}")
    return emit.programs_c([(name, None, "-") for name in names])


def outputs(tables, out, digits):
    """Path -> text of everything generated."""
    check.check(tables)
    expressions = pointwise.collect(tables)
    check.check_expressions(tables)
    over_rows = row_programs.collect(tables)
    device = pointwise.device_programs(expressions) | {f"rows_{program.name}": program.source() for program in over_rows}
    programs = [*tables.programs, *((name, None, None) for name in device)]
    texts = {f"device/{name}.c": text for name, text in device.items()}
    data = pointwise.row_data(tables) + "".join(program.data() for program in over_rows)
    texts["family_plans.h"] = emit.plans_h(tables)
    texts["op_rows.c"] = emit.rows_c(tables, data)
    texts["op_programs.c"] = emit.programs_c(programs)
    texts["op_programs_digits.c"] = some_programs(programs, digits)
    texts["aclnn_entries.c"] = emit.entries_c(tables)
    texts["op_table.c"] = tests.table_c(tables)
    texts["pointwise_ref.c"] = pointwise.reference(expressions)
    texts |= {f"include/aclnnop/{name}": text for name, text in emit.headers(tables).items()}
    texts |= cnnl.outputs(tables)
    return {Path(out) / name: text for name, text in texts.items()}


def write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("what", choices=("all", "list", "docs", "cnnl-docs", "arguments"))
    parser.add_argument("--digits", nargs="*", default=[])
    args = parser.parse_args()
    try:
        tables = rows.Tables(args.rows)
        if args.what == "arguments":
            if found := arguments.misspelt(tables):
                sys.exit("\n".join(found))
            Path(args.out).touch()
            return
        texts = outputs(tables, args.out, args.digits)
    except rows.RowError as error:
        sys.exit(f"gen.py: {error}")
    if args.what == "docs":
        Path(args.out).write_text(docs.table(tables), encoding="utf-8")
    elif args.what == "cnnl-docs":
        Path(args.out).write_text(cnnl.docs(tables), encoding="ascii")
    elif args.what == "all":
        for path, text in texts.items():
            write_if_changed(path, text)
        for path in (Path(args.out) / "include" / "aclnnop").glob("*.h"):
            if path not in texts:
                path.unlink()
    else:
        for source in tables.sources:
            print("source", source)
        for name, *sources in tables.programs:
            print("program", name, *sources)
        for path in texts:
            if path.parent.name == "device":
                print("generated", path.stem)


main()
