/* SPDX-License-Identifier: Apache-2.0 */
/* LSTM and GRU: the library's layers, whose gates come in another order. */
#include "values.h"

#include <leo/alloc.h>
#include <string.h>

enum { GATES_MAX = 4, DIRECTIONS_MAX = 2 };

/* A layer: its node's inputs are X, W, R, B, sequence_lens, initial_h and, of an LSTM, initial_c,
 * P. */
struct layer {
    const char *op; /* of the library */
    uint32_t gates;
    uint32_t order[GATES_MAX]; /* the library's gate g is the format's gate order[g] */
    uint32_t states;           /* h, or h and c */
    const char *activations[3];
};

static const struct layer lstm = {
    "LSTM", 4, {0, 2, 3, 1}, 2, {"Sigmoid", "Tanh", "Tanh"}}; // i o f c -> i f c o
static const struct layer gru = {
    "GRU", 3, {1, 0, 2}, 1, {"Sigmoid", "Tanh", NULL}}; // z r h -> r z h

/* What the node says. */
struct shape {
    int64_t steps, batch, inputs, hidden;
    uint32_t directions;
    bool reverse, batch_first;
};

static bool take_directions(struct onnx_import *import, struct shape *shape)
{
    static const char *const words[] = {"forward", "reverse", "bidirectional"};
    const int word = onnx_attribute_word(import, "direction", words, 3, 0);
    shape->directions = word == 2 ? 2 : 1;
    shape->reverse = word == 1;
    if (word < 0) {
        onnx_fail(import, "its direction is none of forward, reverse and bidirectional");
    }
    return word >= 0;
}

// Only the usual activations, which the library computes.
static bool has_usual_activations(const struct onnx_import *import, const struct layer *layer)
{
    const OnnxFile__Attribute *list = onnx_attribute(import, "activations");
    for (size_t i = 0; list && i < list->n_strings; i++) {
        const char *usual = layer->activations[i % (layer->gates == 4 ? 3 : 2)];
        if (list->strings[i].len != strlen(usual) ||
            memcmp(list->strings[i].data, usual, strlen(usual)) != 0) {
            return false;
        }
    }
    return true;
}

// Input `index`, if it is given, is of floats of these dimensions.
static bool is_of(struct onnx_import *import, size_t index, uint32_t rank, const int64_t *dim)
{
    const struct onnx_tensor *in = onnx_input(import, index);
    return !in || (in->dtype == LEO_DTYPE_F32 && in->rank == rank &&
                   memcmp(in->dim, dim, rank * sizeof(*dim)) == 0);
}

// Bias and states, of a node whose shape is known.
static bool has_fitting_rest(struct onnx_import *import, const struct layer *layer,
                             const struct shape *shape)
{
    const bool turned = shape->batch_first;
    const int64_t bias[] = {shape->directions, 2 * (int64_t)layer->gates * shape->hidden},
                  state[] = {turned ? shape->batch : shape->directions,
                             turned ? shape->directions : shape->batch, shape->hidden};
    bool good = is_of(import, 3, 2, bias);
    for (uint32_t s = 0; good && s < layer->states; s++) {
        good = is_of(import, 5 + s, 3, state);
    }
    return good;
}

static bool take_shape(struct onnx_import *import, const struct layer *layer, struct shape *shape)
{
    const struct onnx_tensor *x = onnx_input(import, 0), *w = onnx_input(import, 1),
                             *r = onnx_input(import, 2);
    if (!x || !w || !r || !take_directions(import, shape)) {
        return false;
    }
    if (x->rank != 3 || w->rank != 3 || r->rank != 3 || w->dim[0] != shape->directions ||
        r->dim[0] != shape->directions || w->dim[2] != x->dim[2] ||
        w->dim[1] != r->dim[2] * layer->gates || r->dim[1] != w->dim[1]) {
        onnx_fail(import, "its inputs do not fit each other");
        return false;
    }
    shape->batch_first = onnx_attribute_int(import, "layout", 0) != 0;
    shape->steps = x->dim[shape->batch_first ? 1 : 0];
    shape->batch = x->dim[shape->batch_first ? 0 : 1];
    shape->inputs = x->dim[2];
    shape->hidden = r->dim[2];
    if (!has_fitting_rest(import, layer, shape)) {
        onnx_fail(import, "its bias is not [directions, 2 * gates * hidden], or a first state not "
                          "[directions, batch, hidden] (layout 1: the batch first)");
        return false;
    }
    if (!has_usual_activations(import, layer) || onnx_attribute(import, "clip") ||
        onnx_attribute_int(import, "input_forget", 0) || onnx_input(import, 7) ||
        (layer->gates == 3 && !onnx_attribute_int(import, "linear_before_reset", 0))) {
        onnx_fail(import, "other activations than sigmoid and tanh, clip, input_forget, peepholes "
                          "and a GRU whose linear_before_reset is 0 are not served");
        return false;
    }
    return true;
}

