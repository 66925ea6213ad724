/* SPDX-License-Identifier: Apache-2.0 */
/* Samples at places of their own, and bins of regions that read planes of their own. */
#include "../frame/chain.h"

#include "deform_args.h"

#include <inttypes.h>
#include <string.h>

enum { LINE = 16 /* f32 in a line of the cache */ };

static int64_t padded(int64_t count)
{
    return (count + LINE - 1) / LINE * LINE;
}

static struct op_tensor make_zeros(struct op_chain *chain, unsigned rank, const int64_t *dim)
{
    const struct op_tensor made = op_chain_temp(chain, OP_TYPE_F32, rank, dim);
    if (chain->status == LEO_OK) {
        chain->status = op_plan_fill(chain->plan, made.addr, 0,
                                     (uint64_t)op_tensor_count(&made) * op_type_bytes(OP_TYPE_F32));
    }
    return made;
}

/* ---- samples ---- */

static bool is_count(const struct op_call *call, const char *name, uint64_t count, int64_t least)
{
    const struct op_ints *ints = op_call_ints(call, name);
    bool fits = ints->count == count;
    for (uint64_t i = 0; fits && i < count; i++) {
        fits = ints->items[i] >= least && ints->items[i] < INT16_MAX;
    }
    return fits;
}

static leo_status take(const struct op_call *call, struct op_deform_args *args)
{
    const struct op_tensor *x = op_call_tensor(call, "x"),
                           *offsets = op_call_tensor(call, "offsets");
    const int64_t groups = op_call_int(call, "groups");
    if (!is_count(call, "ksize", 2, 1) || !is_count(call, "strides", 2, 1) ||
        !is_count(call, "pads", 4, 0) || !is_count(call, "dilations", 2, 1)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "ksize, strides and dilations must be two numbers from 1 on, pads four "
                            "from 0 on");
    }
    const int64_t *kernel = op_call_ints(call, "ksize")->items,
                  *stride = op_call_ints(call, "strides")->items,
                  *pad = op_call_ints(call, "pads")->items,
                  *dilation = op_call_ints(call, "dilations")->items;
    if (x->rank != 4 || offsets->rank != 4 || groups < 1 || x->dim[3] % groups ||
        x->dim[0] != offsets->dim[0] || offsets->dim[3] != 3 * groups * kernel[0] * kernel[1]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x %s and offsets %s do not fit %" PRId64 " groups and a kernel of "
                            "%" PRId64 " x %" PRId64 ": they must be [images, height, width, "
                            "channels], and three offsets for each group and place",
                            op_tensor_shape_text(x).text, op_tensor_shape_text(offsets).text,
                            groups, kernel[0], kernel[1]);
    }
    *args = (struct op_deform_args){.images = x->dim[0],
                                    .height = x->dim[1],
                                    .width = x->dim[2],
                                    .groups = groups,
                                    .each = x->dim[3] / groups,
                                    .out_height = offsets->dim[1],
                                    .out_width = offsets->dim[2],
                                    .kernel_height = kernel[0],
                                    .kernel_width = kernel[1],
                                    .stride_y = stride[0],
                                    .stride_x = stride[1],
                                    .top = pad[0],
                                    .left = pad[2],
                                    .dilation_y = dilation[0],
                                    .dilation_x = dilation[1]};
    return LEO_OK;
}

static leo_status check_samples(const struct op_call *call, const char *name,
                                const struct op_deform_args *args)
{
    const int64_t shape[] = {args->images, args->out_height * args->kernel_height,
                             args->out_width * args->kernel_width, args->groups * args->each};
    return op_call_check_shape(call, name, 4, shape);
}

static void take_inputs(struct op_chain *chain, struct op_deform_args *args)
{
    const struct op_tensor *x = op_call_tensor(chain->call, "x"),
                           *offsets = op_call_tensor(chain->call, "offsets");
    args->x = op_chain_dense(chain, x->type, x).addr;
    args->x_type = (uint8_t)x->type;
    args->offsets = op_chain_dense(chain, offsets->type, offsets).addr;
    args->offset_type = (uint8_t)offsets->type;
}

static void launch(struct op_chain *chain, const char *kernel, uint32_t blocks, const void *args,
                   uint64_t bytes, unsigned addresses)
{
    if (chain->status == LEO_OK) {
        chain->status =
            op_plan_launch(chain->plan, "deform", kernel, blocks, args, bytes, addresses);
    }
}

