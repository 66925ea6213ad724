#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""times.py [ROOT]: every operator of docs/api/aclnn.md has its types, test and measured times; fails naming those that do not,
and those whose times are of a tensor with few elements though no line of tests/bench/op_calls.txt asks for it."""

import math
import re
import sys
from pathlib import Path

COLUMNS = ["operator", "what", "types", "header", "test", "shape", "910A", "910B1", "host"]
MAY_BE_EMPTY = {"shape"}  # of one number
FEW = 1024  # elements: the times would be those of a launch


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    calls = (root / "tests/bench/op_calls.txt").read_text(encoding="utf-8").splitlines()
    named = {line.split()[0] for line in calls if line}
    bad = rows = 0
    for line in (root / "docs/api/aclnn.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != len(COLUMNS) or cells[0] == "operator" or set(cells[0]) == {"-"}:
            continue
        rows += 1
        row = dict(zip(COLUMNS, cells))
        absent = {"910A"} if "910A: no" in row["types"] else {"910B1"} if row["types"].startswith("-") else set()
        empty = [name for name, text in row.items() if not text and name not in MAY_BE_EMPTY | absent]
        if empty:
            bad += 1
            print(f"docs/api/aclnn.md: {row['operator']} has no {', '.join(empty)}: a line in tests/bench/op_calls.txt, op_times, make docs")
        elements = math.prod(int(size) for size in row["shape"].split("x") if size)
        if elements < FEW and row["operator"] not in named:
            bad += 1
            print(f"docs/api/aclnn.md: {row['operator']} has the times of {elements} elements: a line in tests/bench/op_calls.txt")
    if not rows:
        print("docs/api/aclnn.md has no operators")
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
