#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arrows.py BUILD [ROOT]: no object takes a symbol from a part it must not know (arrows.csv), and no arrows go round.

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
    """{"layer": {part: may use}, "room": ...}"""
    tables, table = {}, None
    with (Path(__file__).parent / "arrows.csv").open(encoding="utf-8") as file:
        for row in csv.reader(line for line in file if not line.startswith("#")):
            if row[1] == "may use":
                table = tables.setdefault(row[0], {})
            else:
                table[row[0]] = set(row[1].split())
    return tables


def round_trip(table):
    """Parts that can reach themselves; empty if all arrows point down."""
    left = {part: set(uses) for part, uses in table.items()}
    while True:
        ground = {part for part, uses in left.items() if not uses}
        if not ground:
            return sorted(left)
        left = {part: uses - ground for part, uses in left.items() if part not in ground}


def place(build, root, path):
    """(layer, room or None) of an object; None: not of the product, or left behind by a source that is gone."""
    parts = path.relative_to(build).parts
    targets = [i for i, part in enumerate(parts) if part.endswith(".dir")]
    if not targets or parts[0] not in tree.LAYERS + ("python",) or parts[0] == "tests" or "device" in parts:
        return None
    folder, inside = parts[:targets[0] - 1], parts[targets[0] + 1:]
    source = Path(*folder, *inside).with_suffix("")
    if not (root / source).exists() and not (build / source).exists():
        return None
    if folder[0] != "sim":
        return folder[0], None
    room = inside[0] if len(inside) > 1 else inside[0].split(".")[0]
    return "sim", "units" if room == "src" else room


def symbols(path):
    """(defined, undefined) global names of an object."""
    listing = subprocess.run(["nm", "-g", "--format=posix", str(path)], capture_output=True, text=True, check=False)
    defined, undefined = set(), set()
    for line in listing.stdout.split("\n"):
        fields = line.split()
        if len(fields) >= 2:
            (undefined if fields[1] in "Uwv" else defined).add(fields[0])
    return defined, undefined


def main():
    build = Path(sys.argv[1])
    root = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    tables = allowed()
    violations = []
    for kind, table in tables.items():
        circle = round_trip(table)
        if circle:
            violations.append(f"arrows.csv: {kind}s go round: {' '.join(circle)}")
    objects, owner = [], {}
    for path in sorted(build.rglob("*.o")):
        where = place(build, root, path)
        if where is None:
            continue
        defined, undefined = symbols(path)
        objects.append((path, where, undefined))
        for name in defined:
            # Programs of one folder may share a name (main); libraries do not.
            owner.setdefault(name, where)
    for path, (layer, room), undefined in objects:
        name = path.name.removesuffix(".o")
        for symbol in sorted(undefined & owner.keys()):
            other_layer, other_room = owner[symbol]
            if layer != other_layer:
                far = "sim" == other_layer and layer in ("driver", "tools") and name not in SIM_USERS
                if other_layer not in tables["layer"].get(layer, set()) or far:
                    violations.append(f"{path.relative_to(build)}: {layer} must not use {symbol} of {other_layer}")
            elif room != other_room and other_room not in tables["room"].get(room, set()):
                violations.append(f"{path.relative_to(build)}: room {room} must not use {symbol} of {other_room}")
    if not objects:
        violations.append(f"{build}: no objects: build first")
    tree.finish("arrows", violations)


main()
