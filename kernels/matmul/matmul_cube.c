/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products on the cube. Operands are used where they are if the cube's loads can take them: rows or
 * columns without gaps between elements, any pitch; else they are copied. Sums are f32 in the order
 * of k, whatever the number of cores.
 */
#include "matmul_operands.h"

#include "../frame/whole.h"
#include "matmul_args.h"
#include "matmul_tiling.h"

#include <string.h>

enum {
    BLOCK_BYTES = 32,
    ROW_CYCLES = 25,      // of a load of one row: gm_small_interval, and the scalar unit's
    COPY_CYCLES = 4500,   // by a trace: a launch that copies,
    COPY_ROW_CYCLES = 90, // and each row of it
    MATRICES_MAX = 1 << 20,
};

/* Whether the coupled core, which loads rows one by one if they do not begin with a block of 32
 * bytes, does better with a copy whose rows do. `along_k`: rows have k. */
static bool copy_pays(const struct op_matmul_product *p, const struct op_tensor *tensor, bool left,
                      bool along_k)
{
    const int64_t cores = op_plan_cube_cores(p->plan);
    struct op_matmul_args args = {.m = (uint32_t)p->m, .n = (uint32_t)p->n, .k = (uint32_t)p->k};
    int64_t matrices = 1, rows = 1, bytes = p->unit;
    for (unsigned i = 0; i < tensor->rank; i++) {
        const int64_t count = tensor->stride[i] || i + 2 >= tensor->rank ? tensor->dim[i] : 1;
        rows *= i + 1 < tensor->rank ? count : 1;
        bytes *= count;
    }
    for (unsigned i = 0; i < p->batch_rank && matrices < MATRICES_MAX; i++) {
        matrices *= p->batch_dim[i];
    }
    args.a_pitch = args.k;
    args.b_pitch = args.n;
    args.batch_dim[0] = (uint32_t)op_least(matrices, MATRICES_MAX);
    args.batch_dim[1] = args.batch_dim[2] = 1;
    const struct op_chip *chip = op_plan_numbers(p->plan);
    const int64_t tiles = op_matmul_tiling(p->plan, p->unit, &args),
                  of_tile = left ? args.tile_m : args.tile_n,
                  loads = along_k ? of_tile * op_parts(p->k, args.k_chunk) : p->k,
                  copy = COPY_CYCLES + op_parts(rows, cores) * COPY_ROW_CYCLES +
                         2 * bytes / cores / chip->limits.matmul_read_rate;
    return op_parts(tiles, cores) * loads * ROW_CYCLES > copy;
}

static leo_status take_operand(const struct op_matmul_product *product,
                               const struct op_tensor *tensor, bool left,
                               struct op_matmul_operand *out)
{
    uint32_t pitch;
    bool along_k, copy = !op_matmul_loads(product, tensor, left, &pitch, &along_k);
    if (!copy && op_plan_chip(product->plan) == OP_ON_910A && pitch * product->unit % BLOCK_BYTES) {
        copy = copy_pays(product, tensor, left, along_k);
    }
    return op_matmul_take(product, tensor, left, copy, out);
}

/* Tiles of one row read no part of b twice, those of one column none of a. */
static void pass_l2(const struct op_matmul_product *p, struct op_matmul_args *args)
{
    const struct op_chip *chip = op_plan_numbers(p->plan);
    uint64_t bytes = (uint64_t)(p->m * p->k + p->k * p->n + p->m * p->n) * p->unit;
    bool a_once = args->n <= args->tile_n, b_once = args->m <= args->tile_m;
    for (unsigned i = 0; i < p->batch_rank; i++) {
        bytes *= args->batch_dim[i];
        a_once = a_once && (args->batch_dim[i] == 1 || args->a_batch[i] != 0);
        b_once = b_once && (args->batch_dim[i] == 1 || args->b_batch[i] != 0);
    }
    args->a = a_once ? op_chip_read_once(chip, args->a, bytes) : args->a;
    args->b = b_once ? op_chip_read_once(chip, args->b, bytes) : args->b;
}

static leo_status launch(const struct op_matmul_product *p, const struct op_matmul *matmul,
                         uint64_t bias, enum op_type out_type, bool relu)
{
    struct op_matmul_args args;
    memset(&args, 0, sizeof(args));
    args.a = p->a.addr;
    args.b = p->b.addr;
    args.bias = bias;
    args.out = p->out.addr;
    args.m = (uint32_t)p->m;
    args.n = (uint32_t)p->n;
    args.k = (uint32_t)p->k;
    args.a_pitch = p->a.pitch;
    args.b_pitch = p->b.pitch;
    args.out_pitch = p->out.pitch;
    args.flags = (p->a.transposed ? OP_MATMUL_TRANSPOSE_A : 0u) |
                 (p->b.transposed ? OP_MATMUL_TRANSPOSE_B : 0u) | (bias ? OP_MATMUL_BIAS : 0u) |
                 (relu ? OP_MATMUL_RELU : 0u) | (out_type == OP_TYPE_F16 ? OP_MATMUL_OUT_F16 : 0u) |
                 (out_type == OP_TYPE_BF16 ? OP_MATMUL_OUT_BF16 : 0u) |
                 (p->type == OP_TYPE_BF16 ? OP_MATMUL_BF16 : 0u) |
                 (matmul->cube_math & 1 ? OP_MATMUL_HF32 : 0u); // 1 and 3
    for (unsigned i = 0; i < OP_MATMUL_BATCH_DIMS; i++) {
        const bool there = i < p->batch_rank;
        args.batch_dim[i] = there ? (uint32_t)p->batch_dim[i] : 1;
        args.a_batch[i] = there ? (uint64_t)p->a.batch[i] * p->unit : 0;
        args.b_batch[i] = there ? (uint64_t)p->b.batch[i] * p->unit : 0;
        args.out_batch[i] = there ? (uint64_t)p->out.batch[i] * op_type_bytes(out_type) : 0;
    }
    const struct leo_caps *caps = op_plan_caps(p->plan);
    const uint32_t tiles = op_matmul_tiling(p->plan, p->unit, &args);
    pass_l2(p, &args);
    const uint32_t blocks = tiles < caps->cube_cores ? tiles : caps->cube_cores;
    return op_plan_launch(p->plan, p->unit == 4 ? "matmul_f32" : "matmul", "op_matmul", blocks,
                          &args, sizeof(args), 4);
}

