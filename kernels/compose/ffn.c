/* SPDX-License-Identifier: Apache-2.0 */
/* Two products with an activation between them, for all rows or expert by expert. */
#include "../frame/chain.h"

#include <inttypes.h>
#include <string.h>

struct ffn {
    const struct op_tensor *x, *w1, *w2, *b1, *b2, *y;
    const struct op_ints *experts; /* NULL: none */
    const char *activation;        /* the row of it */
    bool ends;                     /* the list says where rows end */
};

static const struct {
    const char *word, *row;
} activations[] = {{"fastgelu", "FastGelu"}, {"gelu", "Gelu"}, {"relu", "Relu"}, {"silu", "Silu"}};

static leo_status check_plain(const struct op_call *call, struct ffn *f)
{
    static const char *const refused[] = {
        "scale",           "offset",          "deqScale1",        "deqScale2",
        "antiquantScale1", "antiquantScale2", "antiquantOffset1", "antiquantOffset2"};
    const char *word = op_call_value(call, "activation")->text;
    for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        const struct op_tensor *tensor = op_call_tensor(call, refused[i]);
        if (tensor && op_tensor_count(tensor)) {
            return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                                "%s must be NULL: products of floats are computed", refused[i]);
        }
    }
    for (unsigned i = 0; word && i < sizeof(activations) / sizeof(activations[0]); i++) {
        if (strcmp(word, activations[i].word) == 0) {
            f->activation = activations[i].row;
            return LEO_OK;
        }
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                        "activation %s: fastgelu, gelu, relu and silu are possible",
                        word ? word : "NULL");
}

static bool fits_bias(const struct op_tensor *bias, const struct op_tensor *weight)
{
    return !bias || (bias->rank + 1 == weight->rank &&
                     bias->dim[bias->rank - 1] == weight->dim[weight->rank - 1] &&
                     (bias->rank == 1 || bias->dim[0] == weight->dim[0]));
}

static leo_status check_shapes(const struct op_call *call, const struct ffn *f)
{
    const struct op_tensor *x = f->x, *w1 = f->w1, *w2 = f->w2;
    const unsigned rank = f->experts ? 3 : 2;
    const bool fits = x->rank >= 2 && w1->rank == rank && w2->rank == rank &&
                      w1->dim[rank - 2] == x->dim[x->rank - 1] &&
                      w2->dim[rank - 2] == w1->dim[rank - 1] && fits_bias(f->b1, w1) &&
                      fits_bias(f->b2, w2) && w1->type == x->type && w2->type == x->type &&
                      (!f->experts || (w1->dim[0] == w2->dim[0] &&
                                       (uint64_t)w1->dim[0] == f->experts->count && x->rank == 2));
    int64_t dim[OP_RANK_MAX];
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x %s, weight1 %s and weight2 %s of one type do not fit: [rows, k1], "
                            "[k1, n1], [n1, n2], weights with a dimension of experts in front if "
                            "expertTokens is given",
                            op_tensor_shape_text(x).text, op_tensor_shape_text(w1).text,
                            op_tensor_shape_text(w2).text);
    }
    memcpy(dim, x->dim, sizeof(dim));
    dim[x->rank - 1] = w2->dim[rank - 1];
    return op_call_check_shape(call, "y", x->rank, dim);
}

// Rows of experts do not go back, nor beyond x.
static leo_status check_experts(const struct op_call *call, const struct ffn *f)
{
    int64_t end = 0;
    for (uint64_t i = 0; f->experts && i < f->experts->count; i++) {
        const int64_t item = f->experts->items[i], next = f->ends ? item : end + item;
        if (next < end || next > f->x->dim[0]) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "expertTokens[%" PRIu64 "] is %" PRId64 ": rows end at %" PRId64
                                " then, of %" PRId64,
                                i, item, next, f->x->dim[0]);
        }
        end = next;
    }
    return LEO_OK;
}

