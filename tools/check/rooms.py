#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rooms.py [ROOT]: a folder of sources holds at most MAX_FILES files, so that a reader finds one by its name.

Prints the five fullest folders. A folder that would grow beyond is split by subject before anything is added to it.
"""

import sys
from collections import Counter

import tree

MAX_FILES = 40
# Lists of independent pages, each found by its number or the operator's name.
NOT_ROOMS = ("docs/",)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    folders = Counter(str(path.parent) for path in tree.files(root) if not str(path).startswith(NOT_ROOMS))
    print("rooms: " + ", ".join(f"{folder} {count}" for folder, count in folders.most_common(5)))
    tree.finish("rooms", [f"{folder}: {count} files; at most {MAX_FILES}: split it by subject"
                          for folder, count in folders.most_common() if count > MAX_FILES])


main()
