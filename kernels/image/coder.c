/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes given by their distance from others, made of pointwise rows on their numbers. A row says
 * which ("coder"). */
#include "../frame/chain.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SIDES = 4 };

/* Boxes whose numbers lie along dimension `dim`. */
static struct op_tensor number_of(const struct op_tensor *boxes, unsigned dim, int64_t index)
{
    return op_view_select(boxes, dim, index);
}

static leo_status check_boxes(const struct op_call *call, const char *name, unsigned rank,
                              unsigned dim, int64_t numbers)
{
    const struct op_tensor *boxes = op_call_tensor(call, name);
    return boxes->rank == rank && boxes->dim[dim] == numbers
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE,
                              "%s has shape %s: it must have %u dimensions, %" PRId64
                              " numbers along dimension %u",
                              name, op_tensor_shape_text(boxes).text, rank, numbers, dim);
}

// Boxes of one shape, and as the result is.
static leo_status check_two(const struct op_call *call, const char *other, unsigned rank,
                            unsigned dim, int64_t numbers)
{
    const struct op_tensor *from = op_call_tensor(call, "from");
    leo_status status = check_boxes(call, "from", rank, dim, numbers);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, other, rank, from->dim);
    }
    return status == LEO_OK ? op_call_check_shape(call, "y", rank, from->dim) : status;
}

static const struct op_floats *floats_of(const struct op_call *call, const char *name)
{
    return op_call_value(call, name)->floats;
}

static leo_status check_floats(const struct op_call *call, const char *name, uint64_t count)
{
    const struct op_floats *floats = floats_of(call, name);
    return floats->count == count
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE,
                              "%s has %" PRIu64 " numbers: it must have %" PRIu64, name,
                              floats->count, count);
}

/* Row `op` of two boxes' numbers k and k + 2 and a number. */
static void compare(struct op_chain *chain, const char *op, unsigned dim, int64_t k, double number,
                    const struct op_tensor *out)
{
    const struct op_tensor *a = op_call_tensor(chain->call, "from"),
                           *b = op_call_tensor(chain->call, "to"), a1 = number_of(a, dim, k),
                           a2 = number_of(a, dim, k + 2), b1 = number_of(b, dim, k),
                           b2 = number_of(b, dim, k + 2);
    OP_CHAIN_CALL(chain, op, op_value_tensor(&a1), op_value_tensor(&a2), op_value_tensor(&b1),
                  op_value_tensor(&b2), op_value_real(number), op_value_tensor(out));
}

// The published numbers of the chips are those of halves: of the quotient and of the result.
static leo_status plan_encode(const struct op_call *call)
{
    enum { MORE = 1 }; // corners are pixels that belong to the box
    const struct op_tensor *y = op_call_tensor(call, "y");
    leo_status status = check_two(call, "to", 2, 1, SIDES);
    if (status == LEO_OK) {
        status = check_floats(call, "means", SIDES);
    }
    if (status == LEO_OK) {
        status = check_floats(call, "deviations", SIDES);
    }
    if (status != LEO_OK || op_tensor_count(y) == 0) {
        return status;
    }
    const char *ratio = op_plan_chip(call->plan) == OP_ON_910A ? "BoxRatioPositive" : "BoxRatio";
    struct op_chain chain = op_chain_begin(call);
    for (int64_t k = 0; k < SIDES; k++) {
        const struct op_tensor to = number_of(y, 1, k),
                               half = op_chain_temp_like(&chain, OP_TYPE_F16, &to),
                               normal = op_chain_temp_like(&chain, OP_TYPE_F16, &to);
        compare(&chain, k < 2 ? "BoxOffset" : ratio, 1, k % 2, MORE, &half);
        OP_CHAIN_CALL(&chain, "BoxNormal", op_value_tensor(&half),
                      op_value_real(floats_of(call, "means")->items[k]),
                      op_value_real(floats_of(call, "deviations")->items[k]),
                      op_value_tensor(&normal));
        op_chain_copy(&chain, &to, &normal);
    }
    return chain.status;
}

/* How numbers k and k + 2 of a box are made again from `deltas`. */
struct again {
    double mean[2], deviation[2]; /* of the offset and of the size */
    double more, less;            /* of a size; of half of it */
    double limit;                 /* of the size's logarithm */
    double bound;                 /* of the sides; below 0: none */
};

