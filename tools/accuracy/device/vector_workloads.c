/* SPDX-License-Identifier: Apache-2.0 */
/* The vector workloads behind published measurements, written as those examples describe them. */
#include <leo/device.h>

/* Tile `index` of a share that is contiguous for each block. */
static uint32_t share_first(uint32_t tiles)
{
    return (uint32_t)((uint64_t)tiles * get_block_idx() / get_block_num());
}

static uint32_t share_end(uint32_t tiles)
{
    return (uint32_t)((uint64_t)tiles * (get_block_idx() + 1) / get_block_num());
}

/* What stream_add is asked to do; an element of 4 bytes counts as two. */
struct stream_shape {
    uint32_t elems, tile_elems;
    uint32_t buffers; /* tiles of each tensor in UB, one behind the other */
    uint32_t adds;    /* additions of y, one after the other */
    uint32_t scalar;  /* 1: by the scalar unit, an element at a time */
    uint32_t no_l2;   /* 1: all three tensors go past the L2 */
    uint32_t is_f32;
};

static void add_scalar(__ubuf__ half *z, __ubuf__ const half *x, __ubuf__ const half *y,
                       uint32_t elems)
{
    for (uint32_t i = 0; i < elems; i++) {
        z[i] = x[i] + y[i];
    }
}

static void add_scalar_f32(__ubuf__ float *z, __ubuf__ const float *x, __ubuf__ const float *y,
                           uint32_t elems)
{
    for (uint32_t i = 0; i < elems; i++) {
        z[i] = x[i] + y[i];
    }
}

static void add_vector_f32(__ubuf__ float *z, __ubuf__ const float *x, __ubuf__ const float *y,
                           uint32_t elems, uint32_t adds)
{
    set_vector_mask(0, elems);
    for (uint32_t i = 0; i < adds; i++) {
        if (i) {
            pipe_barrier(PIPE_V);
        }
        vadd(z, i ? (__ubuf__ const float *)z : x, y, 1, 1, 1, 1, 8, 8, 8);
    }
}

/* One tile, between the flags of its buffer. */
static void add_tile(const struct stream_shape *s, uint32_t b, __ubuf__ half *z,
                     __ubuf__ const half *x, __ubuf__ const half *y, uint32_t elems)
{
    wait_flag(PIPE_MTE2, PIPE_V, b);
    wait_flag(PIPE_MTE3, PIPE_V, b);
    if (s->scalar) {
        set_flag(PIPE_V, PIPE_S, b);
        wait_flag(PIPE_V, PIPE_S, b);
        if (s->is_f32) {
            add_scalar_f32((__ubuf__ float *)z, (__ubuf__ const float *)x,
                           (__ubuf__ const float *)y, elems / 2);
        } else {
            add_scalar(z, x, y, elems);
        }
        set_flag(PIPE_S, PIPE_V, b);
        wait_flag(PIPE_S, PIPE_V, b);
    } else if (s->is_f32) {
        add_vector_f32((__ubuf__ float *)z, (__ubuf__ const float *)x, (__ubuf__ const float *)y,
                       elems / 2, s->adds);
    } else {
        set_vector_mask(0, elems);
        for (uint32_t i = 0; i < s->adds; i++) {
            if (i) {
                pipe_barrier(PIPE_V);
            }
            vadd(z, i ? (__ubuf__ const half *)z : x, y, 1, 1, 1, 1, 8, 8, 8);
        }
    }
    set_flag(PIPE_V, PIPE_MTE2, b);
    set_flag(PIPE_V, PIPE_MTE3, b);
    wait_flag(PIPE_V, PIPE_MTE3, b);
}

/* z = x + y, tile by tile; the last tile may be shorter. */
__global__ __vector__ void stream_add(__gm__ const half *x, __gm__ const half *y, __gm__ half *z,
                                      struct stream_shape shape)
{
    const struct stream_shape *s = &shape;
    if (s->no_l2) {
        x = leo_no_l2(x);
        y = leo_no_l2(y);
        z = leo_no_l2(z);
    }
    uint64_t bytes = (uint64_t)s->tile_elems * 2;
    uint32_t tiles = (s->elems + s->tile_elems - 1) / s->tile_elems;
    uint32_t first = share_first(tiles), end = share_end(tiles);