static leo_status take(const struct op_call *call, struct ffn *f)
{
    const struct op_ints *experts = op_call_ints(call, "expertTokens");
    *f = (struct ffn){
        op_call_tensor(call, "x"),
        op_call_tensor(call, "weight1"),
        op_call_tensor(call, "weight2"),
        op_call_tensor(call, "bias1"),
        op_call_tensor(call, "bias2"),
        op_call_tensor(call, "y"),
        experts && experts->count ? experts : NULL,
        NULL,
        op_call_has(call, "tokensIndexFlag") && op_call_int(call, "tokensIndexFlag") != 0,
    };
    leo_status status = check_plain(call, f);
    if (status == LEO_OK) {
        status = check_shapes(call, f);
    }
    return status == LEO_OK ? check_experts(call, f) : status;
}

// a @ weight + bias in f32.
static struct op_tensor product(struct op_chain *chain, const struct op_tensor *a,
                                const struct op_tensor *weight, const struct op_tensor *bias)
{
    const struct op_scalar one = op_scalar_int(1);
    const int64_t dim[] = {a->dim[0], weight->dim[1]};
    const struct op_tensor out = op_chain_temp(chain, OP_TYPE_F32, 2, dim);
    op_chain_matmul(chain, a, weight, &out);
    if (bias) {
        OP_CHAIN_CALL(chain, "Add", op_value_tensor(&out), op_value_tensor(bias),
                      op_value_scalar(&one), op_value_tensor(&out));
    }
    return out;
}

static void work(struct op_chain *chain, const struct ffn *f, const struct op_tensor *x,
                 const struct op_tensor *y)
{
    const uint64_t mark = op_plan_temp_mark(chain->plan);
    const struct op_tensor first = product(chain, x, f->w1, f->b1),
                           inner = op_chain_temp_like(chain, x->type, &first);
    OP_CHAIN_CALL(chain, f->activation, op_value_tensor(&first), op_value_tensor(&inner));
    const struct op_tensor second = product(chain, &inner, f->w2, f->b2);
    op_chain_copy(chain, y, &second);
    op_plan_temp_release(chain->plan, mark);
}

static void work_of_expert(struct op_chain *chain, const struct ffn *f, uint64_t expert,
                           int64_t begin, int64_t count)
{
    const int64_t e = (int64_t)expert;
    struct op_tensor part[4];
    const struct op_tensor *of_all[] = {f->w1, f->w2, f->b1, f->b2};
    for (unsigned i = 0; i < 4; i++) {
        part[i] = of_all[i] ? op_view_select(of_all[i], 0, e) : *f->x;
    }
    const struct ffn own = {
        f->x, &part[0],      &part[1], f->b1 ? &part[2] : NULL, f->b2 ? &part[3] : NULL, f->y,
        NULL, f->activation, false};
    const struct op_tensor x = op_view_slice(f->x, 0, begin, count),
                           y = op_view_slice(f->y, 0, begin, count);
    work(chain, &own, &x, &y);
}

leo_status op_plan_ffn(const struct op_call *call)
{
    struct ffn f;
    leo_status status = take(call, &f);
    if (status != LEO_OK || op_tensor_count(f.y) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    if (!f.experts) {
        const int64_t k = f.x->dim[f.x->rank - 1], n = f.y->dim[f.y->rank - 1],
                      rows = op_tensor_count(f.y) / n, from[] = {rows, k}, to[] = {rows, n};
        const struct op_tensor dense = op_chain_dense(&chain, f.x->type, f.x),
                               x = op_view_shape(&dense, 2, from),
                               made = op_chain_temp(&chain, f.y->type, f.y->rank, f.y->dim),
                               y = op_view_shape(&made, 2, to);
        work(&chain, &f, &x, &y);
        op_chain_copy(&chain, f.y, &made);
        return chain.status;
    }
    int64_t begin = 0;
    for (uint64_t i = 0; i < f.experts->count; i++) {
        const int64_t item = f.experts->items[i], count = f.ends ? item - begin : item;
        if (count) {
            work_of_expert(&chain, &f, i, begin, count);
        }
        begin += count;
    }
    const struct op_tensor rest = op_view_slice(f.y, 0, begin, f.y->dim[0] - begin);
    if (op_tensor_count(&rest)) {
        op_chain_fill(&chain, &rest, 0);
    }
    return chain.status;
}
