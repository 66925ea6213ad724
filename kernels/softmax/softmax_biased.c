/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of scores of windows, with a mask for each window and a bias for each head. */
#include "../frame/chain.h"

enum { RANK = 5 }; // batch, windows, heads, queries, keys

struct biased {
    struct op_tensor x, mask, bias, out; /* of RANK dimensions; mask of rank 0: none */
    int64_t dim[RANK];
};

// [windows * batch, ..] as [batch, windows, ..].
static struct op_tensor part_windows(const struct op_tensor *t, int64_t windows)
{
    struct op_tensor seen = op_view_insert(t, 1);
    seen.dim[0] = t->dim[0] / windows;
    seen.dim[1] = windows;
    seen.stride[1] = t->stride[0];
    seen.stride[0] = t->stride[0] * windows;
    return seen;
}

// Dimensions of 1 in front, up to RANK; a mask [windows, queries, keys] has none for heads.
static struct op_tensor raise(const struct op_tensor *t, bool is_mask)
{
    struct op_tensor seen = is_mask && t->rank == 3 ? op_view_insert(t, 1) : *t;
    while (seen.rank < RANK) {
        seen = op_view_insert(&seen, 0);
    }
    return seen;
}

static bool fits(const struct op_tensor *t, const int64_t *dim)
{
    struct op_tensor seen;
    return op_tensor_broadcast(t, RANK, dim, &seen);
}

static leo_status take(const struct op_call *call, struct biased *b)
{
    const struct op_tensor *x = op_call_tensor(call, "x"),
                           *mask = op_call_tensor(call, "attenMaskOptional"),
                           *bias = op_call_tensor(call, "relativePosBias");
    const bool ranks = (x->rank == 4 || x->rank == RANK) && bias->rank >= 3 && bias->rank <= RANK &&
                       (!mask || (mask->rank >= 3 && mask->rank <= RANK));
    leo_status status = op_call_check_shape(call, "out", x->rank, x->dim);
    if (status != LEO_OK) {
        return status;
    }
    if (ranks) {
        const int64_t windows = !mask ? 1 : mask->rank == RANK ? mask->dim[1] : mask->dim[0];
        const bool parted = x->rank == 4 && windows > 0 && x->dim[0] % windows == 0;
        b->x = parted ? part_windows(x, windows) : raise(x, false);
        b->out = parted ? part_windows(op_call_tensor(call, "out"), windows)
                        : raise(op_call_tensor(call, "out"), false);
        b->bias = raise(bias, false);
        b->mask.rank = 0;
        if (mask) {
            b->mask = raise(mask, true);
        }
        for (unsigned i = 0; i < RANK; i++) {
            b->dim[i] = b->x.dim[i];
        }
        if (fits(&b->bias, b->dim) && (!mask || fits(&b->mask, b->dim))) {
            return LEO_OK;
        }
    }
    return op_call_fail(call, LEO_ERR_SHAPE,
                        "x %s, relativePosBias %s and attenMask %s do not fit: [batch * windows, "
                        "heads, s1, s2], [heads, s1, s2] and [windows, s1, s2], with dimensions "
                        "of 1 between",
                        op_tensor_shape_text(x).text, op_tensor_shape_text(bias).text,
                        mask ? op_tensor_shape_text(mask).text : "NULL");
}

leo_status op_plan_softmax_biased(const struct op_call *call)
{
    struct biased b;
    leo_status status = take(call, &b);
    if (status != LEO_OK || op_tensor_count(&b.x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor scores = op_chain_temp(&chain, OP_TYPE_F32, RANK, b.dim);
    OP_CHAIN_CALL(&chain, "AttentionScores", op_value_tensor(&b.x), op_value_tensor(&b.bias),
                  *op_call_value(call, "scaleValue"), op_value_tensor(&scores));
    if (b.mask.rank) {
        OP_CHAIN_CALL(&chain, "Add", op_value_tensor(&scores), op_value_tensor(&b.mask),
                      op_value_scalar(&one), op_value_tensor(&scores));
    }
    OP_CHAIN_CALL(&chain, "Softmax", op_value_tensor(&scores), op_value_int(-1),
                  op_value_tensor(&b.out));
    return chain.status;
}
