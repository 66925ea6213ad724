/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions of the coupled core: the first version of img2col, results through the vector unit
 * and UB to GM.
 *
 * Flags besides those of conv_cube.inc. V -> MTE3 0,1: slot of UB filled; MTE3 -> V 0,1: free.
 */
#include "../device/clean_l0c_1001.h"
#include "convolution_windows_device.h"

#define CONV_OUT_PIPE PIPE_V

/* Results leave in slabs of column blocks, two slots. */
enum { SLAB_BYTES = 65536 };

/* Words of img2col: the window and element of the kernel to begin with; the windows. */
OP_INLINE uint64_t conv_place_word(const struct conv_unit *unit, int32_t left, int32_t top)
{
    return leo_pack_i2c0(unit->group, unit->column, unit->row, left, top);
}

OP_INLINE uint64_t conv_window_word(struct conv_filter f, uint32_t jump, uint32_t mode,
                                    uint32_t repeat)
{
    return leo_pack_i2c1(f.stride_w, f.stride_h, f.width, f.height, f.dilation_w, f.dilation_h,
                         jump, mode, repeat, CSIZE0, 1);
}

/* img2col of words: the compiler finds that nothing is unpacked. */
#define CONV_PART(word, mask) ((uint64_t)(word) / ((mask) & -(mask)) & (mask) / ((mask) & -(mask)))
#define CONV_WINDOW(name, dst, src, place, window)                                                 \
    name(dst, src, CONV_PART(place, leo_pack_i2c0(0, 255, 0, 0, 0)),                               \
         CONV_PART(place, leo_pack_i2c0(0, 0, 255, 0, 0)),                                         \
         (int16_t)CONV_PART(place, leo_pack_i2c0(0, 0, 0, -1, 0)),                                 \
         (int16_t)CONV_PART(place, leo_pack_i2c0(0, 0, 0, 0, -1)),                                 \
         CONV_PART(place, leo_pack_i2c0(4095, 0, 0, 0, 0)),                                        \
         CONV_PART(window, leo_pack_i2c1(63, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),                       \
         CONV_PART(window, leo_pack_i2c1(0, 63, 0, 0, 0, 0, 0, 0, 0, 0, 0)),                       \
         CONV_PART(window, leo_pack_i2c1(0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0)),                      \
         CONV_PART(window, leo_pack_i2c1(0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0)),                      \
         CONV_PART(window, leo_pack_i2c1(0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0)),                      \
         CONV_PART(window, leo_pack_i2c1(0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0)),                      \
         CONV_PART(window, leo_pack_i2c1(0, 0, 0, 0, 0, 0, 127, 0, 0, 0, 0)),                      \
         CONV_PART(window, leo_pack_i2c1(0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0)),                        \
         CONV_PART(window, leo_pack_i2c1(0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0)), CSIZE0)

/** Where the left matrix goes on: the next unit, its word and that of the windows. */
struct conv_left {
    struct conv_unit at;
    uint64_t place, window;
};

OP_INLINE struct conv_left conv_left_begin(const struct conv_span *span, uint32_t units)
{
    struct conv_left left = {.at = {0, 0, 0}};
    left.place = conv_place_word(&left.at, span->left, span->top);
    left.window = conv_window_word(span->filter, units, 1, op_blocks(span->rows));
    CONV_KEEP(left.place);
    CONV_KEEP(left.window);
    return left;
}

/* span->units units of `images` maps that lie `bytes` apart: the first map's windows stand first
 * in a column of fractals. `all`: as many units as conv_left_begin was given. */
OP_INLINE void conv_windows_left(const struct conv_span *span, struct conv_left *left, uint64_t l0,
                                 uint64_t l1, uint32_t images, uint64_t bytes, bool all)
{
    const uint64_t step = (uint64_t)span->column * span->units;
    uint64_t place = left->place, window = left->window;
    struct conv_unit at = left->at;
    if (!all) {
        window = conv_window_word(span->filter, span->units, 1, op_blocks(span->rows));
    }
    for (uint64_t end = l0 + span->units * 512; l0 < end; l0 += 512) {
        uint64_t to = l0, from = l1;
        for (uint32_t image = images; image > 0; image--) {
            CONV_WINDOW(img2col_cbuf_to_ca, (__ca__ half *)to, (__cbuf__ half *)from, place,
                        window);
            to += step;
            from += bytes;
        }
        place += leo_pack_i2c0(0, 1, 0, 0, 0);
        if (++at.column == span->filter.width) {
            at.column = 0;
            if (++at.row == span->filter.height) {
                at.row = 0;
                at.group++;
            }
            place = conv_place_word(&at, span->left, span->top);
            CONV_KEEP(place);
        }
    }
    left->place = place;
    left->at = at;
}

/* Fractals of 16 bits are turned on the way. An instruction for a unit, or for 16 windows: what is
 * fewer. */
OP_INLINE void conv_windows_right(const struct conv_span *span, const struct conv_unit *first,
                                  struct conv_place *at, uint64_t l0, uint64_t l1)
{
    const uint32_t blocks = op_blocks(span->rows), units = span->units;
    int32_t left = (int32_t)(at->column * span->filter.stride_w) - span->pad_l,
            top = (int32_t)(at->row * span->filter.stride_h) - span->pad_t;
    struct conv_unit unit = *first;
    if (units < blocks) {
        uint64_t window = conv_window_word(span->filter, units, 1, blocks);
        CONV_KEEP(window);
        for (uint64_t to = l0, end = l0 + units * 512; to < end; to += 512) {
            const uint64_t place = conv_place_word(&unit, left, top);
            CONV_WINDOW(img2col_cbuf_to_cb, (__cb__ half *)to, (__cbuf__ half *)l1, place, window);
            conv_next_unit(span->filter, &unit);
        }
    }
    uint64_t window = conv_window_word(span->filter, 1, 0, units);
    CONV_KEEP(window);
    for (uint32_t i = 0; i < blocks; i++, l0 += units * 512) {
        if (units >= blocks) {
            const uint64_t place = conv_place_word(&unit, left, top);
            CONV_WINDOW(img2col_cbuf_to_cb, (__cb__ half *)l0, (__cbuf__ half *)l1, place, window);
        }
        at->column += 16;
        left += 16 * span->filter.stride_w;
        while (at->column >= span->out_width) {
            at->column -= span->out_width;
            left -= (int32_t)(span->out_width * span->filter.stride_w);
            top += span->filter.stride_h;
            at->row++;
        }
    }
}

/* `word`: of op_mad. */
OP_INLINE void conv_multiply(uint32_t flags, uint32_t l0c, uint64_t l0, uint64_t word)
{
    (void)flags;
    mad((__cc__ float *)(uintptr_t)l0c, (__ca__ half *)l0, (__cb__ half *)l0, word);
}

/* `fractals` of each of `count` columns of `all` in L0C to UB. */
#define CONV_EMPTY(with_relu, without)                                                             \
    do {                                                                                           \
        if (t->flags & OP_CONVOLUTION_CUBE_RELU) {                                                 \
            copy_matrix_cc_to_ubuf(to, from, 0, (uint16_t)count, (uint16_t)fractals,               \
                                   (uint16_t)(all - fractals), 0, with_relu);                      \
        } else {                                                                                   \
            copy_matrix_cc_to_ubuf(to, from, 0, (uint16_t)count, (uint16_t)fractals,               \
                                   (uint16_t)(all - fractals), 0, without);                        \
        }                                                                                          \
    } while (0)

OP_INLINE void conv_empty(const struct op_convolution_cube_args *t, uint32_t unit, uint32_t ub,
                          uint32_t l0c, uint32_t count, uint32_t fractals, uint32_t all)
{
    __ubuf__ void *to = (__ubuf__ void *)(uintptr_t)ub;
    __cc__ float *from = (__cc__ float *)(uintptr_t)l0c;
    if (unit == 4) {
        CONV_EMPTY(CRMODE_NONE_RELU, CRMODE_NONE);
    } else {
        CONV_EMPTY(CRMODE_F32toF16_RELU, CRMODE_F32toF16_NONE);
    }
}

OP_INLINE void conv_store(const struct op_convolution_cube_args *t, uint64_t out, uint32_t unit,
                          uint32_t blocks, uint32_t rows, uint32_t l0c, uint32_t all_rows)
{
    const uint32_t fractals = op_blocks(rows), all = all_rows / 16;
    const uint32_t slab = op_min(SLAB_BYTES / (fractals * 256 * unit), blocks);
    const uint32_t units = rows * unit / 2; // blocks of 32 bytes of a column
    uint32_t p = l0c / SLAB_BYTES & 1; // of two halves of L0C, or two parts of one, another slot
    for (uint32_t block = 0; block < blocks; block += slab, p ^= 1) {
        const uint32_t count = op_min(slab, blocks - block);
        wait_flag(PIPE_MTE3, PIPE_V, p);
        conv_empty(t, unit, p * SLAB_BYTES, l0c + block * all * 1024, count, fractals, all);
        set_flag(PIPE_V, PIPE_MTE3, p);
        wait_flag(PIPE_V, PIPE_MTE3, p);
        // Blocks may lie further apart than a gap can be.
        const uint32_t gap = t->out_n1 / 32 - units, at_once = gap > UINT16_MAX ? 1 : count;
        for (uint32_t i = 0; i < count; i += at_once) {
            copy_ubuf_to_gm(
                (__gm__ void *)(out + (uint64_t)(block + i) * t->out_n1),
                (__ubuf__ void *)(uintptr_t)(p * SLAB_BYTES + i * fractals * 256 * unit), 0,
                (uint16_t)at_once, (uint16_t)units, (uint16_t)(fractals * 8 * unit - units),
                (uint16_t)gap);
        }
        set_flag(PIPE_MTE3, PIPE_V, p);
    }
}

/* `blocks` columns of a tile from `first` on: the rows of each image. */
OP_INLINE void conv_store_flat(const struct op_convolution_cube_args *t,
                               const struct conv_flat_tile *tile, uint32_t first, uint32_t blocks,
                               uint32_t l0c)
{
    const uint32_t unit = t->flags & OP_CONVOLUTION_CUBE_OUT_F32 ? 4 : 2;
    const uint32_t fractals = op_blocks(tile->rows), all = fractals * 16, units = unit / 2;
    const uint32_t slab = op_min(SLAB_BYTES / (fractals * 256 * unit), blocks);
    uint64_t out = t->out + (uint64_t)(tile->image * t->out_image) + (uint64_t)first * t->out_n1;
    uint32_t p = l0c != 0;
    for (uint32_t block = 0; block < blocks; block += slab, p ^= 1) {
        const uint32_t count = op_min(slab, blocks - block);
        uint32_t from = p * SLAB_BYTES, position = tile->position;
        wait_flag(PIPE_MTE3, PIPE_V, p);
        conv_empty(t, unit, from, l0c + block * fractals * 1024, count, fractals, fractals);
        set_flag(PIPE_V, PIPE_MTE3, p);
        wait_flag(PIPE_V, PIPE_MTE3, p);
        uint64_t to = out;
        for (uint32_t left = tile->rows; left > 0; position = 0, to += (uint64_t)t->out_image) {
            const uint32_t rows = op_min(left, tile->positions - position);
            copy_ubuf_to_gm((__gm__ void *)(to + position * 16 * unit),
                            (__ubuf__ void *)(uintptr_t)from, 0, (uint16_t)count,
                            (uint16_t)(rows * units), (uint16_t)((all - rows) * units),
                            (uint16_t)(t->out_n1 / 32 - rows * units));
            from += rows * 16 * unit;
            left -= rows;
        }
        set_flag(PIPE_MTE3, PIPE_V, p);
        out += (uint64_t)slab * t->out_n1;
    }
}

#include "convolution_cube_device.inc"
enum { CONV_PART_FLAGS = 2 };
#include "convolution_flat_device.inc"
#include "convolution_weight_device.inc"

typedef void conv_run_fn(const struct op_convolution_cube_args *t);

OP_INLINE void run(const struct op_convolution_cube_args *t, conv_run_fn *what)
{
    for (uint32_t i = 0; i < 2; i++) {
        set_flag(PIPE_MTE3, PIPE_V, i);
    }
    what(t);
    for (uint32_t i = 0; i < 2; i++) {
        wait_flag(PIPE_MTE3, PIPE_V, i);
    }
}

__global__ __aicore__ void op_convolution(struct op_convolution_cube_args args)
{
    const struct op_convolution_cube_args t = args;
    set_padding(0);
    run(&t, conv_run);
}

__global__ __aicore__ void op_convolution_phases(struct op_convolution_phases_args args)
{
    set_padding(0);
    for (uint32_t i = 0; i < 2; i++) {
        set_flag(PIPE_MTE3, PIPE_V, i);
    }
    conv_run_phases(&args);
    for (uint32_t i = 0; i < 2; i++) {
        wait_flag(PIPE_MTE3, PIPE_V, i);
    }
}

OP_INLINE void run_rows(const struct op_convolution_cube_args *t, conv_run_fn *what)
{
    if (t->images * t->out_width * t->out_height % 16) {
        op_clean_l0c(t->l0c_blocks); // the last fractal has rows that are not multiplied
    }
    run(t, what);
}

__global__ __aicore__ void op_convolution_flat(struct op_convolution_cube_args args)
{
    const struct op_convolution_cube_args t = args;
    run_rows(&t, conv_flat_run);
}

__global__ __aicore__ void op_convolution_strided(struct op_convolution_cube_args args)
{
    const struct op_convolution_cube_args t = args;
    set_padding(0);
    run_rows(&t, conv_strided_run);
}

__global__ __aicore__ void op_convolution_weight(struct op_convolution_cube_args args)
{
    const struct op_convolution_cube_args t = args;
    set_padding(0);
    run(&t, conv_weight_run);
}
