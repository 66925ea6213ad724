/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_norm_planes.h"
#include "../frame/dims.h"
#include "../frame/whole.h"

#include "batch_norm_planes_args.h"

#include <stdio.h>
#include <string.h>

enum {
    CHUNKS = 96, // of a tensor, about: a multiple of the cores of every chip (32, 40: nearly, 48)
    CHUNK_BYTES = 1024, // of a plane at least: a chunk's record has 64
    GROUPS = 64,        // about, for groups are joined one after the other
    OUTS = 6,
};

static int64_t length_of(const struct op_tensor *x)
{
    int64_t length = 1;
    for (unsigned i = 2; i < x->rank; i++) {
        length *= x->dim[i];
    }
    return length;
}

/* How maps are cut into groups and tiles (norm/batch_norm_planes_args.h). */
static void cut(const struct op_plan *plan, const struct op_tensor *x, struct op_planes_args *args)
{
    const unsigned unit = op_type_bytes(x->type);
    const int64_t images = x->dim[0], channels = x->dim[1], length = length_of(x);
    const bool tails = op_plan_has_tail(plan, (uint64_t)length * unit);
    const int64_t lines = tails ? (int64_t)op_row_granule((uint64_t)length, unit) : 1,
                  step = lines > OP_PLANE_LANES ? lines : OP_PLANE_LANES, granule = 32 / unit,
                  pitch = op_round_up(length, granule);
    int64_t width = op_round_up(op_parts(channels, GROUPS), step);
    width = width > OP_PLANE_WIDTH && step <= OP_PLANE_WIDTH ? OP_PLANE_WIDTH : width;
    while (tails && width > step && pitch * width * unit > OP_PLANE_TILE_BYTES) {
        width -= step; // such planes are not cut into pieces
    }
    const int64_t most = OP_PLANE_TILE_BYTES / unit / width; // elements of a channel in a tile
    args->images = (uint64_t)images;
    args->channels = (uint64_t)channels;
    args->length = (uint64_t)length;
    args->width = (uint32_t)width;
    args->groups = (uint64_t)op_parts(channels, width);
    args->pieces = (uint32_t)op_parts(pitch, most);
    args->positions_each = args->pieces > 1
                               ? (uint32_t)op_round_up(op_parts(pitch, args->pieces), granule)
                               : (uint32_t)length;
    args->pieces = (uint32_t)op_parts(length, args->positions_each);
    int64_t together = pitch < most ? most / pitch : 1;
    together = together > OP_PLANE_ROWS / width ? OP_PLANE_ROWS / width : together;
    together = together < images ? together : images;
    args->tile_images = (uint32_t)op_parts(images, op_parts(images, together));
    args->tiles = (uint32_t)op_parts(images, args->tile_images) * args->pieces;
    const int64_t wanted = op_parts(CHUNKS, (int64_t)args->groups),
                  bytes = (int64_t)args->tile_images * args->positions_each * unit,
                  least = op_parts(CHUNK_BYTES, bytes), each = op_parts(args->tiles, wanted);
    args->tiles_each = (uint32_t)(each < least ? least : each);
    args->chunks = (uint32_t)op_parts(args->tiles, args->tiles_each);
    const double count = (double)images * (double)length;
    args->inverse_count = (float)(1 / count);
    args->unbiased = (float)(count / (count - 1));
}

// Rows that end within a block of the coupled core are whole lines together, and so are the images.
static bool is_cut_well(const struct op_plan *plan, const struct op_tensor *x)
{
    struct op_planes_args args;
    memset(&args, 0, sizeof(args));
    cut(plan, x, &args);
    const uint64_t bytes = args.length * op_type_bytes(x->type);
    return args.width <= OP_PLANE_WIDTH && (!op_plan_has_tail(plan, bytes) ||
                                            (args.pieces == 1 && args.channels * bytes % 64 == 0));
}

bool op_planes_fit(const struct op_plan *plan, const struct op_planes *maps)
{
    const struct op_tensor *x = maps->x;
    const bool type = x->type == OP_TYPE_F32 || x->type == OP_TYPE_F16 ||
                      (x->type == OP_TYPE_BF16 && op_plan_chip(plan) == OP_ON_910B);
    return type && x->rank > 2 && length_of(x) >= OP_PLANE_LEAST &&
           (!maps->gradient || maps->gradient->type == x->type) &&
           (!maps->y || maps->y->type == x->type) && is_cut_well(plan, x);
}

static leo_status launch(struct op_plan *plan, const char *kernel, uint64_t work,
                         const struct op_planes_args *args)
{
    const uint32_t cores = op_plan_vector_cores(plan);
    return op_plan_launch(plan, "batch_norm_planes", kernel, work < cores ? (uint32_t)work : cores,
                          args, sizeof(*args), OP_PLANES_ADDRESSES);
}

static leo_status launch_maps(struct op_plan *plan, const struct op_planes *maps, const char *pass,
                              uint64_t work, const struct op_planes_args *args)
{
    char name[40];
    snprintf(name, sizeof(name), "planes_%s_%s", pass, op_type_name(maps->x->type));
    return launch(plan, name, work, args);
}

// Sums of chunks, which the next launch joins.
static leo_status plan_sums(struct op_plan *plan, const struct op_planes *maps, const char *pass,
                            struct op_planes_args *args)
{
    const uint64_t chunks = args->groups * args->chunks;
    leo_status status = op_plan_temp_bytes(
        plan, chunks * (1 + 2 * args->width) * OP_PLANE_LANES * sizeof(float), &args->parts);
    return status == LEO_OK ? launch_maps(plan, maps, pass, chunks, args) : status;
}