// All sequences are as long as the input: other lengths are not served.
static bool has_whole_sequences(struct onnx_import *import, int64_t steps)
{
    const struct onnx_tensor *lengths = onnx_input(import, 4);
    bool whole = !lengths || (lengths->known && lengths->dtype != LEO_DTYPE_F32);
    for (int64_t i = 0; whole && lengths && i < onnx_count(lengths); i++) {
        whole = ((const int64_t *)lengths->known)[i] == steps;
    }
    if (!whole) {
        onnx_fail(import, "its sequence_lens must be known, and as long as the input");
    }
    return whole;
}

static uint32_t known_gates(struct onnx_import *import, const struct layer *layer,
                            const float *from, int64_t hidden, int64_t columns)
{
    const int64_t width = columns ? columns : 1, dim[] = {(int64_t)layer->gates * hidden, columns};
    const size_t gate = (size_t)(hidden * width);
    float *turned = leo_calloc(gate * layer->gates + 1, sizeof(*turned));
    if (!turned) {
        onnx_fail(import, "out of host memory");
        return 0;
    }
    for (uint32_t g = 0; g < layer->gates; g++) {
        memcpy(turned + g * gate, from + layer->order[g] * gate, gate * sizeof(*turned));
    }
    const uint32_t value = onnx_weight(import, columns ? 2 : 1, dim, turned);
    leo_free(turned);
    return value;
}

// Rows of one direction from row `first` on, gates in the library's order; `columns` 0: a vector.
static uint32_t gates_of(struct onnx_import *import, const struct layer *layer,
                         struct onnx_tensor *in, int64_t first, int64_t hidden, int64_t columns)
{
    const int64_t width = columns ? columns : 1;
    if (in->known && in->dtype == LEO_DTYPE_F32) {
        return known_gates(import, layer, (const float *)in->known + first * width, hidden,
                           columns);
    }
    const uint32_t dense = onnx_dense(import, in);
    const int64_t dim[] = {hidden, columns}, stride[] = {width, 1},
                  whole[] = {(int64_t)layer->gates * hidden, columns};
    uint32_t parts[GATES_MAX];
    for (uint32_t g = 0; g < layer->gates; g++) {
        parts[g] = model_build_view(&import->build, dense, columns ? 2 : 1, dim, stride,
                                    (first + layer->order[g] * hidden) * width);
    }
    const uint32_t out = model_build_value(&import->build, import->floats, columns ? 2 : 1, whole);
    MODEL_BUILD_CALL(&import->build, "Cat", model_build_tensors(parts, layer->gates),
                     model_build_number(0), model_build_tensor(out));
    return out;
}

// Of each direction: W, R and the two halves of B.
static uint32_t take_params(struct onnx_import *import, const struct layer *layer,
                            const struct shape *shape, uint32_t *params)
{
    struct onnx_tensor *w = onnx_input(import, 1), *r = onnx_input(import, 2),
                       *b = onnx_input(import, 3);
    const int64_t rows = (int64_t)layer->gates * shape->hidden;
    uint32_t count = 0;
    for (uint32_t d = 0; d < shape->directions && !import->build.failed; d++) {
        params[count++] = gates_of(import, layer, w, d * rows, shape->hidden, shape->inputs);
        params[count++] = gates_of(import, layer, r, d * rows, shape->hidden, shape->hidden);
        for (int half = 0; b && half < 2; half++) {
            params[count++] = gates_of(import, layer, b, (2 * d + half) * rows, shape->hidden, 0);
        }
    }
    return count;
}

