/* SPDX-License-Identifier: Apache-2.0 */
#include "convolution_launch.h"
#include "../frame/whole.h"

#include <string.h>

uint32_t op_conv_type_flags(enum op_type type, enum op_type out)
{
    return (type == OP_TYPE_BF16 ? OP_CONV_CUBE_BF16 : 0u) |
           (out == OP_TYPE_F32 ? OP_CONV_CUBE_OUT_F32 : 0u) |
           (out == OP_TYPE_BF16 ? OP_CONV_CUBE_OUT_BF16 : 0u);
}

struct op_conv_cube_args op_conv_begin_args(const struct op_window *w)
{
    struct op_conv_cube_args args;
    memset(&args, 0, sizeof(args));
    args.width = (uint32_t)w->width;
    args.height = (uint32_t)w->height;
    args.out_width = (uint32_t)w->out_width;
    args.out_height = (uint32_t)w->out_height;
    args.filter_w = (uint32_t)w->filter_w;
    args.filter_h = (uint32_t)w->filter_h;
    args.stride_w = (uint32_t)w->stride_w;
    args.stride_h = (uint32_t)w->stride_h;
    args.dilation_w = (uint32_t)w->dilation_w;
    args.dilation_h = (uint32_t)w->dilation_h;
    args.pad_l = (uint32_t)w->pad_l;
    args.pad_r = (uint32_t)w->pad_r;
    args.pad_t = (uint32_t)w->pad_t;
    return args;
}

// Windows that are positions in whole fractals load as rows of fractals, an instruction each; by
// img2col there is one for each unit.
static bool fractals_pay(const struct op_window *w, const struct op_conv_tiling *tile,
                         uint32_t k_step)
{
    return w->filter_w * w->filter_h == 1 && w->stride_w * w->stride_h == 1 && w->pad_l == 0 &&
           w->pad_t == 0 && w->width == w->out_width && w->height == w->out_height &&
           w->width % OP_FRACTAL == 0 && tile->m / OP_FRACTAL < k_step;
}

leo_status op_conv_launch(struct op_plan *plan, const struct op_conv_room *room, enum op_type type,
                          const struct op_window *w, const struct op_tensor *x,
                          const struct op_conv_weights *weight, uint32_t flags,
                          const struct op_tensor *out)
{
    struct op_conv_cube_args args = op_conv_begin_args(w);
    const int64_t images = x->dim[0], c1 = x->dim[1], n1 = out->dim[1];
    const unsigned unit = op_type_bytes(out->type);
    struct op_conv_tiling tile;
    if (!op_conv_choose_tiling(room, w, images, c1, n1, &tile)) {
        return LEO_ERR_UNSUPPORTED; // ruled out before
    }
    args.x = x->addr;
    args.w = weight->addr;
    args.out = out->addr;
    args.x_image = x->stride[0] * 2;
    args.x_c1 = x->stride[1] * 2;
    args.w_c1 = weight->group;
    args.w_row = weight->row;
    args.w_column = weight->column;
    args.w_block = weight->block;
    args.out_image = out->stride[0] * unit;
    args.out_n1 = out->stride[1] * unit;
    args.images = (uint32_t)images;
    args.c1 = (uint32_t)c1;
    args.n1 = (uint32_t)n1;
    args.tile_m = (uint32_t)tile.m;
    args.group = (uint32_t)tile.group;
    args.tile_n1 = (uint32_t)tile.n1;
    args.chunk = (uint32_t)tile.chunk;
    args.k_step = (uint32_t)(OP_L0_FRACTALS / op_most(tile.group * tile.m / OP_FRACTAL, tile.n1));
    args.l1_map = (uint32_t)tile.resident;
    args.l1_half = (uint32_t)(room->l1 - tile.resident) / 2;
    args.l1_second = (uint32_t)tile.map_bytes;
    args.resident = tile.resident != 0;
    args.l0c_slot = tile.two_sums ? (uint32_t)room->l0c / 2 : 0;
    args.flags = flags | op_conv_type_flags(type, out->type) |
                 (weight->turned ? OP_CONV_CUBE_TURN : 0u) |
                 (fractals_pay(w, &tile, args.k_step) ? OP_CONV_CUBE_FRACTALS : 0u);
    const int64_t tiles = op_parts(images, tile.group) *
                          op_parts(w->out_width * w->out_height, tile.m) * op_parts(n1, tile.n1);
    return op_plan_launch(plan, "conv_cube", "op_conv", (uint32_t)op_least(tiles, room->cores),
                          &args, sizeof(args), 3);
}
