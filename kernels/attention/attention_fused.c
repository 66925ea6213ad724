/* SPDX-License-Identifier: Apache-2.0 */
/* Attention in one program (attention/attention_device.c): 16-bit types on the split chip, without
 * dropout.
 */
#include "attention_fused.h"

#include "attention_args.h"

#include <math.h>
#include <string.h>

enum { MAX_PITCH = 65535 /* elements, of a load that makes fractals */ };

// Rows of 16-bit elements that the cube core can load, or the vector core store.
static bool has_rows(const struct op_tensor *t)
{
    const int64_t pitch = t->dim[3] > 1 ? t->stride[3] : t->dim[4];
    return (t->dim[4] == 1 || t->stride[4] == 1) && pitch >= t->dim[4] && pitch <= MAX_PITCH &&
           t->dim[4] <= OP_ATTENTION_FEATURES;
}

bool op_attention_can_fuse(const struct attention *a, const struct op_tensor *max,
                           const struct op_tensor *sum, const struct op_tensor *out)
{
    const enum op_type type = a->q.type;
    const int64_t heads = a->batch * op_attention_heads(a);
    return (type == OP_TYPE_F16 || type == OP_TYPE_BF16) && a->k.type == type &&
           a->v.type == type && out->type == type && max->type == OP_TYPE_F32 &&
           sum->type == OP_TYPE_F32 && op_tensor_is_dense(max) && op_tensor_is_dense(sum) &&
           has_rows(&a->q) && has_rows(&a->k) && has_rows(&a->v) && has_rows(out) &&
           !a->drop.rank && a->scale > 0 && isfinite((float)a->scale) && a->queries < INT32_MAX &&
           a->keys < INT32_MAX && heads * (a->queries / OP_ATTENTION_ROWS + 1) < INT32_MAX;
}

// A part of [B, N, Sq, Sk] as it is in memory: what repeats is there once, but whole rows.
static struct op_tensor own_part(const struct op_tensor *t)
{
    struct op_tensor own = *t;
    for (unsigned i = 0; i + 1 < own.rank; i++) {
        own.dim[i] = own.stride[i] ? own.dim[i] : 1;
    }
    return own;
}

// What is added to scaled scores, f32 [B or 1, N or 1, Sq or 1, Sk]; rank 0: nothing.
static struct op_tensor bias_of(struct op_chain *chain, const struct attention *a)
{
    struct op_tensor bias = {.rank = 0};
    if (a->mask.rank) {
        const struct op_tensor own = own_part(&a->mask);
        bias = op_chain_temp_like(chain, OP_TYPE_F32, &own);
        OP_CHAIN_CALL(chain, "AttentionMask", op_value_tensor(&own), op_value_tensor(&bias));
    }
    if (a->shift.rank) {
        const struct op_tensor shift = own_part(&a->shift);
        const int64_t one[] = {1};
        struct op_tensor mask = bias, both = shift;
        if (!mask.rank) {
            mask = op_chain_temp(chain, OP_TYPE_F32, 1, one);
            op_chain_fill(chain, &mask, 0);
        } else {
            for (unsigned i = 0; i < both.rank; i++) {
                both.dim[i] = both.dim[i] > mask.dim[i] ? both.dim[i] : mask.dim[i];
            }
        }
        bias = op_chain_temp_like(chain, OP_TYPE_F32, &both);
        OP_CHAIN_CALL(chain, "AttentionShiftedBias", op_value_tensor(&shift),
                      op_value_tensor(&mask), op_value_real(a->scale), op_value_tensor(&bias));
    }
    return bias;
}

// Strides in bytes; heads are one dimension, `head` says which stride is theirs.
static struct op_attention_tensor place_of(const struct op_tensor *t, unsigned head, unsigned row)
{
    const uint64_t unit = op_type_bytes(t->type);
    return (struct op_attention_tensor){
        .batch = t->dim[0] > 1 ? (uint64_t)t->stride[0] * unit : 0,
        .head = (uint64_t)t->stride[head] * unit,
        .pitch = (uint32_t)(t->dim[row] > 1 ? t->stride[row] : t->dim[row + 1]),
    };
}

static struct op_attention_tensor bias_place(const struct op_tensor *bias)
{
    struct op_attention_tensor place = place_of(bias, 1, 2);
    place.head = bias->dim[1] > 1 ? place.head : 0;
    place.pitch = bias->dim[2] > 1 ? place.pitch : 0;
    return place;
}