/* Numbers that are written. Those of groups whose ends are tails are made elsewhere and copied. */
struct staged {
    uint64_t *at[OUTS], to[OUTS];
    unsigned count;
};

static leo_status stage(struct op_plan *plan, const struct op_planes_args *args, uint64_t *at,
                        struct staged *staged)
{
    if (*at == 0 || !op_plan_has_tail(plan, args->channels * sizeof(float))) {
        return LEO_OK;
    }
    staged->at[staged->count] = at;
    staged->to[staged->count++] = *at;
    return op_plan_temp_bytes(plan, args->groups * args->width * sizeof(float), at);
}

static leo_status give_staged(struct op_plan *plan, const struct op_planes_args *args,
                              const struct staged *staged)
{
    const int64_t dim = (int64_t)args->channels;
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < staged->count; i++) {
        const struct op_tensor from = op_tensor_dense(*staged->at[i], OP_TYPE_F32, 1, &dim),
                               to = op_tensor_dense(staged->to[i], OP_TYPE_F32, 1, &dim);
        status = op_plan_copy(plan, &to, &from);
    }
    return status;
}

// Where y is made, dense, if it is wanted.
static leo_status place_y(struct op_plan *plan, const struct op_tensor *y,
                          struct op_planes_args *args)
{
    struct op_tensor made;
    if (!y || op_tensor_is_dense(y)) {
        args->y = y ? y->addr : 0;
        return LEO_OK;
    }
    leo_status status = op_plan_temp(plan, y->type, y->rank, y->dim, &made);
    args->y = made.addr;
    return status;
}

static leo_status give_y(struct op_plan *plan, const struct op_tensor *y,
                         const struct op_planes_args *args)
{
    if (!y || y->addr == args->y) {
        return LEO_OK;
    }
    const struct op_tensor made = op_tensor_dense(args->y, y->type, y->rank, y->dim);
    return op_plan_copy(plan, y, &made);
}

// The last launch: y, or numbers alone.
static leo_status finish(struct op_plan *plan, const struct op_planes *maps, const char *pass,
                         const char *numbers, struct op_planes_args *args)
{
    struct staged staged = {.count = 0};
    uint64_t *const outs[OUTS] = {&args->out[0], &args->out[1],         &args->out[2],
                                  &args->out[3], &args->running_out[0], &args->running_out[1]};
    leo_status status = place_y(plan, maps->y, args);
    for (unsigned i = 0; status == LEO_OK && i < OUTS; i++) {
        status = stage(plan, args, outs[i], &staged);
    }
    if (status == LEO_OK) {
        status = maps->y ? launch_maps(plan, maps, pass, args->groups * args->tiles, args)
                         : launch(plan, numbers, args->groups, args);
    }
    if (status == LEO_OK) {
        status = give_staged(plan, args, &staged);
    }
    return status == LEO_OK ? give_y(plan, maps->y, args) : status;
}

static struct op_planes_args begin(const struct op_plan *plan, const struct op_planes *maps)
{
    struct op_planes_args args;
    memset(&args, 0, sizeof(args));
    cut(plan, maps->x, &args);
    args.x = maps->x->addr;
    args.gradient = maps->gradient ? maps->gradient->addr : 0;
    return args;
}

leo_status op_planes_plan_forward(struct op_plan *plan, const struct op_planes *maps,
                                  const struct op_batch_norm_args *numbers)
{
    struct op_planes_args args = begin(plan, maps);
    args.eps = (float)numbers->eps;
    args.momentum = (float)numbers->momentum;
    if (numbers->source == OP_BATCH_NORM_ROWS) {
        leo_status status = plan_sums(plan, maps, "sums", &args);
        if (status != LEO_OK) {
            return status;
        }
    } else {
        args.mean = numbers->mean;
        args.second = numbers->second;
        args.inverse = numbers->source == OP_BATCH_NORM_INVERSE;
    }
    args.weight = numbers->weight;
    args.bias = numbers->bias;
    args.running[0] = args.running_out[0] = numbers->running_mean;
    args.running[1] = args.running_out[1] = numbers->running_variance;
    args.out[0] = numbers->mean_out;
    args.out[1] = numbers->second_out;
    args.inverse_out = numbers->inverse;
    return finish(plan, maps, "forward", "planes_statistics", &args);
}

leo_status op_planes_plan_backward(struct op_plan *plan, const struct op_planes *maps,
                                   const struct op_batch_norm_gradient_args *numbers)
{
    struct op_planes_args args = begin(plan, maps);
    args.eps = (float)numbers->eps;
    args.mean = numbers->mean;
    if (numbers->gradient_sum) {
        args.sums[0] = numbers->gradient_sum;
        args.sums[1] = numbers->product_sum;
    } else {
        leo_status status = plan_sums(plan, maps, "gradient_sums", &args);
        if (status != LEO_OK) {
            return status;
        }
    }
    args.second = numbers->second;
    args.inverse = numbers->source == OP_BATCH_NORM_INVERSE;
    args.weight = numbers->weight;
    args.out[0] = numbers->gradient_sum_out;
    args.out[1] = numbers->product_sum_out;
    args.out[2] = numbers->bias_gradient;
    args.out[3] = numbers->weight_gradient;
    args.counter = numbers->counter;
    args.replicas = numbers->replicas;
    args.training = numbers->training;
    args.weighed = numbers->weighed_sums;
    args.inverse_count = numbers->count ? 1 / (float)numbers->count : args.inverse_count;
    return finish(plan, maps, "backward", "planes_gradients", &args);
}