static uint32_t cores_for(struct op_chain *chain, int64_t parts)
{
    const uint32_t cores = op_plan_vector_cores(chain->plan);
    return parts < (int64_t)cores ? (uint32_t)parts : cores;
}

static leo_status plan_samples(const struct op_call *call)
{
    const struct op_tensor *y = op_call_tensor(call, "y");
    struct op_deform_args args;
    leo_status status = take(call, &args);
    if (status == LEO_OK) {
        status = check_samples(call, "y", &args);
    }
    if (status != LEO_OK || op_tensor_count(y) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = op_chain_temp_like(&chain, y->type, y);
    const struct op_share share =
        op_share_make((uint64_t)op_tensor_count(y), 1, LINE, op_plan_vector_cores(call->plan));
    take_inputs(&chain, &args);
    args.value = args.dx = args.doffsets = made.addr; // the last two are not written here
    args.value_type = (uint8_t)y->type;
    args.per_block = share.per_block;
    launch(&chain, "deform_sample", share.blocks, &args, sizeof(args), 5);
    op_chain_copy(&chain, y, &made);
    return chain.status;
}

static struct op_tensor view_of(const struct op_tensor *base, unsigned rank, const int64_t *dim,
                                const int64_t *stride)
{
    struct op_tensor view = {.addr = base->addr, .type = base->type, .rank = rank};
    memcpy(view.dim, dim, rank * sizeof(*dim));
    memcpy(view.stride, stride, rank * sizeof(*stride));
    return view;
}

// From [images, groups, height, width, each_pad] to [images, height, width, groups, each].
static void give_pixels(struct op_chain *chain, const struct op_deform_args *a,
                        const struct op_tensor *made)
{
    const struct op_tensor *dx = op_call_tensor(chain->call, "dx"),
                           dense = op_chain_temp_like(chain, dx->type, dx);
    const int64_t pad = (int64_t)a->each_pad, plane = a->height * a->width * pad;
    const int64_t dim[] = {a->images, a->height, a->width, a->groups, a->each},
                  from[] = {a->groups * plane, a->width * pad, pad, plane, 1};
    const struct op_tensor source = view_of(made, 5, dim, from), to = op_view_shape(&dense, 5, dim);
    op_chain_copy(chain, &to, &source);
    op_chain_copy(chain, dx, &dense);
}

// From [images, groups, places, 3, kernel] to [images, places, 3, groups, kernel].
static void give_offsets(struct op_chain *chain, const struct op_deform_args *a,
                         const struct op_tensor *made)
{
    const struct op_tensor *out = op_call_tensor(chain->call, "doffsets"),
                           dense = op_chain_temp_like(chain, out->type, out);
    const int64_t kernel = a->kernel_height * a->kernel_width, pad = (int64_t)a->offset_pad;
    const int64_t dim[] = {a->images, a->out_height * a->out_width, 3, a->groups, kernel},
                  from[] = {a->groups * pad, 3 * kernel, kernel, pad, 1};
    const struct op_tensor source = view_of(made, 5, dim, from), to = op_view_shape(&dense, 5, dim);
    op_chain_copy(chain, &to, &source);
    op_chain_copy(chain, out, &dense);
}

static leo_status plan_samples_gradient(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"),
                           *offsets = op_call_tensor(call, "offsets"),
                           *grad = op_call_tensor(call, "grad");
    struct op_deform_args args;
    leo_status status = take(call, &args);
    if (status == LEO_OK) {
        status = check_samples(call, "grad", &args);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "dx", 4, x->dim);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "doffsets", 4, offsets->dim);
    }
    if (status != LEO_OK || (op_tensor_count(x) == 0 && op_tensor_count(offsets) == 0)) {
        return status;
    }
    const int64_t pairs = args.images * args.groups, numbers = op_tensor_count(offsets) / pairs,
                  dx_dim[] = {pairs * args.height * args.width, padded(args.each)},
                  offset_dim[] = {pairs, padded(numbers)};
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor dx = make_zeros(&chain, 2, dx_dim),
                           doffsets = make_zeros(&chain, 2, offset_dim);
    take_inputs(&chain, &args);
    args.value = op_chain_dense(&chain, OP_TYPE_F32, grad).addr;
    args.value_type = OP_TYPE_F32;
    args.dx = dx.addr;
    args.doffsets = doffsets.addr;
    args.each_pad = (uint64_t)dx_dim[1];
    args.offset_pad = (uint64_t)offset_dim[1];
    launch(&chain, "deform_gradient", cores_for(&chain, pairs), &args, sizeof(args), 5);
    give_pixels(&chain, &args, &dx);
    give_offsets(&chain, &args, &doffsets);
    return chain.status;
}

