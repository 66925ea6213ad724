/* SPDX-License-Identifier: Apache-2.0 */
/* The cube workloads behind published measurements, written as those examples describe them. How
 * matrices come to L1 and results leave L0C is each generation's own: cube_path_*.inc. */
#include <leo/device.h>

/* What matmul_tiled is asked to do; sizes in elements. The last tiles and slices may be smaller. */
struct matmul_shape {
    uint32_t m, n, k;
    uint32_t base_m, base_n, base_k;
    uint32_t depth_a, depth_b; /* base_k slices an L1 buffer holds */
    uint32_t l1_buffers;       /* 1 or 2 */
    uint32_t l0_buffers;       /* 1 or 2 */
    uint32_t split_m, split_n; /* blocks along m and n */
    uint32_t b_transposed;     /* b is stored as n rows of k */
    uint32_t out_f32;
    uint32_t l2_m, l2_n; /* parts along m and n that all blocks work on one after the other */
    uint32_t k_stagger;  /* each block begins at another slice */
    uint32_t load3d;     /* whole tiles to L0 by one instruction */
    uint32_t unit_flag;  /* M and FIX hand tiles over by themselves */
};

enum { EVENT_A = 0, EVENT_B = 2 }; /* a flag for each L1 buffer */

/* Where a block is: which L1 and L0 buffers are next, and its present tile. */
struct matmul_state {
    uint32_t a, b, l0;
    uint32_t row, col, high, wide;
    uint32_t turn; /* of what stands between memory and L1 */
};

