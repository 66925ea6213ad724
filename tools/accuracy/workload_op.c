/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads that are operators of the library. */
#include "measure.h"

#include <string.h>

static const char *const float_types[] = {"f16", "f32", "bf16", NULL};
static const char *const residency[] = {"recently_written", NULL};
static const char *const layouts[] = {"native", "nchw", NULL};
static const char *const paddings[] = {"same", "valid", NULL};

static struct leo_op_arg tensor(const struct accuracy_tensors *all, unsigned which)
{
    return leo_op_arg_tensor(&all->tensor[which]);
}

static leo_status run_cast(struct accuracy_chip *chip, const struct accuracy_tensors *all,
                           const void *options)
{
    (void)options;
    return LEO_OP(chip->ops, "Cast", tensor(all, 0), leo_op_arg_dtype(all->tensor[1].dtype),
                  tensor(all, 1));
}

static leo_status run_momentum(struct accuracy_chip *chip, const struct accuracy_tensors *all,
                               const void *options)
{
    (void)options;
    return LEO_OP(chip->ops, "Momentum", tensor(all, 0), tensor(all, 1), tensor(all, 2),
                  leo_op_arg_number(1), leo_op_arg_number(0.1), leo_op_arg_number(0.9));
}

/* What frameworks ask for, by chip: how factors of f32 may be narrowed on their way to the Cube
 * (cubeMathType). The coupled chip's multiplies no f32. */
static struct leo_op_arg product_math(const struct accuracy_chip *chip)
{
    return leo_op_arg_number(chip->caps.vector_cores ? 0 : 2);
}

static struct leo_op_arg convolution_math(const struct accuracy_chip *chip)
{
    return leo_op_arg_number(chip->caps.vector_cores ? 3 : 1);
}

static leo_status run_product(struct accuracy_chip *chip, const struct accuracy_tensors *all,
                              const void *options)
{
    return LEO_OP(chip->ops, "FusedMatmul", tensor(all, 0), tensor(all, 1), leo_op_arg_none(),
                  leo_op_arg_none(), leo_op_arg_text(options), product_math(chip), tensor(all, 2));
}

static enum leo_dtype dtype_of(const char *word)
{
    enum leo_dtype type = LEO_DTYPE_F32;
    if (word && strcmp(word, "f16") == 0) {
        type = LEO_DTYPE_F16;
    } else if (word && strcmp(word, "bf16") == 0) {
        type = LEO_DTYPE_BF16;
    }
    return type;
}

static enum leo_dtype read_dtype(struct accuracy_params *params)
{
    return dtype_of(accuracy_params_word(params, "dtype", float_types));
}

static uint32_t size_of(struct accuracy_params *params, const char *key)
{
    return (uint32_t)accuracy_params_number(params, key, 1, 1, 1u << 20);
}

leo_status accuracy_run_op_cast(struct accuracy_chip *chip, struct accuracy_params *params,
                                struct accuracy_result *result)
{
    struct accuracy_tensors all = {0};
    enum leo_dtype from = dtype_of(accuracy_params_word(params, "from", float_types));
    enum leo_dtype to = dtype_of(accuracy_params_word(params, "to", float_types));
    const uint32_t rows = size_of(params, "rows"), cols = size_of(params, "cols");
    uint64_t cores = accuracy_params_number(params, "cores", 0, 1, 1024);
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status = accuracy_add_matrix(chip, &all, from, rows, cols);
    if (status == LEO_OK) {
        status = accuracy_add_matrix(chip, &all, to, rows, cols);
    }
    status = accuracy_measure(chip, run_cast, &all, NULL, status, &result->record);
    if (status == LEO_OK && cores && result->record.cores != cores) {
        snprintf(params->error, sizeof(params->error),
                 "the operator used %u cores, the row says %llu", result->record.cores,
                 (unsigned long long)cores);
        status = LEO_ERR_MISMATCH;
    }
    return status;
}

