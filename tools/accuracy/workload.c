/* SPDX-License-Identifier: Apache-2.0 */
/* The workloads by name, and how their records become metrics. */
#include "accuracy.h"

#include <leo/host_model.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    leo_status (*run)(struct accuracy_chip *chip, struct accuracy_params *params,
                      struct accuracy_result *result);
    bool is_split; /**< its program is one for split chips */
} workloads[] = {
    {"stream_add", accuracy_run_stream_add, false},
    {"ub_vadd", accuracy_run_ub_vadd, false},
    {"gm_to_ub", accuracy_run_gm_to_ub, false},
    {"gm_to_ub_shared", accuracy_run_gm_to_ub_shared, false},
    {"gm_to_l1_nd2nz", accuracy_run_gm_to_l1_nd2nz, true},
    {"ub_nd2nz", accuracy_run_ub_nd2nz, false},
    {"vec_op", accuracy_run_vec_op, false},
    {"matmul_tiled", accuracy_run_matmul_tiled, false},
    {"mmad_chain", accuracy_run_mmad_chain, false},
    {"op_cast", accuracy_run_op_cast, false},
    {"op_conv2d", accuracy_run_op_conv2d, false},
    {"op_conv2d_grad_filter", accuracy_run_op_conv2d_grad_filter, false},
    {"op_conv2d_grad_input", accuracy_run_op_conv2d_grad_input, false},
    {"op_maxpool_argmax", accuracy_run_op_maxpool_argmax, false},
    {"op_momentum", accuracy_run_op_momentum, false},
    {"op_matmul", accuracy_run_op_matmul, false},
    {"op_matmul_relu", accuracy_run_op_matmul_relu, false},
    {"network", accuracy_run_network, false},
    {"copy", accuracy_run_copy, false},
    {"collective", accuracy_run_collective, false},
    {"task_gap", accuracy_run_task_gap, false},
};

static leo_status tell(const struct accuracy_params *params, leo_status status, char *error,
                       size_t error_bytes)
{
    if (params->error[0]) {
        snprintf(error, error_bytes, "%s", params->error);
    } else if (status != LEO_OK) {
        snprintf(error, error_bytes, "%s", leo_rt_last_error());
    }
    return status;
}

leo_status accuracy_workload_run(struct accuracy_chip *chip, const char *workload,
                                 struct accuracy_params *params, struct accuracy_result *result,
                                 char *error, size_t error_bytes)
{
    memset(result, 0, sizeof(*result));
    // A published time is one of many runs, or of a kernel among others: the L2 is full of
    // what was used before. warm=0: it is empty.
    chip->warm = (unsigned)accuracy_params_number(params, "warm", 1, 0, 100);
    if (accuracy_params_has(params, "before")) {
        static const char *const words[] = {"others", "producer", NULL};
        const char *word = accuracy_params_word(params, "before", words);
        chip->others = word != NULL;
        chip->producer = word && strcmp(word, "producer") == 0;
    }
    for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
        if (strcmp(workloads[i].name, workload) == 0) {
            if (workloads[i].is_split && chip->caps.vector_cores == 0) {
                snprintf(
                    error, error_bytes,
                    "the coupled chip (Ascend 910A) has no DMA that makes fractals: split chips "
                    "(Ascend 910B) only");
                return LEO_ERR_UNSUPPORTED;
            }
            if (chip->producer) {
                snprintf(error, error_bytes, "before=producer: of op_<name> rows alone");
                return LEO_ERR_INVALID_ARG;
            }
            return tell(params, workloads[i].run(chip, params, result), error, error_bytes);
        }
    }
    if (strncmp(workload, "op_", 3) == 0) {
        return tell(params, accuracy_run_any_op(chip, workload, params, result), error,
                    error_bytes);
    }
    snprintf(error, error_bytes, "workload not modelled");
    return LEO_ERR_UNSUPPORTED;
}

bool accuracy_metric(const struct accuracy_chip *chip, const struct accuracy_result *result,
                     const char *metric, double *value)
{
    static const struct {
        const char *name;
        enum leo_pipe pipe;
    } busy[] = {
        {"vec_busy_us", LEO_PIPE_V},     {"mac_busy_us", LEO_PIPE_M},
        {"mte1_busy_us", LEO_PIPE_MTE1}, {"mte2_busy_us", LEO_PIPE_MTE2},
        {"mte3_busy_us", LEO_PIPE_MTE3}, {"fixpipe_busy_us", LEO_PIPE_FIX},
        {"scalar_busy_us", LEO_PIPE_S},
    };
    const struct leo_task_record *record = &result->record;
    double task_us = (double)(record->end_ns - record->start_ns) / 1e3;
    double cores = record->cores ? record->cores : 1;
    // Busy time is reported as profilers do: the mean over the cores that took part.
    for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
        if (strcmp(metric, busy[i].name) == 0) {
            *value = (double)record->busy[busy[i].pipe] / cores / (chip->caps.clock_khz / 1e3);
            return true;
        }
    }
    if (strcmp(metric, "task_us") == 0) {
        *value = task_us;
    } else if (strcmp(metric, "eager_us") == 0) {
        // By events around many calls from a script: no shorter than the script takes for one.
        *value = fmax(task_us, (double)leo_rt_framework_operator_ns("torch_npu") / 1e3);
    } else if (strcmp(metric, "step_ms") == 0) {
        *value = task_us / 1e3;
    } else if (strcmp(metric, "aicore_ops_ms") == 0) {
        *value = result->kernels_us / 1e3;
    } else if (strcmp(metric, "total_cycles") == 0) {
        // Cube work alone, as the page the row comes from counts it.
        *value = (double)record->busy[LEO_PIPE_M] / cores;
    } else if (strcmp(metric, "cycles_per_op") == 0) {
        *value = (double)record->busy[LEO_PIPE_V] / result->operations;
    } else if (strcmp(metric, "gap_us") == 0) {
        *value = result->gap_us;
    } else if (strcmp(metric, "tflops") == 0) {
        *value = result->operations / task_us / 1e6;
    } else {
        return false;
    }
    return true;
}