static uint32_t min_of(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

static uint32_t fractals(uint32_t elems)
{
    return (elems + 15) / 16;
}

#if __NPU_ARCH__ == 2201
#include "cube_path_2201.inc"
#else
#include "cube_path_1001.inc"
#endif

/* Products of few fractals must be done before they are added to. */
static bool is_few(uint32_t m, uint32_t n)
{
    return fractals(m) * fractals(n) < 10;
}

/* L1 holds A chunks first, then B chunks; both in NZ order. */
static __cbuf__ half *l1_a(const struct matmul_shape *s, uint32_t buffer)
{
    return (__cbuf__ half *)((uint64_t)buffer * s->base_m * s->base_k * s->depth_a * 2);
}

static __cbuf__ half *l1_b(const struct matmul_shape *s, uint32_t buffer)
{
    uint64_t a_bytes = (uint64_t)s->l1_buffers * s->base_m * s->base_k * s->depth_a * 2;
    return (__cbuf__ half *)(a_bytes + (uint64_t)buffer * s->base_n * s->base_k * s->depth_b * 2);
}

static void load_a(const struct matmul_shape *s, struct matmul_state *state, __gm__ const half *a,
                   uint32_t at)
{
    uint32_t buffer = state->a, chunk = min_of(s->base_k * s->depth_a, s->k - at);
    wait_flag(PIPE_MTE1, CUBE_IN, EVENT_A + buffer);
    cube_fill(&state->turn, l1_a(s, buffer), a + (uint64_t)state->row * s->k + at, state->high,
              chunk, s->k, s->base_m);
    set_flag(CUBE_IN, PIPE_MTE1, EVENT_A + buffer);
    wait_flag(CUBE_IN, PIPE_MTE1, EVENT_A + buffer);
}

static void load_b(const struct matmul_shape *s, struct matmul_state *state, __gm__ const half *b,
                   uint32_t at)
{
    uint32_t buffer = state->b, col = state->col, whole = s->base_k * s->depth_b;
    uint32_t chunk = min_of(whole, s->k - at);
    wait_flag(PIPE_MTE1, CUBE_IN, EVENT_B + buffer);
    if (s->b_transposed) {
        cube_fill(&state->turn, l1_b(s, buffer), b + (uint64_t)col * s->k + at, state->wide, chunk,
                  s->k, s->base_n);
    } else {
        cube_fill(&state->turn, l1_b(s, buffer), b + (uint64_t)at * s->n + col, chunk, state->wide,
                  s->n, whole);
    }
    set_flag(CUBE_IN, PIPE_MTE1, EVENT_B + buffer);
    wait_flag(CUBE_IN, PIPE_MTE1, EVENT_B + buffer);
}

/* Slice `slice` of an L1 chunk to L0A: rows of fractals. */
static void load_l0a(const struct matmul_shape *s, const struct matmul_state *state, uint32_t slice,
                     uint32_t deep, __ca__ half *l0a)
{
    uint32_t m1 = s->base_m / 16, l1 = state->a;
    uint32_t rows = fractals(state->high), k1 = fractals(deep);
#if __NPU_ARCH__ == 2201
    if (s->load3d) {
        // A map of one row of base_m pixels, the whole chunk's k as channels.
        img2colv2_cbuf_to_ca(l0a, l1_a(s, l1), (uint16_t)(k1 * 16), (uint16_t)(rows * 16),
                             (uint16_t)(slice * s->base_k), 0, 1, 1, 1, 1, 1, 1, false, false,
                             false, false, (uint16_t)(s->base_k * s->depth_a));
        return;
    }
#endif
    for (uint32_t i = 0; i < rows; i++) {
        load_cbuf_to_ca(l0a + i * k1 * 256, l1_a(s, l1),
                        (uint16_t)(slice * s->base_k / 16 * m1 + i), (uint8_t)k1, (uint16_t)m1, 0,
                        0, false, inc);
    }
}

/* To L0B. A transposed B lies in L1 as L0B wants it; else its fractals are transposed on the way.
 */
static void load_l0b(const struct matmul_shape *s, const struct matmul_state *state, uint32_t slice,
                     uint32_t deep, __cb__ half *l0b)
{
    uint32_t n1 = fractals(state->wide), k1 = fractals(deep), l1 = state->b;
    uint32_t down = s->base_n / 16, first = slice * (s->base_k / 16);
    if (s->b_transposed && n1 < down) { // columns of fractals with gaps
        for (uint32_t i = 0; i < k1; i++) {
            load_cbuf_to_cb(l0b + i * n1 * 256, l1_b(s, l1), (uint16_t)((first + i) * down),
                            (uint8_t)n1, 1, 0, 0, false, inc);
        }
        return;
    }
    if (s->b_transposed) {
        for (uint32_t at = 0; at < n1 * k1; at += 128) {
            uint32_t count = n1 * k1 - at < 128 ? n1 * k1 - at : 128;
            load_cbuf_to_cb(l0b + at * 256, l1_b(s, l1), (uint16_t)(first * n1 + at),
                            (uint8_t)count, 1, 0, 0, false, inc);
        }
        return;
    }
#if __NPU_ARCH__ == 2201
    if (s->load3d) {
        // One row of pixels along the chunk's k, base_n channels: the right matrix is transposed.
        img2colv2_cbuf_to_cb(l0b, l1_b(s, l1), (uint16_t)(n1 * 16), (uint16_t)(k1 * 16), 0,
                             (uint16_t)(slice * s->base_k), 1, 1, 1, 1, 1, 1, false, false, false,
                             true, (uint16_t)s->base_n);
        return;
    }
#endif
    for (uint32_t i = 0; i < k1; i++) {
        load_cbuf_to_cb(l0b + i * n1 * 256, l1_b(s, l1), (uint16_t)(first + i), (uint8_t)n1,
                        (uint16_t)(s->base_k / 16 * s->depth_b), 0, 0, true, inc);
    }
}

/* Of a product (`last`: of its tile) and of a tile's way out: 2 keeps, 3 hands over. */
static uint8_t unit_flag_of(const struct matmul_shape *s, bool last)
{
    return s->unit_flag ? (last ? 3 : 2) : 0;
}

/* The tile of c at state->row and col. */
static void one_tile(const struct matmul_shape *s, struct matmul_state *state, __gm__ const half *a,
                     __gm__ const half *b, __gm__ void *c)
{
    __cc__ float *l0c = (__cc__ float *)0;
    uint32_t slices = (s->k + s->base_k - 1) / s->base_k, row = state->row, col = state->col;
    uint32_t held = s->depth_a > s->depth_b ? s->depth_a : s->depth_b;
    uint32_t first = s->k_stagger ? slices / held * get_block_idx() / get_block_num() * held : 0;

    if (!s->unit_flag) {
        wait_flag(CUBE_OUT, PIPE_M, EVENT_ID0);
    }
    for (uint32_t i = 0, slice = first; i < slices; i++) {
        uint32_t in_a = slice % s->depth_a, in_b = slice % s->depth_b, l0 = state->l0;
        uint32_t deep = min_of(s->base_k, s->k - slice * s->base_k);
        bool last = slice + 1 == slices;
        __ca__ half *l0a = (__ca__ half *)((uint64_t)l0 * 32768);
        __cb__ half *l0b = (__cb__ half *)((uint64_t)l0 * 32768);
        if (in_a == 0) {
            load_a(s, state, a, slice * s->base_k);
        }
        if (in_b == 0) {
            load_b(s, state, b, slice * s->base_k);
        }
        wait_flag(PIPE_M, PIPE_MTE1, l0);
        load_l0a(s, state, in_a, deep, l0a);
        load_l0b(s, state, in_b, deep, l0b);
        set_flag(PIPE_MTE1, PIPE_M, l0);
        if (in_a == s->depth_a - 1 || last) {
            set_flag(PIPE_MTE1, CUBE_IN, EVENT_A + state->a);
            state->a = state->a + 1 == s->l1_buffers ? 0 : state->a + 1;
        }
        if (in_b == s->depth_b - 1 || last) {
            set_flag(PIPE_MTE1, CUBE_IN, EVENT_B + state->b);
            state->b = state->b + 1 == s->l1_buffers ? 0 : state->b + 1;
        }
        wait_flag(PIPE_MTE1, PIPE_M, l0);
        if (is_few(state->high, state->wide) && i > 0) {
            pipe_barrier(PIPE_M);
        }
        cube_mad(l0c, l0a, l0b, state->high, deep, state->wide, unit_flag_of(s, i + 1 == slices),
                 i == 0);
        set_flag(PIPE_M, PIPE_MTE1, l0);
        state->l0 = l0 + 1 == s->l0_buffers ? 0 : l0 + 1;
        slice = last ? 0 : slice + 1;
    }
    if (!s->unit_flag) {
        set_flag(PIPE_M, CUBE_OUT, EVENT_ID0);
        wait_flag(PIPE_M, CUBE_OUT, EVENT_ID0);
    }
    cube_store((__gm__ uint8_t *)c + ((uint64_t)row * s->n + col) * (s->out_f32 ? 4 : 2),
               state->high, state->wide, s->n, s->out_f32, unit_flag_of(s, true));
    if (!s->unit_flag) {
        set_flag(CUBE_OUT, PIPE_M, EVENT_ID0);
    }
}

/* c = a x b (f16, row-major unless transposed): every block takes a rectangle of whole tiles of
 * each part; where they do not share out evenly the last blocks have fewer. */
__global__ CUBE_KERNEL void matmul_tiled(__gm__ const half *a, __gm__ const half *b, __gm__ void *c,
                                         struct matmul_shape shape)
{
    const struct matmul_shape *s = &shape;
    uint32_t down = (s->m + s->base_m - 1) / s->base_m, across = (s->n + s->base_n - 1) / s->base_n;
    uint32_t part_m = (down + s->l2_m - 1) / s->l2_m, part_n = (across + s->l2_n - 1) / s->l2_n;
    uint32_t m_share = (part_m + s->split_m - 1) / s->split_m;
    uint32_t n_share = (part_n + s->split_n - 1) / s->split_n;
    uint32_t row0 = get_block_idx() / s->split_n * m_share;
    uint32_t col0 = get_block_idx() % s->split_n * n_share;
    struct matmul_state state = {0};

    cube_begin();
    for (uint32_t i = 0; i < s->l1_buffers; i++) {
        set_flag(PIPE_MTE1, CUBE_IN, EVENT_A + i);
        set_flag(PIPE_MTE1, CUBE_IN, EVENT_B + i);
    }
    for (uint32_t i = 0; i < s->l0_buffers; i++) {
        set_flag(PIPE_M, PIPE_MTE1, i);
    }
#if __NPU_ARCH__ == 2201
    if (s->load3d) {
        set_fmatrix((uint64_t)s->base_m | UINT64_C(1) << 16);
        set_fmatrix_b((uint64_t)s->base_k * s->depth_b | UINT64_C(1) << 16);
        set_l3d_rpt(1 | 1 << 16);
    }
#endif
    if (!s->unit_flag) {
        set_flag(CUBE_OUT, PIPE_M, EVENT_ID0);
    }
    for (uint32_t part = 0; part < s->l2_m * s->l2_n; part++) {
        uint32_t top = part / s->l2_n * part_m, left = part % s->l2_n * part_n;
        uint32_t row_end = min_of(top + min_of(row0 + m_share, part_m), down);
        uint32_t col_end = min_of(left + min_of(col0 + n_share, part_n), across);
        for (uint32_t row = top + row0; row < row_end; row++) {
            for (uint32_t col = left + col0; col < col_end; col++) {
                state.row = row * s->base_m;
                state.col = col * s->base_n;
                state.high = min_of(s->base_m, s->m - state.row);
                state.wide = min_of(s->base_n, s->n - state.col);
                one_tile(s, &state, a, b, c);
            }
        }
    }
    for (uint32_t i = 0; i < s->l1_buffers; i++) {
        wait_flag(PIPE_MTE1, CUBE_IN, EVENT_A + i);
        wait_flag(PIPE_MTE1, CUBE_IN, EVENT_B + i);
    }
    for (uint32_t i = 0; i < s->l0_buffers; i++) {
        wait_flag(PIPE_M, PIPE_MTE1, i);
    }
    if (!s->unit_flag) {
        wait_flag(CUBE_OUT, PIPE_M, EVENT_ID0);
    }
    cube_end();
}

/* `count` mmads of k/count each into one accumulator, back to back, on whatever L0 holds. */
__global__ CUBE_KERNEL void mmad_chain(uint32_t m, uint32_t n, uint32_t k, uint32_t count,
                                       uint32_t unit_flag)
{
    const bool few = is_few(m, n);
    for (uint32_t i = 0; i < count; i++) {
        cube_mad((__cc__ float *)0, (__ca__ half *)0, (__cb__ half *)0, m, k / count, n,
                 unit_flag ? (i + 1 == count ? 3 : 2) : 0, i == 0);
        if (few) {
            pipe_barrier(PIPE_M);
        }
    }
}

#if __NPU_ARCH__ == 2201
/* Loads a row-major matrix tile by tile to L1 as NZ fractals and drops it. Columns count units of
 * two bytes, of which an f32 has two. */
__global__ __cube__ void gm_to_l1_nd2nz(__gm__ const half *x, uint32_t rows, uint32_t cols,
                                        uint32_t tile_rows, uint32_t tile_cols, uint32_t is_f32)
{
    uint32_t across = (cols + tile_cols - 1) / tile_cols;
    uint32_t tiles = (rows + tile_rows - 1) / tile_rows * across;
    uint32_t first = (uint32_t)((uint64_t)tiles * get_block_idx() / get_block_num());
    uint32_t end = (uint32_t)((uint64_t)tiles * (get_block_idx() + 1) / get_block_num());
    for (uint32_t tile = first; tile < end; tile++) {
        uint32_t row = tile / across * tile_rows, col = tile % across * tile_cols;
        uint32_t high = min_of(tile_rows, rows - row), wide = min_of(tile_cols, cols - col);
        __gm__ const half *from = x + (uint64_t)row * cols + col;
        if (is_f32) {
            copy_gm_to_cbuf_multi_nd2nz_b32s((__cbuf__ void *)0, from, 0, 1, high, wide / 2, 0,
                                             cols / 2, tile_rows, 1, 0);
        } else {
            copy_gm_to_cbuf_multi_nd2nz_b16((__cbuf__ half *)0, from, 0, 1, high, wide, 0, cols,
                                            tile_rows, 1, 0);
        }
    }
}
#endif
