/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers and dropout. A row says which ("random"). */
#include "../frame/family.h"

#include "random_args.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    LEAST_LANES = 1024, /**< elements; fewer are not worth the ten rounds in lanes */
    LANE_GRANULE = 512, /**< elements that are put in order at a time (random_lanes_device.c), */
    MASK_GRANULE = 8 * OP_RANDOM_BITS_GROUP, /**< and bits of a mask */
    MAX_COUNTERS = 1 << 30                   /**< lanes count in 32 bits */
};

static bool is_lane_float(enum op_type type, const struct op_call *call)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 ||
           (type == OP_TYPE_BF16 && op_plan_chip(call->plan) == OP_ON_910B);
}

// Whether the vector unit makes these numbers. They are the same but for normal ones, which must
// not depend on how many there are.
static bool fits_lanes(const struct op_call *call, const struct op_random_args *args,
                       enum op_type type)
{
    const bool enough = args->count >= LEAST_LANES || args->mode == OP_RANDOM_NORMAL;
    if (!enough || args->count / 4 >= MAX_COUNTERS) {
        return false;
    }
    switch ((enum op_random_mode)args->mode) {
    case OP_RANDOM_UNIFORM:
    case OP_RANDOM_NORMAL:
        return is_lane_float(type, call);
    case OP_RANDOM_BERNOULLI:
        return (is_lane_float(type, call) || type == OP_TYPE_BOOL || type == OP_TYPE_U8) &&
               (!args->prob || is_lane_float((enum op_type)args->prob_type, call));
    case OP_RANDOM_KEEP_BITS:
        return true;
    case OP_RANDOM_APPLY_BITS:
        return is_lane_float(type, call) && is_lane_float((enum op_type)args->in_type, call);
    case OP_RANDOM_INTEGER:
        break;
    }
    return false;
}

enum {
    NUMBER_BITS = 24, /* of a number that is compared with a probability, */
    MASK_BITS = 16,   /* and of one for a dropout mask */
};

// The least number of so many bits that is not below p.
static double threshold_of(double p, int bits)
{
    return ldexp(ceil(ldexp(p, bits)), -bits);
}

static leo_status launch(const struct op_call *call, const char *kernel, enum op_type type,
                         struct op_random_args *args, uint32_t cores)
{
    struct op_random_args elements = *args;
    elements.count *= args->mode == OP_RANDOM_KEEP_BITS ? 8 : 1;
    if (fits_lanes(call, &elements, type)) {
        const bool bits = args->mode == OP_RANDOM_KEEP_BITS;
        const uint64_t granule = bits ? MASK_GRANULE : LANE_GRANULE;
        const struct op_share share = op_share_make(elements.count, granule, granule, cores);
        elements.per_block = share.per_block;
        return op_plan_launch(call->plan, "random_lanes",
                              bits                                 ? "random_lanes_bits"
                              : args->mode == OP_RANDOM_APPLY_BITS ? "random_apply_lanes"
                                                                   : "random_lanes",
                              share.blocks, &elements, sizeof(elements), OP_RANDOM_ADDRESSES);
    }
    const struct op_share share = op_share_make(args->count, 4, 64, cores);
    args->per_block = share.per_block;
    return op_plan_launch(call->plan, "random", kernel, share.blocks, args, sizeof(*args),
                          OP_RANDOM_ADDRESSES);
}

// Runs a kernel over dense memory in place of `out`.
static leo_status fill(const struct op_call *call, const char *kernel, const struct op_tensor *out,
                       struct op_random_args *args, uint32_t cores)
{
    struct op_tensor made = *out;
    leo_status status = LEO_OK;
    if (op_tensor_count(out) == 0) {
        return LEO_OK;
    }
    if (!op_tensor_is_dense(out)) {
        status = op_plan_temp(call->plan, out->type, out->rank, out->dim, &made);
    }
    if (status != LEO_OK) {
        return status;
    }
    args->out = made.addr;
    args->out_type = (uint8_t)out->type;
    args->count = (uint64_t)op_tensor_count(out);
    status = launch(call, kernel, out->type, args, cores);
    return status == LEO_OK && made.addr != out->addr ? op_plan_copy(call->plan, out, &made)
                                                      : status;
}

// A seed that the device knows: rows with seedTensor and offsetTensor add offset to the latter.
static struct op_random_args with_seed(const struct op_call *call, enum op_random_mode mode)
{
    const bool on_device = op_call_has(call, "seedTensor");
    return (struct op_random_args){
        .mode = (uint8_t)mode,
        .seed = on_device ? 0 : (uint64_t)op_call_int(call, "seed"),
        .offset = (uint64_t)op_call_int(call, "offset"),
        .seed_at = on_device ? op_call_tensor(call, "seedTensor")->addr : 0,
        .offset_at = on_device ? op_call_tensor(call, "offsetTensor")->addr : 0,
        .range = 1,
    };
}

