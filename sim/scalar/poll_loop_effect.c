/* SPDX-License-Identifier: Apache-2.0 */
/* What an instruction uses and gives, for the search for loops that wait. */
#include "poll_loop_parts.h"

unsigned sim_scalar_load_bytes(enum sim_scalar_code code)
{
    switch ((int)code) {
#define LOAD(code, bytes, result)                                                                  \
    case SIM_CODE_##code:                                                                          \
        return bytes;
#include "alu.def"
    case SIM_CODE_FLH:
        return 2;
    case SIM_CODE_FLW:
        return 4;
    case SIM_CODE_FLD:
        return 8;
    default:
        return code >= SIM_CODE_LR_D && code <= SIM_CODE_AMOMAXU_D   ? 8
               : code >= SIM_CODE_LR_W && code <= SIM_CODE_AMOMAXU_W ? 4
                                                                     : 0;
    }
}

static struct poll_loop_effect custom_effect(const struct sim_scalar_op *op)
{
    struct poll_loop_effect effect = {.uses = POLL_LOOP_X(op->rd) | POLL_LOOP_X(op->rs1) |
                                              POLL_LOOP_X(op->rs2) | POLL_LOOP_X(op->custom.rs3)};
    switch ((enum leo_insn)op->custom.insn) {
    case LEO_INSN_COPY_GM_TO_UBUF:
    case LEO_INSN_COPY_GM_TO_UBUF_ALIGN:
        effect.looks = true;
        effect.copies = true;
        break;
    case LEO_INSN_SET_FLAG:
    case LEO_INSN_WAIT_FLAG:
    case LEO_INSN_HSET_FLAG:
    case LEO_INSN_HWAIT_FLAG:
    case LEO_INSN_PIPE_BARRIER:
    case LEO_INSN_DCCI:
    case LEO_INSN_DSB:
    case LEO_INSN_DC_PRELOAD:
    case LEO_INSN_PRELOAD:
        break;
    default:
        effect.forbidden = true;
    }
    return effect;
}

/* Floating point, by major opcode. */
static struct poll_loop_effect float_effect(const struct sim_scalar_op *op, bool fused)
{
    const enum sim_float_kind kind = (enum sim_float_kind)op->flt.kind;
    const bool to_x = !fused && ((kind >= SIM_FLOAT_LE && kind <= SIM_FLOAT_MV_X_F) ||
                                 (kind >= SIM_FLOAT_CVT_W_F && kind <= SIM_FLOAT_CVT_LU_F));
    const bool from_x = !fused && (kind == SIM_FLOAT_MV_F_X ||
                                   (kind >= SIM_FLOAT_CVT_F_W && kind <= SIM_FLOAT_CVT_F_LU));
    const bool two = fused || kind <= SIM_FLOAT_EQ;
    return (struct poll_loop_effect){
        .uses = (from_x ? POLL_LOOP_X(op->rs1) : POLL_LOOP_F(op->rs1)) |
                (two && kind != SIM_FLOAT_SQRT ? POLL_LOOP_F(op->rs2) : 0) |
                (fused ? POLL_LOOP_F(op->flt.rs3) : 0),
        .defs = to_x ? POLL_LOOP_X(op->rd) : POLL_LOOP_F(op->rd),
    };
}

static struct poll_loop_effect memory_effect(const struct sim_scalar_op *op, uint32_t word)
{
    const unsigned major = word & 0x7f;
    const bool stores = major == 0x23 || major == 0x27, is_float = major == 0x07 || major == 0x27;
    const int32_t high = (int32_t)word >> 20;
    struct poll_loop_effect effect = {
        .uses = POLL_LOOP_X(op->rs1),
        .loads = !stores,
        .stores = stores,
        .looks = !stores,
        .base = (uint8_t)(word >> 15 & 31),
        .bytes = (uint8_t)(1u << (word >> 12 & 3)),
        .offset = stores ? (high & ~31) | (int32_t)(word >> 7 & 31) : high,
    };
    if (stores) {
        effect.uses |= is_float ? POLL_LOOP_F(op->rs2) : POLL_LOOP_X(op->rs2);
    } else {
        effect.defs = is_float ? POLL_LOOP_F(op->rd) : POLL_LOOP_X(op->rd);
    }
    return effect;
}

static struct poll_loop_effect other_effect(const struct sim_scalar_op *op,
                                            enum sim_scalar_code code)
{
    if (code == SIM_CODE_CUSTOM) {
        return custom_effect(op);
    }
    return (struct poll_loop_effect){.uses = POLL_LOOP_X(op->rs1),
                                     .forbidden = code != SIM_CODE_FITS};
}

struct poll_loop_effect sim_poll_loop_effect(const struct sim_decoded *decoded, size_t at)
{
    const struct sim_scalar_op *op = &decoded->ops[at];
    const enum sim_scalar_code code = sim_scalar_meaning(op);
    const uint32_t word = decoded->words[at];
    const places both = POLL_LOOP_X(op->rs1) | POLL_LOOP_X(op->rs2);
    if (code == SIM_CODE_ILLEGAL || code == SIM_CODE_END) {
        return (struct poll_loop_effect){.forbidden = true};
    }
    switch (word & 0x7f) {
    case 0x13: // immediates
    case 0x1b:
        return (struct poll_loop_effect){.uses = POLL_LOOP_X(op->rs1), .defs = POLL_LOOP_X(op->rd)};
    case 0x33: // two registers
    case 0x3b:
        return (struct poll_loop_effect){.uses = both, .defs = POLL_LOOP_X(op->rd)};
    case 0x37: // lui, auipc
    case 0x17:
        return (struct poll_loop_effect){.defs = POLL_LOOP_X(op->rd)};
    case 0x03:
    case 0x07:
    case 0x23:
    case 0x27:
        return memory_effect(op, word);
    case 0x2f:
        return (struct poll_loop_effect){
            .uses = both, .defs = POLL_LOOP_X(op->rd), .looks = !poll_loop_is_sc(code)};
    case 0x63:
        return (struct poll_loop_effect){.uses = both};
    case 0x67: // jumps give a return address, the same each turn
        return (struct poll_loop_effect){.uses = POLL_LOOP_X(op->rs1), .defs = POLL_LOOP_X(op->rd)};
    case 0x6f:
        return (struct poll_loop_effect){.defs = POLL_LOOP_X(op->rd)};
    case 0x73: // csr reads only
        return (struct poll_loop_effect){.defs = POLL_LOOP_X(op->rd),
                                         .forbidden = !(code == SIM_CODE_CSRRS && op->rs1 == 0)};
    case 0x53:
        return float_effect(op, false);
    case 0x43:
    case 0x47:
    case 0x4b:
    case 0x4f:
        return float_effect(op, true);
    case 0x0f:
        return (struct poll_loop_effect){0};
    default:
        return other_effect(op, code);
    }
}