    set_mask_count();
    for (uint32_t b = 0; b < s->buffers; b++) {
        set_flag(PIPE_V, PIPE_MTE2, b);
        set_flag(PIPE_MTE3, PIPE_V, b);
    }
    for (uint32_t tile = first; tile < end; tile++) {
        uint32_t b = (tile - first) % s->buffers;
        uint32_t at = tile * s->tile_elems;
        uint32_t elems = s->elems - at < s->tile_elems ? s->elems - at : s->tile_elems;
        uint16_t blocks = (uint16_t)((elems + 15) / 16);
        __ubuf__ half *ub_x = (__ubuf__ half *)(b * bytes);
        __ubuf__ half *ub_y = (__ubuf__ half *)((s->buffers + b) * bytes);
        __ubuf__ half *ub_z = (__ubuf__ half *)((2 * s->buffers + b) * bytes);

        wait_flag(PIPE_V, PIPE_MTE2, b);
        copy_gm_to_ubuf(ub_x, x + at, 0, 1, blocks, 0, 0);
        copy_gm_to_ubuf(ub_y, y + at, 0, 1, blocks, 0, 0);
        set_flag(PIPE_MTE2, PIPE_V, b);
        add_tile(s, b, ub_z, ub_x, ub_y, elems);
        copy_ubuf_to_gm(z + at, ub_z, 0, 1, blocks, 0, 0);
        set_flag(PIPE_MTE3, PIPE_V, b);
    }
    for (uint32_t b = 0; b < s->buffers; b++) {
        wait_flag(PIPE_V, PIPE_MTE2, b);
        wait_flag(PIPE_MTE3, PIPE_V, b);
    }
}

/* `count` additions of f32 at given UB addresses. */
__global__ __vector__ void ub_vadd(uint32_t elems, uint32_t count, uint32_t src0, uint32_t src1,
                                   uint32_t dst)
{
    uint8_t repeats = (uint8_t)(elems / 64);

    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    for (uint32_t i = 0; i < count; i++) {
        vadd((__ubuf__ float *)(uint64_t)dst, (__ubuf__ float *)(uint64_t)src0,
             (__ubuf__ float *)(uint64_t)src1, repeats, 1, 1, 1, 8, 8, 8);
        pipe_barrier(PIPE_V);
    }
}

/* A row-major matrix and the tiles a block takes of it; an element of 4 bytes counts as two. */
struct tile_walk {
    uint32_t rows, cols, tile_rows, tile_cols;
};

/* Loads tiles [first, end) to UB and drops them; rows that are no multiple of 32 bytes take the
 * byte-wise copy. */
static void load_tiles(__gm__ const half *x, const struct tile_walk *w, uint32_t first,
                       uint32_t end)
{
    uint32_t across = (w->cols + w->tile_cols - 1) / w->tile_cols;
    uint32_t row = first / across * w->tile_rows, col = first % across * w->tile_cols;
    uint16_t gap = (uint16_t)((w->cols - w->tile_cols) / 16);
    uint16_t blocks = (uint16_t)(w->tile_cols / 16);

    for (uint32_t tile = first; tile < end;) {
        uint32_t high = w->rows - row < w->tile_rows ? w->rows - row : w->tile_rows;
        __gm__ const half *from = x + (uint64_t)row * w->cols + col;
        if (w->cols % 16 == 0 && w->tile_cols % 16 == 0) {
            // Whole tiles side by side differ in their address alone: a copy of 128 bytes takes
            // less time than working out anything else.
            uint32_t whole = (w->cols - col) / w->tile_cols;
            whole = end - tile < whole ? end - tile : whole;
            for (uint32_t i = 0; i < whole; i++, from += w->tile_cols) {
                copy_gm_to_ubuf((__ubuf__ half *)0, from, 0, (uint16_t)high, blocks, gap, 0);
            }
            tile += whole;
            col += whole * w->tile_cols;
            if (tile < end && col < w->cols) {
                const uint32_t wide = w->cols - col;
                copy_gm_to_ubuf((__ubuf__ half *)0, from, 0, (uint16_t)high, (uint16_t)(wide / 16),
                                (uint16_t)((w->cols - wide) / 16), 0);
                tile++;
                col = w->cols;
            }
        } else {
#if __NPU_ARCH__ == 2201
            uint32_t wide = w->cols - col < w->tile_cols ? w->cols - col : w->tile_cols;
            copy_gm_to_ubuf_align_b16((__ubuf__ half *)0, from, 0, (uint16_t)high, wide * 2, 0, 0,
                                      (w->cols - wide) * 2, 0);
#else
            trap(); // the coupled generation moves whole blocks; the host refuses such a row
#endif
            tile++;
            col += w->tile_cols;
        }
        if (col >= w->cols) {
            col = 0;
            row += w->tile_rows;
        }
    }
}

