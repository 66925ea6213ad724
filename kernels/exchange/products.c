/* SPDX-License-Identifier: Apache-2.0 */
/* Products of each rank's part, and what the ranks give each other of them. */
#include "exchange.h"

#include <string.h>

struct product {
    struct op_group group;
    struct op_tensor x1, out; /* as matrices */
    const struct op_tensor *x2, *bias, *x3, *scale, *offset, *row;
    int64_t k_group; /* rows of quantised weights that share a scale; 0: all */
};

// The first of some parameters that the row has and the call gives.
static const struct op_tensor *given(const struct op_call *call, const char *name,
                                     const char *other)
{
    return op_call_given(call, op_call_has(call, name) ? name : other);
}

static leo_status check_sum(const struct op_call *call)
{
    const char *reduce = op_call_has(call, "reduceOp") ? op_call_value(call, "reduceOp")->text : "";
    if (!reduce || (*reduce && strcmp(reduce, "sum") != 0)) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "reduceOp is %s: only sum is possible",
                            reduce ? reduce : "NULL");
    }
    if (given(call, "commQuantScale1Optional", "commQuantScale1") ||
        given(call, "commQuantScale2Optional", "commQuantScale2")) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "exchanges in 8 bits (commQuantScale) are not computed: NULL");
    }
    return LEO_OK;
}

static leo_status check_shapes(const struct op_call *call, const struct product *p, int64_t rows)
{
    const struct op_tensor *x1 = &p->x1, *x2 = p->x2, *out = &p->out;
    const int64_t words = x2->type == OP_TYPE_I32 ? 8 : 1;
    const bool fits = x2->rank == 2 && out->dim[0] == rows && x1->dim[1] > 0 &&
                      (x2->dim[0] == x1->dim[1] || x2->dim[0] * words == x1->dim[1]) &&
                      (x2->dim[1] == out->dim[1] || x2->dim[1] * words == out->dim[1]) &&
                      (!p->bias || op_tensor_count(p->bias) == out->dim[1]) &&
                      (!p->x3 || op_tensor_count(p->x3) == op_tensor_count(out));
    return fits ? LEO_OK
                : op_call_fail(call, LEO_ERR_SHAPE,
                               "x1 %s and x2 %s into %s of %u ranks: they do not fit",
                               op_tensor_shape_text(x1).text, op_tensor_shape_text(x2).text,
                               op_tensor_shape_text(out).text, p->group.ranks);
}

static leo_status take(struct op_chain *chain, struct product *p)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *x1 = op_call_tensor(call, "x1");
    *p = (struct product){.x2 = op_call_tensor(call, "x2"),
                          .bias = given(call, "bias", "biasOptional"),
                          .x3 = given(call, "x3", "x3Optional"),
                          .scale = given(call, "dequantScale", "antiquantScale"),
                          .offset = op_call_given(call, "antiquantOffset"),
                          .row = op_call_given(call, "pertokenScaleOptional"),
                          .k_group = op_call_has(call, "antiquantGroupSize")
                                         ? op_call_int(call, "antiquantGroupSize")
                                         : 0};
    leo_status status = check_sum(call);
    if (status == LEO_OK) {
        status = op_group_of(call, "group", &p->group);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (x1->rank == 2) { // as it lies: a product takes any strides
        p->x1 = *x1;
        return LEO_OK;
    }
    const struct op_tensor dense = op_chain_dense(chain, x1->type, x1);
    p->x1 = op_view_rows(&dense);
    return chain->status;
}

static void multiply(struct op_chain *chain, const struct product *p, const struct op_tensor *a,
                     const struct op_tensor *out)
{
    const struct op_scalar one = op_scalar_int(1);
    if (op_call_has(chain->call, "antiquantScale")) {
        OP_CHAIN_CALL(chain, "WeightQuantBatchMatmulV2", op_value_tensor(a), op_value_tensor(p->x2),
                      op_value_tensor(p->scale), op_value_tensor(p->offset), op_value_tensor(NULL),
                      op_value_tensor(NULL), op_value_tensor(p->bias), op_value_int(p->k_group),
                      op_value_tensor(out));
    } else if (p->scale) {
        OP_CHAIN_CALL(chain, "QuantMatmulV4", op_value_tensor(a), op_value_tensor(p->x2),
                      op_value_tensor(p->scale), op_value_tensor(NULL), op_value_tensor(p->row),
                      op_value_tensor(p->bias), op_value_int(0), op_value_int(0),
                      op_value_tensor(out));
    } else if (p->bias) {
        OP_CHAIN_CALL(chain, "Addmm", op_value_tensor(p->bias), op_value_tensor(a),
                      op_value_tensor(p->x2), op_value_scalar(&one), op_value_scalar(&one),
                      op_value_tensor(out), op_value_int(0));
    } else {
        op_chain_matmul(chain, a, p->x2, out);
    }
}

static void add(struct op_chain *chain, const struct op_tensor *to, const struct op_tensor *term)
{
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor dense = op_chain_dense(chain, to->type, term),
                           matrix = op_view_shape(&dense, to->rank, to->dim);
    OP_CHAIN_CALL(chain, "Add", op_value_tensor(to), op_value_tensor(&matrix),
                  op_value_scalar(&one), op_value_tensor(to));
}

