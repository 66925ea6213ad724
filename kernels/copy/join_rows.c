/* SPDX-License-Identifier: Apache-2.0 */
#include "join_rows.h"
#include "../frame/whole.h"

#include "join_rows_args.h"

#include <string.h>

enum {
    UNIT = 32,       /* bytes of a block of UB */
    ROWS_MAX = 4095, /* one copy instruction takes */
    LEAST = 4096,    /* bytes of a piece, if there are more cores than that gives pieces */
};

static int64_t bytes_behind(const struct op_tensor *t, unsigned dim)
{
    int64_t bytes = (int64_t)op_type_bytes(t->type);
    for (unsigned d = dim; d < t->rank; d++) {
        bytes *= t->dim[d];
    }
    return bytes;
}

static bool is_row_of(const struct op_tensor *part, const struct op_tensor *whole, unsigned dim)
{
    const int64_t bytes = bytes_behind(part, dim);
    return part->type == whole->type && op_tensor_is_dense(part) && bytes > 0 &&
           bytes % UNIT == 0 && bytes <= UINT32_MAX;
}

/* Tiles of about `wanted` bytes. */
static void cut(struct op_join_part *part, uint64_t rows, int64_t wanted)
{
    const int64_t bytes = part->bytes, size = op_least(op_round_up(wanted, UNIT), OP_JOIN_SLOT);
    part->tile_bytes = (uint32_t)op_least(bytes, size);
    part->columns = (uint32_t)op_parts(bytes, part->tile_bytes);
    part->tile_rows =
        (uint32_t)op_most(op_least(op_least((int64_t)rows, ROWS_MAX), size / bytes), 1);
}

leo_status op_join_rows(struct op_plan *plan, const struct op_tensor *whole, unsigned dim,
                        const struct op_tensor *parts, uint64_t count, bool split)
{
    struct op_join_args args;
    const int64_t pitch = bytes_behind(whole, dim), all = bytes_behind(whole, 0),
                  cores = op_plan_vector_cores(plan);
    bool fits = count > 1 && op_tensor_is_dense(whole) && all > 0 && pitch <= UINT32_MAX;
    for (uint64_t i = 0; fits && i < count; i++) {
        fits = is_row_of(&parts[i], whole, dim);
    }
    if (!fits) {
        return OP_DECLINED;
    }
    leo_status status = LEO_OK;
    int64_t offset = 0;
    for (uint64_t begin = 0; begin < count && status == LEO_OK; begin += OP_JOIN_PARTS) {
        const uint64_t end = begin + OP_JOIN_PARTS < count ? begin + OP_JOIN_PARTS : count;
        memset(&args, 0, sizeof(args));
        args.whole = whole->addr;
        args.rows = (uint64_t)(all / pitch);
        args.pitch = (uint64_t)pitch;
        args.count = (uint32_t)(end - begin);
        args.split = split;
        for (uint32_t i = 0; i < args.count; i++) {
            struct op_join_part *part = &args.part[i];
            part->bytes = (uint32_t)bytes_behind(&parts[begin + i], dim);
            part->offset = (uint32_t)offset;
            part->first = (uint32_t)args.pieces;
            offset += part->bytes;
            cut(part, args.rows, op_most(op_parts(all, cores), LEAST));
            args.addr[i] = parts[begin + i].addr;
            args.pieces += (uint64_t)op_parts((int64_t)args.rows, part->tile_rows) * part->columns;
        }
        const struct op_share share = op_share_make(args.pieces, 1, 1, (uint32_t)cores);
        args.per_block = share.per_block;
        status = op_plan_launch(plan, "join_rows", "join_rows", share.blocks, &args, sizeof(args),
                                1 + args.count);
    }
    return status;
}
