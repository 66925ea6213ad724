/* SPDX-License-Identifier: Apache-2.0 */
#include "folds.h"

#include <leo/alloc.h>
#include <math.h>
#include <string.h>

static bool is_output(const struct onnx_import *import, const char *name)
{
    for (size_t i = 0; i < import->output_count; i++) {
        if (strcmp(import->outputs[i], name) == 0) {
            return true;
        }
    }
    return false;
}

// The one node that reads a tensor, which is no output; -1: there is none or are several.
static long only_reader(const struct onnx_import *import, const char *name)
{
    const OnnxFile__Graph *graph = import->graph;
    long reader = -1;
    for (size_t i = 0; i < graph->n_node; i++) {
        for (size_t k = 0; k < graph->node[i]->n_input; k++) {
            if (strcmp(graph->node[i]->input[k], name) == 0) {
                if (reader >= 0) {
                    return -1;
                }
                reader = (long)i;
            }
        }
    }
    return is_output(import, name) ? -1 : reader;
}

static const struct onnx_tensor *known_floats(struct onnx_import *import, const char *name)
{
    const struct onnx_tensor *tensor = onnx_find(import, name);
    return tensor && tensor->known && tensor->dtype == LEO_DTYPE_F32 ? tensor : NULL;
}

static bool is_known_norm(struct onnx_import *import, const OnnxFile__Node *node, const char *name)
{
    if (strcmp(node->op_type, "BatchNormalization") != 0 || node->n_input < 5 ||
        strcmp(node->input[0], name) != 0) {
        return false;
    }
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (node->attribute[i]->name && strcmp(node->attribute[i]->name, "training_mode") == 0 &&
            node->attribute[i]->i) {
            return false;
        }
    }
    bool known = true;
    for (size_t k = 1; k < 5; k++) {
        known = known && known_floats(import, node->input[k]);
    }
    return known;
}

bool onnx_norm_factors(struct onnx_import *import, const OnnxFile__Node *node, int64_t channels,
                       float **factor, float **summand)
{
    const float *known[4];
    float epsilon = 1e-5f;
    for (size_t k = 0; k < 4; k++) {
        const struct onnx_tensor *tensor = onnx_find(import, node->input[k + 1]);
        if (!tensor || !tensor->known || onnx_count(tensor) != channels) {
            onnx_fail(import, "its %zu. input must be known and have a number a channel", k + 2);
            return false;
        }
        known[k] = tensor->known;
    }
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (node->attribute[i]->name && strcmp(node->attribute[i]->name, "epsilon") == 0) {
            epsilon = node->attribute[i]->f;
        }
    }
    *factor = leo_calloc((size_t)channels, sizeof(float));
    *summand = leo_calloc((size_t)channels, sizeof(float));
    for (int64_t c = 0; *factor && *summand && c < channels; c++) {
        (*factor)[c] = known[0][c] / sqrtf(known[3][c] + epsilon);
        (*summand)[c] = known[1][c] - known[2][c] * (*factor)[c];
    }
    if (!*factor || !*summand) {
        onnx_fail(import, "out of host memory");
    }
    return *factor && *summand;
}

static void scale_row(const struct onnx_rows *rows, int64_t c, float factor)
{
    for (int64_t i = 0; i < rows->each; i++) {
        rows->weights[c * rows->each + i] *= factor;
    }
    rows->biases[c] *= factor;
}

static void fold_norm(struct onnx_import *import, const OnnxFile__Node *norm,
                      const struct onnx_rows *rows)
{
    float *factor = NULL, *summand = NULL;
    if (onnx_norm_factors(import, norm, rows->channels, &factor, &summand)) {
        for (int64_t c = 0; c < rows->channels; c++) {
            scale_row(rows, c, factor[c]);
            rows->biases[c] += summand[c];
        }
    }
    leo_free(factor);
    leo_free(summand);
}

// Whether a tensor is a number, or one a channel where the result's shape has its channels.
static bool is_by_channel(const struct onnx_tensor *tensor, const struct onnx_rows *rows)
{
    if (onnx_count(tensor) == 1) {
        return tensor->rank <= 2 + rows->behind;
    }
    if (tensor->rank <= rows->behind || tensor->rank > 2 + rows->behind ||
        onnx_count(tensor) != rows->channels) {
        return false;
    }
    return tensor->dim[tensor->rank - 1 - rows->behind] == rows->channels;
}

/* The known operand of Mul, Div, Add or Sub with the tensor `name`; NULL: it is no such node. */
static const struct onnx_tensor *known_operand(struct onnx_import *import,
                                               const OnnxFile__Node *node, const char *name)
{
    const bool either = strcmp(node->op_type, "Mul") == 0 || strcmp(node->op_type, "Add") == 0,
               first = strcmp(node->op_type, "Div") == 0 || strcmp(node->op_type, "Sub") == 0;
    if (node->n_input != 2 || !(either || first) || (first && strcmp(node->input[0], name) != 0)) {
        return NULL;
    }
    return known_floats(import, node->input[strcmp(node->input[0], name) == 0]);
}

static void fold_operand(const char *type, const struct onnx_tensor *operand,
                         const struct onnx_rows *rows)
{
    const float *known = operand->known;
    const bool one = onnx_count(operand) == 1;
    for (int64_t c = 0; c < rows->channels; c++) {
        const float number = known[one ? 0 : c];
        switch (type[0]) {
        case 'M':
            scale_row(rows, c, number);
            break;
        case 'D':
            scale_row(rows, c, 1 / number);
            break;
        case 'A':
            rows->biases[c] += number;
            break;
        default:
            rows->biases[c] -= number;
        }
    }
}

// Folds the node behind `name`, if it is one of them: its result's name; NULL: it is none.
static const char *fold_one(struct onnx_import *import, const struct onnx_rows *rows,
                            const char *name)
{
    const long reader = only_reader(import, name);
    const OnnxFile__Node *node = reader < 0 ? NULL : import->graph->node[reader];
    if (!node || !node->op_type || node->n_output != 1 || import->skipped[reader]) {
        return NULL;
    }
    const struct onnx_tensor *operand = known_operand(import, node, name);
    if (is_known_norm(import, node, name)) {
        fold_norm(import, node, rows);
    } else if (operand && is_by_channel(operand, rows)) {
        fold_operand(node->op_type, operand, rows);
    } else {
        return NULL;
    }
    import->skipped[reader] = true;
    import->build.model.nodes[reader].into = import->build.node;
    return node->output[0];
}

const char *onnx_fold_behind(struct onnx_import *import, const struct onnx_rows *rows)
{
    const char *last = NULL;
    for (const char *name = import->node->output[0]; name && !import->build.failed;) {
        name = fold_one(import, rows, name);
        last = name ? name : last;
    }
    return last;
}
