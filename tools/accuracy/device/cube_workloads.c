/* SPDX-License-Identifier: Apache-2.0 */
/* The cube workloads behind published measurements, written as those examples describe them. */
#include <leo/device.h>

/* What matmul_tiled is asked to do; sizes in elements, all divisible as the host checks. */
struct matmul_shape {
    uint32_t m, n, k;
    uint32_t base_m, base_n, base_k;
    uint32_t depth;            /* base_k slices of A and B an L1 buffer holds */
    uint32_t l1_buffers;       /* 1 or 2 */
    uint32_t l0_buffers;       /* 1 or 2 */
    uint32_t split_m, split_n; /* blocks along m and n */
};

/* L1 holds A chunks first, then B chunks; both in NZ order. */
static __cbuf__ half *l1_a(const struct matmul_shape *s, uint32_t buffer)
{
    return (__cbuf__ half *)((uint64_t)buffer * s->base_m * s->base_k * s->depth * 2);
}

static __cbuf__ half *l1_b(const struct matmul_shape *s, uint32_t buffer)
{
    uint64_t a_bytes = (uint64_t)s->l1_buffers * s->base_m * s->base_k * s->depth * 2;
    return (__cbuf__ half *)(a_bytes + (uint64_t)buffer * s->base_n * s->base_k * s->depth * 2);
}

static void load_l1(const struct matmul_shape *s, __gm__ const half *a, __gm__ const half *b,
                    uint32_t row, uint32_t col, uint32_t depth_at, uint32_t buffer)
{
    uint32_t chunk = s->base_k * s->depth;
    copy_gm_to_cbuf_multi_nd2nz_b16(l1_a(s, buffer), a + (uint64_t)row * s->k + depth_at, 0, 1,
                                    (uint16_t)s->base_m, (uint16_t)chunk, 0, (uint16_t)s->k,
                                    (uint16_t)s->base_m, 1, 0);
    copy_gm_to_cbuf_multi_nd2nz_b16(l1_b(s, buffer), b + (uint64_t)depth_at * s->n + col, 0, 1,
                                    (uint16_t)chunk, (uint16_t)s->base_n, 0, (uint16_t)s->n,
                                    (uint16_t)chunk, 1, 0);
}

/* One base_k slice from L1 to L0. A: rows of fractals; B: transposed fractals, since L0B wants
 * columns. */
static void load_l0(const struct matmul_shape *s, uint32_t slice, uint32_t l1, __ca__ half *l0a,
                    __cb__ half *l0b)
{
    uint32_t m1 = s->base_m / 16, n1 = s->base_n / 16, k1 = s->base_k / 16;
    uint32_t chunk1 = k1 * s->depth;
    for (uint32_t i = 0; i < m1; i++) {
        load_cbuf_to_ca(l0a + i * k1 * 256, l1_a(s, l1), (uint16_t)(slice * k1 * m1 + i),
                        (uint8_t)k1, (uint16_t)m1, 0, 0, false, inc);
    }
    for (uint32_t i = 0; i < k1; i++) {
        load_cbuf_to_cb(l0b + i * n1 * 256, l1_b(s, l1), (uint16_t)(slice * k1 + i), (uint8_t)n1,
                        (uint16_t)chunk1, 0, 0, true, inc);
    }
}

/* c (f16) = a x b (f16, row-major): every block takes a rectangle of whole base_m x base_n tiles;
 * where they do not share out evenly the last blocks have fewer. */
__global__ __cube__ void matmul_tiled(__gm__ const half *a, __gm__ const half *b, __gm__ half *c,
                                      struct matmul_shape shape)
{
    const struct matmul_shape *s = &shape;
    uint32_t m_share = (s->m / s->base_m + s->split_m - 1) / s->split_m * s->base_m;
    uint32_t n_share = (s->n / s->base_n + s->split_n - 1) / s->split_n * s->base_n;
    uint32_t row0 = get_block_idx() / s->split_n * m_share,
             col0 = get_block_idx() % s->split_n * n_share;
    uint32_t row_end = row0 + m_share < s->m ? row0 + m_share : s->m;
    uint32_t col_end = col0 + n_share < s->n ? col0 + n_share : s->n;
    uint32_t chunk = s->base_k * s->depth;
    uint32_t l1 = 0, l0 = 0;
    __cc__ float *l0c = (__cc__ float *)0;

    for (uint32_t i = 0; i < s->l1_buffers; i++) {
        set_flag(PIPE_MTE1, PIPE_MTE2, i);
    }
    for (uint32_t i = 0; i < s->l0_buffers; i++) {
        set_flag(PIPE_M, PIPE_MTE1, i);
    }
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    for (uint32_t row = row0; row < row_end; row += s->base_m) {
        for (uint32_t col = col0; col < col_end; col += s->base_n) {
            wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
            for (uint32_t at = 0; at < s->k; at += chunk) {
                wait_flag(PIPE_MTE1, PIPE_MTE2, l1);
                load_l1(s, a, b, row, col, at, l1);
                set_flag(PIPE_MTE2, PIPE_MTE1, l1);
                wait_flag(PIPE_MTE2, PIPE_MTE1, l1);
                for (uint32_t slice = 0; slice < s->depth; slice++) {
                    __ca__ half *l0a = (__ca__ half *)((uint64_t)l0 * 32768);
                    __cb__ half *l0b = (__cb__ half *)((uint64_t)l0 * 32768);
                    wait_flag(PIPE_M, PIPE_MTE1, l0);
                    load_l0(s, slice, l1, l0a, l0b);
                    set_flag(PIPE_MTE1, PIPE_M, l0);
                    wait_flag(PIPE_MTE1, PIPE_M, l0);
                    mad(l0c, l0a, l0b, (uint16_t)s->base_m, (uint16_t)s->base_k,
                        (uint16_t)s->base_n, 0, false, false, at == 0 && slice == 0);
                    set_flag(PIPE_M, PIPE_MTE1, l0);
                    l0 = l0 + 1 == s->l0_buffers ? 0 : l0 + 1;
                }
                set_flag(PIPE_MTE1, PIPE_MTE2, l1);
                l1 = l1 + 1 == s->l1_buffers ? 0 : l1 + 1;
            }
            set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
            wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
            copy_matrix_cc_to_gm(c + (uint64_t)row * s->n + col, l0c, 0, (uint16_t)s->base_n,
                                 (uint16_t)s->base_m, s->n, (uint16_t)s->base_m, 0, F322F16, 0,
                                 false, true);
            set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
        }
    }
    for (uint32_t i = 0; i < s->l1_buffers; i++) {
        wait_flag(PIPE_MTE1, PIPE_MTE2, i);
    }
    for (uint32_t i = 0; i < s->l0_buffers; i++) {
        wait_flag(PIPE_M, PIPE_MTE1, i);
    }
    wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
}

/* `count` mmads of k/count each into one accumulator, back to back, on whatever L0 holds. */
__global__ __cube__ void mmad_chain(uint32_t m, uint32_t n, uint32_t k, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        mad((__cc__ float *)0, (__ca__ half *)0, (__cb__ half *)0, (uint16_t)m,
            (uint16_t)(k / count), (uint16_t)n, 0, false, false, i == 0);
    }
}
