/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration of img2col, and what it touches. */
#include "img2col.h"

enum { FEW_CHANNELS = 4 }; /* of a map of csize 1 */

#define FIELD_ELEMENT(code) ((code) == 3 ? 0u : 1u << (code)) /* 3: s4, which has no bytes */

static bool set_window(struct sim_core *core, struct mte_window *window, uint64_t map_word,
                       unsigned element_code)
{
    window->map = leo_cfg_fmatrix_unpack(map_word);
    window->element = FIELD_ELEMENT(element_code);
    window->wrap = core->csr.l1_3d_size;
    window->pixel = MTE_BLOCK_BYTES;
    window->places = 1;
    const uint32_t span_w = (window->filter_w - 1) * window->dilation_w + 1;
    const uint32_t span_h = (window->filter_h - 1) * window->dilation_h + 1;
    const uint32_t all_w = window->map.width + window->map.pad_l + window->map.pad_r;
    const uint32_t all_h = window->map.height + window->map.pad_t + window->map.pad_b;
    if (window->stride_w == 0 || window->stride_h == 0 || window->filter_w == 0 ||
        window->filter_h == 0 || window->dilation_w == 0 || window->dilation_h == 0 ||
        window->map.width == 0 || window->map.height == 0 || span_w > all_w || span_h > all_h ||
        window->wrap % MTE_BLOCK_BYTES != 0) {
        return false;
    }
    window->out_w = (all_w - span_w) / window->stride_w + 1;
    window->out_h = (all_h - span_h) / window->stride_h + 1;
    const unsigned unit = window->element ? window->element : 1;
    for (unsigned at = 0; at < MTE_BLOCK_BYTES; at += unit) {
        memcpy(window->pad + at, &core->csr.padding, unit);
    }
    return true;
}

static bool unpack_second(struct sim_core *core, const struct sim_op *op, struct mte_img2col *move)
{
    const struct leo_cfg_l3d0 at = leo_cfg_l3d0_unpack(op->c);
    const struct leo_cfg_l3d1 cfg = leo_cfg_l3d1_unpack(op->d);
    const struct leo_cfg_l3d_rpt again = leo_cfg_l3d_rpt_unpack(core->csr.l3d_rpt);
    *move = (struct mte_img2col){.window = {.stride_w = cfg.stride_w,
                                            .stride_h = cfg.stride_h,
                                            .filter_w = cfg.filter_w,
                                            .filter_h = cfg.filter_h,
                                            .dilation_w = cfg.dilation_w,
                                            .dilation_h = cfg.dilation_h},
                                 .first_row = at.m_start,
                                 .rows = at.m_ext,
                                 .to_right = op->insn == LEO_INSN_IMG2COLV2_CBUF_TO_CB,
                                 .transpose = cfg.transpose,
                                 .times = again.times ? again.times : 1,
                                 .time_step = again.step,
                                 .time_along_k = again.mode};
    const uint32_t c0 = cfg.element == 3 ? 64u : MTE_BLOCK_BYTES >> cfg.element;
    move->first_block = at.k_start / c0;
    move->blocks = (at.k_ext + c0 - 1) / c0;
    move->window.groups = (cfg.channels + c0 - 1) / c0;
    if (move->transpose && cfg.element != 1) {
        return mte_bad_config(core, op->d);
    }
    if (move->to_right && (cfg.element == 3 || move->transpose)) {
        return mte_bad_config(core, op->d);
    }
    if (at.k_start % c0 != 0 || core->csr.l3d_rpt & LEO_CFG_L3D_RPT_RESERVED) {
        return mte_bad_config(core, op->c);
    }
    if (move->rows == 0 || move->blocks == 0 || cfg.channels == 0) {
        move->rows = 0;
        return true;
    }
    return set_window(core, &move->window, cfg.fmatrix ? core->csr.fmatrix_b : core->csr.fmatrix,
                      cfg.element) ||
           mte_bad_config(core, op->d);
}

