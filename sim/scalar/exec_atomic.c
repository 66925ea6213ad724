/* SPDX-License-Identifier: Apache-2.0 */
/* The A extension as one core sees it: a reservation holds until its sc, as long as memory has the
 * loaded value. */
#include "decode.h"

#include <string.h>

static uint64_t get_min(uint64_t a, uint64_t b, bool is_signed, bool max)
{
    bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
    return less != max ? a : b;
}

/** What an amo* writes; 32-bit operands come sign-extended, which keeps the order of unsigned ones
 * too. */
static uint64_t combine(enum sim_scalar_code code, uint64_t memory, uint64_t source)
{
    switch ((int)code) {
    case SIM_CODE_AMOADD_W:
    case SIM_CODE_AMOADD_D:
        return memory + source;
    case SIM_CODE_AMOXOR_W:
    case SIM_CODE_AMOXOR_D:
        return memory ^ source;
    case SIM_CODE_AMOAND_W:
    case SIM_CODE_AMOAND_D:
        return memory & source;
    case SIM_CODE_AMOOR_W:
    case SIM_CODE_AMOOR_D:
        return memory | source;
    case SIM_CODE_AMOMIN_W:
    case SIM_CODE_AMOMIN_D:
        return get_min(memory, source, true, false);
    case SIM_CODE_AMOMAX_W:
    case SIM_CODE_AMOMAX_D:
        return get_min(memory, source, true, true);
    case SIM_CODE_AMOMINU_W:
    case SIM_CODE_AMOMINU_D:
        return get_min(memory, source, false, false);
    case SIM_CODE_AMOMAXU_W:
    case SIM_CODE_AMOMAXU_D:
        return get_min(memory, source, false, true);
    default: // amoswap
        return source;
    }
}

uint64_t sim_scalar_atomic(struct sim_scalar *scalar, const struct sim_scalar_op *op, uint64_t addr,
                           uint8_t *operand)
{
    enum sim_scalar_code code = sim_scalar_meaning(op);
    bool is_word = code < SIM_CODE_LR_D;
    size_t bytes = is_word ? 4 : 8;
    uint64_t source = scalar->x[op->rs2], memory = 0;
    memcpy(&memory, operand, bytes);
    if (is_word) {
        memory = (uint64_t)(int64_t)(int32_t)memory;
        source = (uint64_t)(int64_t)(int32_t)source;
    }
    if (code == SIM_CODE_LR_W || code == SIM_CODE_LR_D) {
        scalar->reservation = addr + 1;
        scalar->reserved = memory;
        return memory;
    }
    if (code == SIM_CODE_SC_W || code == SIM_CODE_SC_D) {
        bool held = scalar->reservation == addr + 1 && scalar->reserved == memory;
        scalar->reservation = 0;
        if (held) {
            memcpy(operand, &source, bytes);
        }
        return !held;
    }
    source = combine(code, memory, source);
    memcpy(operand, &source, bytes);
    return memory;
}
