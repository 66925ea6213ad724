#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arrows.py BUILD [ROOT]: no object takes a symbol from a part it must not know (arrows.csv), and no arrows go round,
between parts or between files.

Undefined symbols say what the code calls, whatever it includes: a prototype of one's own, an #include by a macro and a header
that another header brings along are no way around it.
"""

import csv
import subprocess
import sys
from pathlib import Path

import tree

# The narrow points of layers.py: who may know the simulator beside its own layer.
SIM_USERS = ("transport_sim.c", "leo_cmd_run_bare.c", "replay_tape.c")


def allowed():
    """{"layer": {part: may use}, "room": ..., "circle": {folder: its files that may reach each other}}"""
    tables, table = {}, None
    with (Path(__file__).parent / "arrows.csv").open(encoding="utf-8") as file:
        for row in csv.reader(line for line in file if not line.startswith("#")):
            if row[0] in ("layer", "room", "circle"):
                table = tables.setdefault(row[0], {})
            else:
                table[row[0]] = set(row[1].split())
    return tables


def circles(arrows):
    """The sets of nodes of {node: nodes it uses} that reach each other, each as a sorted list."""
    reach = {node: set(uses) for node, uses in arrows.items()}
    grown = True
    while grown:
        grown = False
        for node, uses in reach.items():
            more = set().union(*(reach.get(use, set()) for use in uses)) - uses
            uses |= more
            grown = grown or bool(more)
    return sorted({tuple(sorted(other for other in uses | {node} if node in reach.get(other, set())))
                   for node, uses in reach.items() if node in uses})


def place(build, root, path):
    """(source, layer, room or None) of an object; None: not of the product, or left behind by a source that is gone."""
    parts = path.relative_to(build).parts
    targets = [i for i, part in enumerate(parts) if part.endswith(".dir")]
    if not targets or parts[0] not in tree.LAYERS + ("python",) or parts[0] == "tests" or "device" in parts:
        return None
    folder, inside = parts[:targets[0] - 1], parts[targets[0] + 1:]
    source = Path(*folder, *inside).with_suffix("")
    if not (root / source).exists() and not (build / source).exists():
        return None
    if folder[0] != "sim":
        return source, folder[0], None
    room = inside[0] if len(inside) > 1 else inside[0].split(".")[0]
    return source, "sim", "units" if room == "src" else room


def symbols(paths):
    """{path: (defined, undefined, defined functions)}: global names of objects."""
    found = {path: (set(), set(), set()) for path in paths}
    for first in range(0, len(paths), 200):
        some = {str(path): path for path in paths[first:first + 200]}
        listing = subprocess.run(["nm", "-g", "-A", "--format=posix", *some], capture_output=True, text=True, check=False)
        for line in listing.stdout.split("\n"):
            path, _, rest = line.partition(": ")
            fields = rest.split()
            if len(fields) >= 2:
                defined, undefined, functions = found[some[path]]
                (undefined if fields[1] in "Uwv" else defined).add(fields[0])
                if fields[1] in "TWi":
                    functions.add(fields[0])
    return found


def main():
    build = Path(sys.argv[1])
    root = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    tables = allowed()
    violations = []
    accepted = {tuple(sorted(f"{folder}/{name}.c" for name in names)) for folder, names in tables.pop("circle", {}).items()}
    for kind, table in tables.items():
        for circle in circles(table):
            violations.append(f"arrows.csv: {kind}s go round: {' '.join(circle)}")
    objects, owner, functions = [], {}, set()
    places = {path: where for path in sorted(build.rglob("*.o")) if (where := place(build, root, path)) is not None}
    for path, (defined, undefined, called) in symbols(list(places)).items():
        where = places[path]
        functions |= called
        objects.append((path, where, undefined))
        for name in defined:
            # Programs of one folder may share a name (main); libraries do not.
            owner.setdefault(name, where)
    calls = {}
    for path, (source, layer, room), undefined in objects:
        name = path.name.removesuffix(".o")
        for symbol in sorted(undefined & owner.keys()):
            other, other_layer, other_room = owner[symbol]
            # Tables that a file above fills in (rows of operators, what a face is) are how files below do without it.
            if other != source and symbol in functions:
                calls.setdefault(str(source), set()).add(str(other))
            if layer != other_layer:
                far = "sim" == other_layer and layer in ("driver", "tools") and name not in SIM_USERS
                if other_layer not in tables["layer"].get(layer, set()) or far:
                    violations.append(f"{path.relative_to(build)}: {layer} must not use {symbol} of {other_layer}")
            elif room != other_room and other_room not in tables["room"].get(room, set()):
                violations.append(f"{path.relative_to(build)}: room {room} must not use {symbol} of {other_room}")
    round_calls = circles(calls)
    violations += [f"files call each other round: {' '.join(circle)}" for circle in round_calls
                   if not any(set(circle) <= set(files) for files in accepted)]
    print(f"arrows: {len(calls)} files, {len(round_calls)} circles of {sum(map(len, round_calls))} files")
    if not objects:
        violations.append(f"{build}: no objects: build first")
    tree.finish("arrows", violations)


main()
