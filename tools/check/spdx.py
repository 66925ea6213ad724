#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spdx.py [ROOT]: every source file names its licence in one of its first three lines."""

import sys

import tree


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    violations = []
    for path in tree.files(root, ".c", ".h", ".cpp", ".py", ".sh", ".ld", ".inc"):
        head = tree.read(root, path).split("\n")[:3]
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in head):
            violations.append(f"{path}:1: no SPDX-License-Identifier: Apache-2.0 in the first three lines")
    tree.finish("spdx", violations)


main()
