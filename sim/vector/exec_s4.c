/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between f16 and packed s4: two a byte, the first one in the low half. HW-VEC-24. */
#include "exec_vector.h"

#include "../number/number.h"
#include <string.h>

#define PER_BLOCK 64u /* s4 in a block */

static uint8_t *byte_of(const struct sim_span *span, uint32_t repeat, uint32_t lane)
{
    return span->host + repeat * span->level[0].step + lane / PER_BLOCK * span->level[1].step +
           lane % PER_BLOCK / 2;
}

static int read_s4(const uint8_t *byte, uint32_t lane)
{
    const int value = *byte >> lane % 2 * 4 & 15;
    return value < 8 ? value : value - 16;
}

static void write_s4(uint8_t *byte, uint32_t lane, int value)
{
    const unsigned shift = lane % 2 * 4;
    *byte = (uint8_t)((*byte & ~(15u << shift)) | ((unsigned)value & 15u) << shift);
}

bool sim_vec_convert_s4(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_vec vec = sim_vec_of(core, op);
    const bool from_s4 = leo_cfg_vcvt_unpack(op->d).src_type == LEO_DTYPE_S4;
    const enum sim_operand halves = from_s4 ? SIM_OPERAND_A : SIM_OPERAND_B;
    const struct sim_span *packed = &op->foot->span[from_s4 ? SIM_OPERAND_B : SIM_OPERAND_A];
    const struct sim_vec_array array = sim_vec_array_of(op, halves);
    for (uint32_t repeat = 0; repeat < vec.lanes.repeats; repeat++) {
        const bool last = repeat == vec.lanes.repeats - 1;
        const uint32_t used = last ? vec.lanes.used_last : vec.lanes.used;
        const uint64_t *mask = last ? vec.lanes.mask_last : vec.lanes.mask;
        int values[SIM_VEC_REPEAT_BYTES / 2];
        for (uint32_t lane = 0; lane < used; lane++) { // all sources before any result
            const uint8_t *at = array.data + (uint64_t)repeat * array.rep +
                                (uint64_t)(lane / 16) * array.blk + lane % 16 * 2;
            uint16_t half;
            memcpy(&half, at, sizeof(half));
            values[lane] = from_s4 ? read_s4(byte_of(packed, repeat, lane), lane)
                                   : (int)sim_number_f32_to_int(sim_number_f16_to_f32(half),
                                                                (enum leo_round)op->sub, -8, 7);
        }
        for (uint32_t lane = 0; lane < used; lane++) {
            if (!sim_vec_is_active(mask, lane)) {
                continue;
            }
            if (from_s4) {
                const uint16_t half = sim_number_int_to_f16(values[lane], LEO_ROUND_RINT);
                memcpy(array.data + (uint64_t)repeat * array.rep +
                           (uint64_t)(lane / 16) * array.blk + lane % 16 * 2,
                       &half, sizeof(half));
            } else {
                write_s4(byte_of(packed, repeat, lane), lane, values[lane]);
            }
        }
    }
    return true;
}