// [steps, batch, n], with the steps in the direction of the layer.
static uint32_t take_sequence(struct onnx_import *import, const struct shape *shape)
{
    static const uint32_t exchanged[] = {1, 0, 2};
    uint32_t x = onnx_value(import, onnx_input(import, 0));
    if (shape->batch_first) {
        x = onnx_made_turned(import, x, exchanged);
    }
    return shape->reverse ? onnx_made_flipped(import, x, 0) : x;
}

// [directions, batch, hidden] of input `index`, or 0.
static uint32_t take_state(struct onnx_import *import, const struct shape *shape, size_t index)
{
    static const uint32_t exchanged[] = {1, 0, 2};
    const int64_t dim[] = {shape->directions, shape->batch, shape->hidden};
    struct onnx_tensor *in = onnx_input(import, index);
    if (!in) {
        return onnx_made_full(import, import->floats, 3, dim, 0);
    }
    const uint32_t value = onnx_value(import, in);
    return shape->batch_first ? onnx_made_turned(import, value, exchanged) : value;
}

// Y: [steps, directions, batch, hidden], or with the batch first.
static void give_sequence(struct onnx_import *import, const struct shape *shape, uint32_t y)
{
    static const uint32_t steps_first[] = {0, 2, 1, 3}, batch_first[] = {1, 0, 2, 3};
    const int64_t dim[] = {shape->steps, shape->batch, shape->directions, shape->hidden};
    if (shape->reverse) {
        y = onnx_made_flipped(import, y, 0);
    }
    y = onnx_made_flat(import, y, 4, dim);
    onnx_give(import, 0, LEO_DTYPE_F32,
              onnx_made_turned(import, y, shape->batch_first ? batch_first : steps_first));
}

static void give_state(struct onnx_import *import, const struct shape *shape, size_t index,
                       uint32_t state)
{
    static const uint32_t exchanged[] = {1, 0, 2};
    onnx_give(import, index, LEO_DTYPE_F32,
              shape->batch_first ? onnx_made_turned(import, state, exchanged) : state);
}

static void call_layer(struct onnx_import *import, const struct layer *layer,
                       const struct shape *shape, const uint32_t *params, uint32_t count,
                       const uint32_t *given, uint32_t y, const uint32_t *made)
{
    const uint32_t x = take_sequence(import, shape);
    const struct leo_model_arg none = model_build_none(), no = model_build_number(0),
                               input = model_build_tensor(x),
                               weights = model_build_tensors(params, count),
                               bias = model_build_number(onnx_input(import, 3) ? 1 : 0),
                               layers = model_build_number(1),
                               both = model_build_number(shape->directions == 2);
    if (layer == &lstm) {
        MODEL_BUILD_CALL(&import->build, layer->op, input, weights, model_build_tensors(given, 2),
                         none, bias, layers, no, no, both, no, model_build_tensor(y),
                         model_build_tensor(made[0]), model_build_tensor(made[1]), none, none, none,
                         none, none, none, none);
    } else {
        MODEL_BUILD_CALL(&import->build, layer->op, input, weights, model_build_tensor(given[0]),
                         none, bias, layers, no, no, both, no, model_build_tensor(y),
                         model_build_tensor(made[0]), none, none, none, none, none);
    }
}

static void take_layer(struct onnx_import *import, const struct layer *layer)
{
    struct shape shape;
    uint32_t params[DIRECTIONS_MAX * 4], given[2] = {0}, made[2] = {0};
    if (!take_shape(import, layer, &shape) || !has_whole_sequences(import, shape.steps)) {
        return;
    }
    const int64_t sequence[] = {shape.steps, shape.batch, shape.directions * shape.hidden},
                  state[] = {shape.directions, shape.batch, shape.hidden};
    const uint32_t count = take_params(import, layer, &shape, params);
    for (uint32_t s = 0; s < layer->states; s++) {
        given[s] = take_state(import, &shape, 5 + s);
        made[s] = model_build_value(&import->build, import->floats, 3, state);
    }
    const uint32_t y = model_build_value(&import->build, import->floats, 3, sequence);
    if (import->build.failed) {
        return;
    }
    call_layer(import, layer, &shape, params, count, given, y, made);
    give_sequence(import, &shape, y);
    for (uint32_t s = 0; s < layer->states; s++) {
        give_state(import, &shape, 1 + s, made[s]);
    }
}

void onnx_lstm(struct onnx_import *import)
{
    take_layer(import, &lstm);
}

void onnx_gru(struct onnx_import *import)
{
    take_layer(import, &gru);
}