/* What is added can ride along as the cube's bias: one row for all rows of all matrices. */
static bool is_bias(const struct op_matmul *matmul)
{
    for (unsigned i = 0; i + 1 < matmul->self.rank; i++) {
        if (matmul->self.dim[i] != 1 && matmul->self.stride[i] != 0) {
            return false;
        }
    }
    return matmul->beta == 1 && matmul->alpha == 1;
}

static leo_status take_bias(struct op_plan *plan, const struct op_matmul *matmul, uint64_t *addr)
{
    struct op_tensor row = matmul->self, dense;
    row.rank = 1;
    row.dim[0] = matmul->self.dim[matmul->self.rank - 1];
    row.stride[0] = matmul->self.stride[matmul->self.rank - 1];
    leo_status status = op_plan_dense(plan, &row, OP_TYPE_F32, &dense);
    *addr = dense.addr;
    return status;
}

static bool is_half(enum op_type type)
{
    return type == OP_TYPE_F16 || type == OP_TYPE_BF16;
}

bool op_matmul_type(const struct op_plan *plan, const struct op_matmul *matmul, enum op_type *type)
{
    const bool split = op_plan_caps(plan)->vector_cores != 0;
    const enum op_type a = matmul->a.type, b = matmul->b.type, out = matmul->out.type;
    if ((a != OP_TYPE_F32 && !is_half(a)) || (b != OP_TYPE_F32 && !is_half(b)) ||
        (out != OP_TYPE_F32 && !is_half(out))) {
        return false;
    }
    *type = op_type_promote(a, b);
    if (*type == OP_TYPE_F32 && matmul->cube_math == 2) {
        *type = OP_TYPE_F16;
    }
    if (!split && *type == OP_TYPE_F32 && matmul->cube_math == 1) {
        *type = OP_TYPE_F16;
    }
    return split || *type == OP_TYPE_F16;
}

leo_status op_matmul_plan_cube(struct op_plan *plan, const struct op_matmul *matmul)
{
    struct op_matmul_product p = {.plan = plan};
    const unsigned rank = matmul->out.rank;
    struct op_tensor result = matmul->out;
    uint64_t bias = 0;
    p.m = matmul->out.dim[rank - 2];
    p.n = matmul->out.dim[rank - 1];
    p.k = matmul->a.dim[rank - 1];
    if (!op_matmul_type(plan, matmul, &p.type) || p.k == 0 || !op_matmul_fits(p.m) ||
        !op_matmul_fits(p.n) || !op_matmul_fits(p.k)) {
        return OP_DECLINED;
    }
    p.unit = op_type_bytes(p.type);
    p.batch_rank = rank - 2;
    memcpy(p.batch_dim, matmul->out.dim, p.batch_rank * sizeof(*p.batch_dim));
    leo_status status = take_operand(&p, &matmul->a, true, &p.a);
    if (status == LEO_OK) {
        status = take_operand(&p, &matmul->b, false, &p.b);
    }
    const bool plain =
        (!matmul->has_self && matmul->alpha == 1) || (matmul->has_self && is_bias(matmul));
    const bool direct = plain && op_matmul_is_rows(&matmul->out, rank - 2, rank - 1, &p.out.pitch);
    if (status == LEO_OK && !direct) {
        status = op_plan_temp(plan, plain ? matmul->out.type : OP_TYPE_F32, rank, matmul->out.dim,
                              &result);
    }
    if (status == LEO_OK && plain && matmul->has_self) {
        status = take_bias(plan, matmul, &bias);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (!op_matmul_is_rows(&result, rank - 2, rank - 1, &p.out.pitch)) {
        return LEO_ERR_SHAPE; // a dense temporary always fits
    }
    p.out.addr = result.addr;
    memcpy(p.out.batch, result.stride, p.batch_rank * sizeof(*p.out.batch));
    op_matmul_fold_rows(&p);
    op_matmul_merge_batch(&p);
    if (p.batch_rank > OP_MATMUL_BATCH_DIMS) {
        return OP_DECLINED;
    }
    status = launch(&p, matmul, bias, result.type, matmul->relu && plain);
    if (status != LEO_OK || direct) {
        return status;
    }
    return plain ? op_plan_copy(plan, &matmul->out, &result)
                 : op_matmul_finish(plan, matmul, &result);
}
