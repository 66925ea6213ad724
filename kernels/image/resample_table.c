/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of linear maps: their places, and the launch that makes them. */
#include "resample.h"

#include "../frame/whole.h"

// Parts of a table, each a core's, have room for the entries of the fullest one.
static void part_table(struct op_resample_dim *dim, uint32_t kind, bool gradient)
{
    enum { PART = 16 /* words of a line */ };
    const int64_t rows = op_resample_rows(dim, gradient);
    int64_t room = PART * dim->taps;
    dim->part = PART;
    if (gradient) {
        room = 0;
        for (int64_t r = 0; r < rows; r += PART) {
            const struct op_resample_span span =
                op_resample_span(dim, kind, r, op_least(r + PART, rows));
            room = op_most(room, (span.end - span.begin) * dim->taps);
        }
        if (op_parts(rows, PART) * room > 4 * dim->out * dim->taps) { // in one
            dim->part = rows;
            room = dim->out * dim->taps;
        }
    }
    dim->room = op_round_up(room, PART);
}

bool op_resample_place_table(struct op_resample_dim *dim, uint32_t kind, bool gradient,
                             uint64_t *bytes)
{
    const int64_t rows = op_resample_rows(dim, gradient);
    if (dim->out * dim->taps > INT32_MAX / 8 || rows >= INT32_MAX / 8) {
        return false;
    }
    part_table(dim, kind, gradient);
    const uint64_t entries = op_resample_entries(dim, gradient);
    dim->table = (int64_t)*bytes;
    *bytes += (op_resample_weights_at((uint64_t)rows, entries) + entries * 8 + 63) / 64 * 64;
    return true;
}

leo_status op_resample_plan_table(struct op_plan *plan, struct op_resample_args *args,
                                  uint64_t table_bytes)
{
    uint64_t parts = 0;
    for (unsigned i = 0; i < OP_RESAMPLE_DIMS; i++) {
        const struct op_resample_dim *dim = &args->dim[i];
        parts += (uint64_t)op_parts(op_resample_rows(dim, args->gradient), dim->part);
    }
    const struct op_share share = op_share_make(parts, 1, 1, op_plan_vector_cores(plan));
    args->per_block = share.per_block;
    leo_status status = op_plan_temp_bytes(plan, table_bytes, &args->table);
    if (status == LEO_OK && args->lines) { // is loaded whole, with room that no entry takes
        status = op_plan_fill(plan, args->table, 0, table_bytes);
    }
    return status == LEO_OK ? op_plan_launch(plan, "resample", "resample_table", share.blocks, args,
                                             sizeof(*args), 3)
                            : status;
}
