/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling at the points of a grid, its gradients, and grids of affine maps. */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include "sampler_args.h"

#include <inttypes.h>
#include <string.h>

static leo_status take(const struct op_call *call, const char *input_name,
                       const struct op_tensor *output, struct op_sampler_args *args)
{
    const struct op_tensor *input = op_call_tensor(call, input_name),
                           *grid = op_call_tensor(call, "grid");
    const int64_t mode = op_call_int(call, "interpolationMode"),
                  padding = op_call_int(call, "paddingMode");
    const unsigned dims = grid->rank - 2, rank = dims + 2;
    memset(args, 0, sizeof(*args));
    bool fits = (dims == 2 || dims == 3) && input->rank == rank && output->rank == rank &&
                grid->dim[rank - 1] == dims && input->dim[0] == grid->dim[0] &&
                output->dim[0] == grid->dim[0] && input->dim[1] == output->dim[1] &&
                input->type == grid->type;
    for (unsigned i = 0; i < OP_SAMPLER_DIMS; i++) {
        args->size[i] = args->points[i] = 1;
    }
    for (unsigned i = 0; fits && i < dims; i++) {
        const unsigned to = OP_SAMPLER_DIMS - dims + i;
        args->size[to] = input->dim[2 + i];
        args->points[to] = grid->dim[1 + i];
        fits = output->dim[2 + i] == grid->dim[1 + i] && input->dim[2 + i] > 0;
    }
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%s %s%s, grid %s%s and samples of shape %s do not fit", input_name,
                            op_type_name(input->type), op_tensor_shape_text(input).text,
                            op_type_name(grid->type), op_tensor_shape_text(grid).text,
                            op_tensor_shape_text(output).text);
    }
    if (mode < 0 || mode > 2 || padding < 0 || padding > 2 ||
        (mode == OP_SAMPLER_CUBIC && dims != 2)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "interpolationMode %" PRId64 ", paddingMode %" PRId64
                            ": 0 to 2 are possible, cubic (2) in two dimensions",
                            mode, padding);
    }
    args->images = input->dim[0];
    args->channels = input->dim[1];
    args->dims = (uint8_t)dims;
    args->mode = (uint8_t)mode;
    args->padding = (uint8_t)padding;
    args->align = op_call_int(call, "alignCorners") != 0;
    args->type = (uint8_t)input->type;
    return LEO_OK;
}

static void launch(struct op_chain *chain, const char *kernel, uint64_t count, uint64_t granule,
                   struct op_sampler_args *args)
{
    const struct op_share share =
        op_share_make(count, granule, 1, op_plan_vector_cores(chain->plan));
    args->per_block = share.per_block;
    if (chain->status == LEO_OK) {
        chain->status =
            op_plan_launch(chain->plan, "sampler", kernel, share.blocks, args, sizeof(*args), 5);
    }
}

static leo_status plan_forward(const struct op_call *call)
{
    const struct op_tensor *input = op_call_tensor(call, "input"),
                           *grid = op_call_tensor(call, "grid"), *out = op_call_tensor(call, "out");
    struct op_sampler_args args;
    leo_status status = take(call, "input", out, &args);
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = op_chain_temp_like(&chain, input->type, out);
    args.input = op_chain_dense(&chain, input->type, input).addr;
    args.grid = op_chain_dense(&chain, input->type, grid).addr;
    args.out = made.addr;
    launch(&chain, "sampler", (uint64_t)op_tensor_count(out), 16, &args);
    op_chain_copy(&chain, out, &made);
    return chain.status;
}

static leo_status check_alike(const struct op_call *call, const char *name,
                              const struct op_tensor *like)
{
    return op_call_check_shape(call, name, like->rank, like->dim);
}

