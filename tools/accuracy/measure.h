/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of a workload that is an operator of the library, and its time. */
#pragma once

#include "accuracy.h"

enum { ACCURACY_MAX_TENSORS = 64 };

/** Device tensors of one workload, freed together. */
struct accuracy_tensors {
    struct leo_op_tensor tensor[ACCURACY_MAX_TENSORS];
    unsigned count;
    uint64_t inputs; /**< bit by tensor: what the operator reads and does not write */
    /** If any: what runs between the warm runs and the measured one. */
    leo_status (*before)(struct accuracy_chip *chip, const struct accuracy_tensors *all);
};

/* Formats as aclFormat numbers them. */
enum { NC1HWC0 = 3, FRACTAL_Z = 4, FRACTAL_NZ = 29 };

/** Elements that a tensor takes in memory: a format (0: rows) stores channels in whole groups. */
int64_t accuracy_stored(unsigned rank, const int64_t *dim, int format);
/** Appends a tensor in a format (0: rows). Its elements are zero, as a new chip's memory is. */
leo_status accuracy_add_stored(struct accuracy_chip *chip, struct accuracy_tensors *all,
                               enum leo_dtype dtype, unsigned rank, const int64_t *dim, int format);
leo_status accuracy_add_matrix(struct accuracy_chip *chip, struct accuracy_tensors *all,
                               enum leo_dtype dtype, uint32_t rows, uint32_t columns);
void accuracy_free_tensors(struct accuracy_chip *chip, struct accuracy_tensors *all);

/** One run of what a row measures. */
typedef leo_status (*accuracy_run_fn)(struct accuracy_chip *chip,
                                      const struct accuracy_tensors *all, const void *options);

/** Warm runs, then recording starts. */
leo_status accuracy_begin(struct accuracy_chip *chip, accuracy_run_fn run,
                          const struct accuracy_tensors *all, const void *options);
/** Waits, ends recording and takes the records of the kernels launched since accuracy_begin. */
leo_status accuracy_finish(struct accuracy_chip *chip, struct leo_rt_profile_task *tasks,
                           size_t room, size_t *count);

/** Warm runs and the measured one; frees the tensors. `status`: of what was done so far. An
 * operator may be several tasks: the record tells their sum, from the first start to the last end.
 */
leo_status accuracy_measure(struct accuracy_chip *chip, accuracy_run_fn run,
                            struct accuracy_tensors *all, const void *options, leo_status status,
                            struct leo_task_record *record);
