# SPDX-License-Identifier: Apache-2.0
"""insn.h, insn.c (tables, decoder) and disasm tables."""

from check import slots_of
from emit_config import config_c
from emit_intrin import name_operands
from model import ARCHS
from text import comment, header, quote, source

DECLARATIONS = """
/** How the bits of a word are laid out. */
enum leo_insn_form {
    LEO_INSN_FORM_R4, /**< rs3 f2 rs2 rs1 f3 rd opcode, four source registers */
    LEO_INSN_FORM_U4, /**< r4 whose rs2 field is a number */
    LEO_INSN_FORM_I,  /**< imm[11:0] rs1 f3 rd opcode */
};

/** What a register operand holds. */
enum leo_insn_operand {
    LEO_INSN_OPERAND_NONE,
    LEO_INSN_OPERAND_VAL, /**< scalar bits */
    LEO_INSN_OPERAND_CFG, /**< configuration word */
    LEO_INSN_OPERAND_GM,  /**< address in global memory; the others: in a buffer of the core */
    LEO_INSN_OPERAND_UB,
    LEO_INSN_OPERAND_L1,
    LEO_INSN_OPERAND_L0A,
    LEO_INSN_OPERAND_L0B,
    LEO_INSN_OPERAND_L0C,
    LEO_INSN_OPERAND_BT,
    LEO_INSN_OPERAND_FB,
};

/** What the tables say about one instruction. */
struct leo_insn_info {
    const char *name;
    const char *doc;
    const char *config[2];      /**< configuration words in operand order; NULL = none */
    uint32_t match;             /**< a word is this instruction if (word & mask) == match (and its sub is known) */
    uint32_t mask;
    uint32_t sub_mask;          /**< u4 form: bit n set = sub-operation n is this instruction */
    uint32_t types[2];          /**< by leo_arch_index(): bit n = type n of enum leo_dtype (mmad: enum leo_mad) */
    uint8_t arch_mask;          /**< bit leo_arch_index() */
    uint8_t form;               /**< enum leo_insn_form */
    uint8_t pipe;               /**< enum leo_pipe */
    uint8_t operand[4];         /**< a b c d: enum leo_insn_operand */
    const char *operand_name[4]; /**< as intrinsics call it; "" = none of them has it as such */
    uint8_t imm;                /**< i form: enum leo_insn_imm */
    uint16_t time_of;           /**< instruction whose time it takes where a chip's file names none; LEO_INSN_NONE: no default */
    bool planned;               /**< has an encoding only: executing it is an illegal instruction */
};

/** A decoded word. Fields that its form does not have are 0. */
struct leo_insn_word {
    enum leo_insn insn;
    uint8_t rd, rs1, rs2, rs3;
    uint8_t sub;  /**< u4 form: the rs2 field */
    uint16_t imm; /**< i form: 12 bits, zero-extended */
};

/** Index of an architecture in per-architecture tables: 1001 -> 0, 2201 -> 1, others -> -1. */
int leo_arch_index(uint32_t arch);
/** Facts about an instruction; NULL for LEO_INSN_NONE and numbers out of range. */
const struct leo_insn_info *leo_insn_info(enum leo_insn insn);
/** Name as in the tables; "?" if unknown. */
const char *leo_insn_name(enum leo_insn insn);
/** Whether a chip of this architecture has (and the simulator executes) the instruction. */
bool leo_insn_has_arch(enum leo_insn insn, uint32_t arch);
/** Whether the architecture has the instruction for this type (enum leo_dtype; mmad: enum leo_mad). */
bool leo_insn_has_type(enum leo_insn insn, uint32_t arch, unsigned type);
/** Whether vconv converts between these types on the architecture. */
bool leo_insn_has_convert(uint32_t arch, enum leo_dtype from, enum leo_dtype to);
/** Name of a sub-operation that has one ("rint" of vconv); NULL otherwise. */
const char *leo_insn_sub_name(enum leo_insn insn, unsigned sub);
/** One field of a configuration word. */
struct leo_insn_field {
    const char *name;
    uint8_t low, bits;
    uint8_t values; /**< which enum its values are of, for leo_insn_field_text; 0 = a number */
};
/** Fields of a configuration word by its name ("vec3"), in the order of the tables; NULL if there is no such word. */
const struct leo_insn_field *leo_insn_config_fields(const char *config, size_t *count);
/** Name of a field's value; NULL: it is a number; "?": the enum has no such value. */
const char *leo_insn_field_text(const struct leo_insn_field *field, unsigned value);
/** Decodes a word of the custom opcodes. False: not an instruction of ours; `out->insn` is LEO_INSN_NONE. */
bool leo_insn_decode(uint32_t word, struct leo_insn_word *out);
/** Prints a word such as "vadd (a0), (a1), (a2), cfg=a3". False (and an empty text): not an instruction of ours. */
bool leo_insn_disassemble(uint32_t word, char *out, size_t out_bytes);
"""


