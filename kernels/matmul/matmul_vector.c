/* SPDX-License-Identifier: Apache-2.0 */
/* Products of f32 on the vector unit (matmul/matmul_vector_device.c): lanes are columns of the
 * result, or its rows where those are more. */
#include "../frame/chain.h"
#include "matmul_operands.h"

#include "../frame/whole.h"
#include "matmul_vector_args.h"

#include <string.h>

// What choices reckon with: cycles of the coupled core, by its SoC file.
enum {
    LANES = 64,
    ISSUE = 11,   // an instruction: half a load from UB, and the scalar unit's own
    BARRIER = 30, // a pair of k: the vector unit runs empty
    TILE = 1500,  // a tile: first loads, last store
    BLOCK = 8,    // f32 of 32 bytes
    NARROW = 32,  // columns that leave half of the lanes idle
};

static uint64_t cycles_of(const struct op_matmul_product *p, uint64_t matrices, uint32_t cores,
                          int64_t m, int64_t n)
{
    const uint64_t vector = (uint64_t)op_parts(n, LANES), each = vector > ISSUE ? vector : ISSUE,
                   tiles = matrices * (uint64_t)(op_parts(p->m, m) * op_parts(p->n, n)),
                   rounds = (tiles + cores - 1) / cores;
    return rounds *
           (TILE + (uint64_t)p->k * (uint64_t)m * each + (uint64_t)op_parts(p->k, 2) * BARRIER);
}

static void choose_tile(const struct op_matmul_product *p, uint64_t matrices, uint32_t cores,
                        struct op_matmul_vector_args *args)
{
    uint64_t best = UINT64_MAX;
    for (int64_t m = OP_LANES_ROWS; m > 0; m /= 2) {
        for (int64_t n = OP_LANES_COLUMNS; n >= LANES; n /= 2) {
            const uint64_t cycles = cycles_of(p, matrices, cores, m, n);
            if (cycles < best) {
                best = cycles;
                args->tile_m = (uint32_t)m;
                args->tile_n = (uint32_t)n;
            }
        }
    }
}

static leo_status launch(const struct op_matmul_product *p)
{
    struct op_matmul_vector_args args;
    uint64_t matrices = 1;
    const uint32_t cores = op_plan_vector_cores(p->plan);
    memset(&args, 0, sizeof(args));
    args.a = p->a.addr;
    args.b = p->b.addr;
    args.out = p->out.addr;
    args.m = (uint32_t)p->m;
    args.n = (uint32_t)p->n;
    args.k = (uint32_t)p->k;
    args.a_pitch = p->a.pitch;
    args.b_pitch = p->b.pitch;
    args.out_pitch = p->out.pitch;
    for (unsigned i = 0; i < OP_MATMUL_BATCH_DIMS; i++) {
        const bool there = i < p->batch_rank;
        args.batch_dim[i] = there ? (uint32_t)p->batch_dim[i] : 1;
        args.a_batch[i] = there ? (uint64_t)p->a.batch[i] * p->unit : 0;
        args.b_batch[i] = there ? (uint64_t)p->b.batch[i] * p->unit : 0;
        args.out_batch[i] = there ? (uint64_t)p->out.batch[i] * p->unit : 0;
        matrices *= args.batch_dim[i];
    }
    choose_tile(p, matrices, cores, &args);
    const uint64_t tiles =
        matrices * (uint64_t)(op_parts(p->m, args.tile_m) * op_parts(p->n, args.tile_n));
    return op_plan_launch(p->plan, "matmul_vector", "matmul_vector",
                          tiles < cores ? (uint32_t)tiles : cores, &args, sizeof(args), 3);
}

// Rows along the last dimension, in place if they are that.
static leo_status take_operand(const struct op_matmul_product *p, const struct op_tensor *tensor,
                               struct op_matmul_operand *out)
{
    const unsigned last = tensor->rank - 1;
    struct op_tensor ready = *tensor;
    if (tensor->type != OP_TYPE_F32 || !op_matmul_is_rows(tensor, last - 1, last, &out->pitch)) {
        leo_status status = op_matmul_copy(p, tensor, false, &ready);
        if (status != LEO_OK || !op_matmul_is_rows(&ready, last - 1, last, &out->pitch)) {
            return status != LEO_OK ? status : LEO_ERR_SHAPE; // a dense copy is rows
        }
    }
    out->addr = ready.addr;
    memcpy(out->batch, ready.stride, p->batch_rank * sizeof(*out->batch));
    return LEO_OK;
}

