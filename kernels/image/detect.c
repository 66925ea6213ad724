/* SPDX-License-Identifier: Apache-2.0 */
/* Regions and boxes of detection networks. A row says which ("detect"). */
#include "../frame/chain.h"

#include "detect_args.h"

#include <inttypes.h>
#include <string.h>

/* The parameters of a row about regions, under one name each. */
struct names {
    const char *in, *table, *out, *height, *width, *scale, *samples;
};

static const struct names plain = {
    "self", "rois", "result", "pooled_height", "pooled_width", "spatial_scale_value", "sample_num"};
static const struct names second = {"self",        "boxes",        "out",          "pooledHeight",
                                    "pooledWidth", "spatialScale", "samplingRatio"};
static const struct names second_back = {"gradOutput",   "boxes",       "gradInput",
                                         "pooledHeight", "pooledWidth", "spatialScale",
                                         "samplingRatio"};

static leo_status take_regions(const struct op_call *call, const struct names *names,
                               const struct op_tensor *plane, const struct op_tensor *value,
                               struct op_regions_args *args)
{
    const struct op_tensor *table = op_call_tensor(call, names->table);
    const int64_t height = op_call_int(call, names->height),
                  width = op_call_int(call, names->width),
                  samples = op_call_int(call, names->samples);
    if (plane->rank != 4 || value->rank != 4 || table->rank != 2 || table->dim[1] != 5 ||
        value->dim[0] != table->dim[0] || value->dim[1] != plane->dim[1] ||
        value->dim[2] != height || value->dim[3] != width || height < 1 || width < 1 ||
        samples < 0) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%" PRId64 " x %" PRId64 " cells (%" PRId64
                            " samples) of the regions %s of shape %s do not make %s of planes %s",
                            height, width, samples, names->table, op_tensor_shape_text(table).text,
                            op_tensor_shape_text(value).text, op_tensor_shape_text(plane).text);
    }
    const bool aligned = op_call_has(call, "aligned");
    const int64_t mode =
        aligned ? (op_call_int(call, "aligned") ? 2 : 0)
                : op_call_int(call, op_call_has(call, "roi_end_mode") ? "roi_end_mode"
                                                                      : "roi_end_mode_value");
    if (mode < 0 || mode > 3) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "roi_end_mode is %" PRId64 ": it must be 0 to 3", mode);
    }
    *args = (struct op_regions_args){
        .regions = (uint64_t)table->dim[0],
        .channels = (uint64_t)plane->dim[1],
        .images = plane->dim[0],
        .height = plane->dim[2],
        .width = plane->dim[3],
        .pooled_height = height,
        .pooled_width = width,
        .samples = samples,
        .scale = (float)op_call_real(call, names->scale),
        .begin_shift = mode >= 2 ? -0.5f : 0, // 3 gives what 2 does: the adapter's own test
        .end_shift = mode == 1 ? 1 : 0,
        .least = mode == 0 ? 1 : 0,
        .table_type = (uint8_t)table->type,
    };
    return LEO_OK;
}

static void launch_regions(struct op_chain *chain, const char *kernel, uint64_t count,
                           uint64_t granule, struct op_regions_args *args)
{
    const struct op_share share =
        op_share_make(count, granule, granule, op_plan_vector_cores(chain->plan));
    args->per_block = share.per_block;
    if (chain->status == LEO_OK) {
        chain->status =
            op_plan_launch(chain->plan, "detect", kernel, share.blocks, args, sizeof(*args), 3);
    }
}

static leo_status plan_regions(const struct op_call *call)
{
    const struct names *names = op_call_has(call, "aligned") ? &second : &plain;
    const struct op_tensor *self = op_call_tensor(call, names->in),
                           *table = op_call_tensor(call, names->table),
                           *out = op_call_tensor(call, names->out);
    struct op_regions_args args;
    leo_status status = take_regions(call, names, self, out, &args);
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = op_chain_temp_like(&chain, out->type, out);
    args.plane = op_chain_dense(&chain, self->type, self).addr;
    args.plane_type = (uint8_t)self->type;
    args.table = op_chain_dense(&chain, table->type, table).addr;
    args.value = made.addr;
    args.value_type = (uint8_t)out->type;
    launch_regions(&chain, "regions_mean", (uint64_t)op_tensor_count(out), 1, &args);
    op_chain_copy(&chain, out, &made);
    return chain.status;
}

static leo_status plan_regions_gradient(const struct op_call *call)
{
    const struct names *names = op_call_has(call, "aligned") ? &second_back : &plain;
    const bool is_plain = names == &plain;
    const struct op_tensor *gradient = op_call_tensor(call, names->in),
                           *table = op_call_tensor(call, names->table),
                           *out = op_call_tensor(call, names->out);
    const struct op_ints *shape = op_call_ints(call, is_plain ? "xdiff_shape" : "inputShape");
    struct op_regions_args args;
    leo_status status = op_call_check_shape(call, names->out, (unsigned)shape->count, shape->items);
    if (status == LEO_OK) {
        status = take_regions(call, names, out, gradient, &args);
    }
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor sums = op_chain_temp_like(&chain, OP_TYPE_F32, out);
    op_chain_fill(&chain, &sums, 0);
    args.plane = sums.addr;
    args.value = op_chain_dense(&chain, OP_TYPE_F32, gradient).addr;
    args.table = op_chain_dense(&chain, table->type, table).addr;
    if (args.regions > 0) {
        // Planes of a block end on a line: cores must not write one both.
        const uint64_t plane = (uint64_t)(args.height * args.width), line = 16;
        uint64_t granule = 1;
        while (granule * plane % line) {
            granule *= 2;
        }
        launch_regions(&chain, "regions_gradient", (uint64_t)args.images * args.channels, granule,
                       &args);
    }
    op_chain_copy(&chain, out, &sums);
    return chain.status;
}

