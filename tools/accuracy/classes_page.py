#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""classes_page.py EXPECTED.csv PAGE: writes the table of errors by class, from leo accuracy --classes, into a page."""

import csv
import re
import sys
from pathlib import Path

BEGIN, END = "<!-- classes -->\n", "<!-- classes end -->\n"


def main():
    expected, page = map(Path, sys.argv[1:3])
    with open(expected, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    lines = ["| class | rows | median error | worst |", "|---|---|---|---|"]
    lines += [f"| {row['class']} | {row['rows']} {row['of']} | {row['median']} % | {row['worst']} % |" for row in rows]
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(f"{BEGIN}.*?{END}", lambda _: BEGIN + "\n".join(lines) + "\n" + END, text, flags=re.S), encoding="utf-8")


main()