def encode(isa, insn):
    """(match, mask) of the fixed bits of an instruction without its sub field."""
    match = isa.opcodes[insn.opcode][0] | insn.f3 << 12
    mask = 0x707f
    if insn.form != "i":
        match |= insn.f2 << 25
        mask |= 3 << 25
        if isinstance(insn.sub, int):
            match |= insn.sub << 20
            mask |= 31 << 20
    return match, mask


def sub_mask(insn, isa):
    return sum(1 << slot[3] for slot in slots_of(isa, insn) if slot[3] is not None)


def type_mask(isa, insn, arch):
    values = isa.enums[isa.type_enum(insn)].values
    return sum(1 << values[name] for name in insn.types.get(arch, []))


def imm_configs(isa):
    return sorted({insn.imm for insn in isa.insns if insn.imm})


def emit_insn_header(isa):
    rows = "".join(f"    LEO_INSN_{insn.name.upper()},\n" for insn in isa.insns)
    imms = "".join(f"    LEO_INSN_IMM_{name.upper()},\n" for name in imm_configs(isa))
    body = ("/** Instructions of the units. Numbers may change from build to build; names do not. */\n"
            f"enum leo_insn {{\n    LEO_INSN_NONE = 0,\n{rows}}};\n#define LEO_INSN_COUNT {len(isa.insns) + 1}\n"
            f"\n/** Configuration that lays out the immediate. */\n"
            f"enum leo_insn_imm {{\n    LEO_INSN_IMM_NONE,\n{imms}}};\n"
            + DECLARATIONS + "\n" + "\n".join(config_c(config) for config in isa.configs.values()))
    yield "include/leo/insn.h", header("isa/insn", ["leo/isa_enums.h", "stdbool.h", "stddef.h", "stdint.h"], body)


def info_row(isa, insn):
    match, mask = encode(isa, insn)
    configs = [quote(name) for name in insn.configs] + ["NULL", "NULL"]
    operands = [f"LEO_INSN_OPERAND_{insn.operands.get(letter, 'none').upper()}" for letter in "abcd"]
    archs = sum(1 << ARCHS.index(arch) for arch in insn.archs)
    types = ", ".join(f"0x{type_mask(isa, insn, arch):x}" for arch in ARCHS)
    return (f"    [LEO_INSN_{insn.name.upper()}] = {{\n        .name = {quote(insn.name)},\n"
            f"        .doc = {quote(insn.doc)},\n        .config = {{{configs[0]}, {configs[1]}}},\n"
            f"        .match = 0x{match:08x},\n        .mask = 0x{mask:08x},\n"
            f"        .sub_mask = 0x{sub_mask(insn, isa):x},\n        .types = {{{types}}},\n"
            f"        .arch_mask = {archs},\n        .form = LEO_INSN_FORM_{insn.form.upper()},\n"
            f"        .pipe = LEO_PIPE_{insn.pipe.upper()},\n        .operand = {{{', '.join(operands)}}},\n"
            f"        .operand_name = {{{', '.join(quote(insn.operand_names.get(letter, '')) for letter in 'abcd')}}},\n"
            f"        .imm = LEO_INSN_IMM_{(insn.imm or 'none').upper()},\n"
            f"        .time_of = LEO_INSN_{(insn.time or 'none').upper()},\n"
            f"        .planned = {'true' if insn.planned else 'false'},\n    }},\n")