leo_status accuracy_run_op_momentum(struct accuracy_chip *chip, struct accuracy_params *params,
                                    struct accuracy_result *result)
{
    struct accuracy_tensors all = {0};
    const enum leo_dtype dtype = read_dtype(params);
    const uint32_t rows = size_of(params, "rows"), cols = size_of(params, "cols");
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status = LEO_OK;
    for (int i = 0; status == LEO_OK && i < 3; i++) {
        status = accuracy_add_matrix(chip, &all, dtype, rows, cols);
    }
    return accuracy_measure(chip, run_momentum, &all, NULL, status, &result->record);
}

// Published times of convolutions, pooling and the products of the first generation are of the
// chip's own formats: a framework's trace has changes of format as operators of their own.
static bool is_native(struct accuracy_params *params, bool otherwise)
{
    if (!accuracy_params_has(params, "layout")) {
        return otherwise;
    }
    const char *word = accuracy_params_word(params, "layout", layouts);
    return word && strcmp(word, "native") == 0;
}

// Training keeps weights as f32 and casts them for each use.
static leo_status write_weights(struct accuracy_chip *chip, const struct accuracy_tensors *all)
{
    return LEO_OP(chip->ops, "Cast", tensor(all, 3), leo_op_arg_dtype(all->tensor[1].dtype),
                  tensor(all, 1));
}

static leo_status run_matmul(struct accuracy_chip *chip, struct accuracy_params *params, bool relu,
                             struct accuracy_result *result)
{
    struct accuracy_tensors all = {0};
    const enum leo_dtype dtype = read_dtype(params);
    const uint32_t m = size_of(params, "m"), k = size_of(params, "k"), n = size_of(params, "n");
    const bool written = accuracy_params_has(params, "weights") &&
                         accuracy_params_word(params, "weights", residency);
    const int format = is_native(params, relu) ? FRACTAL_NZ : 0;
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    const int64_t a[] = {m, k}, b[] = {k, n}, out[] = {m, n};
    leo_status status = accuracy_add_stored(chip, &all, dtype, 2, a, format);
    if (status == LEO_OK) {
        status = accuracy_add_stored(chip, &all, dtype, 2, b, format);
    }
    if (status == LEO_OK) {
        status = accuracy_add_stored(chip, &all, dtype, 2, out, format);
    }
    if (status == LEO_OK && written) {
        all.before = write_weights;
        status = accuracy_add_stored(chip, &all, LEO_DTYPE_F32, 2, b, format);
    }
    result->operations = 2.0 * m * n * k;
    return accuracy_measure(chip, run_product, &all, relu ? "relu" : "", status, &result->record);
}

leo_status accuracy_run_op_matmul(struct accuracy_chip *chip, struct accuracy_params *params,
                                  struct accuracy_result *result)
{
    return run_matmul(chip, params, false, result);
}

leo_status accuracy_run_op_matmul_relu(struct accuracy_chip *chip, struct accuracy_params *params,
                                       struct accuracy_result *result)
{
    return run_matmul(chip, params, true, result);
}

/** A square convolution or pooling window over images. */
struct window {
    int64_t size[2], stride[2], padding[2], one[2], zero[2];
    bool input_gradient; /**< of a convolution's two gradients, the one that is wanted */
};

// Tensor 0: images, 1: filters, 2: results.
static leo_status run_conv(struct accuracy_chip *chip, const struct accuracy_tensors *all,
                           const void *options)
{
    const struct window *w = options;
    return LEO_OP(chip->ops, "Convolution", tensor(all, 0), tensor(all, 1), leo_op_arg_none(),
                  leo_op_arg_ints(w->stride, 2), leo_op_arg_ints(w->padding, 2),
                  leo_op_arg_ints(w->one, 2), leo_op_arg_number(0), leo_op_arg_ints(w->zero, 2),
                  leo_op_arg_number(1), tensor(all, 2), convolution_math(chip));
}

