/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes that are turned: what they have in common, and the best of them. */
#include "../frame/chain.h"

#include "turned_args.h"

#include <inttypes.h>
#include <string.h>

enum { NUMBERS = 5, LINE = 16 };

static leo_status check_pairs(const struct op_call *call)
{
    const struct op_tensor *boxes = op_call_tensor(call, "boxes"),
                           *others = op_call_tensor(call, "others");
    if (boxes->rank != 3 || others->rank != 3 || boxes->dim[1] != NUMBERS ||
        others->dim[1] != NUMBERS || boxes->dim[0] != others->dim[0]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "boxes %s and others %s must be [batch, 5, count] of one batch",
                            op_tensor_shape_text(boxes).text, op_tensor_shape_text(others).text);
    }
    const int64_t shape[] = {boxes->dim[0], boxes->dim[2], others->dim[2]};
    return op_call_check_shape(call, "y", 3, shape);
}

leo_status op_plan_turned(const struct op_call *call)
{
    const struct op_tensor *boxes = op_call_tensor(call, "boxes"),
                           *others = op_call_tensor(call, "others"), *y = op_call_tensor(call, "y");
    const leo_status status = check_pairs(call);
    if (status != LEO_OK || op_tensor_count(y) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = op_chain_temp_like(&chain, OP_TYPE_F32, y);
    const struct op_share share =
        op_share_make((uint64_t)op_tensor_count(y), 1, LINE, op_plan_vector_cores(call->plan));
    const struct op_turned_args args = {.boxes = op_chain_dense(&chain, OP_TYPE_F32, boxes).addr,
                                        .others = op_chain_dense(&chain, OP_TYPE_F32, others).addr,
                                        .out = made.addr,
                                        .batch = (uint64_t)boxes->dim[0],
                                        .count = (uint64_t)boxes->dim[2],
                                        .other_count = (uint64_t)others->dim[2],
                                        .per_block = share.per_block,
                                        .ratio = strcmp(call->row->name, "AclTurnedRatio") == 0};
    if (chain.status == LEO_OK) {
        chain.status = op_plan_launch(call->plan, "turned", "turned_overlap", share.blocks, &args,
                                      sizeof(args), 3);
    }
    op_chain_copy(&chain, y, &made);
    return chain.status;
}

struct found_step {
    uint64_t found; /* address */
    unsigned chosen, indices;
};

static leo_status set_shapes(const struct op_host_run *run, const void *data)
{
    const struct found_step *step = data;
    int64_t count = 0;
    leo_status status = leo_rt_stream_synchronize(run->stream, -1);
    if (status == LEO_OK) {
        status =
            leo_rt_memcpy(run->device, &count, (const void *)(uintptr_t)step->found, sizeof(count));
    }
    if (status == LEO_OK) {
        const int64_t rows[] = {count, NUMBERS};
        op_host_set_shape(run, step->chosen, 2, rows);
        op_host_set_shape(run, step->indices, 1, rows);
    }
    return status;
}

static leo_status check_select(const struct op_call *call)
{
    const struct op_tensor *boxes = op_call_tensor(call, "boxes"),
                           *labels = op_call_tensor(call, "labels");
    const int64_t mode = op_call_int(call, "mode");
    if (mode < 0 || mode > 1) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "mode is %" PRId64 ": it must be 0 or 1",
                            mode);
    }
    if (boxes->rank != 2 || boxes->dim[1] != NUMBERS || op_tensor_count(labels) > 1) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "boxes %s must be [count, 5], and labels %s one number for all",
                            op_tensor_shape_text(boxes).text, op_tensor_shape_text(labels).text);
    }
    leo_status status = op_call_check_shape(call, "scores", 1, boxes->dim);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "chosen", 2, boxes->dim);
    }
    return status == LEO_OK ? op_call_check_shape(call, "indices", 1, boxes->dim) : status;
}

leo_status op_plan_turned_select(const struct op_call *call)
{
    const struct op_tensor *boxes = op_call_tensor(call, "boxes"),
                           *scores = op_call_tensor(call, "scores");
    const int64_t most = op_call_int(call, "most"), counts[] = {1};
    const leo_status status = check_select(call);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor list = op_chain_temp(&chain, OP_TYPE_I32, 1, boxes->dim),
                           found = op_chain_temp(&chain, OP_TYPE_I64, 1, counts),
                           taken = op_chain_temp(&chain, OP_TYPE_U8, 1, boxes->dim);
    op_chain_fill(&chain, &list, 0);
    op_chain_fill(&chain, &taken, 0);
    op_chain_fill(&chain, &found, 0);
    const struct op_turned_select_args args = {
        .boxes = op_chain_dense(&chain, OP_TYPE_F32, boxes).addr,
        .scores = op_chain_dense(&chain, OP_TYPE_F32, scores).addr,
        .indices = list.addr,
        .found = found.addr,
        .taken = taken.addr,
        .count = (uint64_t)boxes->dim[0],
        .most = (uint64_t)(most < 0 ? boxes->dim[0] : most),
        .limit = (float)op_call_real(call, "limit"),
        .least = (float)op_call_real(call, "least"),
        .corners = op_call_int(call, "mode") == 1};
    if (chain.status == LEO_OK && boxes->dim[0] > 0) {
        chain.status =
            op_plan_launch(call->plan, "turned", "turned_select", 1, &args, sizeof(args), 5);
        OP_CHAIN_CALL(&chain, "IndexSelect", op_value_tensor(boxes), op_value_int(0),
                      op_value_tensor(&list), *op_call_value(call, "chosen"));
    }
    op_chain_copy(&chain, op_call_tensor(call, "indices"), &list);
    const struct found_step step = {found.addr, op_call_tensor_index(call, "chosen"),
                                    op_call_tensor_index(call, "indices")};
    return chain.status == LEO_OK ? op_plan_host(call->plan, set_shapes, &step, sizeof(step), 1)
                                  : chain.status;
}