/* Loads the matrix `passes` times: part after part, each of them that often (1 part: all of it). */
__global__ __vector__ void gm_to_ub(__gm__ const half *x, struct tile_walk walk, uint32_t passes,
                                    uint32_t parts)
{
    uint32_t across = (walk.cols + walk.tile_cols - 1) / walk.tile_cols;
    uint32_t tiles = (walk.rows + walk.tile_rows - 1) / walk.tile_rows * across;

    for (uint32_t part = 0; part < parts; part++) {
        uint32_t from = (uint32_t)((uint64_t)tiles * part / parts);
        uint32_t to = (uint32_t)((uint64_t)tiles * (part + 1) / parts);
        for (uint32_t pass = 0; pass < passes; pass++) {
            load_tiles(x, &walk, from + share_first(to - from), from + share_end(to - from));
        }
    }
}

/* Every block loads the whole matrix: all from the first tile on, or each from another one. */
__global__ __vector__ void gm_to_ub_shared(__gm__ const half *x, struct tile_walk walk,
                                           uint32_t staggered)
{
    uint32_t across = (walk.cols + walk.tile_cols - 1) / walk.tile_cols;
    uint32_t tiles = (walk.rows + walk.tile_rows - 1) / walk.tile_rows * across;
    uint32_t first = staggered ? share_first(tiles) : 0;

    load_tiles(x, &walk, first, tiles);
    load_tiles(x, &walk, 0, first);
}

/* The first of a repeat's 128 lanes, fewer than all. */
static void mask_first(uint32_t lanes)
{
    set_vector_mask(lanes > 64 ? ~0ull >> (128 - lanes) : 0,
                    lanes < 64 ? (1ull << lanes) - 1 : ~0ull);
}

/* To NZ fractals in UB, 16 columns of a tile side by side `c0_stride` rows apart, and back to
 * memory as [cols / 16][rows][16]. Two buffers; rows of the last tiles may be fewer. */
__global__ __vector__ void ub_nd2nz(__gm__ const half *x, __gm__ half *z, struct tile_walk walk,
                                    uint32_t c0_stride)
{
    const struct tile_walk *w = &walk;
    uint32_t across = w->cols / w->tile_cols, parts = w->tile_cols / 16;
    uint32_t tiles = (w->rows + w->tile_rows - 1) / w->tile_rows * across;
    uint64_t in_bytes = (uint64_t)w->tile_rows * w->tile_cols * 2;
    uint64_t out_bytes = (uint64_t)parts * c0_stride * 32;
    uint32_t end = share_end(tiles);

    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    for (uint32_t b = 0; b < 2; b++) {
        set_flag(PIPE_V, PIPE_MTE2, b);
        set_flag(PIPE_MTE3, PIPE_V, b);
    }
    for (uint32_t tile = share_first(tiles), b = 0; tile < end; tile++, b ^= 1) {
        uint32_t row = tile / across * w->tile_rows, col = tile % across * w->tile_cols;
        uint32_t high = w->rows - row < w->tile_rows ? w->rows - row : w->tile_rows;
        __ubuf__ uint16_t *in = (__ubuf__ uint16_t *)(b * in_bytes);
        __ubuf__ uint16_t *out = (__ubuf__ uint16_t *)(2 * in_bytes + b * out_bytes);

        wait_flag(PIPE_V, PIPE_MTE2, b);
        copy_gm_to_ubuf(in, x + (uint64_t)row * w->cols + col, 0, (uint16_t)high, (uint16_t)parts,
                        (uint16_t)((w->cols - w->tile_cols) / 16), 0);
        set_flag(PIPE_MTE2, PIPE_V, b);
        wait_flag(PIPE_MTE2, PIPE_V, b);
        wait_flag(PIPE_MTE3, PIPE_V, b);
        for (uint32_t part = 0; part < parts; part += 8) {
            if (parts - part < 8) {
                mask_first((parts - part) * 16);
            }
            vcopy(out + (uint64_t)part * c0_stride * 16, in + part * 16, (uint8_t)high,
                  (uint16_t)c0_stride, 1, 1, (uint16_t)parts);
        }
        if (parts % 8) {
            set_vector_mask(~0ull, ~0ull);
        }
        set_flag(PIPE_V, PIPE_MTE2, b);
        set_flag(PIPE_V, PIPE_MTE3, b);
        wait_flag(PIPE_V, PIPE_MTE3, b);
        copy_ubuf_to_gm(z + ((uint64_t)col * w->rows + (uint64_t)row * 16), out, 0, (uint16_t)parts,
                        (uint16_t)high, (uint16_t)(c0_stride - high), (uint16_t)(w->rows - high));
        set_flag(PIPE_MTE3, PIPE_V, b);
    }
    for (uint32_t b = 0; b < 2; b++) {
        wait_flag(PIPE_V, PIPE_MTE2, b);
        wait_flag(PIPE_MTE3, PIPE_V, b);
    }
}
