# SPDX-License-Identifier: Apache-2.0
"""regs.h (registers of the function) and csr.h (control registers of a core)."""

from text import bits_c, comment, header, quote, source

ACCESS = {"ro": "LEO_ACCESS_RO", "rw": "LEO_ACCESS_RW", "w1c": "LEO_ACCESS_W1C"}


def emit_regs(isa):
    lines = []
    for reg in isa.regs:
        lines.append(f"/** {comment(reg.doc)} ({reg.width} bits, {reg.access}) */")
        lines.append(f"#define LEO_REG_{reg.name.upper()} 0x{reg.value:04x}u")
        if reg.reset:
            lines.append(f"#define LEO_REG_{reg.name.upper()}_RESET 0x{reg.reset:x}u")
    lines.append("")
    lines += [bits_c(item, next(reg.width for reg in isa.regs if reg.name == item.word)) for item in isa.bits if not item.of]
    for array in isa.arrays:
        upper = array.name.upper()
        lines += ["", f"/** {comment(array.doc)} */", f"#define LEO_{upper}_BASE 0x{array.base:x}u",
                  f"#define LEO_{upper}_STRIDE {array.stride}u", f"#define LEO_{upper}_COUNT {array.count}u"]
        lines += [f"#define LEO_{upper}_{name.upper()} {offset}u" for name, offset in array.members.items()]
    lines += ["", "enum leo_access {", "    LEO_ACCESS_RO,", "    LEO_ACCESS_RW,", "    LEO_ACCESS_W1C,", "};", "",
              "/** One register of the function. */", "struct leo_reg_info {", "    const char *name;",
              "    uint32_t offset;", "    uint32_t width_bits;", "    enum leo_access access;", "    uint64_t reset;",
              "};", "", f"#define LEO_REG_COUNT {len(isa.regs)}u",
              "/** The index-th register by offset; NULL past the end. */",
              "const struct leo_reg_info *leo_reg_info(size_t index);"]
    yield "include/leo/regs.h", header("isa/regs", ["stddef.h", "stdint.h"], "\n".join(lines))
    rows = "".join(f"    {{{quote(reg.name)}, LEO_REG_{reg.name.upper()}, {reg.width}, {ACCESS[reg.access]}, "
                   f"0x{reg.reset or 0:x}}},\n" for reg in sorted(isa.regs, key=lambda reg: reg.value))
    yield "src/regs.c", source("isa/regs", ["leo/regs.h"], f"""
static const struct leo_reg_info regs[LEO_REG_COUNT] = {{
{rows}}};

const struct leo_reg_info *leo_reg_info(size_t index)
{{
    return index < LEO_REG_COUNT ? &regs[index] : NULL;
}}
""")


def emit_csr(isa):
    lines = []
    rows = [row for row in isa.csrs if row.access != "planned"]
    for row in rows:
        lines.append(f"/** {comment(row.doc)} ({row.access}) */")
        lines.append(f"#define LEO_CSR_{row.name.upper()} 0x{row.value:03x}u")
        if row.reset is not None:
            lines.append(f"#define LEO_CSR_{row.name.upper()}_RESET UINT64_C(0x{row.reset:x})")
    lines += ["", "/** Name of a control register as in the table; NULL if the core has none of that number. */",
              "const char *leo_csr_name(unsigned number);"]
    yield "include/leo/csr.h", header("isa/csr.csv", ["stdint.h"], "\n".join(lines))
    cases = "".join(f"    case LEO_CSR_{row.name.upper()}:\n        return {quote(row.name)};\n" for row in rows)
    yield "src/csr.c", source("isa/csr.csv", ["leo/csr.h", "stddef.h"], f"""
const char *leo_csr_name(unsigned number)
{{
    switch (number) {{
{cases}    default:
        return NULL;
    }}
}}
""")
