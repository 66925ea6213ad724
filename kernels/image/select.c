/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes chosen by score. */
#include "../frame/chain.h"

#include "select_args.h"

#include <inttypes.h>

enum { LINE = 64 /* elements that begin a new line whatever their type */ };

static leo_status fill_zero(struct op_chain *chain, const struct op_tensor *tensor)
{
    return chain->status == LEO_OK
               ? op_plan_fill(chain->plan, tensor->addr, 0,
                              (uint64_t)op_tensor_count(tensor) * op_type_bytes(tensor->type))
               : chain->status;
}

static struct op_tensor make_zeros(struct op_chain *chain, enum op_type type, unsigned rank,
                                   const int64_t *dim)
{
    const struct op_tensor made = op_chain_temp(chain, type, rank, dim);
    chain->status = fill_zero(chain, &made);
    return made;
}

leo_status op_plan_select_mask(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    if (x->rank != 2 || x->dim[1] != 5) {
        return op_call_fail(call, LEO_ERR_SHAPE, "x has shape %s: it must be [boxes, 5]",
                            op_tensor_shape_text(x).text);
    }
    leo_status status = op_call_check_shape(call, "boxes", 2, x->dim);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "index", 1, x->dim);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "mask", 1, x->dim);
    }
    if (status != LEO_OK || x->dim[0] == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor corners = op_view_slice(x, 1, 0, 4), score = op_view_select(x, 1, 4),
                           boxes = op_chain_dense(&chain, x->type, &corners),
                           scores = op_chain_dense(&chain, x->type, &score),
                           mask = make_zeros(&chain, OP_TYPE_U8, 1, x->dim),
                           taken = make_zeros(&chain, OP_TYPE_U8, 1, x->dim);
    const struct op_mask_args args = {.boxes = boxes.addr,
                                      .scores = scores.addr,
                                      .mask = mask.addr,
                                      .taken = taken.addr,
                                      .count = (uint64_t)x->dim[0],
                                      .limit = (float)op_call_real(call, "limit"),
                                      .type = (uint8_t)x->type};
    if (chain.status == LEO_OK) {
        chain.status =
            op_plan_launch(call->plan, "boxes_select", "select_mask", 1, &args, sizeof(args), 4);
    }
    op_chain_copy(&chain, op_call_tensor(call, "boxes"), x);
    op_chain_range(&chain, op_call_tensor(call, "index"), 0, 1);
    op_chain_copy(&chain, op_call_tensor(call, "mask"), &mask);
    return chain.status;
}

static leo_status check_classes(const struct op_call *call)
{
    const struct op_tensor *boxes = op_call_tensor(call, "boxes"),
                           *scores = op_call_tensor(call, "scores");
    const int64_t each = op_call_int(call, "each"), most = op_call_int(call, "most");
    if (boxes->rank != 4 || boxes->dim[3] != 4 || scores->rank != 3 ||
        boxes->dim[0] != scores->dim[0] || boxes->dim[1] != scores->dim[1] ||
        (boxes->dim[2] != 1 && boxes->dim[2] != scores->dim[2]) || each < 1 || most < 1 ||
        each > INT32_MAX || most > INT32_MAX) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "boxes %s and scores %s do not fit, or max_size_per_class %" PRId64
                            " and max_total_size %" PRId64 ": boxes must be [batch, boxes, 1 or "
                            "classes, 4], scores [batch, boxes, classes]",
                            op_tensor_shape_text(boxes).text, op_tensor_shape_text(scores).text,
                            each, most);
    }
    const int64_t shape[] = {boxes->dim[0], most, 4};
    leo_status status = op_call_check_shape(call, "outBoxes", 3, shape);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "outScores", 2, shape);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "outClasses", 2, shape);
    }
    return status == LEO_OK ? op_call_check_shape(call, "found", 1, shape) : status;
}

// Numbers of a batch, rounded up to whole lines.
static int64_t padded(int64_t count)
{
    return (count + LINE - 1) / LINE * LINE;
}

