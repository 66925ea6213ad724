/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics are of rows, a group of an image each; results are made plane by plane, and a plane
 * has its own scale and shift. Numbers of groups go to their planes as copies that repeat.
 */
#include "group_norm.h"
#include "../frame/chain.h"
#include "batch_norm_planes.h"

#include <string.h>

struct group {
    const struct op_group_norm *norm;
    struct op_chain chain;
    int64_t rows, planes; /* groups and channels of all images */
    int64_t shape[3];     /* images, groups, channels of a group: of numbers of planes */
    struct op_tensor x;   /* dense */
};

// The tensor as one image of `channels` planes.
static struct op_tensor planes_of(const struct op_tensor *dense, int64_t channels)
{
    const int64_t dim[] = {1, channels, op_tensor_count(dense) / channels};
    return op_view_shape(dense, 3, dim);
}

static struct op_tensor shape_of(const struct op_tensor *tensor, int64_t channels)
{
    const int64_t dim[] = {1, channels, op_tensor_count(tensor) / channels};
    return op_tensor_dense(0, tensor->type, 3, dim);
}

bool op_group_norm_fits(const struct op_group_norm *norm)
{
    const struct op_plan *plan = norm->call->plan;
    const struct op_tensor rows = shape_of(norm->x, norm->images * norm->groups),
                           planes = shape_of(norm->x, norm->images * norm->channels);
    struct op_tensor gradient, out;
    struct op_planes maps = {.x = &planes};
    if (norm->gradient) {
        gradient = shape_of(norm->gradient, norm->images * norm->channels);
        maps.gradient = &gradient;
    }
    if (norm->out) {
        out = shape_of(norm->out, norm->images * norm->channels);
        maps.y = &out;
    }
    const struct op_planes sums = {.x = &rows};
    return op_planes_fit(plan, &sums) && op_planes_fit(plan, &maps);
}

static struct group begin(const struct op_group_norm *norm)
{
    struct group g = {.norm = norm,
                      .chain = op_chain_begin(norm->call),
                      .rows = norm->images * norm->groups,
                      .planes = norm->images * norm->channels,
                      .shape = {norm->images, norm->groups, norm->channels / norm->groups}};
    g.x = op_chain_dense(&g.chain, norm->x->type, norm->x);
    return g;
}

// f32 for each plane: of a tensor that has one for each group of an image, or for each channel.
static struct op_tensor spread(struct group *g, const struct op_tensor *from, bool channels)
{
    const struct op_tensor to = op_chain_temp(&g->chain, OP_TYPE_F32, 3, g->shape),
                           dense = op_chain_dense(&g->chain, OP_TYPE_F32, from);
    struct op_tensor wide = op_tensor_dense(dense.addr, OP_TYPE_F32, 3, g->shape);
    wide.stride[0] = channels ? 0 : g->shape[1];
    wide.stride[1] = channels ? g->shape[2] : 1;
    wide.stride[2] = channels ? 1 : 0;
    op_chain_copy(&g->chain, &to, &wide);
    return to;
}

static struct op_tensor numbers_temp(struct group *g, int64_t count)
{
    return op_chain_temp(&g->chain, OP_TYPE_F32, 1, &count);
}

// Numbers to a tensor of any shape and type.
static void give(struct group *g, const struct op_tensor *to, const struct op_tensor *numbers)
{
    if (to) {
        const struct op_tensor shaped = op_view_shape(numbers, to->rank, to->dim);
        op_chain_copy(&g->chain, to, &shaped);
    }
}

static struct op_planes maps_of(const struct op_tensor *x, const struct op_tensor *gradient,
                                const struct op_tensor *y)
{
    return (struct op_planes){.x = x, .gradient = gradient, .y = y};
}

// Where the result is made, dense.
static struct op_tensor result_of(struct group *g)
{
    const struct op_tensor *out = g->norm->out;
    return op_tensor_is_dense(out) ? *out
                                   : op_chain_temp(&g->chain, out->type, out->rank, out->dim);
}

static void give_result(struct group *g, const struct op_tensor *made)
{
    if (made->addr != g->norm->out->addr) {
        op_chain_copy(&g->chain, g->norm->out, made);
    }
}

leo_status op_group_norm_forward(const struct op_group_norm *norm)
{
    struct group g = begin(norm);
    struct op_batch_norm_args args;
    const struct op_tensor rows = planes_of(&g.x, g.rows), mean = numbers_temp(&g, g.rows),
                           inverse = numbers_temp(&g, g.rows);
    const struct op_planes statistics = maps_of(&rows, NULL, NULL);
    memset(&args, 0, sizeof(args));
    args.source = OP_BATCH_NORM_ROWS;
    args.inverse = true;
    args.eps = norm->eps;
    args.mean_out = mean.addr;
    args.second_out = inverse.addr;
    if (g.chain.status == LEO_OK) {
        g.chain.status = op_planes_plan_forward(g.chain.plan, &statistics, &args);
    }
    memset(&args, 0, sizeof(args));
    args.source = OP_BATCH_NORM_INVERSE;
    args.mean = spread(&g, &mean, false).addr;
    args.second = spread(&g, &inverse, false).addr;
    args.weight = norm->gamma ? spread(&g, norm->gamma, true).addr : 0;
    args.bias = norm->beta ? spread(&g, norm->beta, true).addr : 0;
    const struct op_tensor made = result_of(&g), x = planes_of(&g.x, g.planes),
                           y = planes_of(&made, g.planes);
    const struct op_planes maps = maps_of(&x, NULL, &y);
    if (g.chain.status == LEO_OK) {
        g.chain.status = op_planes_plan_forward(g.chain.plan, &maps, &args);
    }
    give_result(&g, &made);
    // Last: callers give statistics too little memory, and what lies behind it may be the
    // workspace.
    give(&g, norm->mean, &mean);
    give(&g, norm->inverse, &inverse);
    return g.chain.status;
}