static void make_again(struct op_chain *chain, unsigned dim, int64_t k, const struct again *how)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *a = op_call_tensor(call, "from"), *d = op_call_tensor(call, "deltas"),
                           *y = op_call_tensor(call, "y");
    const struct op_tensor a1 = number_of(a, dim, k), a2 = number_of(a, dim, k + 2),
                           offset = number_of(d, dim, k), growth = number_of(d, dim, k + 2);
    const struct op_tensor centre = op_chain_temp_like(chain, OP_TYPE_F32, &a1),
                           by = op_chain_temp_like(chain, OP_TYPE_F32, &a1),
                           size = op_chain_temp_like(chain, OP_TYPE_F32, &a1);
    OP_CHAIN_CALL(chain, "BoxMoved", op_value_tensor(&a1), op_value_tensor(&a2),
                  op_value_tensor(&offset), op_value_real(how->more), op_value_real(how->mean[0]),
                  op_value_real(how->deviation[0]), op_value_tensor(&centre));
    OP_CHAIN_CALL(chain, "BoxLimited", op_value_tensor(&growth), op_value_real(how->mean[1]),
                  op_value_real(how->deviation[1]), op_value_real(how->limit),
                  op_value_tensor(&by));
    OP_CHAIN_CALL(chain, "BoxGrown", op_value_tensor(&a1), op_value_tensor(&a2),
                  op_value_tensor(&by), op_value_real(how->more), op_value_tensor(&size));
    for (int64_t side = 0; side < 2; side++) {
        const struct op_tensor to = number_of(y, dim, k + 2 * side);
        OP_CHAIN_CALL(chain, "BoxSide", op_value_tensor(&centre), op_value_tensor(&size),
                      op_value_real(side ? 1 : -1), op_value_real(how->less),
                      op_value_real(how->bound), op_value_tensor(&to));
    }
}

static leo_status plan_decode(const struct op_call *call)
{
    const struct op_ints *bound = op_call_ints(call, "bound");
    const double ratio = op_call_real(call, "ratio");
    leo_status status = check_two(call, "deltas", 2, 1, SIDES);
    if (status == LEO_OK) {
        status = check_floats(call, "means", SIDES);
    }
    if (status == LEO_OK) {
        status = check_floats(call, "deviations", SIDES);
    }
    if (status == LEO_OK && (bound->count != 2 || !(ratio > 0))) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG,
                              "max_shape has %" PRIu64 " numbers and wh_ratio_clip is %g: it must "
                              "be height and width, and the ratio above 0",
                              bound->count, ratio);
    }
    if (status != LEO_OK || op_tensor_count(op_call_tensor(call, "y")) == 0) {
        return status;
    }
    const float *mean = floats_of(call, "means")->items,
                *deviation = floats_of(call, "deviations")->items;
    struct op_chain chain = op_chain_begin(call);
    for (int64_t k = 0; k < 2; k++) {
        const struct again how = {.mean = {mean[k], mean[k + 2]},
                                  .deviation = {deviation[k], deviation[k + 2]},
                                  .more = 1,
                                  .less = 0.5,
                                  .limit = fabs(log(ratio)),
                                  .bound = (double)bound->items[1 - k] - 1};
        make_again(&chain, 1, k, &how);
    }
    return chain.status;
}

static leo_status plan_encode_yolo(const struct op_call *call)
{
    static const double least = 1e-6; // of the published test: log gives -13.8155
    const struct op_tensor *from = op_call_tensor(call, "from"), *to = op_call_tensor(call, "to"),
                           *stride = op_call_tensor(call, "stride"), *y = op_call_tensor(call, "y");
    leo_status status = check_two(call, "to", 2, 1, SIDES);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "stride", 1, from->dim);
    }
    if (status != LEO_OK || op_tensor_count(y) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    for (int64_t k = 0; k < 2; k++) {
        const struct op_tensor offset = number_of(y, 1, k), size = number_of(y, 1, k + 2),
                               a1 = number_of(from, 1, k), a2 = number_of(from, 1, k + 2),
                               b1 = number_of(to, 1, k), b2 = number_of(to, 1, k + 2);
        OP_CHAIN_CALL(&chain, "BoxWithin", op_value_tensor(&a1), op_value_tensor(&a2),
                      op_value_tensor(&b1), op_value_tensor(&b2), op_value_tensor(stride),
                      op_value_real(least), op_value_tensor(&offset));
        compare(&chain, "BoxRatioLeast", 1, k, least, &size);
    }
    return chain.status;
}

static leo_status check_turned(const struct op_call *call, const char *other)
{
    const struct op_floats *weights = floats_of(call, "weights");
    leo_status status = check_two(call, other, 3, 1, SIDES + 1);
    if (status == LEO_OK) {
        status = check_floats(call, "weights", SIDES + 1);
    }
    for (uint64_t i = 0; status == LEO_OK && i < weights->count; i++) {
        if (weights->items[i] == 0) {
            status = op_call_fail(call, LEO_ERR_INVALID_ARG, "weight %" PRIu64 " is 0", i);
        }
    }
    return status;
}

