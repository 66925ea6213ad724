/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated time against published measurements: rows of a CSV file, each a workload with
 * parameters and a metric. */
#pragma once

#include <leo/op.h>
#include <leo/runtime.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define ACCURACY_MAX_PARAMS 32

/** One row of the file. Texts live as long as the file. */
struct accuracy_row {
    const char *id, *soc, *workload, *params, *metric, *unit, *source;
    double published;
};

struct accuracy_file {
    char *text;
    struct accuracy_row *row;
    size_t count;
};

/** Reads a file with the header id,soc,workload,params,metric,value,unit,source. On failure `error`
 * names the line. */
leo_status accuracy_file_read(const char *path, struct accuracy_file *file, char *error,
                              size_t error_bytes);
void accuracy_file_finish(struct accuracy_file *file);

/** key=value words of a row's params. `used` marks what a workload asked for, so that a typo does
 * not go unseen. */
struct accuracy_params {
    char text[512];
    const char *key[ACCURACY_MAX_PARAMS], *value[ACCURACY_MAX_PARAMS];
    bool used[ACCURACY_MAX_PARAMS];
    unsigned count;
    char error[256]; /**< first thing that was wrong, or empty */
};
void accuracy_params_parse(const char *text, struct accuracy_params *params);
/** A whole number (0x.. allowed) in [least, most]; `missing` if the key is absent. */
uint64_t accuracy_params_number(struct accuracy_params *params, const char *key, uint64_t missing,
                                uint64_t least, uint64_t most);
/** Whether the row gives the key at all. */
bool accuracy_params_has(const struct accuracy_params *params, const char *key);
/** `count` numbers joined by 'x': base=128x256x64. Every value becomes 0 on error. */
void accuracy_params_shape(struct accuracy_params *params, const char *key, uint32_t *out,
                           unsigned count);
/** A word out of a list, or NULL and an error. */
const char *accuracy_params_word(struct accuracy_params *params, const char *key,
                                 const char *const *words);
/** What the row gives, unread; NULL if the key is absent. */
const char *accuracy_params_text(struct accuracy_params *params, const char *key);
/** Sets `error`: `what` is wrong with the key's value. */
void accuracy_params_refuse(struct accuracy_params *params, const char *key, const char *what);
/** Asserts that every given key was used; false with `error` set otherwise. */
bool accuracy_params_end(struct accuracy_params *params);

/** A chip opened for one row: nothing is in its L2 but what the row's own runs leave there. */
struct accuracy_chip {
    char soc[64];
    unsigned warm; /**< runs before the one that is measured */
    bool others;   /**< then others fill the L2 with what they write */
    bool producer; /**< and the operator before writes the inputs */
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_op_context *ops;
    struct leo_caps caps;
};
leo_status accuracy_chip_open(struct accuracy_chip *chip, const char *soc);
void accuracy_chip_close(struct accuracy_chip *chip);
/** Behind the warm runs: what the row says of the L2 before the measured one; waits. */
leo_status accuracy_chip_settle(struct accuracy_chip *chip);

enum { ACCURACY_SHARES = 40 };

/** An operator's part of a network's step. */
struct accuracy_share {
    char name[32];
    unsigned kernels;
    double us;
};

/** What a workload measured. */
struct accuracy_result {
    struct leo_task_record record; /**< of the task measured */
    double gap_us;                 /**< task_gap: end of one task to start of the next */
    double operations; /**< instructions counted (cycles_per_op), or multiplications and additions
                          (tflops) */
    double kernels_us; /**< network: sum over the kernels of a step */
    struct accuracy_share share[ACCURACY_SHARES]; /**< network: largest first */
    unsigned shares;
};

/** Runs a workload. On failure `error` says why; LEO_ERR_UNSUPPORTED: not modelled. */
leo_status accuracy_workload_run(struct accuracy_chip *chip, const char *workload,
                                 struct accuracy_params *params, struct accuracy_result *result,
                                 char *error, size_t error_bytes);