static leo_status check_boxes(const struct op_call *call, const char *name)
{
    const struct op_tensor *boxes = op_call_tensor(call, name);
    return boxes->rank == 2 && boxes->dim[1] == 4
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s: it must be [boxes, 4]", name,
                              op_tensor_shape_text(boxes).text);
}

static leo_status plan_suppress(const struct op_call *call)
{
    static const char *const numbers[] = {"most", "overlap", "least"};
    const struct op_tensor *boxes = op_call_tensor(call, "boxes"),
                           *scores = op_call_tensor(call, "scores"),
                           *indices = op_call_tensor(call, "indices"),
                           *count = op_call_tensor(call, "count");
    leo_status status = check_boxes(call, "boxes");
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "scores", 1, boxes->dim);
    }
    for (unsigned i = 0; status == LEO_OK && i < 3; i++) {
        if (op_tensor_count(op_call_tensor(call, numbers[i])) != 1) {
            status = op_call_fail(call, LEO_ERR_SHAPE, "%s must have one element", numbers[i]);
        }
    }
    if (status == LEO_OK && (indices->rank != 1 || op_tensor_count(count) != 1)) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "indices must be a list and count one number");
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor list = op_chain_temp_like(&chain, OP_TYPE_I32, indices),
                           total = op_chain_temp_like(&chain, OP_TYPE_I32, count),
                           taken = op_chain_temp_like(&chain, OP_TYPE_U8, scores);
    if (chain.status == LEO_OK) {
        chain.status = op_plan_fill(call->plan, taken.addr, 0, (uint64_t)op_tensor_count(&taken));
    }
    struct op_suppress_args args = {
        .boxes = op_chain_dense(&chain, boxes->type, boxes).addr,
        .scores = op_chain_dense(&chain, scores->type, scores).addr,
        .most = op_call_tensor(call, "most")->addr,
        .overlap = op_call_tensor(call, "overlap")->addr,
        .least = op_call_tensor(call, "least")->addr,
        .indices = list.addr,
        .total = total.addr,
        .taken = taken.addr,
        .count = (uint64_t)boxes->dim[0],
        .room = (uint64_t)indices->dim[0],
        .box_type = (uint8_t)boxes->type,
        .score_type = (uint8_t)scores->type,
        .overlap_type = (uint8_t)op_call_tensor(call, "overlap")->type,
        .least_type = (uint8_t)op_call_tensor(call, "least")->type,
        .most_type = (uint8_t)op_call_tensor(call, "most")->type,
    };
    if (chain.status == LEO_OK) {
        chain.status =
            op_plan_launch(call->plan, "detect", "boxes_suppress", 1, &args, sizeof(args), 8);
    }
    op_chain_copy(&chain, indices, &list);
    op_chain_copy(&chain, count, &total);
    return chain.status;
}

static leo_status plan_overlap(const struct op_call *call)
{
    const struct op_tensor *a = op_call_tensor(call, "a"), *b = op_call_tensor(call, "b"),
                           *out = op_call_tensor(call, "out");
    leo_status status = check_boxes(call, "a");
    if (status == LEO_OK) {
        status = check_boxes(call, "b");
    }
    // Rows of the result are the second boxes, as in the vendor's operator.
    const int64_t shape[] = {b->dim[0], a->dim[0]};
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "out", 2, shape);
    }
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = op_chain_temp_like(&chain, a->type, out);
    struct op_overlap_args args = {.out = made.addr,
                                   .a = op_chain_dense(&chain, a->type, b).addr,
                                   .b = op_chain_dense(&chain, a->type, a).addr,
                                   .a_count = (uint64_t)shape[0],
                                   .b_count = (uint64_t)shape[1],
                                   .eps = (float)op_call_real(call, "eps"),
                                   .type = (uint8_t)a->type,
                                   .over = op_call_int(call, "over") ? OP_OVERLAP_ROW
                                                                     : OP_OVERLAP_BOTH};
    const struct op_share share =
        op_share_make((uint64_t)op_tensor_count(out), 1, 16, op_plan_vector_cores(call->plan));
    args.per_block = share.per_block;
    if (chain.status == LEO_OK) {
        chain.status = op_plan_launch(call->plan, "detect", "boxes_overlap", share.blocks, &args,
                                      sizeof(args), 3);
    }
    op_chain_copy(&chain, out, &made);
    return chain.status;
}

leo_status op_plan_detect(const struct op_call *call)
{
    const char *word = op_row_attr(call->row, "detect");
    return strcmp(word, "regions") == 0            ? plan_regions(call)
           : strcmp(word, "regions_gradient") == 0 ? plan_regions_gradient(call)
           : strcmp(word, "suppress") == 0         ? plan_suppress(call)
                                                   : plan_overlap(call);
}
