/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <leo/dtype.h>
#include <stdlib.h>

int64_t accuracy_stored(unsigned rank, const int64_t *dim, int format)
{
    int64_t count = 1;
    for (unsigned i = 0; i < rank; i++) {
        // Channels, and in FRACTAL_Z output channels.
        const bool grouped = format != 0 && (i == 1 || (i == 0 && format != NC1HWC0));
        count *= grouped ? (dim[i] + 15) / 16 * 16 : dim[i];
    }
    return count;
}

leo_status accuracy_add_stored(struct accuracy_chip *chip, struct accuracy_tensors *all,
                               enum leo_dtype dtype, unsigned rank, const int64_t *dim, int format)
{
    if (all->count == ACCURACY_MAX_TENSORS) {
        return leo_rt_fail(LEO_ERR_RANGE, "more than %d tensors in one row", ACCURACY_MAX_TENSORS);
    }
    struct leo_op_tensor *tensor = &all->tensor[all->count];
    *tensor = leo_op_tensor(0, dtype, rank, dim);
    tensor->format = format;
    const size_t bytes = (size_t)accuracy_stored(rank, dim, format) * (leo_dtype_bits(dtype) / 8);
    leo_status status =
        leo_rt_memory_alloc(chip->device, bytes + LEO_OP_READ_MARGIN, &tensor->addr);
    all->count += status == LEO_OK;
    // The checker tells reads of what nothing wrote. Else nothing is written: it would lie in the
    // L2.
    const char *check = getenv("LEO_CHECK");
    return status == LEO_OK && check && *check
               ? leo_rt_memset_async(chip->stream, tensor->addr, 0, bytes)
               : status;
}

leo_status accuracy_add_matrix(struct accuracy_chip *chip, struct accuracy_tensors *all,
                               enum leo_dtype dtype, uint32_t rows, uint32_t columns)
{
    const int64_t dim[] = {rows, columns};
    return accuracy_add_stored(chip, all, dtype, 2, dim, 0);
}

void accuracy_free_tensors(struct accuracy_chip *chip, struct accuracy_tensors *all)
{
    for (unsigned i = 0; i < all->count; i++) {
        (void)leo_rt_memory_free(chip->device, all->tensor[i].addr);
    }
}

leo_status accuracy_begin(struct accuracy_chip *chip, accuracy_run_fn run,
                          const struct accuracy_tensors *all, const void *options)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < chip->warm; i++) {
        status = run(chip, all, options);
    }
    if (status == LEO_OK) {
        status = accuracy_chip_settle(chip);
    }
    if (status == LEO_OK && all->before) {
        status = all->before(chip, all);
    }
    if (status == LEO_OK && all->before) {
        status = leo_rt_stream_synchronize(chip->stream, -1);
    }
    return status == LEO_OK ? leo_rt_profile_start(chip->device, 64, 0) : status;
}

leo_status accuracy_finish(struct accuracy_chip *chip, struct leo_rt_profile_task *tasks,
                           size_t room, size_t *count)
{
    uint64_t lost;
    leo_status status = leo_rt_stream_synchronize(chip->stream, -1);
    if (status == LEO_OK) {
        status = leo_rt_profile_tasks(chip->device, tasks, room, count, &lost);
    }
    // The first use of an operator also copies its program to the device: kernels and fills count.
    size_t kernels = 0;
    for (size_t i = 0; status == LEO_OK && i < *count && i < room; i++) {
        if (tasks[i].record.opcode == LEO_SQE_OP_KERNEL ||
            tasks[i].record.opcode == LEO_SQE_OP_FILL) {
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
    leo_status status = accuracy_finish(chip, tasks, 64, &count);
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
        for (unsigned pipe = 0; pipe < sizeof(sum->busy) / sizeof(sum->busy[0]); pipe++) {
            sum->busy[pipe] += record->busy[pipe];
        }
        for (unsigned s = 0; s < sizeof(sum->stall) / sizeof(sum->stall[0]); s++) {
            sum->stall[s] += record->stall[s];
        }
        sum->gm_read += record->gm_read;
        sum->gm_write += record->gm_write;
        sum->l2_hits += record->l2_hits;
        sum->hbm_read += record->hbm_read;
        sum->hbm_write += record->hbm_write;
    }
    return count ? LEO_OK
                 : leo_rt_fail(LEO_ERR_NOT_FOUND, "it launches neither a kernel nor a fill");
}

leo_status accuracy_measure(struct accuracy_chip *chip, accuracy_run_fn run,
                            struct accuracy_tensors *all, const void *options, leo_status status,
                            struct leo_task_record *record)
{
    if (status == LEO_OK) {
        status = accuracy_begin(chip, run, all, options);
    }
    if (status == LEO_OK) {
        status = run(chip, all, options);
        leo_status end = finish_sum(chip, record);
        status = leo_status_first(status, end);
    }
    accuracy_free_tensors(chip, all);
    return status;
}
