#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sections.py [ROOT]: a struct of sim/ that has a list of sections (sim/section.h) is in it with all members, in order.

Reset, snapshot and dump of the chip walk these lists: a member without an entry would be forgotten by all three.
"""

import re
import sys

import tree

DEFINE = re.compile(r"#define SECTION\(what, member\) SIM_SECTION\((struct \w+), what, member\)(.*?)#undef SECTION", re.S)
ENTRY = re.compile(r"SECTION\(\w+, (\w+)\)|SIM_SECTION_INNER\(struct \w+, (\w+),")
MEMBER = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$")
FUNCTION = re.compile(r"\(\s*\*\s*(\w+)\s*\)\s*\(.*\)\s*$", re.S)


def members(body):
    """Names that the body of a struct declares."""
    for statement in re.sub(r"\{[^{}]*\}", " ", body).split(";"):
        function = FUNCTION.search(statement.strip())
        if function:
            yield function.group(1)
            continue
        for declarator in statement.split(",") if statement.strip() else []:
            yield MEMBER.search(declarator.strip()).group(1)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    bodies, lists = {}, []
    for path in tree.files(root, ".h", ".c"):
        if path.parts[0] != "sim":
            continue
        text = tree.without_comments(tree.read(root, path))
        for match in re.finditer(r"^(struct \w+) \{\n(.*?)^\};", text, re.M | re.S):
            bodies[match.group(1)] = match.group(2)
        lists += [(path, *match.groups()) for match in DEFINE.finditer(text)]
    violations = [] if lists else ["sim: no lists of sections"]
    for path, name, text in lists:
        listed = [one or other for one, other in ENTRY.findall(text)]
        declared = list(members(bodies.get(name, "")))
        for member in declared:
            if member not in listed:
                violations.append(f"{path}: {name}: member {member} has no entry")
        if sorted(declared) == sorted(listed) and declared != listed:
            violations.append(f"{path}: {name}: entries are not in the order of the members")
        if len(set(listed)) != len(listed):
            violations.append(f"{path}: {name}: an entry is there twice")
    tree.finish("sections", violations)


main()
