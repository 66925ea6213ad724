/* SPDX-License-Identifier: Apache-2.0 */
#include "windows.h"
#include "../frame/chain.h"
#include "../frame/layout.h"
#include "../frame/whole.h"

#include "window_lanes_args.h"

#include <stdio.h>
#include <string.h>

enum {
    LANES = OP_WINDOW_LANES,
    BLOCK_BYTES = 32,
    REPEATS_MAX = 255,  /* of an instruction, 8 windows each */
    REPEAT_BYTES = 256, /* what fills of UB take */
    STEP_MAX = 31,      /* repeats step by 8 windows, in a field of 8 bits */
    ROWS_MAX = 4095,    /* a copy instruction takes */
};

static int64_t reach_of(const struct op_windows *w, unsigned d)
{
    return (w->kernel[d] - 1) * w->dilation[d] + 1;
}

/* As many rows a piece as half of UB holds; false if not one. */
static bool fit_rows(const struct op_windows *w, struct op_window_args *args)
{
    const uint32_t ub = op_plan_caps(w->plan)->ub_bytes;
    const uint32_t out_row = args->out_pitch * BLOCK_BYTES;
    const int64_t weight_bytes =
        w->weighted ? op_round_up(w->kernel[0] * w->kernel[1] * BLOCK_BYTES, REPEAT_BYTES) : 0;
    // What the windows of whole repeats reach beyond the last row.
    const int64_t reads = (args->out_pitch - 1) * w->stride[1] + reach_of(w, 1);
    const int64_t slack = op_most(reads - args->pitch, 0);
    const uint64_t rest = w->rest_bytes + (uint64_t)w->rest_rows * out_row;
    const uint32_t all = w->of_large ? args->height : args->out_height;
    for (args->rows = all < ROWS_MAX ? all : ROWS_MAX; args->rows > 0; args->rows--) {
        const int64_t rows = args->rows;
        const int64_t large = w->of_large ? rows : (rows - 1) * w->stride[0] + reach_of(w, 0);
        args->lines = (uint32_t)((rows - 1 + reach_of(w, 0) - 1) / w->stride[0] + 2);
        const int64_t small = w->of_large ? args->lines : rows;
        const int64_t large_bytes =
            op_round_up((large * args->pitch + slack) * BLOCK_BYTES, REPEAT_BYTES);
        const int64_t slot = large_bytes + w->small_tensors * small * out_row + weight_bytes;
        if (large <= ROWS_MAX && small <= ROWS_MAX && (uint64_t)slot * 2 + rest <= ub) {
            args->large_bytes = (uint32_t)large_bytes;
            args->weight_at = (uint32_t)(slot - weight_bytes);
            args->slot_bytes = (uint32_t)slot;
            return true;
        }
    }
    return false;
}

bool op_windows_fit(const struct op_windows *w, struct op_window_args *args)
{
    const int64_t groups = (w->channels + LANES - 1) / LANES, planes = w->images * groups;
    memset(args, 0, sizeof(*args));
    if (planes == 0 || w->small[0] * w->small[1] == 0 || w->large[0] * w->large[1] == 0 ||
        w->stride[1] > STEP_MAX || w->small[1] > REPEATS_MAX * LANES || w->large[1] > INT16_MAX ||
        w->large[0] > INT16_MAX || w->kernel[0] > INT16_MAX || w->kernel[1] > INT16_MAX ||
        w->stride[0] > INT16_MAX || reach_of(w, 0) > INT16_MAX || reach_of(w, 1) > INT16_MAX ||
        w->pad[0] > INT16_MAX || w->pad[1] > INT16_MAX) {
        return false;
    }
    args->height = (uint32_t)w->large[0];
    args->width = (uint32_t)w->large[1];
    args->out_height = (uint32_t)w->small[0];
    args->out_width = (uint32_t)w->small[1];
    args->kernel_h = (uint32_t)w->kernel[0];
    args->kernel_w = (uint32_t)w->kernel[1];
    args->stride_h = (uint32_t)w->stride[0];
    args->stride_w = (uint32_t)w->stride[1];
    args->dilation_h = (uint32_t)w->dilation[0];
    args->dilation_w = (uint32_t)w->dilation[1];
    args->pad_h = (uint32_t)w->pad[0];
    args->pad_w = (uint32_t)w->pad[1];
    args->groups = (uint32_t)groups;
    args->pitch = (uint32_t)op_most(w->large[1] + w->pad[1],
                                    (w->small[1] - 1) * w->stride[1] + reach_of(w, 1));
    args->out_pitch = (uint32_t)op_round_up(w->small[1], LANES);
    if (w->level && w->stride[0] * w->stride[1] == 1) {
        args->pitch = (uint32_t)op_round_up(op_most(args->pitch, args->out_pitch), LANES);
        args->out_pitch = args->pitch;
    }
    if (!fit_rows(w, args)) {
        return false;
    }
    // Smaller pieces rather than idle cores.
    const uint32_t all = w->of_large ? args->height : args->out_height,
                   cores = op_plan_vector_cores(w->plan);
    const int64_t wanted = (planes * all + cores - 1) / cores;
    if (!w->whole && wanted < args->rows) {
        args->rows = (uint32_t)op_most(wanted, 1);
    }
    args->pieces = (uint64_t)(planes * ((all + args->rows - 1) / args->rows));
    return true;
}

