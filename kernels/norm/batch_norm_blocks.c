/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_norm_blocks.h"
#include "../frame/layout.h"
#include "../frame/whole.h"
#include "norm.h"

#include "batch_norm_blocks_args.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    CHUNKS = 384, // of a tensor, about: a multiple of the cores of every chip (32, 40: nearly, 48)
    ITEMS_MAX = 8,
};

/* A parameter of a number for each channel, and the address it fills. */
struct channel_item {
    const char *name;
    size_t at;
};

#define AT(member) offsetof(struct op_batch_norm_blocks_args, member)

/* An operator: its maps, its numbers, and its passes over the maps. */
struct description {
    const char *x, *gradient, *y;
    struct channel_item in[ITEMS_MAX], out[ITEMS_MAX];
    const char *sums; /* kernel whose parts are joined to `out`, or NULL */
    const char *maps; /* kernel that writes y, or NULL */
};

static const struct description descriptions[] = {
    [OP_BLOCKS_REDUCE] = {.x = "x",
                          .out = {{"sum", AT(sums[0])}, {"squareSum", AT(sums[1])}},
                          .sums = "sums"},
    [OP_BLOCKS_UPDATE] = {.x = "x",
                          .y = "y",
                          .in = {{"sum", AT(sums[0])},
                                 {"squareSum", AT(sums[1])},
                                 {"scale", AT(scale)},
                                 {"offset", AT(offset)},
                                 {"mean", AT(running[0])},
                                 {"variance", AT(running[1])}},
                          .out = {{"meanOut", AT(running_out[0])},
                                  {"varianceOut", AT(running_out[1])},
                                  {"batchMean", AT(batch_out[0])},
                                  {"batchVariance", AT(batch_out[1])}},
                          .maps = "forward"},
    [OP_BLOCKS_INFER] = {.x = "x",
                         .y = "y",
                         .in = {{"scale", AT(scale)},
                                {"offset", AT(offset)},
                                {"mean", AT(mean)},
                                {"variance", AT(variance)}},
                         .maps = "forward"},
    [OP_BLOCKS_UPDATE_GRADIENT] = {.x = "x",
                                   .gradient = "grads",
                                   .in = {{"batchMean", AT(mean)}, {"batchVariance", AT(variance)}},
                                   .out = {{"diffOffset", AT(sums[0])}, {"diffScale", AT(sums[1])}},
                                   .sums = "gradient_sums"},
    [OP_BLOCKS_REDUCE_GRADIENT] = {.x = "x",
                                   .gradient = "grads",
                                   .y = "y",
                                   .in = {{"diffScale", AT(sums[0])},
                                          {"diffOffset", AT(sums[1])},
                                          {"scale", AT(scale)},
                                          {"batchMean", AT(mean)},
                                          {"batchVariance", AT(variance)}},
                                   .maps = "backward"},
    [OP_BLOCKS_BIAS_GRADIENT] = {.x = "x", .out = {{"y", AT(sums[0])}}, .sums = "sums"},
};

static uint64_t *address_at(struct op_batch_norm_blocks_args *args, size_t at)
{
    return (uint64_t *)((char *)args + at);
}

static bool is_map(const struct op_tensor *tensor, const struct op_tensor *like)
{
    return tensor->format == OP_FORMAT_NC1HWC0 && tensor->rank == 4 &&
           (tensor->type == OP_TYPE_F16 || tensor->type == OP_TYPE_F32) &&
           tensor->type == like->type && op_tensor_same_shape(tensor, like);
}

// Numbers of channels as rows, or in blocks as f32: those lie like rows, with padding behind.
static bool is_numbers(const struct op_tensor *tensor)
{
    return !op_format_is_native(tensor->format) ||
           (tensor->format == OP_FORMAT_NC1HWC0 && tensor->type == OP_TYPE_F32);
}

// What is written is not read elsewhere: blocks read sums for as long as they work.
static bool is_apart(const struct op_call *call, const struct description *d)
{
    for (const struct channel_item *out = d->out; out->name; out++) {
        for (const struct channel_item *in = d->in; in->name; in++) {
            const bool running = in->at == AT(running[0]) || in->at == AT(running[1]);
            if (!running && op_tensor_alias(op_call_tensor(call, in->name),
                                            op_call_tensor(call, out->name)) != OP_ALIAS_NONE) {
                return false;
            }
        }
    }
    return true;
}