def decode_tables(isa):
    """Rows of `groups` (one a opcode/f3/f2) and `subs` (32 a group that has sub-operations)."""
    groups, subs = {}, {}
    for insn in isa.insns:
        for opcode, f3, f2, sub in slots_of(isa, insn):
            index = (isa.opcodes[opcode][0] >> 5) * 32 + f3 * 4 + f2
            name = f"LEO_INSN_{insn.name.upper()}"
            if sub is None:
                groups[index] = f"{{{name}, -1}}"
            else:
                table = subs.setdefault(index, {})
                table[sub] = name
                groups[index] = f"{{LEO_INSN_NONE, {list(subs).index(index)}}}"
    group_rows = "".join(f"    [{index}] = {groups[index]},\n" if index in groups else f"    [{index}] = {{LEO_INSN_NONE, -1}},\n"
                         for index in range(128))
    sub_rows = "".join("    {\n" + "".join(f"        [{sub}] = {name},\n" for sub, name in sorted(table.items()))
                       + "    },\n" for table in subs.values())
    return group_rows, sub_rows, len(subs)


def convert_masks(isa, arch):
    """(source type, mask of target types) of vconv."""
    masks = {}
    for item in isa.converts:
        if arch in item.archs and not item.planned:
            masks[item.source] = masks.get(item.source, 0) | 1 << isa.enums["dtype"].values[item.target]
    return masks.items()


def config_tables(isa):
    """Rows of fields, of words, and the switch over the enums that fields use."""
    enums = sorted({item.enum for config in isa.configs.values() for item in config.fields if item.enum})
    fields, words, at = "", "", 0
    for config in isa.configs.values():
        fields += "".join(f"    {{{quote(item.name)}, {item.lo}, {item.bits}, {enums.index(item.enum) + 1 if item.enum else 0}}},\n"
                          for item in config.fields)
        words += f"    {{{quote(config.name)}, {at}, {len(config.fields)}}},\n"
        at += len(config.fields)
    cases = "".join(f"    case {index + 1}:\n        return leo_{name}_name((enum leo_{name})value);\n"
                    for index, name in enumerate(enums))
    return fields, words, cases