static leo_status check_seed(const struct op_call *call)
{
    static const char *const names[] = {"seedTensor", "offsetTensor"};
    for (unsigned i = 0; i < 2 && op_call_has(call, names[i]); i++) {
        const struct op_tensor *tensor = op_call_tensor(call, names[i]);
        if (op_tensor_count(tensor) != 1) {
            return op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s: it must have one element",
                                names[i], op_tensor_shape_text(tensor).text);
        }
    }
    return LEO_OK;
}

static leo_status check_probability(const struct op_call *call, const char *name, double p)
{
    return p >= 0 && p <= 1 ? LEO_OK
                            : op_call_fail(call, LEO_ERR_INVALID_ARG,
                                           "%s is %g: it must be between 0 and 1", name, p);
}

static leo_status plan_uniform(const struct op_call *call)
{
    struct op_random_args args = with_seed(call, OP_RANDOM_UNIFORM);
    args.a = op_call_real(call, "from");
    args.b = op_call_real(call, "to");
    return fill(call, "random_elements", op_call_tensor(call, "selfRef"), &args,
                op_plan_vector_cores(call->plan));
}

static leo_status plan_normal(const struct op_call *call)
{
    struct op_random_args args = with_seed(call, OP_RANDOM_NORMAL);
    const char *out = op_call_has(call, "out") ? "out" : "selfRef";
    args.a = op_call_real(call, "mean");
    args.b = op_call_real(call, "std");
    if (!(args.b >= 0)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "std is %g: it must not be negative",
                            args.b);
    }
    return fill(call, "random_elements", op_call_tensor(call, out), &args,
                op_plan_vector_cores(call->plan));
}

// One more than the largest whole number up to which a type holds all; i64 leaves the last one out.
static int64_t past_largest(enum op_type type)
{
    static const int64_t past[OP_TYPES] = {
        [OP_TYPE_BOOL] = 2,
        [OP_TYPE_I8] = INT64_C(1) << 7,
        [OP_TYPE_U8] = INT64_C(1) << 8,
        [OP_TYPE_I16] = INT64_C(1) << 15,
        [OP_TYPE_I32] = INT64_C(1) << 31,
        [OP_TYPE_I64] = INT64_MAX,
        [OP_TYPE_F16] = (INT64_C(1) << 11) + 1,
        [OP_TYPE_BF16] = (INT64_C(1) << 8) + 1,
        [OP_TYPE_F32] = (INT64_C(1) << 24) + 1,
        [OP_TYPE_F64] = (INT64_C(1) << 53) + 1,
    };
    return past[type];
}

// The step between neighbours that a type holds around a number that large.
static int64_t step_around(enum op_type type, int64_t number)
{
    const uint64_t size = number < 0 ? -(uint64_t)number : (uint64_t)number,
                   all = op_type_is_float(type) ? (uint64_t)past_largest(type) - 1 : UINT64_MAX;
    int64_t step = 1;
    while (size / (uint64_t)step >= all) {
        step *= 2;
    }
    return step;
}

// Bounds that the type holds, so that no number between is rounded to one outside; as they are if
// it holds none between.
static void hold_bounds(enum op_type type, int64_t *from, int64_t *last)
{
    const int64_t up = step_around(type, *from), down = step_around(type, *last),
                  low = *from > INT64_MAX - up ? *from : (*from + up - 1) & -up,
                  high = *last & -down;
    if (low <= high) {
        *from = low;
        *last = high;
    }
}

static leo_status plan_integer(const struct op_call *call)
{
    struct op_random_args args = with_seed(call, OP_RANDOM_INTEGER);
    const bool bounded = op_call_has(call, "from");
    const int64_t from = bounded ? op_call_int(call, "from") : 0,
                  to = bounded ? op_call_int(call, "to")
                               : past_largest(op_call_tensor(call, "selfRef")->type);
    if (from >= to) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "from is %" PRId64 ", to is %" PRId64 ": there is no number between",
                            from, to);
    }
    int64_t low = from, last = to - 1;
    hold_bounds(op_call_tensor(call, "selfRef")->type, &low, &last);
    args.low = low;
    args.range = (uint64_t)last - (uint64_t)low + 1;
    return fill(call, "random_elements", op_call_tensor(call, "selfRef"), &args,
                op_plan_vector_cores(call->plan));
}