static bool is_taken(const struct op_call *call, const struct description *d)
{
    const struct op_tensor *x = op_call_tensor(call, d->x);
    bool good = is_map(x, x) && op_tensor_count(x) > 0 && is_apart(call, d);
    good = good && (!d->gradient || is_map(op_call_tensor(call, d->gradient), x));
    good = good && (!d->y || is_map(op_call_tensor(call, d->y), x));
    for (const struct channel_item *i = d->in; good && i->name; i++) {
        good = is_numbers(op_call_tensor(call, i->name));
    }
    for (const struct channel_item *i = d->out; good && i->name; i++) {
        good = is_numbers(op_call_tensor(call, i->name));
    }
    return good;
}

static uint32_t parts_of(int64_t count, int64_t each)
{
    return (uint32_t)op_parts(count, each);
}

static void cut(const struct op_tensor *x, struct op_batch_norm_blocks_args *args)
{
    const int64_t images = x->dim[0], groups = op_parts(x->dim[1], OP_BLOCKS_LANES),
                  positions = x->dim[2] * x->dim[3];
    const int64_t tiles = op_parts(images * positions, OP_BLOCKS_TILE),
                  target = op_parts(CHUNKS, groups), wanted = target < tiles ? target : tiles;
    args->images = (uint64_t)images;
    args->groups = (uint64_t)groups;
    args->channels = (uint64_t)x->dim[1];
    args->positions = (uint64_t)positions;
    args->images_each = wanted > images ? 1 : parts_of(images, wanted);
    args->positions_each =
        wanted > images ? parts_of(positions, op_parts(wanted, images)) : (uint32_t)positions;
    args->pieces = parts_of(positions, args->positions_each);
    args->chunks = parts_of(images, args->images_each) * args->pieces;
    const uint32_t together = OP_BLOCKS_TILE / args->positions_each;
    args->tile_images = 1;
    if (together > 1 && args->images_each > 1) { // shares of about the same size
        args->tile_images = parts_of(args->images_each, parts_of(args->images_each, together));
    }
    args->tile_positions =
        parts_of(args->positions_each, parts_of(args->positions_each, OP_BLOCKS_TILE));
    const double count = (double)images * (double)positions;
    args->inverse_count = (float)(1 / count);
    args->unbiased = (float)(count > 1 ? count / (count - 1) : 1);
}

static leo_status take_numbers(const struct op_call *call, const struct description *d,
                               struct op_batch_norm_blocks_args *args)
{
    for (const struct channel_item *i = d->in; i->name; i++) {
        const struct op_tensor *tensor = op_call_tensor(call, i->name);
        uint64_t addr = tensor->addr;
        leo_status status =
            op_format_is_native(tensor->format) ? LEO_OK : op_norm_take(call->plan, tensor, &addr);
        if (status != LEO_OK) {
            return status;
        }
        *address_at(args, i->at) = addr;
    }
    return LEO_OK;
}

// Kernels write whole groups: where a row of numbers has none, they are copied there.
static bool is_written_in_place(const struct op_tensor *tensor)
{
    return op_format_is_native(tensor->format) ||
           (tensor->type == OP_TYPE_F32 && op_tensor_is_dense(tensor) &&
            tensor->dim[0] % OP_BLOCKS_LANES == 0);
}

static leo_status place_numbers(const struct op_call *call, const struct description *d,
                                struct op_batch_norm_blocks_args *args)
{
    for (const struct channel_item *i = d->out; i->name; i++) {
        const struct op_tensor *tensor = op_call_tensor(call, i->name);
        uint64_t addr = tensor->addr;
        leo_status status =
            is_written_in_place(tensor)
                ? LEO_OK
                : op_plan_temp_bytes(call->plan, args->groups * OP_BLOCKS_LANES * sizeof(float),
                                     &addr);
        if (status != LEO_OK) {
            return status;
        }
        *address_at(args, i->at) = addr;
    }
    return LEO_OK;
}

