/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads that are operators of the library. */
#include "accuracy.h"

#include <string.h>

#define MAX_TENSORS 4

static const char *const f16_only[] = {"f16", NULL};
static const char *const f32_only[] = {"f32", NULL};
static const char *const float_types[] = {"f16", "f32", NULL};
static const char *const residency[] = {"recently_written", NULL};

/** Device tensors of one workload, freed together. */
struct tensors {
    struct leo_op_tensor tensor[MAX_TENSORS];
    unsigned count;
};

static leo_status add_tensor(struct accuracy_chip *chip, struct tensors *all, enum leo_dtype dtype,
                             uint32_t rows, uint32_t cols)
{
    struct leo_op_tensor *tensor = &all->tensor[all->count];
    size_t bytes = (size_t)rows * cols * (dtype == LEO_DTYPE_F16 ? 2 : 4) + 32;
    *tensor = (struct leo_op_tensor){.dtype = dtype, .rank = 2, .dim = {rows, cols}};
    leo_status status = leo_rt_memory_alloc(chip->device, bytes, &tensor->addr);
    all->count += status == LEO_OK;
    return status;
}

static void free_tensors(struct accuracy_chip *chip, struct tensors *all)
{
    for (unsigned i = 0; i < all->count; i++) {
        (void)leo_rt_memory_free(chip->device, all->tensor[i].addr);
    }
}

/** One run of what a row measures. */
typedef leo_status (*run_fn)(struct accuracy_chip *chip, const struct tensors *all,
                             const void *options);

// Warm runs, then recording starts; `finish` takes the records of everything launched from then on.
static leo_status begin(struct accuracy_chip *chip, run_fn run, const struct tensors *all,
                        const void *options)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < chip->warm; i++) {
        status = run(chip, all, options);
    }
    if (status == LEO_OK) {
        status = leo_rt_stream_synchronize(chip->stream, -1);
    }
    return status == LEO_OK ? leo_rt_profile_start(chip->device, 64, 0) : status;
}

static leo_status finish(struct accuracy_chip *chip, struct leo_rt_profile_task *tasks, size_t room,
                         size_t *count)
{
    uint64_t lost;
    leo_status status = leo_rt_stream_synchronize(chip->stream, -1);
    if (status == LEO_OK) {
        status = leo_rt_profile_tasks(chip->device, tasks, room, count, &lost);
    }
    // The first use of an operator also copies its program to the device: kernels alone count.
    size_t kernels = 0;
    for (size_t i = 0; status == LEO_OK && i < *count && i < room; i++) {
        if (tasks[i].record.opcode == LEO_SQE_OP_KERNEL) {
            tasks[kernels++] = tasks[i];
        }
    }
    *count = kernels;
    leo_status stopped = leo_rt_profile_stop(chip->device);
    return status == LEO_OK ? stopped : status;
}

// One operator may be several tasks: the record tells their sum from the first start to the last
// end.
static leo_status finish_sum(struct accuracy_chip *chip, struct leo_task_record *sum)
{
    struct leo_rt_profile_task tasks[64];
    size_t count = 0;
    leo_status status = finish(chip, tasks, 64, &count);
    if (status != LEO_OK) {
        return status;
    }
    for (size_t i = 0; i < count && i < 64; i++) {
        const struct leo_task_record *record = &tasks[i].record;
        if (sum->end_ns == 0) {
            *sum = *record;
            continue;
        }
        sum->end_ns = record->end_ns;
        sum->core_cycles += record->core_cycles;
        sum->cores = record->cores > sum->cores ? record->cores : sum->cores;
        for (unsigned pipe = 0; pipe < 8; pipe++) {
            sum->busy[pipe] += record->busy[pipe];
        }
    }
    return count ? LEO_OK : LEO_ERR_NOT_FOUND;
}

// Warm runs and the measured one.
static leo_status measure(struct accuracy_chip *chip, run_fn run, const struct tensors *all,
                          const void *options, struct leo_task_record *record)
{
    leo_status status = begin(chip, run, all, options);
    if (status != LEO_OK) {
        return status;
    }
    status = run(chip, all, options);
    leo_status end = finish_sum(chip, record);
    return status == LEO_OK ? end : status;
}

static leo_status run_cast(struct accuracy_chip *chip, const struct tensors *all,
                           const void *options)
{
    (void)options;
    return leo_op_cast(chip->ops, chip->stream, &all->tensor[0], &all->tensor[1], NULL);
}

static leo_status run_momentum(struct accuracy_chip *chip, const struct tensors *all,
                               const void *options)
{
    (void)options;
    return leo_op_momentum_sgd(chip->ops, chip->stream, &all->tensor[0], &all->tensor[1],
                               &all->tensor[2], 1, 0.1f, 0.9f);
}

static leo_status run_product(struct accuracy_chip *chip, const struct tensors *all,
                              const void *options)
{
    return leo_op_matmul(chip->ops, chip->stream, &all->tensor[0], &all->tensor[1], options,
                         &all->tensor[2]);
}

