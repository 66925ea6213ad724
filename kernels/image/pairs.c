/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes compared in pairs. A row says which union it is ("pairs"). */
#include "../frame/chain.h"

#include "pairs_args.h"

#include <string.h>

enum { SIDES = 4, LINE = 16 /* f32 in a line of the cache */ };

static leo_status check_boxes(const struct op_call *call, const char *name)
{
    const struct op_tensor *boxes = op_call_tensor(call, name);
    return boxes->rank == 2 && boxes->dim[0] == SIDES
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s: it must be [4, boxes]", name,
                              op_tensor_shape_text(boxes).text);
}

static uint8_t form_of(const struct op_call *call)
{
    const char *word = op_row_attr(call->row, "pairs");
    return strcmp(word, "giou") == 0   ? OP_PAIRS_GIOU
           : strcmp(word, "diou") == 0 ? OP_PAIRS_DIOU
                                       : OP_PAIRS_CIOU;
}

static leo_status check_pairs(const struct op_call *call, bool crossed)
{
    const struct op_tensor *a = op_call_tensor(call, "a"), *b = op_call_tensor(call, "b");
    leo_status status = check_boxes(call, "a");
    if (status == LEO_OK) {
        status = check_boxes(call, "b");
    }
    if (status == LEO_OK && !crossed && a->dim[1] != b->dim[1]) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "a has shape %s and b %s: as many boxes must be",
                              op_tensor_shape_text(a).text, op_tensor_shape_text(b).text);
    }
    return status;
}

static struct op_pairs_args begin(struct op_chain *chain, int64_t count)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *a = op_call_tensor(call, "a"), *b = op_call_tensor(call, "b");
    return (struct op_pairs_args){.a = op_chain_dense(chain, OP_TYPE_F32, a).addr,
                                  .b = op_chain_dense(chain, OP_TYPE_F32, b).addr,
                                  .a_count = (uint64_t)a->dim[1],
                                  .b_count = (uint64_t)b->dim[1],
                                  .count = (uint64_t)count,
                                  .pad = (uint64_t)(count + LINE - 1) / LINE * LINE,
                                  .form = form_of(call),
                                  .centred = op_call_int(call, "centred") != 0};
}

static void launch(struct op_chain *chain, const char *kernel, struct op_pairs_args *args)
{
    const struct op_share share =
        op_share_make(args->count, 1, LINE, op_plan_vector_cores(chain->plan));
    args->per_block = share.per_block;
    if (chain->status == LEO_OK) {
        chain->status =
            op_plan_launch(chain->plan, "pairs", kernel, share.blocks, args, sizeof(*args), 5);
    }
}

static leo_status plan_forward(const struct op_call *call)
{
    const bool crossed = op_call_int(call, "crossed") != 0;
    const struct op_tensor *out = op_call_tensor(call, "out");
    leo_status status = check_pairs(call, crossed);
    const int64_t shape[] = {crossed ? op_call_tensor(call, "b")->dim[1] : 1,
                             op_call_tensor(call, "a")->dim[1]};
    const bool angles = op_call_has(call, "apart");
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "out", 2, shape);
    }
    if (status == LEO_OK && angles) {
        status = op_call_check_shape(call, "apart", 2, shape);
    }
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    struct op_pairs_args args = begin(&chain, op_tensor_count(out));
    const struct op_tensor value = op_chain_temp_like(&chain, OP_TYPE_F32, out),
                           apart = op_chain_temp_like(&chain, OP_TYPE_F32, out);
    args.out = value.addr;
    args.apart = apart.addr;
    args.crossed = crossed;
    launch(&chain, "pairs_union", &args);
    op_chain_copy(&chain, out, &value);
    if (angles) {
        op_chain_copy(&chain, op_call_tensor(call, "apart"), &apart);
    }
    return chain.status;
}

// Four rows of the gradients of all sides.
static void give_rows(struct op_chain *chain, const char *name, const struct op_tensor *all,
                      int64_t first)
{
    const struct op_tensor *out = op_call_tensor(chain->call, name);
    const struct op_tensor rows = op_view_slice(all, 0, first, SIDES),
                           part = op_view_slice(&rows, 1, 0, out->dim[1]);
    op_chain_copy(chain, out, &part);
}

static leo_status plan_gradient(const struct op_call *call)
{
    const struct op_tensor *a = op_call_tensor(call, "a"), *b = op_call_tensor(call, "b"),
                           *grad = op_call_tensor(call, "grad");
    leo_status status = check_pairs(call, false);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "da", 2, a->dim);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "db", 2, b->dim);
    }
    if (status == LEO_OK && op_tensor_count(grad) != a->dim[1]) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "grad has shape %s: it must be one a box of %s",
                              op_tensor_shape_text(grad).text, op_tensor_shape_text(a).text);
    }
    if (status != LEO_OK || a->dim[1] == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    struct op_pairs_args args = begin(&chain, a->dim[1]);
    const int64_t shape[] = {2 * SIDES, (int64_t)args.pad};
    const struct op_tensor all = op_chain_temp(&chain, OP_TYPE_F32, 2, shape);
    args.grad = op_chain_dense(&chain, OP_TYPE_F32, grad).addr;
    args.out = all.addr;
    args.apart = all.addr; // not written here
    launch(&chain, "pairs_gradient", &args);
    give_rows(&chain, "da", &all, 0);
    give_rows(&chain, "db", &all, SIDES);
    return chain.status;
}

leo_status op_plan_pairs(const struct op_call *call)
{
    return op_call_has(call, "grad") ? plan_gradient(call) : plan_forward(call);
}
