/* SPDX-License-Identifier: Apache-2.0 */
/* A gated recurrent unit by type name: one layer and direction, weights [features, 3 hidden] with
 * the gates in the order r, z, n. */
#include "../frame/chain.h"

enum { PARAMS = 4 };

/* One tensor as a list. */
struct single {
    const struct op_tensor *item;
    struct op_tensor_list list;
};

static struct op_value as_list(struct single *single, const struct op_tensor *tensor)
{
    single->item = tensor;
    single->list = (struct op_tensor_list){&single->item, 1};
    return op_value_tensors(&single->list);
}

// [batch, hidden] as [1, batch, hidden], which is let through.
static struct op_tensor as_state(const struct op_tensor *h)
{
    return h->rank == 2 ? op_view_insert(h, 0) : *h;
}

/* Weights as the layers have them: [3 hidden, features]. */
struct params {
    struct op_tensor turned[2];
    const struct op_tensor *items[PARAMS];
    struct op_tensor_list list;
};

static leo_status take_params(const struct op_call *call, struct params *p)
{
    static const char *const names[] = {"wx", "wh"};
    const struct op_tensor *x = op_call_tensor(call, "x"), *h = op_call_tensor(call, "h");
    if (x->rank != 3 || h->rank != 3) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x has shape %s and h %s: they must have 3 dimensions",
                            op_tensor_shape_text(x).text, op_tensor_shape_text(h).text);
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct op_tensor *w = op_call_tensor(call, names[i]);
        const int64_t shape[] = {i == 0 ? x->dim[2] : h->dim[2], 3 * h->dim[2]};
        leo_status status = op_call_check_shape(call, names[i], 2, shape);
        if (status != LEO_OK) {
            return status;
        }
        p->turned[i] = op_view_swap(w, 0, 1);
        p->items[i] = &p->turned[i];
    }
    return LEO_OK;
}

leo_status op_plan_gru_named(const struct op_call *call)
{
    const struct op_tensor *h = op_call_tensor(call, "h"), *h0 = op_call_tensor(call, "h0"),
                           *bx = op_call_tensor(call, "bx"), *bh = op_call_tensor(call, "bh");
    struct params p;
    leo_status status = take_params(call, &p);
    if (status == LEO_OK && !bx != !bh) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG, "one of the two biases is not given");
    }
    if (status != LEO_OK) {
        return status;
    }
    p.items[2] = bx;
    p.items[3] = bh;
    p.list = (struct op_tensor_list){p.items, bx ? PARAMS : 2};
    struct op_chain chain = op_chain_begin(call);
    const int64_t state[] = {1, h->dim[1], h->dim[2]};
    const struct op_tensor last = op_chain_temp(&chain, h->type, 3, state),
                           first = h0 ? as_state(h0) : last;
    struct single r, z, n, hn, all;
    OP_CHAIN_CALL(&chain, "GRU", *op_call_value(call, "x"), op_value_tensors(&p.list),
                  op_value_tensor(h0 ? &first : NULL), op_value_tensor(NULL),
                  op_value_int(bx != NULL), op_value_int(1), op_value_real(0), op_value_int(1),
                  op_value_int(0), op_value_int(0), *op_call_value(call, "y"),
                  op_value_tensor(&last), as_list(&r, op_call_tensor(call, "reset")),
                  as_list(&z, op_call_tensor(call, "update")),
                  as_list(&n, op_call_tensor(call, "new")),
                  as_list(&hn, op_call_tensor(call, "hiddenNew")), as_list(&all, h));
    return chain.status;
}

// One number stands for no list of lengths and no mask.
static leo_status check_absent(const struct op_call *call, const char *name)
{
    const struct op_tensor *tensor = op_call_tensor(call, name);
    return !tensor || op_tensor_count(tensor) <= 1
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_UNSUPPORTED,
                              "%s has shape %s: sequences of several lengths are not possible",
                              name, op_tensor_shape_text(tensor).text);
}

static leo_status check_gradients(const struct op_call *call)
{
    static const char *const pairs[][2] = {{"wx", "dwx"}, {"wh", "dwh"}, {"x", "dx"}};
    const int64_t gates = op_call_tensor(call, "wx")->dim[1];
    leo_status status = check_absent(call, "lengths");
    if (status == LEO_OK) {
        status = check_absent(call, "mask");
    }
    for (unsigned i = 0; status == LEO_OK && i < 3; i++) {
        const struct op_tensor *of = op_call_tensor(call, pairs[i][0]);
        status = op_call_check_shape(call, pairs[i][1], of->rank, of->dim);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "dbx", 1, &gates);
    }
    return status == LEO_OK ? op_call_check_shape(call, "dbh", 1, &gates) : status;
}

leo_status op_plan_gru_named_grad(const struct op_call *call)
{
    const struct op_tensor *h = op_call_tensor(call, "h"), *dwx = op_call_tensor(call, "dwx"),
                           *dwh = op_call_tensor(call, "dwh"), *bias = op_call_tensor(call, "dbx");
    struct params p;
    leo_status status = take_params(call, &p);
    if (status == LEO_OK) {
        status = check_gradients(call);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    p.items[2] = p.items[3] = bias; // for its shape
    p.list = (struct op_tensor_list){p.items, PARAMS};
    const struct op_tensor h0 = as_state(op_call_tensor(call, "h0")),
                           dh = as_state(op_call_tensor(call, "dh")),
                           dh0 = as_state(op_call_tensor(call, "dh0")),
                           turned[] = {op_view_swap(dwx, 0, 1), op_view_swap(dwh, 0, 1)},
                           made[] = {op_chain_temp_like(&chain, h->type, &turned[0]),
                                     op_chain_temp_like(&chain, h->type, &turned[1])};
    const struct op_tensor *const gradients[] = {&made[0], &made[1], bias,
                                                 op_call_tensor(call, "dbh")};
    const struct op_tensor_list out = {gradients, PARAMS};
    struct single r, z, n, hn, all;
    OP_CHAIN_CALL(
        &chain, "GRUBackward", *op_call_value(call, "x"), op_value_tensors(&p.list),
        op_value_tensor(&h0), *op_call_value(call, "dy"), op_value_tensor(&dh),
        as_list(&r, op_call_tensor(call, "reset")), as_list(&z, op_call_tensor(call, "update")),
        as_list(&n, op_call_tensor(call, "new")), as_list(&hn, op_call_tensor(call, "hiddenNew")),
        as_list(&all, h), op_value_tensor(NULL), op_value_int(1), op_value_int(1), op_value_int(0),
        op_value_int(0), *op_call_value(call, "dx"), op_value_tensor(&dh0), op_value_tensors(&out));
    op_chain_copy(&chain, &turned[0], &made[0]);
    op_chain_copy(&chain, &turned[1], &made[1]);
    return chain.status;
}