leo_status op_plan_deform(const struct op_call *call)
{
    return op_call_has(call, "grad") ? plan_samples_gradient(call) : plan_samples(call);
}

/* ---- bins ---- */

static leo_status take_bins(const struct op_call *call, const struct op_tensor *planes,
                            const struct op_tensor *value, struct op_bins_args *args)
{
    const struct op_tensor *rois = op_call_tensor(call, "rois");
    const int64_t channels = op_call_int(call, "channels"), size = op_call_int(call, "size");
    if (planes->rank != 4 || rois->rank != 3 || value->rank != 4 || channels < 1 || size < 1 ||
        channels > INT16_MAX || size > INT16_MAX || rois->dim[0] != planes->dim[0] ||
        rois->dim[1] != 5 || planes->dim[1] != channels * size * size ||
        value->dim[0] != rois->dim[0] * rois->dim[2] || value->dim[1] != channels ||
        value->dim[2] != size || value->dim[3] != size) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "planes %s, rois %s and bins %s do not fit output_dim %" PRId64
                            " and group_size %" PRId64,
                            op_tensor_shape_text(planes).text, op_tensor_shape_text(rois).text,
                            op_tensor_shape_text(value).text, channels, size);
    }
    *args = (struct op_bins_args){.images = planes->dim[0],
                                  .regions = rois->dim[2],
                                  .channels = channels,
                                  .size = size,
                                  .height = planes->dim[2],
                                  .width = planes->dim[3],
                                  .scale = (float)op_call_real(call, "scale"),
                                  .table_type = (uint8_t)rois->type};
    return LEO_OK;
}

static leo_status plan_bins(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y"),
                           *rois = op_call_tensor(call, "rois");
    struct op_bins_args args;
    leo_status status = take_bins(call, x, y, &args);
    if (status != LEO_OK || op_tensor_count(y) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = op_chain_temp_like(&chain, y->type, y);
    const struct op_share share =
        op_share_make((uint64_t)op_tensor_count(y), 1, LINE, op_plan_vector_cores(call->plan));
    args.planes = op_chain_dense(&chain, x->type, x).addr;
    args.plane_type = (uint8_t)x->type;
    args.plane_pad = (uint64_t)(args.height * args.width);
    args.table = op_chain_dense(&chain, rois->type, rois).addr;
    args.value = made.addr;
    args.value_type = (uint8_t)y->type;
    args.per_block = share.per_block;
    launch(&chain, "bins_mean", share.blocks, &args, sizeof(args), 3);
    op_chain_copy(&chain, y, &made);
    return chain.status;
}

static leo_status plan_bins_gradient(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *grad = op_call_tensor(call, "grad"),
                           *rois = op_call_tensor(call, "rois");
    struct op_bins_args args;
    leo_status status = take_bins(call, x, grad, &args);
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    const int64_t plane = args.height * args.width, dim[] = {x->dim[0] * x->dim[1], padded(plane)};
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor sums = make_zeros(&chain, 2, dim),
                           part = op_view_slice(&sums, 1, 0, plane),
                           dense = op_chain_temp_like(&chain, x->type, x);
    const int64_t flat[] = {dim[0], plane};
    args.planes = sums.addr;
    args.plane_pad = (uint64_t)dim[1];
    args.table = op_chain_dense(&chain, rois->type, rois).addr;
    args.value = op_chain_dense(&chain, OP_TYPE_F32, grad).addr;
    launch(&chain, "bins_gradient", cores_for(&chain, dim[0]), &args, sizeof(args), 3);
    const struct op_tensor to = op_view_shape(&dense, 2, flat);
    op_chain_copy(&chain, &to, &part);
    op_chain_copy(&chain, x, &dense);
    return chain.status;
}

leo_status op_plan_bins(const struct op_call *call)
{
    return op_call_has(call, "grad") ? plan_bins_gradient(call) : plan_bins(call);
}