/* Tensor [n, c, 1, h, w] as [n, c / 8, h, w, 8] from channel `first` on, `lanes` of a group. */
static struct op_tensor view_lanes(const struct op_tensor *t, int64_t first, int64_t groups,
                                   int64_t lanes)
{
    struct op_tensor view = {.type = t->type, .rank = 5};
    const int64_t dim[] = {t->dim[0], groups, t->dim[3], t->dim[4], lanes};
    const int64_t stride[] = {t->stride[0], LANES * t->stride[1], t->stride[3], t->stride[4],
                              t->stride[1]};
    view.addr = t->addr + (uint64_t)(first * t->stride[1] * op_type_bytes(t->type));
    memcpy(view.dim, dim, sizeof(dim));
    memcpy(view.stride, stride, sizeof(stride));
    return view;
}

/* Copies between planes and groups of lanes; `back`: to planes. */
static leo_status copy_lanes(struct op_plan *plan, const struct op_tensor *planes,
                             const struct op_tensor *lanes, bool back)
{
    const int64_t channels = planes->dim[1], whole = channels / LANES, rest = channels % LANES;
    leo_status status = LEO_OK;
    for (int part = 0; part < 2 && status == LEO_OK; part++) {
        const int64_t groups = part ? rest != 0 : whole, width = part ? rest : LANES;
        const struct op_tensor a = view_lanes(planes, part ? whole * LANES : 0, groups, width);
        struct op_tensor b = *lanes;
        b.addr += part ? (uint64_t)(whole * lanes->stride[1] * 4) : 0;
        b.dim[1] = groups;
        b.dim[4] = width;
        if (groups) {
            status = op_plan_copy(plan, back ? &a : &b, back ? &b : &a);
        }
    }
    return status;
}

bool op_windows_is_blocks(const struct op_tensor *tensor)
{
    return tensor->format == OP_FORMAT_NC1HWC0 &&
           (tensor->type == OP_TYPE_F16 || tensor->type == OP_TYPE_F32);
}

/* Between blocks of 16 channels and lanes of eight. */
static leo_status change_blocks(struct op_plan *plan, const char *what,
                                const struct op_tensor *blocks, const struct op_tensor *lanes)
{
    struct op_lanes_args args;
    char name[32];
    memset(&args, 0, sizeof(args));
    args.blocks = blocks->addr;
    args.lanes = lanes->addr;
    args.positions = (uint64_t)(lanes->dim[2] * lanes->dim[3]);
    args.lane_groups = (uint32_t)lanes->dim[1];
    args.groups = (args.lane_groups + 1) / 2;
    args.pieces = (uint64_t)lanes->dim[0] * args.groups *
                  (uint64_t)op_parts((int64_t)args.positions, OP_LANES_TILE);
    const struct op_share share = op_share_make(args.pieces, 1, 1, op_plan_vector_cores(plan));
    args.per_block = share.per_block;
    snprintf(name, sizeof(name), "lanes_%s_%s", what, op_type_name(blocks->type));
    return op_plan_launch(plan, "lanes", name, share.blocks, &args, sizeof(args), 2);
}