/* The first version starts at a filter element and at a window, given by its corner. */
static bool unpack_first(struct sim_core *core, const struct sim_op *op, struct mte_img2col *move)
{
    const struct leo_cfg_i2c0 at = leo_cfg_i2c0_unpack(op->c);
    const struct leo_cfg_i2c1 cfg = leo_cfg_i2c1_unpack(op->d);
    *move = (struct mte_img2col){.window = {.stride_w = cfg.stride_w,
                                            .stride_h = cfg.stride_h,
                                            .filter_w = cfg.filter_w,
                                            .filter_h = cfg.filter_h,
                                            .dilation_w = cfg.dilation_w,
                                            .dilation_h = cfg.dilation_h,
                                            .groups = UINT32_MAX},
                                 .rows = 16,
                                 .blocks = 1,
                                 .to_right = op->insn == LEO_INSN_IMG2COL_CBUF_TO_CB,
                                 .single = true,
                                 .along_map = cfg.repeat_mode,
                                 .repeats = cfg.repeat,
                                 .jump = cfg.jump,
                                 .times = 1};
    if (op->c & LEO_CFG_I2C0_RESERVED || op->d & LEO_CFG_I2C1_RESERVED || cfg.jump == 0 ||
        cfg.element == 3 || at.fetch_w >= cfg.filter_w || at.fetch_h >= cfg.filter_h) {
        return mte_bad_config(core, op->d);
    }
    if (!set_window(core, &move->window, core->csr.fmatrix, cfg.element)) {
        return mte_bad_config(core, op->d);
    }
    const int32_t left = (int16_t)at.left_top_w + move->window.map.pad_l;
    const int32_t top = (int16_t)at.left_top_h + move->window.map.pad_t;
    if (left < 0 || top < 0 || left % cfg.stride_w != 0 || top % cfg.stride_h != 0 ||
        (uint32_t)left / cfg.stride_w >= move->window.out_w) {
        return mte_bad_config(core, op->c); // not where a window starts
    }
    move->first_row =
        (uint32_t)top / cfg.stride_h * move->window.out_w + (uint32_t)left / cfg.stride_w;
    const uint32_t place = (uint32_t)at.fetch_h * cfg.filter_w + at.fetch_w;
    if (!cfg.csize) {
        move->first_block = (uint32_t)at.c1_index * cfg.filter_h * cfg.filter_w + place;
        return true;
    }
    // HW-DMA-47: one group of four channels, several filter elements a block.
    move->window.pixel = FEW_CHANNELS * move->window.element;
    move->window.places = MTE_BLOCK_BYTES / move->window.pixel;
    move->window.groups = 1;
    move->first_block = place / move->window.places;
    return (at.c1_index == 0 && place % move->window.places == 0) || mte_bad_config(core, op->c);
}

bool mte_img2col_unpack(struct sim_core *core, const struct sim_op *op, struct mte_img2col *move)
{
    return op->insn == LEO_INSN_IMG2COLV2_CBUF_TO_CA || op->insn == LEO_INSN_IMG2COLV2_CBUF_TO_CB
               ? unpack_second(core, op, move)
               : unpack_first(core, op, move);
}

/** Rows and blocks that all repeats together look at. */
static void whole_range(const struct mte_img2col *move, uint64_t *rows, uint64_t *blocks)
{
    *rows = move->rows;
    *blocks = move->blocks;
    if (move->single) {
        *(move->along_map ? rows : blocks) += (move->repeats - 1u) * (move->along_map ? 16u : 1u);
        return;
    }
    const uint64_t more = (uint64_t)(move->times - 1) * move->time_step;
    *(move->time_along_k ? blocks : rows) += move->time_along_k ? more : more * 16;
}

