/* SPDX-License-Identifier: Apache-2.0 */
/* Device programs of a device, loaded when first used, and how work is split over its cores. */
#pragma once

#include "../chip/chip.h"
#include <leo/op.h>

/** Kernels by their symbol: op_<name>. */
enum op_kernel {
    OP_KERNEL_MATMUL,
    OP_KERNEL_ADD_F16,
    OP_KERNEL_ADD_F32,
    OP_KERNEL_RELU_F16,
    OP_KERNEL_RELU_F32,
    OP_KERNEL_RELU_GRAD_F16,
    OP_KERNEL_RELU_GRAD_F32,
    OP_KERNEL_SOFTMAX_XENT,
    OP_KERNEL_SOFTMAX_XENT_GRAD_F16,
    OP_KERNEL_SOFTMAX_XENT_GRAD_F32,
    OP_KERNEL_COLUMN_SUM_F16,
    OP_KERNEL_COLUMN_SUM_F32,
    OP_KERNEL_CAST_F32_F16,
    OP_KERNEL_CAST_F16_F32,
    OP_KERNEL_MOMENTUM_SGD_F16,
    OP_KERNEL_MOMENTUM_SGD_F32,
};

enum { OP_KERNELS = OP_KERNEL_MOMENTUM_SGD_F32 + 1 };

/** A device program: its image for each architecture and the kernels in it. */
struct op_program;

struct leo_op_context {
    struct leo_rt_device *device;
    struct leo_drv_caps caps;
    const struct op_chip *chip;
    struct leo_rt_module **modules; /**< by program, NULL = not loaded yet */
    struct leo_rt_kernel *kernels[OP_KERNELS];
};

/** Cores that run vector operators. */
uint32_t op_context_vector_cores(const struct leo_op_context *context);

/** Launches with one argument, a structure by value. `tag` names the operator in profiles. */
LEO_MUST_CHECK leo_status op_context_launch(struct leo_op_context *context,
                                            struct leo_rt_stream *stream, enum op_kernel kernel,
                                            uint32_t blocks, const void *args, const char *tag);

/** How `count` things are shared out: every block but the last has `per_block`, a multiple of
 * `granule`. */
struct op_split {
    uint32_t blocks;
    uint64_t per_block;
};
struct op_split op_split_make(uint64_t count, uint64_t granule, uint64_t least, uint32_t cores);