static leo_status plan_backward(const struct op_call *call)
{
    const struct op_tensor *input = op_call_tensor(call, "input"),
                           *grid = op_call_tensor(call, "grid"),
                           *gradient = op_call_tensor(call, "gradOutput"),
                           *input_gradient = op_call_tensor(call, "inputGrad"),
                           *grid_gradient = op_call_tensor(call, "gridGrad");
    const struct op_bools *mask = op_call_value(call, "outputMask")->bools;
    const bool by_input = !mask || mask->count < 1 || mask->items[0],
               by_grid = !mask || mask->count < 2 || mask->items[1];
    struct op_sampler_args args;
    leo_status status = take(call, "input", gradient, &args);
    if (status == LEO_OK && by_input) {
        status = check_alike(call, "inputGrad", input);
    }
    if (status == LEO_OK && by_grid) {
        status = check_alike(call, "gridGrad", grid);
    }
    if (status != LEO_OK || op_tensor_count(grid) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    args.input = op_chain_dense(&chain, input->type, input).addr;
    args.grid = op_chain_dense(&chain, input->type, grid).addr;
    args.out = op_chain_dense(&chain, input->type, gradient).addr;
    if (by_input && op_tensor_count(input)) {
        const int64_t planes = args.images * args.channels,
                      plane = args.size[0] * args.size[1] * args.size[2];
        const struct op_tensor sums = op_chain_temp_like(&chain, OP_TYPE_F64, input);
        op_chain_fill(&chain, &sums, 0);
        args.input_gradient = sums.addr;
        launch(&chain, "sampler_input_gradient", (uint64_t)planes,
               op_row_granule((uint64_t)plane, 8), &args);
        op_chain_copy(&chain, input_gradient, &sums);
    }
    if (by_grid) {
        const struct op_tensor made = op_chain_temp_like(&chain, input->type, grid);
        args.grid_gradient = made.addr;
        launch(&chain, "sampler_grid_gradient", (uint64_t)op_tensor_count(grid), 16, &args);
        op_chain_copy(&chain, grid_gradient, &made);
    }
    return chain.status;
}

/* ---- AffineGrid ---- */

// Number k of theta's row, seen as [images, 1, 1 ..].
static struct op_tensor number_of(const struct op_tensor *theta, int64_t row, int64_t k,
                                  unsigned dims)
{
    const struct op_tensor line = op_view_select(theta, 1, row);
    struct op_tensor view = op_view_select(&line, 1, k);
    for (unsigned i = 0; i < dims; i++) {
        view = op_view_insert(&view, 1);
    }
    return view;
}

static leo_status plan_affine_grid(const struct op_call *call)
{
    const struct op_tensor *theta = op_call_tensor(call, "theta"),
                           *out = op_call_tensor(call, "out");
    const struct op_ints *size = op_call_ints(call, "size");
    const unsigned dims = (unsigned)size->count - 2;
    int64_t shape[OP_RANK_MAX];
    if ((dims != 2 && dims != 3) || theta->rank != 3 || theta->dim[0] != size->items[0] ||
        theta->dim[1] != dims || theta->dim[2] != dims + 1) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "theta has shape %s for a size of %" PRIu64 " numbers",
                            op_tensor_shape_text(theta).text, size->count);
    }
    shape[0] = size->items[0];
    for (unsigned i = 0; i < dims; i++) {
        shape[1 + i] = size->items[2 + i];
    }
    shape[1 + dims] = dims;
    leo_status status = op_call_check_shape(call, "out", dims + 2, shape);
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor
        position[OP_SAMPLER_DIMS]; // in the order of the grid's coordinates: last dimension first
    for (unsigned k = 0; k < dims; k++) {
        const int64_t count = shape[dims - k];
        position[k] = op_chain_temp(&chain, OP_TYPE_F32, 1, &count);
        OP_CHAIN_CALL(&chain, "GridPosition", op_value_int(count),
                      op_value_int(op_call_int(call, "alignCorners")),
                      op_value_tensor(&position[k]));
        for (unsigned i = 0; i < k; i++) {
            position[k] = op_view_insert(&position[k], position[k].rank);
        }
    }
    for (unsigned row = 0; row < dims; row++) {
        const struct op_tensor to = op_view_select(out, dims + 1, row),
                               sum = op_chain_temp_like(&chain, OP_TYPE_F32, &to);
        const struct op_tensor offset = number_of(theta, row, dims, dims);
        const struct op_scalar one = op_scalar_int(1);
        struct op_tensor everywhere;
        (void)op_tensor_broadcast(&offset, to.rank, to.dim, &everywhere);
        op_chain_copy(&chain, &sum, &everywhere);
        for (unsigned k = 0; k < dims; k++) {
            const struct op_tensor factor = number_of(theta, row, k, dims);
            OP_CHAIN_CALL(&chain, "Addcmul", op_value_tensor(&sum), op_value_tensor(&factor),
                          op_value_tensor(&position[k]), op_value_scalar(&one),
                          op_value_tensor(&sum));
        }
        op_chain_copy(&chain, &to, &sum);
    }
    return chain.status;
}

leo_status op_plan_sampler(const struct op_call *call)
{
    return op_call_has(call, "theta")        ? plan_affine_grid(call)
           : op_call_has(call, "gradOutput") ? plan_backward(call)
                                             : plan_forward(call);
}