// What each batch has in lines of its own, as the result wants it.
static void give(struct op_chain *chain, const char *name, const struct op_tensor *padded_rows)
{
    const struct op_tensor *out = op_call_tensor(chain->call, name);
    const int64_t count = op_tensor_count(out) / out->dim[0];
    struct op_tensor part = op_view_slice(padded_rows, 1, 0, count);
    if (out->rank == 1) {
        part = op_view_select(&part, 1, 0);
    } else if (out->rank == 3) { // a batch's elements follow one another
        part.rank = 3;
        part.dim[1] = out->dim[1];
        part.dim[2] = out->dim[2];
        part.stride[1] = out->dim[2];
        part.stride[2] = 1;
    }
    op_chain_copy(chain, out, &part);
}

static struct op_tensor in_lines(struct op_chain *chain, enum op_type type, int64_t batch,
                                 int64_t count)
{
    const int64_t dim[] = {batch, padded(count)};
    return make_zeros(chain, type, 2, dim);
}

leo_status op_plan_select_classes(const struct op_call *call)
{
    static const unsigned order[] = {0, 2, 1, 3};
    const struct op_tensor *boxes = op_call_tensor(call, "boxes"),
                           *scores = op_call_tensor(call, "scores");
    const enum op_type type = scores->type;
    const int64_t each = op_call_int(call, "each"), most = op_call_int(call, "most"),
                  batch = boxes->dim[0], count = boxes->dim[1], classes = scores->dim[2];
    leo_status status = check_classes(call);
    if (status != LEO_OK || batch == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor by_class = op_tensor_permute(boxes, order),
                           scores_by_class = op_view_swap(scores, 1, 2),
                           box = op_chain_dense(&chain, type, &by_class),
                           score = op_chain_dense(&chain, type, &scores_by_class),
                           out_boxes = in_lines(&chain, type, batch, most * 4),
                           out_scores = in_lines(&chain, type, batch, most),
                           out_classes = in_lines(&chain, type, batch, most),
                           found = in_lines(&chain, OP_TYPE_I32, batch, 1),
                           picked_score = in_lines(&chain, OP_TYPE_F32, batch, classes * each),
                           picked = in_lines(&chain, OP_TYPE_I32, batch, classes * each),
                           taken = in_lines(&chain, OP_TYPE_U8, batch, count);
    const struct op_classes_args args = {.boxes = box.addr,
                                         .scores = score.addr,
                                         .out_boxes = out_boxes.addr,
                                         .out_scores = out_scores.addr,
                                         .out_classes = out_classes.addr,
                                         .found = found.addr,
                                         .picked_score = picked_score.addr,
                                         .picked = picked.addr,
                                         .taken = taken.addr,
                                         .batch = (uint64_t)batch,
                                         .count = (uint64_t)count,
                                         .classes = (uint64_t)classes,
                                         .box_classes = (uint64_t)boxes->dim[2],
                                         .each = (uint64_t)each,
                                         .most = (uint64_t)most,
                                         .box_pad = (uint64_t)padded(most * 4),
                                         .pad = (uint64_t)padded(most),
                                         .found_pad = (uint64_t)padded(1),
                                         .picked_pad = (uint64_t)padded(classes * each),
                                         .taken_pad = (uint64_t)padded(count),
                                         .limit = (float)op_call_real(call, "limit"),
                                         .least = (float)op_call_real(call, "least"),
                                         .type = (uint8_t)type};
    const unsigned cores = op_plan_vector_cores(call->plan);
    if (chain.status == LEO_OK) {
        chain.status =
            op_plan_launch(call->plan, "boxes_select", "select_classes",
                           batch < cores ? (unsigned)batch : cores, &args, sizeof(args), 9);
    }
    give(&chain, "outBoxes", &out_boxes);
    give(&chain, "outScores", &out_scores);
    give(&chain, "outClasses", &out_classes);
    give(&chain, "found", &found);
    return chain.status;
}
