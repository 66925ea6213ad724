# SPDX-License-Identifier: Apache-2.0
"""layout.h: the structs host and chip exchange."""

from check import SIZES
from text import bits_c, comment, header


def struct_c(struct):
    lines = [f"/** {comment(struct.doc)} */", f"struct leo_{struct.name} {{"]
    for member in struct.members:
        array = f"[{member.count}]" if member.count > 1 else ""
        lines.append(f"    uint{SIZES[member.type] * 8}_t {member.name}{array}; /**< {comment(member.doc)} */")
    lines.append("};")
    lines.append(f"static_assert(sizeof(struct leo_{struct.name}) == {struct.size}, \"layout\");")
    for member in struct.members:
        lines.append(f"static_assert(offsetof(struct leo_{struct.name}, {member.name}) == {member.offset}, \"layout\");")
    return "\n".join(lines) + "\n"


def bits_of(isa, struct):
    widths = {member.name: 8 * SIZES[member.type] for member in struct.members}
    return "".join(bits_c(item, widths[item.word]) for item in isa.bits if item.of == struct.name)


def emit_layout(isa):
    limits = "".join(f"/** {comment(row.doc)} */\n#define LEO_{row.name.upper()} 0x{row.value:x}u\n" for row in isa.limits)
    yield "include/leo/layout.h", header("isa/layout", ["assert.h", "stddef.h", "stdint.h"], limits + "\n" +
                                         "\n".join(struct_c(struct) + bits_of(isa, struct) for struct in isa.structs))