static struct op_tensor turned(const struct op_tensor *tensor)
{
    return op_view_swap(tensor, tensor->rank - 2, tensor->rank - 1);
}

// A tensor for the product, rows of whole blocks.
static leo_status make_result(struct op_plan *plan, const struct op_tensor *out,
                              struct op_tensor *result)
{
    struct op_tensor padded = *out;
    padded.dim[out->rank - 1] = op_round_up(out->dim[out->rank - 1], BLOCK);
    leo_status status = op_plan_temp(plan, OP_TYPE_F32, out->rank, padded.dim, result);
    result->dim[out->rank - 1] = out->dim[out->rank - 1];
    return status;
}

static bool is_float(enum op_type type)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 || type == OP_TYPE_BF16;
}

// The product in the order given; `product` names the result, in f32.
static leo_status multiply(struct op_plan *plan, const struct op_tensor *a,
                           const struct op_tensor *b, const struct op_tensor *out)
{
    const unsigned rank = out->rank;
    struct op_matmul_product p = {.plan = plan, .type = OP_TYPE_F32, .unit = 4};
    p.m = out->dim[rank - 2];
    p.n = out->dim[rank - 1];
    p.k = a->dim[rank - 1];
    p.batch_rank = rank - 2;
    memcpy(p.batch_dim, out->dim, p.batch_rank * sizeof(*p.batch_dim));
    leo_status status = take_operand(&p, a, &p.a);
    if (status == LEO_OK) {
        status = take_operand(&p, b, &p.b);
    }
    if (status == LEO_OK && !op_matmul_is_rows(out, rank - 2, rank - 1, &p.out.pitch)) {
        status = LEO_ERR_SHAPE; // it was made so
    }
    if (status != LEO_OK) {
        return status;
    }
    p.out.addr = out->addr;
    memcpy(p.out.batch, out->stride, p.batch_rank * sizeof(*p.out.batch));
    op_matmul_fold_rows(&p);
    op_matmul_merge_batch(&p);
    return p.batch_rank <= OP_MATMUL_BATCH_DIMS ? launch(&p) : OP_DECLINED;
}

leo_status op_matmul_plan_vector(struct op_plan *plan, const struct op_matmul *matmul)
{
    const struct op_tensor *out = &matmul->out;
    const unsigned rank = out->rank;
    const int64_t m = out->dim[rank - 2], n = out->dim[rank - 1], k = matmul->a.dim[rank - 1];
    uint32_t pitch;
    if (op_plan_caps(plan)->vector_cores != 0 || !is_float(matmul->a.type) ||
        !is_float(matmul->b.type) || !is_float(out->type) || k == 0 || !op_matmul_fits(m) ||
        !op_matmul_fits(n) || !op_matmul_fits(k)) {
        return OP_DECLINED;
    }
    // Few columns: the result's rows are the lanes.
    const bool turns = n < NARROW && m > n;
    const struct op_tensor a = turns ? turned(&matmul->b) : matmul->a,
                           b = turns ? turned(&matmul->a) : matmul->b,
                           wanted = turns ? turned(out) : *out;
    const bool plain = !matmul->has_self && matmul->alpha == 1,
               direct = plain && out->type == OP_TYPE_F32 &&
                        op_matmul_is_rows(&wanted, rank - 2, rank - 1, &pitch) &&
                        pitch % BLOCK == 0 && wanted.dim[rank - 1] % BLOCK == 0;
    struct op_tensor result = wanted;
    leo_status status = direct ? LEO_OK : make_result(plan, &wanted, &result);
    if (status == LEO_OK) {
        status = multiply(plan, &a, &b, &result);
    }
    if (status != LEO_OK || direct) {
        return status;
    }
    result = turns ? turned(&result) : result;
    return op_matmul_finish(plan, matmul, &result);
}