def emit_insn_source(isa):
    fields, words, field_cases = config_tables(isa)
    name_operands(isa)
    infos = "".join(info_row(isa, insn) for insn in isa.insns)
    groups, subs, sub_count = decode_tables(isa)
    names = "".join(f"    if (insn == LEO_INSN_{insn.name.upper()}) {{\n"
                    f"        return leo_{insn.sub}_name((enum leo_{insn.sub})sub);\n    }}\n"
                    for insn in isa.insns if isinstance(insn.sub, str))
    converts = "".join("        {\n" + "".join(
        f"            [LEO_DTYPE_{name.upper()}] = 0x{mask:x},\n" for name, mask in convert_masks(isa, arch)) + "        },\n"
        for arch in ARCHS)
    archs = "".join(f"    case {arch}:\n        return {index};\n" for index, arch in enumerate(ARCHS))
    yield "src/insn.c", source("isa/insn", ["leo/insn.h", "string.h"], f"""
static const struct leo_insn_info infos[LEO_INSN_COUNT] = {{
{infos}}};

/* Index: opcode bits 6:5, f3, f2. `subs` >= 0: the sub-operation decides, by that row of sub_insns. */
static const struct {{
    uint16_t insn;
    int8_t subs;
}} groups[128] = {{
{groups}}};

static const uint16_t sub_insns[{sub_count}][32] = {{
{subs}}};

static const struct leo_insn_field fields[] = {{
{fields}}};

static const struct {{
    const char *name;
    uint16_t first, count;
}} configs[] = {{
{words}}};

const struct leo_insn_field *leo_insn_config_fields(const char *config, size_t *count)
{{
    for (size_t i = 0; config && i < sizeof(configs) / sizeof(configs[0]); i++) {{
        if (strcmp(configs[i].name, config) == 0) {{
            *count = configs[i].count;
            return &fields[configs[i].first];
        }}
    }}
    *count = 0;
    return NULL;
}}

const char *leo_insn_field_text(const struct leo_insn_field *field, unsigned value)
{{
    switch (field->values) {{
{field_cases}    default:
        return NULL;
    }}
}}

int leo_arch_index(uint32_t arch)
{{
    switch (arch) {{
{archs}    default:
        return -1;
    }}
}}

const struct leo_insn_info *leo_insn_info(enum leo_insn insn)
{{
    return insn > LEO_INSN_NONE && (unsigned)insn < LEO_INSN_COUNT ? &infos[insn] : NULL;
}}

const char *leo_insn_name(enum leo_insn insn)
{{
    const struct leo_insn_info *info = leo_insn_info(insn);

    return info ? info->name : "?";
}}

bool leo_insn_has_arch(enum leo_insn insn, uint32_t arch)
{{
    const struct leo_insn_info *info = leo_insn_info(insn);
    int index = leo_arch_index(arch);

    return info && index >= 0 && !info->planned && (info->arch_mask >> index & 1) != 0;
}}

bool leo_insn_has_type(enum leo_insn insn, uint32_t arch, unsigned type)
{{
    return leo_insn_has_arch(insn, arch) && type < 32 &&
           (infos[insn].types[leo_arch_index(arch)] >> type & 1) != 0;
}}

bool leo_insn_has_convert(uint32_t arch, enum leo_dtype from, enum leo_dtype to)
{{
    static const uint32_t targets[{len(ARCHS)}][LEO_DTYPE_COUNT] = {{
{converts}    }};
    int index = leo_arch_index(arch);

    return index >= 0 && (unsigned)from < LEO_DTYPE_COUNT && (unsigned)to < LEO_DTYPE_COUNT &&
           (targets[index][from] >> to & 1) != 0;
}}

const char *leo_insn_sub_name(enum leo_insn insn, unsigned sub)
{{
{names}    return NULL;
}}

bool leo_insn_decode(uint32_t word, struct leo_insn_word *out)
{{
    static const uint8_t opcodes[4] = {{{', '.join(f'0x{value[0]:02x}' for value in sorted(isa.opcodes.values()))}}};
    unsigned group = word >> 5 & 3;
    unsigned index = group * 32 + (word >> 12 & 7) * 4 + (word >> 25 & 3);

    *out = (struct leo_insn_word){{0}};
    if ((word & 0x7f) != opcodes[group]) {{
        return false;
    }}
    unsigned insn = groups[index].insn;
    if (groups[index].subs >= 0) {{
        insn = sub_insns[groups[index].subs][word >> 20 & 31];
    }}
    if (insn == LEO_INSN_NONE) {{
        return false;
    }}
    out->insn = (enum leo_insn)insn;
    out->rd = word >> 7 & 31;
    out->rs1 = word >> 15 & 31;
    if (infos[insn].form == LEO_INSN_FORM_I) {{
        out->imm = (uint16_t)(word >> 20);
        return true;
    }}
    out->rs3 = (uint8_t)(word >> 27);
    if (infos[insn].form == LEO_INSN_FORM_U4) {{
        out->sub = word >> 20 & 31;
    }} else {{
        out->rs2 = word >> 20 & 31;
    }}
    return true;
}}
""")


def emit_insn(isa):
    yield from emit_insn_header(isa)
    yield from emit_insn_source(isa)
