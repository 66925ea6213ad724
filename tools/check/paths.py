#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""paths.py [ROOT]: no file names a place of one machine (someone's home folder, a mount)."""

import re
import sys

import tree

# Split so that this file passes its own check.
MACHINE = re.compile(r"(?<![\w.$}])/(?:ho" "me|ro" "ot|wo" "rk|fa" "rm|Us" "ers|m" "nt|me" "dia)/[\\w.]")


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    violations = []
    for path in tree.files(root):
        for number, line in enumerate(tree.read(root, path).split("\n"), 1):
            if MACHINE.search(line):
                violations.append(f"{path}:{number}: path of one machine: {line.strip()[:80]}")
    tree.finish("paths", violations)


main()