static leo_status plan_encode_turned(const struct op_call *call)
{
    const struct op_tensor *y = op_call_tensor(call, "y");
    leo_status status = check_turned(call, "to");
    if (status != LEO_OK || op_tensor_count(y) == 0) {
        return status;
    }
    const float *weight = floats_of(call, "weights")->items;
    struct op_chain chain = op_chain_begin(call);
    for (int64_t k = 0; k < SIDES; k++) {
        const struct op_tensor to = number_of(y, 1, k),
                               wide = op_chain_temp_like(&chain, OP_TYPE_F32, &to);
        const struct op_scalar factor = op_scalar_real(weight[k]);
        compare(&chain, k < 2 ? "BoxOffset" : "BoxRatio", 1, k % 2, 0, &wide);
        OP_CHAIN_CALL(&chain, "Muls", op_value_tensor(&wide), op_value_scalar(&factor),
                      op_value_tensor(&to));
    }
    const struct op_tensor to = number_of(y, 1, SIDES),
                           a = number_of(op_call_tensor(call, "from"), 1, SIDES),
                           b = number_of(op_call_tensor(call, "to"), 1, SIDES);
    OP_CHAIN_CALL(&chain, "BoxTangents", op_value_tensor(&a), op_value_tensor(&b),
                  op_value_real(weight[SIDES]), op_value_tensor(&to));
    return chain.status;
}

static leo_status plan_decode_turned(const struct op_call *call)
{
    const struct op_tensor *y = op_call_tensor(call, "y");
    leo_status status = check_turned(call, "deltas");
    if (status != LEO_OK || op_tensor_count(y) == 0) {
        return status;
    }
    const float *weight = floats_of(call, "weights")->items;
    struct op_chain chain = op_chain_begin(call);
    for (int64_t k = 0; k < 2; k++) {
        const struct again how = {.deviation = {1 / (double)weight[k], 1 / (double)weight[k + 2]},
                                  .limit = HUGE_VAL,
                                  .bound = -1};
        make_again(&chain, 1, k, &how);
    }
    const struct op_tensor to = number_of(y, 1, SIDES),
                           a = number_of(op_call_tensor(call, "from"), 1, SIDES),
                           d = number_of(op_call_tensor(call, "deltas"), 1, SIDES);
    OP_CHAIN_CALL(&chain, "BoxAngle", op_value_tensor(&a), op_value_tensor(&d),
                  op_value_real(weight[SIDES]), op_value_tensor(&to));
    return chain.status;
}

static leo_status check_places(const struct op_call *call)
{
    const struct op_ints *size = op_call_ints(call, "size"),
                         *strides = op_call_ints(call, "strides");
    const int64_t each = op_call_int(call, "each");
    leo_status status = check_boxes(call, "boxes", 2, 1, SIDES);
    const bool fits = size->count == 2 && strides->count == 2 && size->items[0] > 0 &&
                      size->items[1] > 0 && size->items[0] < INT16_MAX &&
                      size->items[1] < INT16_MAX && strides->items[0] > 0 &&
                      strides->items[1] > 0 && each > 0 && each < INT16_MAX;
    if (status == LEO_OK && !fits) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "featmap_size and strides must be two numbers from 1 to 32766, "
                            "num_base_anchors too (it is %" PRId64 ")",
                            each);
    }
    const int64_t count = fits ? size->items[0] * size->items[1] * each : 0;
    return status == LEO_OK ? op_call_check_shape(call, "y", 1, &count) : status;
}

// Cells along one dimension of the map.
static struct op_tensor cells(struct op_chain *chain, int64_t k)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *boxes = op_call_tensor(call, "boxes"), low = number_of(boxes, 1, k),
                           high = number_of(boxes, 1, k + 2),
                           out = op_chain_temp_like(chain, OP_TYPE_I64, &low);
    OP_CHAIN_CALL(chain, "BoxPlace", op_value_tensor(&low), op_value_tensor(&high),
                  op_value_real((double)op_call_ints(call, "strides")->items[k]),
                  op_value_int(op_call_ints(call, "size")->items[1 - k]), op_value_tensor(&out));
    return out;
}

