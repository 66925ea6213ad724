/* SPDX-License-Identifier: Apache-2.0 */
/* From decoded words to what the run loop dispatches on. */
#include "decode.h"

/** Instructions that the loop may execute before it looks at the time limit. */
enum { RUN_MAX = 255 };

static bool writes_x(enum sim_scalar_code code)
{
    switch ((int)code) {
#define ALU(code, result)         case SIM_CODE_##code:
#define MULTIPLY(code, result)    case SIM_CODE_##code:
#define DIVIDE(code, result)      case SIM_CODE_##code:
#define LOAD(code, bytes, result) case SIM_CODE_##code:
#include "alu.def"
    case SIM_CODE_AUIPC:
    case SIM_CODE_JAL:
    case SIM_CODE_JAL_OUT:
    case SIM_CODE_JALR:
        return true;
    default:
        return code >= SIM_CODE_F_ADD_HH && code < SIM_CODE_J;
    }
}

/** Of the host_floats.def rows: those whose result goes to x. */
static bool is_float_to_f(const struct sim_scalar_op *op)
{
    if (op->code < SIM_CODE_F_ADD_HH || op->code >= SIM_CODE_J) {
        return false;
    }
    enum sim_float_kind kind = (enum sim_float_kind)op->flt.kind;
    bool to_x = (kind >= SIM_FLOAT_LE && kind <= SIM_FLOAT_MV_X_F) ||
                (kind >= SIM_FLOAT_CVT_W_F && kind <= SIM_FLOAT_CVT_LU_F);
    return !to_x;
}

static bool is_branch(enum sim_scalar_code code)
{
    return code >= SIM_CODE_BEQ && code <= SIM_CODE_BGEU;
}

/** Instructions after which the loop has looked at the time limit, or stopped. */
static bool ends_run(enum sim_scalar_code code)
{
    switch ((int)code) {
    case SIM_CODE_JAL:
    case SIM_CODE_J:
    case SIM_CODE_JAL_OUT:
    case SIM_CODE_JALR:
    case SIM_CODE_CUSTOM:
    case SIM_CODE_CSRRW:
    case SIM_CODE_CSRRS:
    case SIM_CODE_CSRRC:
    case SIM_CODE_CSRRWI:
    case SIM_CODE_CSRRSI:
    case SIM_CODE_CSRRCI:
    case SIM_CODE_ECALL:
    case SIM_CODE_EBREAK:
    case SIM_CODE_UNIMP:
    case SIM_CODE_ILLEGAL:
    case SIM_CODE_END:
        return true;
    default:
        return false;
    }
}

/** Jumps get the distance of their structs, and a code of their own if it leads out of the text. */
static void link_jump(const struct sim_decoded *decoded, uint64_t offset, struct sim_scalar_op *op)
{
    uint64_t target = offset + (uint64_t)op->imm;
    bool out = target >= decoded->bytes || target % 4 != 0;
    if (out) {
        op->code = op->code == SIM_CODE_JAL ? SIM_CODE_JAL_OUT : SIM_CODE_BRANCH_OUT;
        return;
    }
    op->imm *= (int64_t)sizeof(*op) / 4;
    if (op->code == SIM_CODE_JAL && op->rd == 0) {
        op->code = SIM_CODE_J;
    }
}

static void link_one(const struct sim_decoded *decoded, uint64_t offset, struct sim_scalar_op *op)
{
    if (op->code == SIM_CODE_JAL || is_branch((enum sim_scalar_code)op->code)) {
        link_jump(decoded, offset, op);
    } else if (op->code == SIM_CODE_AUIPC) {
        op->imm = (int64_t)(decoded->base + offset + (uint64_t)op->imm);
    }
    if (op->rd == 0 && writes_x((enum sim_scalar_code)op->code) && !is_float_to_f(op)) {
        op->rd = SIM_X_NOWHERE;
    }
}

/** Counts, from the back, the instructions up to the next one that looks at the time limit; a long
 * run gets such a look in between. */
static void count_runs(struct sim_decoded *decoded)
{
    size_t count = (size_t)(decoded->bytes / 4);
    for (size_t i = count + 1; i-- > 0;) {
        struct sim_scalar_op *op = &decoded->ops[i];
        op->plain = (uint8_t)op->code;
        if (ends_run((enum sim_scalar_code)op->code)) {
            op->run = 1;
        } else if (op[1].run == RUN_MAX) {
            op[1].code = SIM_CODE_CHECK;
            op->run = 1;
        } else {
            op->run = (uint8_t)(op[1].run + 1);
        }
    }
}

void sim_scalar_link(struct sim_decoded *decoded)
{
    for (uint64_t offset = 0; offset < decoded->bytes; offset += 4) {
        link_one(decoded, offset, &decoded->ops[offset / 4]);
    }
    count_runs(decoded);
}

void sim_decoded_break(struct sim_decoded *decoded)
{
    for (size_t i = 0; i < decoded->bytes / 4; i++) {
        struct sim_scalar_op *op = &decoded->ops[i];
        if (op->plain == SIM_CODE_POLL) {
            op->plain = SIM_CODE_BREAK_POLL;
        } else {
            op->behind = op->plain;
            op->plain = SIM_CODE_BREAK;
        }
        op->code = op->plain;
    }
}

bool sim_decoded_breaks(const struct sim_decoded *decoded)
{
    return decoded->bytes && decoded->ops[0].plain >= SIM_CODE_BREAK;
}
