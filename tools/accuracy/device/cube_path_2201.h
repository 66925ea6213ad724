/* SPDX-License-Identifier: Apache-2.0 */
/* To L1 and from L0C on a split chip: its DMA makes fractals, the fixpipe rows. */
#pragma once

#define CUBE_KERNEL __cube__
#define CUBE_IN     PIPE_MTE2
#define CUBE_OUT    PIPE_FIX

static void cube_begin(void)
{
}

static void cube_end(void)
{
}

/* rows x columns of a matrix, `pitch` elements a row, to NZ columns of `padded` rows. */
static void cube_fill(uint32_t *turn, __cbuf__ half *l1, __gm__ const half *from, uint32_t rows,
                      uint32_t columns, uint32_t pitch, uint32_t padded)
{
    (void)turn;
    copy_gm_to_cbuf_multi_nd2nz_b16(l1, from, 0, 1, (uint16_t)rows, (uint16_t)columns, 0,
                                    (uint16_t)pitch, (uint16_t)padded, 1, 0);
}

static void cube_mad(__cc__ float *l0c, __ca__ half *l0a, __cb__ half *l0b, uint32_t m, uint32_t k,
                     uint32_t n, uint32_t unit_flag, bool first)
{
    mad(l0c, l0a, l0b, (uint16_t)m, (uint16_t)k, (uint16_t)n, (uint8_t)unit_flag, false, false,
        first);
}

/* The tile at the beginning of L0C to rows of `pitch` elements. */
static void cube_store(__gm__ void *to, uint32_t rows, uint32_t columns, uint32_t pitch, bool f32,
                       uint32_t unit_flag)
{
    __cc__ float *l0c = (__cc__ float *)0;
    const uint16_t padded = (uint16_t)(fractals(rows) * 16);
    if (f32) {
        copy_matrix_cc_to_gm((__gm__ float *)to, l0c, 0, (uint16_t)columns, (uint16_t)rows, pitch,
                             padded, (uint8_t)unit_flag, NoQuant, 0, false, true);
    } else {
        copy_matrix_cc_to_gm((__gm__ half *)to, l0c, 0, (uint16_t)columns, (uint16_t)rows, pitch,
                             padded, (uint8_t)unit_flag, F322F16, 0, false, true);
    }
}
