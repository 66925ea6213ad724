/* SPDX-License-Identifier: Apache-2.0 */
#include "accuracy_class.h"

#include <stddef.h>
#include <string.h>

/* The first row whose text begins the workload's name counts. */
static const struct {
    const char *start, *class;
} table[] = {
    {"network", "networks"},
    {"op_conv", "convolutions"},
    {"op_batch_mat_mul", "products"},
    {"op_matmul", "products"},
    {"op_mm", "products"},
    {"op_addm", "products"},
    {"op_bmm", "products"},
    {"op_grouped", "products"},
    {"op_flash", "attention"},
    {"op_prompt_flash", "attention"},
    {"op_incre_flash", "attention"},
    {"op_softmax", "norms"},
    {"op_log_softmax", "norms"},
    {"op_layer_norm", "norms"},
    {"op_rms_norm", "norms"},
    {"op_group_norm", "norms"},
    {"op_batch_norm", "norms"},
    {"op_add_rms_norm", "norms"},
    {"op_sort", "sorting"},
    {"op_topk", "sorting"},
    {"op_argsort", "sorting"},
    {"op_amax", "reductions"},
    {"op_amin", "reductions"},
    {"op_mean", "reductions"},
    {"op_reduce", "reductions"},
    {"op_sum", "reductions"},
    {"op_max_pool", "pooling"},
    {"op_maxpool", "pooling"},
    {"op_avg_pool", "pooling"},
    {"op_inplace_copy", "copies"},
    {"op_cast", "copies"},
    {"op_cat", "copies"},
    {"copy", "copies"},
    {"collective", "collectives"},
    {"op_embedding", "indexing"},
    {"op_index", "indexing"},
    {"op_gather", "indexing"},
    {"op_momentum", "optimizers"},
    {"op_apply_adam", "optimizers"},
    {"op_add", "elementwise"},
    {"op_mul", "elementwise"},
    {"op_sub", "elementwise"},
    {"op_div", "elementwise"},
    {"op_relu", "elementwise"},
    {"op_gelu", "elementwise"},
    {"op_swi_glu", "elementwise"},
    {"op_cos", "elementwise"},
    {"op_sin", "elementwise"},
    {"op_exp", "elementwise"},
    {"op_sigmoid", "elementwise"},
    {"op_tanh", "elementwise"},
    {"op_inplace_zero", "elementwise"},
    {"op_", "other"},
};

const char *accuracy_class(const char *workload)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strncmp(workload, table[i].start, strlen(table[i].start)) == 0) {
            return table[i].class;
        }
    }
    return "instructions";
}
