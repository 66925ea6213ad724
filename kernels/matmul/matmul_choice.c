/* SPDX-License-Identifier: Apache-2.0 */
/* How a product of matrices is computed. */
#include "../frame/variant.h"
#include "matmul.h"

#include "matmul_scalar_args.h"

#include <string.h>

// Strides in bytes of the last two dimensions and of those before.
static void set_strides(const struct op_tensor *tensor, int64_t *stride, int64_t *batch)
{
    const int64_t unit = op_type_bytes(tensor->type);
    const unsigned before = tensor->rank - 2;
    for (unsigned i = 0; i < before; i++) {
        batch[i] = tensor->stride[i] * unit;
    }
    stride[0] = tensor->stride[before] * unit;
    stride[1] = tensor->stride[before + 1] * unit;
}

leo_status op_matmul_plan_scalar(struct op_plan *plan, const struct op_matmul *matmul)
{
    const struct op_tensor *out = &matmul->out;
    const unsigned before = out->rank - 2;
    struct op_matmul_scalar_args args;
    struct op_tensor dense = *out;
    memset(&args, 0, sizeof(args));
    if (!op_tensor_is_dense(out)) {
        leo_status status = op_plan_temp(plan, out->type, out->rank, out->dim, &dense);
        if (status != LEO_OK) {
            return status;
        }
    }
    args.out = dense.addr;
    args.out_type = (uint8_t)dense.type;
    args.a = matmul->a.addr;
    args.b = matmul->b.addr;
    args.a_type = (uint8_t)matmul->a.type;
    args.b_type = (uint8_t)matmul->b.type;
    args.m = (uint64_t)out->dim[before];
    args.n = (uint64_t)out->dim[before + 1];
    args.k = (uint64_t)matmul->a.dim[before + 1];
    args.alpha = matmul->alpha;
    args.beta = matmul->beta;
    args.batches = 1;
    args.batch_rank = (uint8_t)before;
    for (unsigned i = 0; i < before; i++) {
        args.batch_dim[i] = out->dim[i];
        args.batches *= (uint64_t)out->dim[i];
    }
    set_strides(&matmul->a, args.a_stride, args.a_batch);
    set_strides(&matmul->b, args.b_stride, args.b_batch);
    if (matmul->has_self) {
        args.self = matmul->self.addr;
        args.self_type = (uint8_t)matmul->self.type;
        set_strides(&matmul->self, args.self_stride, args.self_batch);
    }
    const struct op_share share =
        op_share_make(args.batches * args.m * args.n, 1, 16, op_plan_vector_cores(plan));
    args.per_block = share.per_block;
    leo_status status = op_plan_launch(plan, "matmul_scalar", "matmul_scalar", share.blocks, &args,
                                       sizeof(args), 4);
    if (status != LEO_OK || dense.addr == out->addr) {
        return status;
    }
    return op_plan_copy(plan, out, &dense);
}

/* ---- the ways over the chip ---- */

struct product {
    struct op_plan *plan;
    const struct op_matmul *matmul;
    const struct op_call *call; /**< of matrices in a native format */
};

static leo_status by_parts(const void *object)
{
    const struct product *product = object;
    return op_matmul_plan_split(product->plan, product->matmul);
}

static leo_status by_cube(const void *object)
{
    const struct product *product = object;
    return op_matmul_plan_cube(product->plan, product->matmul);
}

// Ways whose kernels leave negative results.
static leo_status finish_relu(const struct product *product, leo_status status)
{
    const struct op_value relu[] = {op_value_tensor(&product->matmul->out)};
    return status == LEO_OK && product->matmul->relu
               ? op_plan_call(product->plan, "InplaceRelu", relu, 1)
               : status;
}

static leo_status by_vector(const void *object)
{
    const struct product *product = object;
    return finish_relu(product, op_matmul_plan_vector(product->plan, product->matmul));
}

static leo_status by_scalar_unit(const void *object)
{
    const struct product *product = object;
    return finish_relu(product, op_matmul_plan_scalar(product->plan, product->matmul));
}

leo_status op_matmul_plan(struct op_plan *plan, const struct op_matmul *matmul)
{
    static const struct op_variant ways[] = {
        {"parts of k", "two dimensions, few tiles, a k of at least 2048 that parts", by_parts},
        {"the cube", "floats of the cube, at most 2 dimensions of a batch", by_cube},
        {"the vector unit", "floats on a chip without vector cores", by_vector},
        {"the scalar unit", NULL, by_scalar_unit},
    };
    const struct product product = {plan, matmul, NULL};
    return op_tensor_count(&matmul->out) == 0
               ? LEO_OK
               : op_choose(plan, ways, sizeof(ways) / sizeof(*ways), &product);
}

static leo_status by_fractals(const void *object)
{
    const struct product *product = object;
    return op_matmul_plan_native(product->call->plan, product->matmul);
}

static leo_status by_rows(const void *object)
{
    const struct product *product = object;
    return op_call_run_as_rows(product->call);
}

leo_status op_matmul_plan_formats(const struct op_call *call, const struct op_matmul *matmul)
{
    static const struct op_variant ways[] = {
        {"fractals", "matrices of the cube's type, the right one in FRACTAL_NZ, nothing added",
         by_fractals},
        {"rows", NULL, by_rows},
    };
    const struct product product = {call->plan, matmul, call};
    return op_choose(call->plan, ways, sizeof(ways) / sizeof(*ways), &product);
}
