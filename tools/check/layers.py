#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py [ROOT]: includes go down the house only, and between folders only through public headers.

A layer sees its own headers, isa's and those of its left neighbour: isa, sim | driver, runtime, kernels, training and
examples, and a public header brings along only what all who may include it may see. tools and tests see every public header, but <leo/sim.h> only where it is listed below.
Inside sim/ only the room chip/ knows the struct of the whole chip.
"""

import re
import sys
from pathlib import Path

import tree

ALLOWED = {
    "isa": {"isa"},
    "sim": {"isa", "sim"},
    "driver": {"isa", "driver"},
    "runtime": {"isa", "driver", "runtime"},
    "kernels": {"isa", "runtime", "kernels"},
    "models": {"isa", "runtime", "kernels", "models"},
    "training": {"isa", "runtime", "kernels", "training"},
    "examples": {"isa", "runtime", "kernels"},
    "tools": {"isa", "driver", "runtime", "kernels", "models", "training", "tools"},
    "tests": set(tree.LAYERS),
}
# The narrow points: the driver's way to the simulator, the tool that runs a program on one scalar unit, those that price tapes.
SIM_USERS = {"driver/transport_sim.c", "tools/leo/leo_cmd_run_bare.c", "tools/leo/replay_tape.h"}
GENERATED = {f"leo/{name}.h" for name in
             ("status", "faults", "isa_enums", "insn", "layout", "map", "regs", "csr", "intrin")}
# Neither quoted nor in angle brackets: a macro, which would hide what it includes.
HIDDEN = re.compile(r'^[ \t]*#[ \t]*include[ \t]+([^"<\s].*)', re.M)
# The struct of everything: only the room that puts the parts together knows it; others are given what they work with.
WHOLE = re.compile(r"\bstruct leo_sim_chip\b|\bchip/chip\.h\b")
WHOLE_ROOMS = ("sim/chip/", "sim/include/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def public_headers(root):
    """Include name -> folder that offers it."""
    owners = {name: "isa" for name in GENERATED}
    for path in tree.files(root, ".h"):
        if "include" in path.parts:
            inner = path.parts[path.parts.index("include") + 1:]
            owners["/".join(inner)] = path.parts[0]
    return owners


def check_passed_on(path, owner):
    """What a public header brings along, everybody sees who may see the header."""
    layer = path.parts[0]
    for other, seen in ALLOWED.items():
        if layer in seen and other != "tests" and owner not in seen:
            return f"{other} would see {owner} through it"
    return None


def check_public(path, name, owners, device):
    layer = path.parts[0]
    # Host parts of custom operators have headers of the same names.
    owner = "isa" if tree.is_device(path) and name in device else owners.get(name)
    if owner is None:
        return "no public header of that name" if name.startswith("leo/") else None
    if str(path) in SIM_USERS and owner == "sim":
        return None
    if owner not in ALLOWED.get(layer, set()):
        return f"{layer} must not see {owner}"
    if "include" in path.parts and check_passed_on(path, owner):
        return check_passed_on(path, owner)
    # Device programs, and the arguments that both sides share, know the instruction set alone.
    if (tree.is_device(path) or path.match("kernels/*/*_args.h")) and owner not in ("isa", "kernels"):
        return f"device programs see isa alone, not {owner}"
    return None


def check_private(root, path, name, private):
    layer = path.parts[0]
    if layer == "tests":
        return None
    beside = (Path(root) / path.parent / name).resolve()
    inside = (Path(root) / layer).resolve()
    if beside.exists():
        return None if inside in beside.parents else "a private header of another folder"
    found = [other for other in private.get(name.split("/")[-1], []) if other.endswith("/" + name)]
    if any(other.startswith(layer + "/") for other in found):
        return None
    return "a private header of another folder" if found else "no such header in this folder"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    owners = public_headers(root)
    device = {str(path.relative_to("isa/device/include")) for path in tree.files(root, ".h") if path.is_relative_to("isa/device/include")}
    private = {}
    for path in tree.files(root, ".h", ".c", ".inc", ".def"):
        private.setdefault(path.name, []).append(str(path))
    violations = []
    for path in tree.files(root, ".c", ".h", ".cpp"):
        if path.parts[0] not in tree.LAYERS:
            continue
        text = tree.without_comments(tree.read(root, path))
        for match in HIDDEN.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            violations.append(f"{path}:{line}: includes {match.group(1)}: a macro hides what it includes")
        if path.parts[0] == "sim" and not str(path).startswith(WHOLE_ROOMS):
            violations += [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(0)}: only sim/chip knows the whole chip"
                           for match in WHOLE.finditer(text)]
        for match in INCLUDE.finditer(text):
            kind, name = match.groups()
            why = check_public(path, name, owners, device) if kind == "<" else check_private(root, path, name, private)
            if why:
                line = text.count("\n", 0, match.start()) + 1
                violations.append(f"{path}:{line}: includes {name}: {why}")
    tree.finish("layers", violations)


main()