/* Numbers of planes: sums of the gradient and of its products with distances from the mean, and
 * what those are multiplied by. */
struct sums {
    struct op_tensor gradient, product, mean, inverse, gamma;
};

// Sums over the images of a number for each plane.
static void add_images(struct group *g, const struct op_tensor *numbers, const struct op_tensor *to)
{
    const int64_t two[] = {g->norm->images, g->norm->channels};
    const struct op_tensor rows = op_view_shape(numbers, 2, two),
                           sum = numbers_temp(g, g->norm->channels);
    op_chain_sum(&g->chain, &rows, 0, &sum);
    give(g, to, &sum);
}

// Sums over a group's planes of numbers times gamma, for each plane again.
static struct op_tensor add_planes(struct group *g, const struct sums *s,
                                   const struct op_tensor *numbers)
{
    const struct op_tensor weighed = op_chain_temp(&g->chain, OP_TYPE_F32, 3, g->shape),
                           sum = op_chain_temp(&g->chain, OP_TYPE_F32, 2, g->shape);
    if (g->norm->gamma) {
        OP_CHAIN_CALL(&g->chain, "Mul", op_value_tensor(numbers), op_value_tensor(&s->gamma),
                      op_value_tensor(&weighed));
    }
    op_chain_sum(&g->chain, g->norm->gamma ? &weighed : numbers, 2, &sum);
    return spread(g, &sum, false);
}

static struct op_batch_norm_gradient_args numbers_of(const struct sums *s)
{
    struct op_batch_norm_gradient_args args;
    memset(&args, 0, sizeof(args));
    args.source = OP_BATCH_NORM_INVERSE;
    args.mean = s->mean.addr;
    args.second = s->inverse.addr;
    return args;
}

static void plan_input_gradient(struct group *g, const struct sums *s, const struct op_tensor *x,
                                const struct op_tensor *dy)
{
    struct op_batch_norm_gradient_args args = numbers_of(s);
    args.gradient_sum = add_planes(g, s, &s->gradient).addr;
    args.product_sum = add_planes(g, s, &s->product).addr;
    args.weight = g->norm->gamma ? s->gamma.addr : 0;
    args.training = true;
    args.weighed_sums = true;
    args.count = (uint64_t)(g->shape[2] * g->norm->length);
    const struct op_tensor made = result_of(g), y = planes_of(&made, g->planes);
    const struct op_planes maps = maps_of(x, dy, &y);
    if (g->chain.status == LEO_OK) {
        g->chain.status = op_planes_plan_backward(g->chain.plan, &maps, &args);
    }
    give_result(g, &made);
}

leo_status op_group_norm_backward(const struct op_group_norm *norm)
{
    struct group g = begin(norm);
    const struct op_tensor gradient =
        op_chain_dense(&g.chain, norm->gradient->type, norm->gradient);
    const struct op_tensor x = planes_of(&g.x, g.planes), dy = planes_of(&gradient, g.planes);
    struct sums s = {.gradient = op_chain_temp(&g.chain, OP_TYPE_F32, 3, g.shape),
                     .product = op_chain_temp(&g.chain, OP_TYPE_F32, 3, g.shape),
                     .mean = spread(&g, norm->mean, false),
                     .inverse = spread(&g, norm->inverse, false)};
    if (norm->gamma) {
        s.gamma = spread(&g, norm->gamma, true);
    }
    struct op_batch_norm_gradient_args args = numbers_of(&s);
    args.gradient_sum_out = s.gradient.addr;
    args.product_sum_out = s.product.addr;
    const struct op_planes maps = maps_of(&x, &dy, NULL);
    if (g.chain.status == LEO_OK) {
        g.chain.status = op_planes_plan_backward(g.chain.plan, &maps, &args);
    }
    if (norm->beta_gradient) {
        add_images(&g, &s.gradient, norm->beta_gradient);
    }
    if (norm->gamma_gradient) {
        const struct op_tensor scaled = op_chain_temp(&g.chain, OP_TYPE_F32, 3, g.shape);
        OP_CHAIN_CALL(&g.chain, "Mul", op_value_tensor(&s.product), op_value_tensor(&s.inverse),
                      op_value_tensor(&scaled));
        add_images(&g, &scaled, norm->gamma_gradient);
    }
    if (norm->out) {
        plan_input_gradient(&g, &s, &x, &dy);
    }
    return g.chain.status;
}
