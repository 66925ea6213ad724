/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdlib.h>

enum program {
    MATMUL,
    ADD,
    RELU,
    SOFTMAX_XENT,
    SOFTMAX_XENT_GRAD,
    COLUMN_SUM,
    CAST,
    MOMENTUM_SGD,
    PROGRAMS
};

// Defined by the files that leo_device_program() makes.
extern const unsigned char op_matmul_1001_elf[], op_matmul_2201_elf[];
extern const size_t op_matmul_1001_elf_bytes, op_matmul_2201_elf_bytes;
extern const unsigned char op_add_1001_elf[], op_add_2201_elf[];
extern const size_t op_add_1001_elf_bytes, op_add_2201_elf_bytes;
extern const unsigned char op_relu_1001_elf[], op_relu_2201_elf[];
extern const size_t op_relu_1001_elf_bytes, op_relu_2201_elf_bytes;
extern const unsigned char op_softmax_xent_1001_elf[], op_softmax_xent_2201_elf[];
extern const size_t op_softmax_xent_1001_elf_bytes, op_softmax_xent_2201_elf_bytes;
extern const unsigned char op_softmax_xent_grad_1001_elf[], op_softmax_xent_grad_2201_elf[];
extern const size_t op_softmax_xent_grad_1001_elf_bytes, op_softmax_xent_grad_2201_elf_bytes;
extern const unsigned char op_column_sum_1001_elf[], op_column_sum_2201_elf[];
extern const size_t op_column_sum_1001_elf_bytes, op_column_sum_2201_elf_bytes;
extern const unsigned char op_cast_1001_elf[], op_cast_2201_elf[];
extern const size_t op_cast_1001_elf_bytes, op_cast_2201_elf_bytes;
extern const unsigned char op_momentum_sgd_1001_elf[], op_momentum_sgd_2201_elf[];
extern const size_t op_momentum_sgd_1001_elf_bytes, op_momentum_sgd_2201_elf_bytes;

/** One program for both architectures. Sizes are not constants of this file, hence pointers. */
struct entry {
    const char *name;
    const unsigned char *coupled, *split;
    const size_t *coupled_bytes, *split_bytes;
};

static const struct entry entries[PROGRAMS] = {
    [MATMUL] = {"matmul", op_matmul_1001_elf, op_matmul_2201_elf, &op_matmul_1001_elf_bytes,
                &op_matmul_2201_elf_bytes},
    [ADD] = {"add", op_add_1001_elf, op_add_2201_elf, &op_add_1001_elf_bytes,
             &op_add_2201_elf_bytes},
    [RELU] = {"relu", op_relu_1001_elf, op_relu_2201_elf, &op_relu_1001_elf_bytes,
              &op_relu_2201_elf_bytes},
    [SOFTMAX_XENT] = {"softmax_xent", op_softmax_xent_1001_elf, op_softmax_xent_2201_elf,
                      &op_softmax_xent_1001_elf_bytes, &op_softmax_xent_2201_elf_bytes},
    [SOFTMAX_XENT_GRAD] = {"softmax_xent_grad", op_softmax_xent_grad_1001_elf,
                           op_softmax_xent_grad_2201_elf, &op_softmax_xent_grad_1001_elf_bytes,
                           &op_softmax_xent_grad_2201_elf_bytes},
    [COLUMN_SUM] = {"column_sum", op_column_sum_1001_elf, op_column_sum_2201_elf,
                    &op_column_sum_1001_elf_bytes, &op_column_sum_2201_elf_bytes},
    [CAST] = {"cast", op_cast_1001_elf, op_cast_2201_elf, &op_cast_1001_elf_bytes,
              &op_cast_2201_elf_bytes},
    [MOMENTUM_SGD] = {"momentum_sgd", op_momentum_sgd_1001_elf, op_momentum_sgd_2201_elf,
                      &op_momentum_sgd_1001_elf_bytes, &op_momentum_sgd_2201_elf_bytes},
};

static const struct {
    enum program program;
    const char *symbol;
} kernels[OP_KERNELS] = {
    [OP_KERNEL_MATMUL] = {MATMUL, "op_matmul"},
    [OP_KERNEL_ADD_F16] = {ADD, "op_add_f16"},
    [OP_KERNEL_ADD_F32] = {ADD, "op_add_f32"},
    [OP_KERNEL_RELU_F16] = {RELU, "op_relu_f16"},
    [OP_KERNEL_RELU_F32] = {RELU, "op_relu_f32"},
    [OP_KERNEL_RELU_GRAD_F16] = {RELU, "op_relu_grad_f16"},
    [OP_KERNEL_RELU_GRAD_F32] = {RELU, "op_relu_grad_f32"},
    [OP_KERNEL_SOFTMAX_XENT] = {SOFTMAX_XENT, "op_softmax_xent"},
    [OP_KERNEL_SOFTMAX_XENT_GRAD_F16] = {SOFTMAX_XENT_GRAD, "op_softmax_xent_grad_f16"},
    [OP_KERNEL_SOFTMAX_XENT_GRAD_F32] = {SOFTMAX_XENT_GRAD, "op_softmax_xent_grad_f32"},
    [OP_KERNEL_COLUMN_SUM_F16] = {COLUMN_SUM, "op_column_sum_f16"},
    [OP_KERNEL_COLUMN_SUM_F32] = {COLUMN_SUM, "op_column_sum_f32"},
    [OP_KERNEL_CAST_F32_F16] = {CAST, "op_cast_f32_f16"},
    [OP_KERNEL_CAST_F16_F32] = {CAST, "op_cast_f16_f32"},
    [OP_KERNEL_MOMENTUM_SGD_F16] = {MOMENTUM_SGD, "op_momentum_sgd_f16"},
    [OP_KERNEL_MOMENTUM_SGD_F32] = {MOMENTUM_SGD, "op_momentum_sgd_f32"},
};

unsigned op_program_count(void)
{
    return PROGRAMS;
}

const char *op_program_find(enum op_kernel kernel, uint32_t arch, unsigned *program,
                            struct op_image *image)
{
    const struct entry *entry = &entries[kernels[kernel].program];
    *program = kernels[kernel].program;
    *image = arch == 1001 ? (struct op_image){entry->name, entry->coupled, *entry->coupled_bytes}
                          : (struct op_image){entry->name, entry->split, *entry->split_bytes};
    return kernels[kernel].symbol;
}