static leo_status give_numbers(const struct op_call *call, const struct description *d,
                               struct op_batch_norm_blocks_args *args)
{
    leo_status status = LEO_OK;
    for (const struct channel_item *i = d->out; i->name && status == LEO_OK; i++) {
        const struct op_tensor *tensor = op_call_tensor(call, i->name);
        if (!is_written_in_place(tensor)) {
            const struct op_tensor from =
                op_tensor_dense(*address_at(args, i->at), OP_TYPE_F32, tensor->rank, tensor->dim);
            status = op_plan_copy(call->plan, tensor, &from);
        }
    }
    return status;
}

static leo_status launch(const struct op_call *call, const char *kernel, uint64_t work,
                         const struct op_batch_norm_blocks_args *args)
{
    const uint32_t cores = op_plan_vector_cores(call->plan);
    return op_plan_launch(call->plan, "batch_norm_blocks", kernel,
                          work < cores ? (uint32_t)work : cores, args, sizeof(*args),
                          OP_BLOCKS_ADDRESSES);
}

static leo_status launch_map(const struct op_call *call, const char *pass, enum op_type type,
                             const struct op_batch_norm_blocks_args *args)
{
    char name[40];
    snprintf(name, sizeof(name), "blocks_%s_%s", pass, op_type_name(type));
    return launch(call, name, args->groups * args->chunks, args);
}

// Parts of every chunk, then their sums.
static leo_status plan_sums(const struct op_call *call, const char *pass, enum op_type type,
                            const struct op_batch_norm_blocks_args *args)
{
    struct op_batch_norm_blocks_args parts = *args, join = *args;
    leo_status status = op_plan_temp_bytes(
        call->plan, args->groups * args->chunks * 2 * OP_BLOCKS_LANES * 4, &parts.parts);
    if (status != LEO_OK) {
        return status;
    }
    parts.sums[0] = parts.sums[1] = parts.variance = 0;
    status = launch_map(call, pass, type, &parts);
    join.parts = parts.parts;
    join.mean = 0;
    return status == LEO_OK ? launch(call, "blocks_join", args->groups, &join) : status;
}

leo_status op_blocks_plan(const struct op_call *call, enum op_blocks_what what)
{
    const struct description *d = &descriptions[what];
    if (!is_taken(call, d)) {
        return OP_DECLINED;
    }
    const struct op_tensor *x = op_call_tensor(call, d->x);
    struct op_batch_norm_blocks_args args;
    memset(&args, 0, sizeof(args));
    args.x = x->addr;
    args.gradient = d->gradient ? op_call_tensor(call, d->gradient)->addr : 0;
    args.y = d->y ? op_call_tensor(call, d->y)->addr : 0;
    args.eps = op_call_has(call, "epsilon") ? (float)op_call_real(call, "epsilon") : 0;
    args.factor = op_call_has(call, "factor") ? (float)op_call_scalar(call, "factor")->real : 0;
    cut(x, &args);
    leo_status status = take_numbers(call, d, &args);
    if (status == LEO_OK) {
        status = place_numbers(call, d, &args);
    }
    if (status == LEO_OK) {
        status = d->sums ? plan_sums(call, d->sums, x->type, &args)
                         : launch_map(call, d->maps, x->type, &args);
    }
    return status == LEO_OK ? give_numbers(call, d, &args) : status;
}

leo_status op_blocks_plan_plane_sums(const struct op_call *call, const struct op_tensor *map,
                                     uint64_t *sums)
{
    struct op_batch_norm_blocks_args args;
    struct op_tensor planes = *map; // as groups of one image
    memset(&args, 0, sizeof(args));
    planes.dim[1] = map->dim[0] * op_round_up(map->dim[1], OP_BLOCKS_LANES);
    planes.dim[0] = 1;
    args.x = map->addr;
    cut(&planes, &args);
    leo_status status = op_plan_temp_bytes(call->plan, args.channels * sizeof(float), sums);
    args.sums[0] = *sums;
    return status == LEO_OK ? plan_sums(call, "sums", map->type, &args) : status;
}