static leo_status sum_all(struct op_chain *chain, struct product *p, const struct op_tensor *out)
{
    leo_status status = check_shapes(chain->call, p, p->x1.dim[0]);
    if (status != LEO_OK) {
        return status;
    }
    multiply(chain, p, &p->x1, out);
    if (p->x3) {
        add(chain, out, p->x3);
    }
    op_chain_exchange(chain, &p->group, LEO_RT_SUM_ALL, out, out, op_tensor_count(out));
    return chain->status;
}

// The sum of all ranks, a residual onto it, and its norm.
static leo_status sum_and_norm(struct op_chain *chain, struct product *p)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *residual = op_call_tensor(call, "residual"),
                           *gamma = op_call_tensor(call, "gamma"),
                           *y = op_call_has(call, "y") ? op_call_tensor(call, "y") : residual,
                           *norm = op_call_tensor(call, "normOut");
    const int64_t width = op_tensor_count(gamma), rows[] = {p->x1.dim[0], 1};
    if (op_tensor_count(residual) != op_tensor_count(y) ||
        op_tensor_count(norm) != op_tensor_count(y) || y->rank == 0 ||
        y->dim[y->rank - 1] != width) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "residual %s, gamma %s, y %s and normOut %s: they do not fit",
                            op_tensor_shape_text(residual).text, op_tensor_shape_text(gamma).text,
                            op_tensor_shape_text(y).text, op_tensor_shape_text(norm).text);
    }
    const struct op_tensor sum = op_chain_temp_like(chain, residual->type, y),
                           inverse = op_chain_temp(chain, OP_TYPE_F32, 2, rows);
    p->out = op_view_rows(&sum);
    leo_status status = sum_all(chain, p, &p->out);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor dense = op_chain_dense(chain, residual->type, residual),
                           term = op_view_rows(&dense),
                           normed = op_chain_temp_like(chain, norm->type, &p->out);
    add(chain, &p->out, &term);
    op_chain_copy(chain, y, &sum);
    OP_CHAIN_CALL(chain, "RmsNorm", op_value_tensor(&p->out), op_value_tensor(gamma),
                  op_value_real(op_call_real(call, "epsilon")), op_value_tensor(&normed),
                  op_value_tensor(&inverse));
    const struct op_tensor shaped = op_view_shape(&normed, norm->rank, norm->dim);
    op_chain_copy(chain, norm, &shaped);
    return chain->status;
}

static leo_status gather(struct op_chain *chain, struct product *p)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *gathered = op_call_given(call, "gatherOut");
    const int64_t all[] = {p->x1.dim[0] * p->group.ranks, p->x1.dim[1]};
    if (op_call_int(call, "gatherIndex") != 0) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "gatherIndex must be 0: x1 is gathered");
    }
    leo_status status = check_shapes(call, p, all[0]);
    if (status == LEO_OK && gathered) {
        status = op_call_check_shape(call, "gatherOut", 2, all);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor part = op_chain_dense(chain, p->x1.type, &p->x1),
                           whole = gathered ? op_chain_place(chain, gathered)
                                            : op_chain_temp(chain, part.type, 2, all);
    op_chain_exchange(chain, &p->group, LEO_RT_GATHER_ALL, &part, &whole, op_tensor_count(&part));
    if (gathered) {
        op_chain_deliver(chain, gathered, &whole);
    }
    multiply(chain, p, &whole, &p->out);
    return chain->status;
}

static leo_status scatter(struct op_chain *chain, struct product *p)
{
    const int64_t all[] = {p->x1.dim[0], p->out.dim[1]};
    leo_status status = check_shapes(chain->call, p, all[0] / p->group.ranks);
    if (status == LEO_OK && all[0] % p->group.ranks != 0) {
        status = op_call_fail(chain->call, LEO_ERR_SHAPE, "x1 %s: rows for %u ranks",
                              op_tensor_shape_text(&p->x1).text, p->group.ranks);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor sums = op_chain_temp(chain, p->out.type, 2, all);
    multiply(chain, p, &p->x1, &sums);
    op_chain_exchange(chain, &p->group, LEO_RT_SUM_SCATTER, &sums, &p->out,
                      op_tensor_count(&p->out));
    return chain->status;
}

leo_status op_plan_product_exchange(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    struct product p;
    leo_status status = take(&chain, &p);
    if (status != LEO_OK) {
        return status;
    }
    if (op_call_has(call, "residual")) {
        return sum_and_norm(&chain, &p);
    }
    const struct op_tensor *output = op_call_tensor(call, "output"),
                           dense = op_chain_place(&chain, output);
    p.out = op_view_rows(&dense);
    status = op_call_has(call, "gatherOut")                        ? gather(&chain, &p)
             : strcmp(call->row->name, "MatmulReduceScatter") == 0 ? scatter(&chain, &p)
                                                                   : sum_all(&chain, &p, &p.out);
    op_chain_deliver(&chain, output, &dense);
    return status == LEO_OK ? chain.status : status;
}