static enum leo_dtype dtype_of(const char *word)
{
    return word && strcmp(word, "f16") == 0 ? LEO_DTYPE_F16 : LEO_DTYPE_F32;
}

leo_status accuracy_run_op_cast(struct accuracy_chip *chip, struct accuracy_params *params,
                                struct accuracy_result *result)
{
    struct tensors all = {0};
    enum leo_dtype from = dtype_of(accuracy_params_word(params, "from", float_types));
    enum leo_dtype to = dtype_of(accuracy_params_word(params, "to", float_types));
    uint32_t rows = (uint32_t)accuracy_params_number(params, "rows", 1, 1, 1u << 20);
    uint32_t cols = (uint32_t)accuracy_params_number(params, "cols", 1, 1, 1u << 20);
    uint64_t cores = accuracy_params_number(params, "cores", 0, 1, 1024);
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status = add_tensor(chip, &all, from, rows, cols);
    if (status == LEO_OK) {
        status = add_tensor(chip, &all, to, rows, cols);
    }
    if (status == LEO_OK) {
        status = measure(chip, run_cast, &all, NULL, &result->record);
    }
    if (status == LEO_OK && cores && result->record.cores != cores) {
        snprintf(params->error, sizeof(params->error),
                 "the operator used %u cores, the row says %llu", result->record.cores,
                 (unsigned long long)cores);
        status = LEO_ERR_MISMATCH;
    }
    free_tensors(chip, &all);
    return status;
}

leo_status accuracy_run_op_momentum(struct accuracy_chip *chip, struct accuracy_params *params,
                                    struct accuracy_result *result)
{
    struct tensors all = {0};
    (void)accuracy_params_word(params, "dtype", f32_only);
    uint32_t rows = (uint32_t)accuracy_params_number(params, "rows", 1, 1, 1u << 20);
    uint32_t cols = (uint32_t)accuracy_params_number(params, "cols", 1, 1, 1u << 20);
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status = LEO_OK;
    for (int i = 0; status == LEO_OK && i < 3; i++) {
        status = add_tensor(chip, &all, LEO_DTYPE_F32, rows, cols);
    }
    if (status == LEO_OK) {
        status = measure(chip, run_momentum, &all, NULL, &result->record);
    }
    free_tensors(chip, &all);
    return status;
}

static leo_status run_matmul(struct accuracy_chip *chip, struct accuracy_params *params, bool relu,
                             struct accuracy_result *result)
{
    struct tensors all = {0};
    struct leo_op_matmul_opts opts = {.relu = relu};
    (void)accuracy_params_word(params, "dtype", f16_only);
    uint32_t m = (uint32_t)accuracy_params_number(params, "m", 1, 1, 1u << 16);
    uint32_t k = (uint32_t)accuracy_params_number(params, "k", 1, 1, 1u << 16);
    uint32_t n = (uint32_t)accuracy_params_number(params, "n", 1, 1, 1u << 16);
    if (relu) {
        // As much of them as fits lies in L2 after a warm run.
        (void)accuracy_params_word(params, "weights", residency);
    }
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status = add_tensor(chip, &all, LEO_DTYPE_F16, m, k);
    if (status == LEO_OK) {
        status = add_tensor(chip, &all, LEO_DTYPE_F16, k, n);
    }
    if (status == LEO_OK) {
        status = add_tensor(chip, &all, LEO_DTYPE_F16, m, n);
    }
    if (status == LEO_OK) {
        status = measure(chip, run_product, &all, &opts, &result->record);
    }
    result->operations = 2.0 * m * n * k;
    free_tensors(chip, &all);
    return status;
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

leo_status accuracy_run_task_gap(struct accuracy_chip *chip, struct accuracy_params *params,
                                 struct accuracy_result *result)
{
    struct tensors all = {0};
    struct leo_rt_profile_task tasks[8];
    size_t count = 0;
    (void)accuracy_params_number(params, "stream", 1, 1, 1);
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status = add_tensor(chip, &all, LEO_DTYPE_F32, 1, 128);
    if (status == LEO_OK) {
        status = add_tensor(chip, &all, LEO_DTYPE_F16, 1, 128);
    }
    if (status == LEO_OK) {
        status = begin(chip, run_cast, &all, NULL);
    }
    if (status == LEO_OK) {
        for (int i = 0; status == LEO_OK && i < 2; i++) {
            status = run_cast(chip, &all, NULL);
        }
        leo_status end = finish(chip, tasks, 8, &count);
        status = status == LEO_OK ? end : status;
    }
    if (status == LEO_OK && count == 2) {
        result->record = tasks[0].record;
        result->gap_us = (double)(tasks[1].record.start_ns - tasks[0].record.end_ns) / 1e3;
    }
    free_tensors(chip, &all);
    return status;
}
