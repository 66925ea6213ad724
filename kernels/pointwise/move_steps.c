/* SPDX-License-Identifier: Apache-2.0 */
#include "move_steps.h"

#include "../frame/whole.h"
#include "move_args.h"

#include <string.h>

static leo_status launch(struct op_plan *plan, struct op_move_step_args *args, const char *kernel)
{
    const uint64_t tile = OP_MOVE_STEP_TILE, tiles = (args->count + tile - 1) / tile;
    args->row_room = tiles > 1 ? OP_MOVE_STEP_TILE
                               : (uint32_t)op_round_up((int64_t)args->count, OP_MOVE_STEP_LINE);
    args->tile_rows = OP_MOVE_STEP_TILE / args->row_room;
    args->pieces = (args->rows + args->tile_rows - 1) / args->tile_rows * tiles;
    const struct op_share share = op_share_make(args->pieces, 1, 1, op_plan_vector_cores(plan));
    args->per_block = share.per_block;
    return op_plan_launch(plan, "move", kernel, share.blocks, args, sizeof(*args),
                          1 + OP_MOVE_STEP_MAX);
}

static struct op_move_step_args args_of(const struct op_move_steps *steps, const uint64_t *planes,
                                        unsigned count)
{
    struct op_move_step_args args = {.groups = steps->groups,
                                     .rows = (uint64_t)steps->rows,
                                     .count = (uint64_t)steps->count,
                                     .group_pitch = (uint64_t)steps->group_pitch * steps->bytes,
                                     .plane_pitch = (uint64_t)steps->plane_pitch * steps->bytes,
                                     .step = steps->step,
                                     .first = steps->first,
                                     .planes = count,
                                     .bytes = steps->bytes};
    memcpy(args.plane, planes, count * sizeof(*planes));
    return args;
}

leo_status op_move_plan_split(struct op_plan *plan, const struct op_move_steps *steps,
                              const uint64_t *planes, unsigned count)
{
    struct op_move_step_args args = args_of(steps, planes, count);
    return launch(plan, &args, "move_split");
}

leo_status op_move_plan_put(struct op_plan *plan, const struct op_move_steps *steps, uint64_t plane)
{
    struct op_move_step_args args = args_of(steps, &plane, 1);
    return launch(plan, &args, "move_put");
}

// The words of a dense i64 tensor: pairs side by side.
static struct op_move_steps pairs(const struct op_tensor *wide)
{
    return (struct op_move_steps){
        .groups = wide->addr, .rows = 1, .count = op_tensor_count(wide), .step = 2, .bytes = 4};
}

leo_status op_move_plan_words(struct op_plan *plan, const struct op_tensor *wide,
                              struct op_tensor *low, struct op_tensor *high)
{
    leo_status status = op_plan_temp(plan, OP_TYPE_I32, wide->rank, wide->dim, low);
    if (status == LEO_OK) {
        status = op_plan_temp(plan, OP_TYPE_I32, wide->rank, wide->dim, high);
    }
    const uint64_t planes[] = {low->addr, high->addr};
    const struct op_move_steps steps = pairs(wide);
    return status == LEO_OK ? op_move_plan_split(plan, &steps, planes, 2) : status;
}

leo_status op_move_plan_low_words(struct op_plan *plan, const struct op_tensor *wide,
                                  const struct op_tensor *low)
{
    const struct op_move_steps steps = pairs(wide);
    return op_move_plan_split(plan, &steps, &low->addr, 1);
}

leo_status op_move_plan_join(struct op_plan *plan, const struct op_tensor *low,
                             const struct op_tensor *high, const struct op_tensor *wide)
{
    const uint64_t planes[] = {low->addr, high->addr};
    const struct op_move_steps steps = pairs(wide);
    struct op_move_step_args args = args_of(&steps, planes, 2);
    return launch(plan, &args, "move_join");
}