// Tensor 3: the gradient.
static leo_status run_conv_grad(struct accuracy_chip *chip, const struct accuracy_tensors *all,
                                const void *options)
{
    const struct window *w = options;
    const bool wanted[] = {w->input_gradient, !w->input_gradient, false};
    return LEO_OP(chip->ops, "ConvolutionBackward", tensor(all, 2), tensor(all, 0), tensor(all, 1),
                  leo_op_arg_none(), leo_op_arg_ints(w->stride, 2), leo_op_arg_ints(w->padding, 2),
                  leo_op_arg_ints(w->one, 2), leo_op_arg_number(0), leo_op_arg_ints(w->zero, 2),
                  leo_op_arg_number(1), leo_op_arg_bools(wanted, 3), convolution_math(chip),
                  w->input_gradient ? tensor(all, 3) : leo_op_arg_none(),
                  w->input_gradient ? leo_op_arg_none() : tensor(all, 3), leo_op_arg_none());
}

// Tensor 1: results, 2: the mask of their positions.
static leo_status run_maxpool(struct accuracy_chip *chip, const struct accuracy_tensors *all,
                              const void *options)
{
    const struct window *w = options;
    return LEO_OP(chip->ops, "MaxPool2dWithMask", tensor(all, 0), leo_op_arg_ints(w->size, 2),
                  leo_op_arg_ints(w->stride, 2), leo_op_arg_ints(w->padding, 2),
                  leo_op_arg_ints(w->one, 2), leo_op_arg_number(0), tensor(all, 1), tensor(all, 2));
}

/* Reads k, s, pad. "same": the result has the size of the images divided by the stride, rounded
 * up, which takes a padding of (k - 1) / 2 where it is the same on both sides; an uneven one is
 * put on both sides, as frameworks without "same" do. */
static void read_window(struct accuracy_params *params, struct window *window)
{
    const int64_t k = size_of(params, "k"), s = size_of(params, "s");
    const char *pad = accuracy_params_has(params, "pad")
                          ? accuracy_params_word(params, "pad", paddings)
                          : "valid";
    const int64_t padding = pad && strcmp(pad, "same") == 0 ? (k - 1) / 2 : 0;
    for (int i = 0; i < 2; i++) {
        window->size[i] = k;
        window->stride[i] = s;
        window->padding[i] = padding;
        window->one[i] = 1;
        window->zero[i] = 0;
    }
}

static int64_t windows_along(const struct window *window, int64_t size)
{
    const int64_t span = size + 2 * window->padding[0] - window->size[0];
    return span < 0 ? 0 : span / window->stride[0] + 1;
}

enum conv_pass { CONV_FORWARD, CONV_GRAD_FILTER, CONV_GRAD_INPUT };

static leo_status run_conv_row(struct accuracy_chip *chip, struct accuracy_params *params,
                               enum conv_pass pass, struct accuracy_result *result)
{
    struct accuracy_tensors all = {0};
    struct window window = {.input_gradient = pass == CONV_GRAD_INPUT};
    const enum leo_dtype dtype = read_dtype(params);
    const int64_t n = size_of(params, "n"), ci = size_of(params, "ci"), co = size_of(params, "co");
    const int64_t h = size_of(params, "h"), w = size_of(params, "w");
    read_window(params, &window);
    const bool native = is_native(params, true);
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    const int maps = native ? NC1HWC0 : 0, weights = native ? FRACTAL_Z : 0;
    const int64_t k = window.size[0];
    const int64_t in[] = {n, ci, h, w}, filter[] = {co, ci, k, k};
    const int64_t out[] = {n, co, windows_along(&window, h), windows_along(&window, w)};
    leo_status status = accuracy_add_stored(chip, &all, dtype, 4, in, maps);
    if (status == LEO_OK) {
        status = accuracy_add_stored(chip, &all, dtype, 4, filter, weights);
    }
    if (status == LEO_OK) {
        status = accuracy_add_stored(chip, &all, dtype, 4, out, maps);
    }
    if (status == LEO_OK && pass == CONV_GRAD_INPUT) {
        status = accuracy_add_stored(chip, &all, dtype, 4, in, maps);
    }
    if (status == LEO_OK && pass == CONV_GRAD_FILTER) { // in f32, as the chip's operator has it
        status = accuracy_add_stored(chip, &all, LEO_DTYPE_F32, 4, filter, weights);
    }
    result->operations = 2.0 * (double)(out[0] * out[1] * out[2] * out[3]) * (double)(ci * k * k);
    return accuracy_measure(chip, pass == CONV_FORWARD ? run_conv : run_conv_grad, &all, &window,
                            status, &result->record);
}

