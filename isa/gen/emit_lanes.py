# SPDX-License-Identifier: Apache-2.0
"""What the vector unit's host arithmetic has for each member of a family (exec=vec_binary:binary_and): enums and counts, integer
loops, and the rows of the table of functions, which read the same on every path of the host."""

import re

from model import TableError
from parse import lines_of
from text import HEAD

# Family -> lanes choose a function: it has a row for each member in struct sim_simd_vector, and so many sources.
FAMILIES = {"binary": 2, "unary": 1, "chain": 0}
LANES = ("f16", "f32", "s16", "s32", "u16", "u32")
WIDE = {"s16": "int32_t", "u16": "uint32_t", "s32": "int64_t", "u32": "uint64_t"}


def members_of(insn):
    """(family, name) of the members that an instruction computes with."""
    for member in filter(None, insn.exec.partition(":")[2].split("+")):
        family, _, name = member.partition("_")
        yield family, name


def families_of(isa):
    """{family: {member: lanes}} in the order of the tables."""
    families = {family: {} for family in FAMILIES}
    for insn in isa.insns:
        for family, name in members_of(insn):
            if family not in families:
                raise TableError(insn.where, f"exec= names a member of '{family}', which is none of {', '.join(FAMILIES)}")
            lanes = families[family].setdefault(name, set())
            lanes |= {lane for types in insn.types.values() for lane in types if lane in LANES}
    return families


def read_loops(path):
    """{name: {lane: (type it is computed as, expression)}}"""
    loops = {}
    for where, text in lines_of(path):
        head, bar, expression = text.partition(" | ")
        name, *lanes = head.split()
        if not bar or not lanes or name in loops:
            raise TableError(where, "expected: NAME LANES | expression, each name once")
        loops[name] = {}
        for item in lanes:
            lane, _, work = item.partition(":")
            if lane not in WIDE or (work or lane) not in WIDE:
                raise TableError(where, f"'{item}' is no integer lane: LANE or LANE:COMPUTED_AS of {', '.join(WIDE)}")
            loops[name][lane] = (work or lane, expression.strip())
    return loops


def ctype(lane):
    return ("int" if lane[0] == "s" else "uint") + f"{lane[1:]}_t"


def loop(name, lane, work, expression, sources):
    words = {"wide": WIDE[work], "lane": ctype(work), "x": "x[i]", "y": "y[i]"}
    value = re.sub(r"\b(wide|lane|x|y)\b", lambda match: words[match[0]], expression)
    arguments = "const void *a, const void *b" if sources == 2 else "const void *a"
    pointers = "*x = a, *y = b" if sources == 2 else "*x = a"
    return (f"static inline void {name}_{lane}(void *dst, {arguments}, size_t count)\n{{\n"
            f"    {ctype(work)} *d = dst;\n    const {ctype(work)} {pointers};\n    INDEPENDENT\n"
            f"    for (size_t i = 0; i < count; i++) {{\n        d[i] = ({ctype(work)})({value});\n    }}\n}}\n")


def loops_of(families, loops, path):
    """The loops in C. Each integer lane of a member has one, and no other is there."""
    text, used = "", set()
    for family in ("binary", "unary"):
        for name, lanes in families[family].items():
            for lane in (lane for lane in LANES if lane in lanes and lane in WIDE):
                if lane not in loops.get(name, {}):
                    raise TableError(path.name, f"no line gives {name} of lane {lane}, which isa/insn has as {family}_{name}")
                used.add((name, lane))
                text += "\n" + loop(name, lane, *loops[name][lane], FAMILIES[family])
    for name, lanes in loops.items():
        for lane in lanes:
            if (name, lane) not in used:
                raise TableError(path.name, f"{name} of lane {lane} belongs to no instruction of isa/insn")
    return text


def enum_of(family, members):
    values = "".join(f"    SIM_{family.upper()}_{name.upper()},\n" for name in members)
    return f"enum sim_{family} {{\n{values}}};\n#define SIM_{family.upper()}_COUNT {len(members)}\n"


def rows_of(families):
    text = ""
    for family in ("binary", "unary"):
        text += f"    .{family} =\n        {{\n"
        for name, lanes in families[family].items():
            cells = ", ".join(f"[SIM_LANE_{lane.upper()}] = {name}_{lane}" for lane in LANES if lane in lanes)
            text += f"            [SIM_{family.upper()}_{name.upper()}] = {{{cells}}},\n"
        text += "        },\n"
    return text


def emit_lanes(isa, path):
    families = families_of(isa)
    head = HEAD.format(source="isa/insn and sim/simd/integer_lanes.txt")
    yield "include/sim_vector_members.h", (
        head + "/* What the members of a family compute: exec= of the instructions. */\n#pragma once\n\n"
        + "\n".join(enum_of(family, members) for family, members in families.items()))
    yield "include/sim_integer_loops.h", (
        head + "/* Included where INDEPENDENT is defined: no lane depends on another. Integers wrap around. */\n#pragma once\n\n"
        "#include <stddef.h>\n#include <stdint.h>\n" + loops_of(families, read_loops(path), path))
    yield "include/sim_vector_rows.inc", (
        head + "/* Rows of struct sim_simd_vector: each path has functions of these names. */\n" + rows_of(families))