/* Maps of halves in rows go by way of NC1HWC0: halves are turned in half the traffic of f32, on the
 * coupled core at eight times the rate. */
static bool goes_by_blocks(const struct op_tensor *planes)
{
    return planes->type == OP_TYPE_F16 && planes->dim[2] == 1;
}

/* Such a map without its dimension of 1, and memory for it in NC1HWC0. */
static leo_status make_blocks(struct op_plan *plan, const struct op_tensor *planes,
                              struct op_tensor *rows, struct op_tensor *blocks)
{
    *rows = op_view_select(planes, 2, 0);
    *blocks = op_tensor_dense(0, planes->type, 4, rows->dim);
    blocks->format = OP_FORMAT_NC1HWC0;
    return op_plan_temp_bytes(plan, op_tensor_extent(blocks), &blocks->addr);
}

static leo_status load_by_blocks(struct op_plan *plan, const struct op_tensor *planes,
                                 const struct op_tensor *lanes)
{
    struct op_tensor rows, blocks;
    leo_status status = make_blocks(plan, planes, &rows, &blocks);
    if (status == LEO_OK) {
        status = op_plan_change_format(plan, &rows, &blocks);
    }
    return status == LEO_OK ? change_blocks(plan, "split", &blocks, lanes) : status;
}

static leo_status store_by_blocks(struct op_plan *plan, const struct op_tensor *lanes,
                                  const struct op_tensor *planes)
{
    struct op_tensor rows, blocks;
    leo_status status = make_blocks(plan, planes, &rows, &blocks);
    if (status == LEO_OK) {
        status = change_blocks(plan, "join", &blocks, lanes);
    }
    return status == LEO_OK ? op_plan_change_format(plan, &blocks, &rows) : status;
}

leo_status op_windows_load(struct op_plan *plan, const struct op_tensor *planes, bool load,
                           struct op_tensor *lanes)
{
    const int64_t dim[] = {planes->dim[0], (planes->dim[1] + LANES - 1) / LANES, planes->dim[3],
                           planes->dim[4], LANES};
    struct op_tensor wide = *planes;
    *lanes = op_tensor_dense(0, OP_TYPE_F32, 5, dim);
    const uint64_t bytes = (uint64_t)op_tensor_count(lanes) * 4;
    leo_status status = op_plan_temp_bytes(plan, bytes, &lanes->addr);
    if (status == LEO_OK && op_windows_is_blocks(planes)) { // padding included
        return load ? change_blocks(plan, "split", planes, lanes) : LEO_OK;
    }
    if (status == LEO_OK && load && goes_by_blocks(planes)) {
        return load_by_blocks(plan, planes, lanes);
    }
    if (status == LEO_OK && planes->dim[1] % LANES != 0) {
        status = op_plan_fill(plan, lanes->addr, 0, bytes);
    }
    if (status == LEO_OK && load && planes->type != OP_TYPE_F32) {
        status = op_plan_dense(plan, planes, OP_TYPE_F32, &wide);
    }
    return status == LEO_OK && load ? copy_lanes(plan, &wide, lanes, false) : status;
}

leo_status op_windows_store(struct op_plan *plan, const struct op_tensor *lanes,
                            const struct op_tensor *planes)
{
    struct op_tensor wide = *planes;
    if (op_windows_is_blocks(planes)) {
        return change_blocks(plan, "join", planes, lanes);
    }
    if (goes_by_blocks(planes)) {
        return store_by_blocks(plan, lanes, planes);
    }
    if (planes->type == OP_TYPE_F32) {
        return copy_lanes(plan, planes, lanes, true);
    }
    leo_status status = op_plan_temp(plan, OP_TYPE_F32, planes->rank, planes->dim, &wide);
    if (status == LEO_OK) {
        status = copy_lanes(plan, &wide, lanes, true);
    }
    return status == LEO_OK ? op_plan_copy(plan, planes, &wide) : status;
}
