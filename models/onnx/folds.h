/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that are folded into the weights of the node before them. */
#pragma once

#include "import.h"

/** Weights by row: a row makes one channel of the result. They are changed in place. */
struct onnx_rows {
    int64_t channels, each; /**< rows; numbers of a row */
    unsigned behind;        /**< dimensions of the result behind its channels */
    float *weights, *biases;
};

/**
 * Folds the nodes behind the current one that multiply or add known numbers by channel, as long as
 * nothing else reads what is between: normalisations, Mul, Div, Add, Sub. They are skipped then.
 * The name of the last one's result; NULL: there is none.
 */
const char *onnx_fold_behind(struct onnx_import *import, const struct onnx_rows *rows);

/** What a normalisation in inference multiplies and adds, by channel; both are the caller's
 * (leo_free), also if it failed. */
bool onnx_norm_factors(struct onnx_import *import, const OnnxFile__Node *node, int64_t channels,
                       float **factor, float **summand);