leo_status accuracy_run_op_conv2d(struct accuracy_chip *chip, struct accuracy_params *params,
                                  struct accuracy_result *result)
{
    return run_conv_row(chip, params, CONV_FORWARD, result);
}

leo_status accuracy_run_op_conv2d_grad_filter(struct accuracy_chip *chip,
                                              struct accuracy_params *params,
                                              struct accuracy_result *result)
{
    return run_conv_row(chip, params, CONV_GRAD_FILTER, result);
}

leo_status accuracy_run_op_conv2d_grad_input(struct accuracy_chip *chip,
                                             struct accuracy_params *params,
                                             struct accuracy_result *result)
{
    return run_conv_row(chip, params, CONV_GRAD_INPUT, result);
}

leo_status accuracy_run_op_maxpool_argmax(struct accuracy_chip *chip,
                                          struct accuracy_params *params,
                                          struct accuracy_result *result)
{
    struct accuracy_tensors all = {0};
    struct window window = {0};
    const enum leo_dtype dtype = read_dtype(params);
    const int64_t n = size_of(params, "n"), c = size_of(params, "c");
    const int64_t h = size_of(params, "h"), w = size_of(params, "w");
    read_window(params, &window);
    const int format = is_native(params, true) ? NC1HWC0 : 0;
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    const int64_t in[] = {n, c, h, w};
    const int64_t out[] = {n, c, windows_along(&window, h), windows_along(&window, w)};
    leo_status status = accuracy_add_stored(chip, &all, dtype, 4, in, format);
    if (status == LEO_OK) {
        status = accuracy_add_stored(chip, &all, dtype, 4, out, format);
    }
    if (status == LEO_OK) {
        // The operator prescribes the shape of its mask.
        const int64_t mask[] = {n, c, window.size[0] * window.size[1],
                                ((out[2] * out[3] + 15) / 16 + 1) * 32};
        status = accuracy_add_stored(chip, &all, LEO_DTYPE_S8, 4, mask, 0);
    }
    return accuracy_measure(chip, run_maxpool, &all, &window, status, &result->record);
}

leo_status accuracy_run_task_gap(struct accuracy_chip *chip, struct accuracy_params *params,
                                 struct accuracy_result *result)
{
    struct accuracy_tensors all = {0};
    struct leo_rt_profile_task tasks[8];
    size_t count = 0;
    (void)accuracy_params_number(params, "stream", 1, 1, 1);
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status = accuracy_add_matrix(chip, &all, LEO_DTYPE_F32, 1, 128);
    if (status == LEO_OK) {
        status = accuracy_add_matrix(chip, &all, LEO_DTYPE_F16, 1, 128);
    }
    if (status == LEO_OK) {
        status = accuracy_begin(chip, run_cast, &all, NULL);
    }
    if (status == LEO_OK) {
        for (int i = 0; status == LEO_OK && i < 2; i++) {
            status = run_cast(chip, &all, NULL);
        }
        leo_status end = accuracy_finish(chip, tasks, 8, &count);
        status = leo_status_first(status, end);
    }
    if (status == LEO_OK && count == 2) {
        result->record = tasks[0].record;
        result->gap_us = (double)(tasks[1].record.start_ns - tasks[0].record.end_ns) / 1e3;
    }
    accuracy_free_tensors(chip, &all);
    return status;
}