static leo_status plan_places(const struct op_call *call)
{
    const struct op_tensor *boxes = op_call_tensor(call, "boxes"), *y = op_call_tensor(call, "y");
    leo_status status = check_places(call);
    if (status != LEO_OK) {
        return status;
    }
    const int64_t *size = op_call_ints(call, "size")->items, each = op_call_int(call, "each"),
                  map[] = {size[0] * size[1], each}, list[] = {boxes->dim[0], each};
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor flags = op_chain_temp(&chain, OP_TYPE_U8, 2, map),
                           ones = op_chain_temp(&chain, OP_TYPE_U8, 2, list);
    op_chain_fill(&chain, &flags, 0);
    if (boxes->dim[0] > 0) {
        const struct op_tensor column = cells(&chain, 0), row = cells(&chain, 1),
                               index = op_chain_temp_like(&chain, OP_TYPE_I64, &row);
        op_chain_fill(&chain, &ones, 1);
        OP_CHAIN_CALL(&chain, "BoxPlaceOf", op_value_tensor(&row), op_value_tensor(&column),
                      op_value_int(size[1]), op_value_tensor(&index));
        OP_CHAIN_CALL(&chain, "InplaceIndexCopy", op_value_tensor(&flags), op_value_int(0),
                      op_value_tensor(&index), op_value_tensor(&ones));
    }
    const struct op_tensor flat = op_view_shape(&flags, 1, y->dim);
    op_chain_copy(&chain, y, &flat);
    return chain.status;
}

static leo_status check_assign(const struct op_call *call)
{
    static const char *const by_place[] = {"flags", "most", "arg", "y"}, *const by_box[] = {
                                                                             "boxMost", "boxArg"};
    const struct op_tensor *overlaps = op_call_tensor(call, "overlaps");
    leo_status status =
        overlaps->rank == 2
            ? op_call_check_shape(call, "assigned", 1, &overlaps->dim[1])
            : op_call_fail(call, LEO_ERR_SHAPE, "overlaps has shape %s: it must be [boxes, places]",
                           op_tensor_shape_text(overlaps).text);
    for (unsigned i = 0; status == LEO_OK && i < 4; i++) {
        status = op_call_check_shape(call, by_place[i], 1, &overlaps->dim[1]);
    }
    for (unsigned i = 0; status == LEO_OK && i < 2; i++) {
        status = op_call_check_shape(call, by_box[i], 1, &overlaps->dim[0]);
    }
    return status;
}

// Of several boxes that want a place, the last one has it.
static leo_status plan_assign(const struct op_call *call)
{
    const struct op_tensor *overlaps = op_call_tensor(call, "overlaps"),
                           *y = op_call_tensor(call, "y");
    const bool every = op_call_int(call, "every") != 0;
    leo_status status = check_assign(call);
    if (status != LEO_OK || op_tensor_count(y) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor own = op_chain_temp_like(&chain, OP_TYPE_F32, y),
                           wanted = op_chain_temp_like(&chain, OP_TYPE_F32, overlaps),
                           last = op_chain_temp_like(&chain, OP_TYPE_F32, y),
                           most = op_view_insert(op_call_tensor(call, "boxMost"), 1),
                           arg = op_view_insert(op_call_tensor(call, "boxArg"), 1);
    int64_t first = 0;
    const struct op_ints over = {&first, 1};
    OP_CHAIN_CALL(&chain, "BoxOwn", *op_call_value(call, "assigned"), *op_call_value(call, "most"),
                  *op_call_value(call, "arg"), *op_call_value(call, "flags"),
                  *op_call_value(call, "threshold"), op_value_tensor(&own));
    if (overlaps->dim[0] == 0) {
        op_chain_copy(&chain, y, &own);
        return chain.status;
    }
    OP_CHAIN_CALL(&chain, every ? "BoxBest" : "BoxBestOne",
                  op_value_tensor(every ? overlaps : &arg), op_value_tensor(&most),
                  *op_call_value(call, "flags"), *op_call_value(call, "least"),
                  op_value_tensor(&wanted));
    OP_CHAIN_CALL(&chain, "Amax", op_value_tensor(&wanted), op_value_ints(&over), op_value_int(0),
                  op_value_tensor(&last));
    OP_CHAIN_CALL(&chain, "BoxTaken", op_value_tensor(&own), op_value_tensor(&last),
                  op_value_tensor(y));
    return chain.status;
}

leo_status op_plan_coder(const struct op_call *call)
{
    static const struct {
        const char *word;
        leo_status (*plan)(const struct op_call *call);
    } plans[] = {
        {"encode", plan_encode},
        {"decode", plan_decode},
        {"encode_yolo", plan_encode_yolo},
        {"encode_turned", plan_encode_turned},
        {"decode_turned", plan_decode_turned},
        {"places", plan_places},
        {"assign", plan_assign},
    };
    const char *word = op_row_attr(call->row, "coder");
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (strcmp(word, plans[i].word) == 0) {
            return plans[i].plan(call);
        }
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "its row names no operator");
}