/* Lines of the feature map that the windows reach, in each group of channels. */
static bool add_map(struct sim_footprint *foot, const struct sim_op *op,
                    const struct mte_img2col *move)
{
    const struct mte_window *window = &move->window;
    const uint32_t kernel = mte_window_blocks(window);
    uint64_t rows, blocks;
    whole_range(move, &rows, &blocks);
    const uint64_t last_row = move->first_row + rows - 1,
                   last_block = move->first_block + blocks - 1;
    uint64_t first_group = move->first_block / kernel, last_group = last_block / kernel;
    last_group = last_group < window->groups ? last_group : window->groups - 1;
    int64_t low = (int64_t)(move->first_row / window->out_w) * window->stride_h - window->map.pad_t;
    uint64_t last_h = last_row / window->out_w;
    last_h = last_h < window->out_h ? last_h : window->out_h - 1;
    int64_t high = (int64_t)last_h * window->stride_h - window->map.pad_t +
                   (int64_t)(window->filter_h - 1) * window->dilation_h;
    low = low < 0 ? 0 : low;
    high = high < window->map.height ? high : window->map.height - 1;
    if (low > high || first_group > last_group ||
        move->first_row >= window->out_w * window->out_h) {
        return false; // padding only
    }
    const uint64_t line = (uint64_t)window->map.width * window->pixel;
    struct sim_span *span;
    if (window->wrap) { // around the end: any of it
        span = sim_footprint_add(foot, SIM_OPERAND_B, LEO_MEM_SPACE_L1,
                                 SIM_TOUCH_READ | SIM_TOUCH_PADDED, op->b, window->wrap);
    } else {
        const uint64_t group = line * window->map.height;
        span = sim_footprint_add(
            foot, SIM_OPERAND_B, LEO_MEM_SPACE_L1, SIM_TOUCH_READ | SIM_TOUCH_PADDED,
            op->b + first_group * group + (uint64_t)low * line, (uint64_t)(high - low + 1) * line);
        span->level[0] =
            (struct sim_level){(uint32_t)(last_group - first_group + 1), (int64_t)group};
    }
    span->align = (uint16_t)window->pixel;
    sim_span_close(span);
    return true;
}

static bool foot_img2col(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    struct mte_img2col move;
    if (!mte_img2col_unpack(core, op, &move)) {
        return false;
    }
    foot->empty = move.rows == 0 || (move.single && move.repeats == 0);
    if (foot->empty) {
        return true;
    }
    (void)add_map(foot, op, &move);
    foot->pixels.first = move.first_row;
    foot->pixels.count = move.rows * (move.single && move.along_map ? move.repeats : 1u);
    foot->pixels.out_w = move.window.out_w;
    foot->pixels.stride_w = move.window.stride_w;
    const enum leo_mem_space space = op->insn == LEO_INSN_IMG2COL_CBUF_TO_UB ? LEO_MEM_SPACE_UB
                                     : move.to_right                         ? LEO_MEM_SPACE_L0B
                                                                             : LEO_MEM_SPACE_L0A;
    const uint64_t fractals = move.single ? 1 : mte_img2col_fractals(&move) * move.times;
    struct sim_span *dst = sim_footprint_add(foot, SIM_OPERAND_A, space, SIM_TOUCH_WRITE, op->a,
                                             fractals * MTE_FRACTAL_BYTES);
    dst->align = space == LEO_MEM_SPACE_UB ? MTE_BLOCK_BYTES : MTE_FRACTAL_BYTES;
    if (move.single) {
        dst->level[0] =
            (struct sim_level){move.repeats, (int64_t)move.jump * (int64_t)MTE_FRACTAL_BYTES};
        sim_span_close(dst);
    }
    return true;
}

bool sim_foot_load3d(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    return foot_img2col(core, op, foot);
}

bool sim_foot_img2col(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    return foot_img2col(core, op, foot);
}

uint64_t mte_img2col_fractals(const struct mte_img2col *move)
{
    const uint64_t row_fractals = (move->rows + 15u) / 16;
    if (!move->to_right) {
        return row_fractals * move->blocks;
    }
    // Reduced along the pixels: rows of K0 of them, columns of 16.
    const uint32_t k0 = MTE_BLOCK_BYTES / move->window.element;
    return (uint64_t)((move->rows + k0 - 1) / k0) * ((move->blocks * k0 + 15) / 16);
}
