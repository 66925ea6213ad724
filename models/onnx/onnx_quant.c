/* SPDX-License-Identifier: Apache-2.0 */
/* QuantizeLinear and DequantizeLinear: one scale, or one for each row of a dimension. */
#include "values.h"

// A scale or zero point that broadcasts to `rank` dimensions.
static uint32_t spread(struct onnx_import *import, struct onnx_tensor *tensor,
                       const struct onnx_tensor *in)
{
    int64_t dim[LEO_OP_RANK_MAX];
    const int64_t count = onnx_count(tensor);
    if (tensor->rank > 1 || onnx_attribute_int(import, "block_size", 0)) {
        onnx_fail(import, "scales by block are not served");
        return 0;
    }
    const uint32_t axis =
        count == 1 ? 0 : onnx_axis(import, onnx_attribute_int(import, "axis", 1), in->rank);
    for (uint32_t d = 0; d < in->rank; d++) {
        dim[d] = count != 1 && d == axis ? count : 1;
    }
    if (count != 1 && (in->rank == 0 || in->dim[axis] != count)) {
        onnx_fail(import, "its scales are not one a row");
        return 0;
    }
    return onnx_made_flat(import, onnx_value(import, tensor), count == 1 ? 0 : in->rank, dim);
}

/* round(x / scale) + zero point within the type's range; u8 without a zero point. */
void onnx_quantize(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *scale = onnx_input(import, 1),
                       *zero = onnx_input(import, 2);
    const enum leo_dtype dtype = zero ? zero->dtype : LEO_DTYPE_U8;
    if (!in || !scale || (dtype != LEO_DTYPE_U8 && dtype != LEO_DTYPE_S8) ||
        (!zero && onnx_attribute_int(import, "output_dtype", 2) != 2)) {
        onnx_fail(import, "it gives u8 or s8");
        return;
    }
    const struct onnx_tensor self = *in;
    // Single precision: a quotient near a half of a step must fall to the right side.
    const uint32_t x = onnx_made_as(import, onnx_value(import, in), LEO_DTYPE_F32),
                   s = onnx_made_as(import, spread(import, scale, &self), LEO_DTYPE_F32);
    uint32_t out = onnx_made(import, "Round", onnx_made_of(import, "Div", x, s, LEO_DTYPE_F32));
    if (zero) {
        out = onnx_made_of(import, "Add", out,
                           onnx_made_as(import, spread(import, zero, &self), LEO_DTYPE_F32),
                           LEO_DTYPE_F32);
    }
    const double least = dtype == LEO_DTYPE_U8 ? 0 : -128;
    out = onnx_made_with(import, "ClampMax", onnx_made_with(import, "ClampMin", out, least),
                         least + 255);
    onnx_give(import, 0, dtype, onnx_made_as(import, out, dtype));
}

/* (x - zero point) * scale. */
void onnx_dequantize(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *scale = onnx_input(import, 1),
                       *zero = onnx_input(import, 2);
    if (!in || !scale || in->dtype == LEO_DTYPE_F32) {
        onnx_fail(import, "it needs integers and a scale");
        return;
    }
    const struct onnx_tensor self = *in;
    uint32_t x = onnx_made_as(import, onnx_value(import, in), LEO_DTYPE_F32);
    if (zero) {
        x = onnx_made_of(import, "Sub", x,
                         onnx_made_as(import, spread(import, zero, &self), LEO_DTYPE_F32),
                         LEO_DTYPE_F32);
    }
    const uint32_t s = onnx_made_as(import, spread(import, scale, &self), LEO_DTYPE_F32),
                   out = onnx_made_of(import, "Mul", x, s, LEO_DTYPE_F32);
    onnx_give(import, 0, LEO_DTYPE_F32, onnx_made_as(import, out, import->floats));
}
