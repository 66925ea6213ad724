/* SPDX-License-Identifier: Apache-2.0 */
/* MaxPool: largest elements of windows with a padding for each side, no indices. */
#include "../frame/chain.h"

#include <inttypes.h>
#include <math.h>

enum { SIDES = 2 };

struct side {
    int64_t kernel, stride, before, after, windows;
};

// A list of none (`absent`), one (for all) or `count` numbers.
static leo_status take(const struct op_call *call, const char *name, uint64_t count, int64_t absent,
                       int64_t *out)
{
    const struct op_ints *ints = op_call_ints(call, name);
    const uint64_t given = ints ? ints->count : 0;
    if (given > 1 && given != count) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "%s has %" PRIu64 " numbers, it must have none, 1 or %" PRIu64, name,
                            given, count);
    }
    for (uint64_t i = 0; i < count; i++) {
        out[i] = given == 0 ? absent : ints->items[given == 1 ? 0 : i];
    }
    return LEO_OK;
}

static leo_status take_pads(const struct op_call *call, struct side *side)
{
    const struct op_ints *pads = op_call_ints(call, "pads");
    const uint64_t given = pads ? pads->count : 0;
    int64_t pad[2 * SIDES];
    leo_status status = take(call, "pads", given == SIDES ? SIDES : 2 * SIDES, 0, pad);
    for (unsigned d = 0; status == LEO_OK && d < SIDES; d++) {
        side[d].before = pad[d];
        side[d].after = given == SIDES ? pad[d] : pad[SIDES + d];
        if (side[d].before < 0 || side[d].after < 0 || side[d].before >= side[d].kernel ||
            side[d].after >= side[d].kernel) {
            status = op_call_fail(call, LEO_ERR_INVALID_ARG,
                                  "pads %" PRId64 " and %" PRId64
                                  " must not be negative and less than the kernel's %" PRId64,
                                  side[d].before, side[d].after, side[d].kernel);
        }
    }
    return status;
}

static leo_status take_sides(const struct op_call *call, struct side *side)
{
    int64_t kernel[SIDES], stride[SIDES], dilation[2 * SIDES];
    leo_status status = take(call, "kernelShape", SIDES, 0, kernel);
    if (status == LEO_OK) {
        status = take(call, "strides", SIDES, 1, stride);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_ints *dilations = op_call_ints(call, "dilations");
    status = take(call, "dilations", dilations && dilations->count == SIDES ? SIDES : 2 * SIDES, 1,
                  dilation);
    for (unsigned d = 0; status == LEO_OK && d < SIDES; d++) {
        side[d].kernel = kernel[d];
        side[d].stride = stride[d];
        if (kernel[d] < 1 || stride[d] < 1 || dilation[d] != 1) {
            status = op_call_fail(call, LEO_ERR_INVALID_ARG,
                                  "kernelShape %" PRId64 ", strides %" PRId64
                                  " must be positive, dilations %" PRId64 " must be 1",
                                  kernel[d], stride[d], dilation[d]);
        }
    }
    return status == LEO_OK ? take_pads(call, side) : status;
}

// How many windows there are; the last one begins inside or in the padding before.
static leo_status count_windows(const struct op_call *call, struct side *side)
{
    const struct op_tensor *self = op_call_tensor(call, "self");
    const bool ceil = op_call_int(call, "ceilMode") != 0;
    int64_t want[OP_RANK_MAX];
    if (self->rank != 3 && self->rank != 4) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "self has shape %s, it must have 3 or 4 dimensions",
                            op_tensor_shape_text(self).text);
    }
    for (unsigned i = 0; i < self->rank; i++) {
        want[i] = self->dim[i];
    }
    for (unsigned d = 0; d < SIDES; d++) {
        const int64_t in = self->dim[self->rank - SIDES + d],
                      room = in + side[d].before + side[d].after - side[d].kernel;
        int64_t windows =
            room < 0 ? 0 : (room + (ceil ? side[d].stride - 1 : 0)) / side[d].stride + 1;
        if (ceil && (windows - 1) * side[d].stride >= in + side[d].before) {
            windows--;
        }
        side[d].windows = want[self->rank - SIDES + d] = windows;
    }
    return op_call_check_shape(call, "out", self->rank, want);
}

static bool is_even(const struct side *side)
{
    return side->before == side->after && side->before <= side->kernel / 2;
}

// self with as many elements around it as the windows reach.
static struct op_tensor pad(struct op_chain *chain, const struct op_tensor *self,
                            const struct side *side)
{
    int64_t dim[OP_RANK_MAX];
    const unsigned first = self->rank - SIDES;
    for (unsigned i = 0; i < first; i++) {
        dim[i] = self->dim[i];
    }
    for (unsigned d = 0; d < SIDES; d++) {
        dim[first + d] = (side[d].windows - 1) * side[d].stride + side[d].kernel;
    }
    const struct op_tensor padded = op_chain_temp(chain, self->type, self->rank, dim);
    struct op_tensor to = padded, from = *self;
    op_chain_fill(chain, &padded, -INFINITY);
    for (unsigned d = 0; d < SIDES; d++) {
        const int64_t room = dim[first + d] - side[d].before,
                      in = self->dim[first + d] < room ? self->dim[first + d] : room;
        to = op_view_slice(&to, first + d, side[d].before, in);
        from = op_view_slice(&from, first + d, 0, in);
    }
    op_chain_copy(chain, &to, &from);
    return padded;
}

leo_status op_plan_max_pool(const struct op_call *call)
{
    struct side side[SIDES];
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    if (op_call_int(call, "autoPad") != 0) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "autoPad is %" PRId64 ", it must be 0",
                            op_call_int(call, "autoPad"));
    }
    leo_status status = take_sides(call, side);
    if (status == LEO_OK) {
        status = count_windows(call, side);
    }
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const bool even = is_even(&side[0]) && is_even(&side[1]);
    const struct op_tensor from = even ? *self : pad(&chain, self, side);
    const int64_t kernel[] = {side[0].kernel, side[1].kernel}, one[] = {1, 1},
                  stride[] = {side[0].stride, side[1].stride},
                  pads[] = {even ? side[0].before : 0, even ? side[1].before : 0};
    const struct op_ints kernels = {kernel, SIDES}, strides = {stride, SIDES},
                         paddings = {pads, SIDES}, dilations = {one, SIDES};
    const struct op_tensor places = op_chain_temp_like(&chain, OP_TYPE_I32, out);
    OP_CHAIN_CALL(&chain, "MaxPool2dWithIndices", op_value_tensor(&from), op_value_ints(&kernels),
                  op_value_ints(&strides), op_value_ints(&paddings), op_value_ints(&dilations),
                  op_value_int(even && op_call_int(call, "ceilMode") != 0), op_value_tensor(out),
                  op_value_tensor(&places));
    return chain.status;
}