/** The metric's value; false if the metric is unknown. */
bool accuracy_metric(const struct accuracy_chip *chip, const struct accuracy_result *result,
                     const char *metric, double *value);

struct vec_shape;
/** The shape of a vec_op row (workload_vec_op.c). False: `params` has the error. */
bool accuracy_read_vec_op(struct accuracy_params *params, uint32_t ub_bytes,
                          struct vec_shape *shape);

/* Workloads on their own device programs (workload_kernel.c) and on library operators
 * (workload_op.c). */
leo_status accuracy_run_stream_add(struct accuracy_chip *chip, struct accuracy_params *params,
                                   struct accuracy_result *result);
leo_status accuracy_run_ub_vadd(struct accuracy_chip *chip, struct accuracy_params *params,
                                struct accuracy_result *result);
leo_status accuracy_run_gm_to_ub(struct accuracy_chip *chip, struct accuracy_params *params,
                                 struct accuracy_result *result);
leo_status accuracy_run_gm_to_ub_shared(struct accuracy_chip *chip, struct accuracy_params *params,
                                        struct accuracy_result *result);
leo_status accuracy_run_gm_to_l1_nd2nz(struct accuracy_chip *chip, struct accuracy_params *params,
                                       struct accuracy_result *result);
leo_status accuracy_run_ub_nd2nz(struct accuracy_chip *chip, struct accuracy_params *params,
                                 struct accuracy_result *result);
leo_status accuracy_run_vec_op(struct accuracy_chip *chip, struct accuracy_params *params,
                               struct accuracy_result *result);
leo_status accuracy_run_matmul_tiled(struct accuracy_chip *chip, struct accuracy_params *params,
                                     struct accuracy_result *result);
leo_status accuracy_run_mmad_chain(struct accuracy_chip *chip, struct accuracy_params *params,
                                   struct accuracy_result *result);
leo_status accuracy_run_op_cast(struct accuracy_chip *chip, struct accuracy_params *params,
                                struct accuracy_result *result);
leo_status accuracy_run_op_conv2d(struct accuracy_chip *chip, struct accuracy_params *params,
                                  struct accuracy_result *result);
leo_status accuracy_run_op_conv2d_grad_filter(struct accuracy_chip *chip,
                                              struct accuracy_params *params,
                                              struct accuracy_result *result);
leo_status accuracy_run_op_conv2d_grad_input(struct accuracy_chip *chip,
                                             struct accuracy_params *params,
                                             struct accuracy_result *result);
leo_status accuracy_run_op_maxpool_argmax(struct accuracy_chip *chip,
                                          struct accuracy_params *params,
                                          struct accuracy_result *result);
leo_status accuracy_run_op_momentum(struct accuracy_chip *chip, struct accuracy_params *params,
                                    struct accuracy_result *result);
leo_status accuracy_run_op_matmul(struct accuracy_chip *chip, struct accuracy_params *params,
                                  struct accuracy_result *result);
leo_status accuracy_run_op_matmul_relu(struct accuracy_chip *chip, struct accuracy_params *params,
                                       struct accuracy_result *result);
/** A step of a network (workload_network.c). */
leo_status accuracy_run_network(struct accuracy_chip *chip, struct accuracy_params *params,
                                struct accuracy_result *result);
/** Any operator of the library by its name in words ("op_layer_norm": LayerNorm), on a row of its
 * parameters' names. LEO_ERR_UNSUPPORTED: there is none of that name. */
leo_status accuracy_run_any_op(struct accuracy_chip *chip, const char *workload,
                               struct accuracy_params *params, struct accuracy_result *result);
leo_status accuracy_run_copy(struct accuracy_chip *chip, struct accuracy_params *params,
                             struct accuracy_result *result);
leo_status accuracy_run_collective(struct accuracy_chip *chip, struct accuracy_params *params,
                                   struct accuracy_result *result);
leo_status accuracy_run_task_gap(struct accuracy_chip *chip, struct accuracy_params *params,
                                 struct accuracy_result *result);
