/* SPDX-License-Identifier: Apache-2.0 */
#include <leo/insn.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const reg_names[32] = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

struct text {
    char *out;
    size_t bytes, used;
    const char *separator; /**< before the next operand */
};

__attribute__((format(printf, 2, 3))) static void append(struct text *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int count = vsnprintf(text->out + text->used, text->bytes - text->used, format, args);
    va_end(args);
    text->used += count > 0 ? (size_t)count : 0;
    if (text->used >= text->bytes) {
        text->used = text->bytes - 1;
    }
}

static void append_item(struct text *text, const char *item)
{
    append(text, "%s%s", text->separator, item);
    text->separator = ", ";
}

static void append_register(struct text *text, unsigned kind, unsigned reg, const char *config)
{
    const char *name = reg_names[reg];

    if (kind == LEO_INSN_OPERAND_NONE) {
        return;
    }
    append(text, "%s", text->separator);
    text->separator = ", ";
    if (kind == LEO_INSN_OPERAND_CFG) {
        append(text, "%s=%s", config, name);
    } else if (kind == LEO_INSN_OPERAND_VAL) {
        append(text, "%s", name);
    } else {
        append(text, "(%s)", name);
    }
}

static void append_registers(struct text *text, const struct leo_insn_info *info,
                             const struct leo_insn_word *word)
{
    const uint8_t regs[4] = {word->rd, word->rs1, word->rs2, word->rs3};
    const char *one[2] = {"cfg", "cfg"};
    const char *two[2] = {"cfg0", "cfg1"};
    const char *const *configs = info->config[1] ? two : one;

    for (unsigned i = 0; i < 4; i++) {
        append_register(text, info->operand[i], regs[i], *configs);
        configs += info->operand[i] == LEO_INSN_OPERAND_CFG;
    }
}

static void append_imm(struct text *text, const struct leo_insn_info *info,
                       const struct leo_insn_word *word)
{
    switch ((enum leo_insn_imm)info->imm) {
    case LEO_INSN_IMM_NONE:
        if (word->imm) {
            append(text, "%s%u", text->separator, word->imm);
            text->separator = ", ";
        }
        break;
    case LEO_INSN_IMM_FLAG: {
        struct leo_cfg_flag flag = leo_cfg_flag_unpack(word->imm);
        append_item(text, leo_pipe_name((enum leo_pipe)flag.src));
        append_item(text, leo_pipe_name((enum leo_pipe)flag.dst));
        append(text, ", %u", flag.event);
        break;
    }
    case LEO_INSN_IMM_BARRIER:
        append_item(text, leo_pipe_name((enum leo_pipe)leo_cfg_barrier_unpack(word->imm).pipe));
        break;
    case LEO_INSN_IMM_FITS: {
        struct leo_cfg_fits fits = leo_cfg_fits_unpack(word->imm);
        append_item(text, leo_field_name((enum leo_field)fits.field));
        append(text, ", %u", fits.bits ? fits.bits : 32);
        break;
    }
    case LEO_INSN_IMM_DEVFLAG:
        append(text, " %u", leo_cfg_devflag_unpack(word->imm).id);
        text->separator = ", ";
        break;
    }
    // A register is printed where it adds something.
    if (word->rs1 || info->operand[1] > LEO_INSN_OPERAND_VAL) {
        append_register(text, info->operand[1], word->rs1, "cfg");
    }
}

bool leo_insn_disassemble(uint32_t word, char *out, size_t out_bytes)
{
    struct text text = {.out = out, .bytes = out_bytes, .separator = " "};
    struct leo_insn_word decoded;

    if (out_bytes == 0) {
        return false;
    }
    out[0] = '\0';
    if (!leo_insn_decode(word, &decoded)) {
        return false;
    }
    const struct leo_insn_info *info = leo_insn_info(decoded.insn);
    const char *sub = leo_insn_sub_name(decoded.insn, decoded.sub);
    append(&text, "%s%s%s", info->name, sub ? "." : "", sub ? sub : "");
    if (info->form == LEO_INSN_FORM_I) {
        append_imm(&text, info, &decoded);
    } else {
        append_registers(&text, info, &decoded);
    }
    return true;
}
