/* SPDX-License-Identifier: Apache-2.0 */
#include "decode.h"

#include <leo/alloc.h>
#include <string.h>

/** Where the immediate lies in the word. */
enum form {
    FORM_R,
    FORM_I,
    FORM_SHIFT,
    FORM_S,
    FORM_B,
    FORM_U,
    FORM_J,
    FORM_CSR,
    FORM_NONE,
    FORM_FLOAT
};

struct pattern {
    uint32_t mask, match;
    uint8_t form, code;
    uint8_t kind, format, source; /**< FORM_FLOAT */
};

static const struct pattern patterns[] = {
#define SCALAR_INSN(code_, mnemonic, mask_, match_, form_)                                         \
    {.mask = mask_, .match = match_, .form = FORM_##form_, .code = SIM_CODE_##code_},
#define SCALAR_FLOAT(mnemonic, mask_, match_, kind_, format_, source_)                             \
    {.mask = mask_,                                                                                \
     .match = match_,                                                                              \
     .form = FORM_FLOAT,                                                                           \
     .code = SIM_CODE_FLOAT,                                                                       \
     .kind = SIM_FLOAT_##kind_,                                                                    \
     .format = SIM_FLOAT_##format_,                                                                \
     .source = SIM_FLOAT_##source_},
#include "insns.def"
#undef SCALAR_INSN
#undef SCALAR_FLOAT
};

#define PATTERN_COUNT (sizeof(patterns) / sizeof(patterns[0]))
#define GROUP_COUNT   32

/** Patterns by major opcode (bits 6:2), in the order of the table. PATTERN_COUNT ends a chain. */
struct chains {
    uint16_t first[GROUP_COUNT], next[PATTERN_COUNT];
};

static void fill_chains(struct chains *chains)
{
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        chains->first[i] = PATTERN_COUNT;
    }
    for (size_t i = PATTERN_COUNT; i-- > 0;) {
        uint16_t *first = &chains->first[patterns[i].match >> 2 & 31];
        chains->next[i] = *first;
        *first = (uint16_t)i;
    }
}

/** Bits high..low of the word, sign bit of the result at `high`. */
static int32_t get_signed(uint32_t word, unsigned high, unsigned low)
{
    return (int32_t)(word << (31 - high)) >> (31 - high + low);
}

static uint32_t get_bits(uint32_t word, unsigned high, unsigned low)
{
    return word << (31 - high) >> (31 - high + low);
}

static int32_t get_imm(uint32_t word, enum form form)
{
    switch (form) {
    case FORM_I:
        return get_signed(word, 31, 20);
    case FORM_SHIFT:
        return (int32_t)get_bits(word, 25, 20);
    case FORM_S:
        return (int32_t)((uint32_t)get_signed(word, 31, 25) << 5 | get_bits(word, 11, 7));
    case FORM_B:
        return (int32_t)((uint32_t)get_signed(word, 31, 31) << 12 | get_bits(word, 7, 7) << 11 |
                         get_bits(word, 30, 25) << 5 | get_bits(word, 11, 8) << 1);
    case FORM_U:
        return (int32_t)(word & 0xfffff000u);
    case FORM_J:
        return (int32_t)((uint32_t)get_signed(word, 31, 31) << 20 | get_bits(word, 19, 12) << 12 |
                         get_bits(word, 20, 20) << 11 | get_bits(word, 30, 21) << 1);
    case FORM_CSR:
        return (int32_t)get_bits(word, 31, 20);
    case FORM_R:
    case FORM_NONE:
    case FORM_FLOAT:
        break;
    }
    return 0;
}

static struct sim_scalar_op decode_custom(uint32_t word)
{
    struct sim_scalar_op op = {.code = SIM_CODE_ILLEGAL};
    struct leo_insn_word insn;
    if (leo_insn_decode(word, &insn) && !leo_insn_info(insn.insn)->planned) {
        op.code = insn.insn == LEO_INSN_CHECK_FIELD ? SIM_CODE_FITS : SIM_CODE_CUSTOM;
        op.rd = insn.rd;
        op.rs1 = insn.rs1;
        op.rs2 = insn.rs2;
        op.custom = (struct sim_custom_fields){(uint32_t)insn.insn & 511, insn.rs3 & 31u,
                                               insn.sub & 31u, insn.imm & 4095u};
    }
    return op;
}

/** The code of an instruction that the host may do, else `code`. */
static uint8_t find_host_code(const struct pattern *p, unsigned rm, uint8_t code)
{
    enum { ROUNDING_ANY, ROUNDING_NEAREST, ROUNDING_ZERO };
    static const struct {
        uint8_t code, kind, format, source, rounding;
    } rows[] = {
#define HOST_FLOAT(kind, format, source, rounding)                                                 \
    {SIM_CODE_F_##kind##_##format##source, SIM_FLOAT_##kind, SIM_FLOAT_##format,                   \
     SIM_FLOAT_##source, ROUNDING_##rounding},
#include "host_floats.def"
#undef HOST_FLOAT
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].kind == p->kind && rows[i].format == p->format && rows[i].source == p->source) {
            bool nearest = rm == SIM_RM_RNE || rm == SIM_RM_DYN;
            bool fits = rows[i].rounding == ROUNDING_ANY ||
                        (rows[i].rounding == ROUNDING_NEAREST ? nearest : rm == SIM_RM_RTZ);
            return fits ? rows[i].code : code;
        }
    }
    return code;
}