static int32_t to_i32(int64_t value)
{
    return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

// The least power of two of chunks that holds all keys, up to `most`.
static uint32_t block_of(int64_t keys, uint32_t most)
{
    uint32_t block = OP_ATTENTION_CHUNK;
    while (block < keys && block < most) {
        block *= 2;
    }
    return block;
}

static uint32_t piece_rows(uint32_t block, bool two)
{
    const uint32_t rows =
        OP_ATTENTION_PIECE / (two ? 2 : 1) / (block * 4 + OP_ATTENTION_GAP) / 8 * 8;
    return rows < OP_ATTENTION_PIECE_ROWS ? rows : OP_ATTENTION_PIECE_ROWS;
}

// What both programs take; `to` is placed as the result is.
static struct op_attention_args args_of(struct op_chain *chain, const struct attention *a,
                                        const struct op_tensor *max, const struct op_tensor *sum,
                                        const struct op_tensor *to, uint32_t most)
{
    const struct op_tensor bias = bias_of(chain, a);
    struct op_attention_args args;
    memset(&args, 0, sizeof(args));
    args.q = a->q.addr;
    args.k = a->k.addr;
    args.v = a->v.addr;
    args.bias = bias.rank ? bias.addr : 0;
    args.max = max->addr;
    args.sum = sum->addr;
    args.q_at = place_of(&a->q, 2, 3);
    args.k_at = place_of(&a->k, 1, 3);
    args.v_at = place_of(&a->v, 1, 3);
    args.out_at = place_of(to, 2, 3);
    args.bias_at = bias.rank ? bias_place(&bias) : (struct op_attention_tensor){0};
    args.batch = (uint32_t)a->batch;
    args.heads = (uint32_t)a->heads;
    args.groups = (uint32_t)a->groups;
    args.queries = (uint32_t)a->queries;
    args.keys = (uint32_t)a->keys;
    args.features = (uint32_t)a->q.dim[4];
    args.values = (uint32_t)a->v.dim[4];
    args.block = block_of(a->keys, most);
    args.low = a->banded ? to_i32(a->low) : INT32_MIN;
    args.high = a->banded ? to_i32(a->high) : INT32_MAX;
    args.scale = (float)a->scale;
    args.bf16 = a->q.type == OP_TYPE_BF16;
    return args;
}

static void launch(struct op_chain *chain, const struct attention *a, const char *program,
                   struct op_attention_args *args)
{
    const uint32_t tasks = (uint32_t)(a->batch * op_attention_heads(a) *
                                      ((a->queries + OP_ATTENTION_ROWS - 1) / OP_ATTENTION_ROWS)),
                   cores = op_plan_cube_cores(chain->plan), blocks = tasks < cores ? tasks : cores;
    if (chain->status == LEO_OK) {
        chain->status = op_plan_temp_bytes(
            chain->plan, op_attention_group_bytes(args->block) * blocks, &args->work);
    }
    if (chain->status == LEO_OK) {
        chain->status =
            op_plan_launch(chain->plan, program, program, blocks, args, sizeof(*args), 12);
    }
}

void op_attention_fused(struct op_chain *chain, const struct attention *a,
                        const struct op_tensor *max, const struct op_tensor *sum,
                        const struct op_tensor *out)
{
    struct op_attention_args args = args_of(chain, a, max, sum, out, OP_ATTENTION_BLOCK);
    args.out = out->addr;
    args.piece_rows = piece_rows(args.block, args.bias != 0);
    launch(chain, a, "attention", &args);
}

void op_attention_fused_slopes(struct op_chain *chain, const struct attention *a,
                               const struct op_tensor *max, const struct op_tensor *sum,
                               const struct op_tensor *dy, const struct op_tensor *mean,
                               const struct op_tensor *weights, const struct op_tensor *slopes)
{
    struct op_attention_args args = args_of(chain, a, max, sum, dy, OP_ATTENTION_GRADIENT_BLOCK);
    args.dy = dy->addr;
    args.mean = mean->addr;
    args.weights = weights->addr;
    args.slopes = slopes->addr;
    args.piece_rows = piece_rows(args.block, true); // of two matrices
    launch(chain, a, "attention_gradient", &args);
}
