/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of a matrix with one in FRACTAL_NZ: a convolution of 1 x 1 whose positions are the rows.
 * Its fractals are loaded as they are stored, and turned on their way to the cube if they have k
 * along their rows.
 */
#include "../convolution/convolution_launch.h"
#include "../frame/layout.h"
#include "matmul.h"

#include <string.h>

static bool is_half(enum op_type type)
{
    return type == OP_TYPE_F16 || type == OP_TYPE_BF16;
}

static bool fits(const struct op_plan *plan, const struct op_matmul *matmul, enum op_type *type)
{
    const struct op_tensor *a = &matmul->a, *b = &matmul->b, *out = &matmul->out;
    return a->rank == 2 && b->rank == 2 && out->rank == 2 && a->dim[1] == b->dim[0] &&
           out->dim[0] == a->dim[0] && out->dim[1] == b->dim[1] && op_tensor_count(out) > 0 &&
           b->format == OP_FORMAT_FRACTAL_NZ && !matmul->has_self && matmul->alpha == 1 &&
           op_matmul_type(plan, matmul, type) && is_half(*type) && b->type == *type &&
           a->type == *type && a->dim[1] > 0 &&
           (a->format != OP_FORMAT_FRACTAL_NZ || !op_layout_is_turned(a)) &&
           (out->format != OP_FORMAT_FRACTAL_NZ || !op_layout_is_turned(out));
}

// The matrix in FRACTAL_NZ: itself, or a temporary.
static leo_status as_fractals(struct op_plan *plan, const struct op_tensor *matrix,
                              struct op_tensor *out)
{
    *out = *matrix;
    if (matrix->format == OP_FORMAT_FRACTAL_NZ) {
        return LEO_OK;
    }
    *out = op_tensor_dense(0, matrix->type, 2, matrix->dim);
    out->format = OP_FORMAT_FRACTAL_NZ;
    return op_plan_temp_bytes(plan, op_tensor_extent(out), &out->addr);
}

// A matrix in FRACTAL_NZ as a map: [1][columns / 16][rows, padded][16].
static struct op_tensor as_map(const struct op_tensor *fractals)
{
    struct op_tensor storage;
    (void)op_layout_storage(fractals, &storage); // checked with the call
    const int64_t dim[] = {1, storage.dim[0], storage.dim[1] * storage.dim[2], storage.dim[3]};
    return op_tensor_dense(storage.addr, storage.type, 4, dim);
}

leo_status op_matmul_plan_native(struct op_plan *plan, const struct op_matmul *matmul)
{
    const struct leo_caps *caps = op_plan_caps(plan);
    const struct op_convolution_room room = {.chip = op_plan_numbers(plan),
                                             .l1 = caps->l1_bytes,
                                             .l0c = caps->l0c_bytes,
                                             .cores = op_plan_cube_cores(plan),
                                             .spread = op_plan_block_spread(plan),
                                             .m_most = 512,
                                             .stay = caps->l1_bytes / 2};
    struct op_tensor a, out;
    enum op_type type;
    const int64_t rows = (matmul->out.dim[0] + OP_FRACTAL - 1) / OP_FRACTAL;
    struct op_window window = {.width = OP_FRACTAL,
                               .height = rows,
                               .out_width = OP_FRACTAL,
                               .out_height = rows,
                               .filter_w = 1,
                               .filter_h = 1,
                               .stride_w = 1,
                               .stride_h = 1,
                               .dilation_w = 1,
                               .dilation_h = 1};
    if (!fits(plan, matmul, &type) || !op_window_close(&window) || !op_window_is_flat(&window) ||
        matmul->b.dim[0] > UINT16_MAX || matmul->b.dim[1] > UINT16_MAX) {
        return OP_DECLINED;
    }
    leo_status status = as_fractals(plan, &matmul->a, &a);
    if (status == LEO_OK && a.addr != matmul->a.addr) {
        status = op_plan_change_format(plan, &matmul->a, &a);
    }
    if (status == LEO_OK) {
        status = as_fractals(plan, &matmul->out, &out);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor x = as_map(&a), y = as_map(&out), w = as_map(&matmul->b);
    const bool turned = !op_layout_is_turned(&matmul->b);
    const int64_t column = w.stride[1] * 2, fractal = OP_FRACTAL * OP_FRACTAL * 2;
    const struct op_convolution_weights weights = {.addr = w.addr,
                                                   .group = turned ? fractal : column,
                                                   .block = turned ? column : fractal,
                                                   .turned = turned};
    status = op_convolution_launch(plan, &room, type, &window, &x, &weights,
                                   matmul->relu ? OP_CONVOLUTION_CUBE_RELU : 0, &y);
    return status == LEO_OK && out.addr != matmul->out.addr
               ? op_plan_change_format(plan, &out, &matmul->out)
               : status;
}