static leo_status plan_bernoulli(const struct op_call *call)
{
    struct op_random_args args = with_seed(call, OP_RANDOM_BERNOULLI);
    const struct op_tensor *self = op_call_tensor(call, "selfRef");
    leo_status status = LEO_OK;
    if (op_call_value(call, "prob")->kind == OP_KIND_SCALAR) {
        args.a = op_call_scalar(call, "prob")->real;
        status = check_probability(call, "prob", args.a);
        args.a = threshold_of(args.a, NUMBER_BITS);
    } else {
        struct op_tensor seen, dense;
        const struct op_tensor *prob = op_call_tensor(call, "prob");
        if (!op_tensor_broadcast(prob, self->rank, self->dim, &seen)) {
            return op_call_fail(call, LEO_ERR_SHAPE, "prob of shape %s does not broadcast to %s",
                                op_tensor_shape_text(prob).text, op_tensor_shape_text(self).text);
        }
        status = op_plan_dense(call->plan, &seen, seen.type, &dense);
        args.prob = dense.addr;
        args.prob_type = (uint8_t)dense.type;
    }
    return status == LEO_OK
               ? fill(call, "random_elements", self, &args, op_plan_vector_cores(call->plan))
               : status;
}

static leo_status plan_permutation(const struct op_call *call)
{
    struct op_random_args args = with_seed(call, OP_RANDOM_INTEGER);
    const int64_t n = op_call_int(call, "n");
    leo_status status = op_call_check_shape(call, "out", 1, &n);
    return status == LEO_OK
               ? fill(call, "random_permutation", op_call_tensor(call, "out"), &args, 1)
               : status;
}

// prob is the probability of 0. The mask has a bit for each element, in whole groups of 128.
static leo_status plan_mask(const struct op_call *call)
{
    struct op_random_args args = with_seed(call, OP_RANDOM_KEEP_BITS);
    const struct op_ints *shape = op_call_ints(call, "shape");
    const struct op_tensor *out = op_call_tensor(call, "out");
    int64_t count = 1;
    for (uint64_t i = 0; i < shape->count; i++) {
        count *= shape->items[i];
    }
    args.a = op_call_real(call, "prob");
    leo_status status = check_probability(call, "prob", args.a);
    args.a = threshold_of(args.a, MASK_BITS);
    if (status == LEO_OK && op_tensor_count(out) * 8 < count) {
        status = op_call_fail(call, LEO_ERR_SHAPE,
                              "out has %" PRId64 " bytes, a mask of %" PRId64 " bits needs more",
                              op_tensor_count(out), count);
    }
    return status == LEO_OK
               ? fill(call, "random_keep_bits", out, &args, op_plan_vector_cores(call->plan))
               : status;
}

static leo_status plan_apply(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    const struct op_tensor *mask = op_call_tensor(call, "mask");
    const bool scaled = op_call_has(call, "scale");
    const double prob = scaled ? 0 : op_call_real(call, "prob");
    struct op_random_args args = {.mode = OP_RANDOM_APPLY_BITS,
                                  .b = scaled     ? op_call_real(call, "scale")
                                       : prob < 1 ? 1 / (1 - prob)
                                                  : 0,
                                  .range = 1};
    struct op_tensor dense, bits;
    leo_status status = check_probability(call, "prob", prob);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "out", self->rank, self->dim);
    }
    if (status == LEO_OK && op_tensor_count(mask) * 8 < op_tensor_count(self)) {
        status = op_call_fail(call, LEO_ERR_SHAPE,
                              "mask has %" PRId64 " bytes, self %" PRId64
                              " elements: a bit for each is needed",
                              op_tensor_count(mask), op_tensor_count(self));
    }
    if (status == LEO_OK) {
        status = op_plan_dense(call->plan, self, self->type, &dense);
    }
    if (status == LEO_OK) {
        status = op_plan_dense(call->plan, mask, mask->type, &bits);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.in = dense.addr;
    args.in_type = (uint8_t)dense.type;
    args.prob = bits.addr;
    return fill(call, "random_apply_bits", out, &args, op_plan_vector_cores(call->plan));
}

leo_status op_plan_random(const struct op_call *call)
{
    static const struct {
        const char *word;
        leo_status (*plan)(const struct op_call *call);
    } plans[] = {
        {"uniform", plan_uniform},     {"normal", plan_normal},           {"integer", plan_integer},
        {"bernoulli", plan_bernoulli}, {"permutation", plan_permutation}, {"mask", plan_mask},
        {"apply", plan_apply},
    };
    const char *word = op_row_attr(call->row, "random");
    const leo_status status = check_seed(call);
    for (size_t i = 0; status == LEO_OK && i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (strcmp(word, plans[i].word) == 0) {
            return plans[i].plan(call);
        }
    }
    if (status != LEO_OK) {
        return status;
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "its row names no kind of numbers");
}