static struct sim_scalar_op decode_word(const struct chains *chains, uint32_t word)
{
    struct sim_scalar_op op = {.code = SIM_CODE_ILLEGAL};
    if ((word & 3) != 3) {
        return op; // 16-bit instructions: no C extension
    }
    size_t i = chains->first[word >> 2 & 31];
    while (i < PATTERN_COUNT && (word & patterns[i].mask) != patterns[i].match) {
        i = chains->next[i];
    }
    if (i == PATTERN_COUNT) {
        return decode_custom(word);
    }
    const struct pattern *p = &patterns[i];
    op.code = p->code;
    op.rd = (uint8_t)get_bits(word, 11, 7);
    op.rs1 = (uint8_t)get_bits(word, 19, 15);
    op.rs2 = (uint8_t)get_bits(word, 24, 20);
    op.imm = get_imm(word, (enum form)p->form);
    if (p->form == FORM_FLOAT) {
        unsigned rm = p->mask & 0x7000 ? SIM_RM_RNE : get_bits(word, 14, 12);
        op.flt = (struct sim_float_fields){p->kind, p->format & 15, p->source & 15, (uint8_t)rm,
                                           (uint8_t)get_bits(word, 31, 27)};
        if (p->kind == SIM_FLOAT_DIV || p->kind == SIM_FLOAT_SQRT) {
            op.code = SIM_CODE_FLOAT_DIV;
        }
        op.code = find_host_code(p, rm, (uint8_t)op.code);
        if (rm >= SIM_RM_COUNT && rm != SIM_RM_DYN) {
            op.code = SIM_CODE_ILLEGAL;
        }
    }
    return op;
}

struct sim_scalar_op sim_scalar_decode(uint32_t word)
{
    struct chains chains;
    fill_chains(&chains);
    return decode_word(&chains, word);
}

leo_status sim_decoded_create(const void *text, size_t bytes, uint64_t base,
                              struct sim_decoded **decoded)
{
    size_t count = bytes / 4;
    *decoded = NULL;
    if (base % 4 != 0) {
        return LEO_ERR_INVALID_ARG;
    }
    struct sim_decoded *d = leo_calloc(1, sizeof(*d));
    if (!d) {
        return LEO_ERR_NO_MEMORY;
    }
    d->base = base;
    d->bytes = (uint64_t)count * 4;
    d->ops = leo_calloc(count + 1, sizeof(*d->ops));
    d->words = leo_calloc(count + 1, sizeof(*d->words));
    if (!d->ops || !d->words) {
        sim_decoded_destroy(d);
        return LEO_ERR_NO_MEMORY;
    }
    struct chains chains;
    fill_chains(&chains);
    if (count) {
        memcpy(d->words, text, count * 4);
    }
    for (size_t i = 0; i < count; i++) {
        d->ops[i] = decode_word(&chains, d->words[i]);
    }
    d->ops[count].code = SIM_CODE_END;
    sim_scalar_link(d);
    *decoded = d;
    return LEO_OK;
}

void sim_decoded_destroy(struct sim_decoded *decoded)
{
    if (decoded) {
        leo_free(decoded->ops);
        leo_free(decoded->words);
        leo_free(decoded->poll_loop);
        leo_free(decoded);
    }
}
