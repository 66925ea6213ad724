/* SPDX-License-Identifier: Apache-2.0 */
/* Included by copy.h. The coupled core copies whole 32-byte blocks only: row by row where the pitch
 * has none, tails by the scalar unit. */
#pragma once

OP_INLINE void op_load_rows(uint32_t ub, uint64_t gm, uint32_t rows, uint32_t bytes,
                            uint64_t gm_pitch, uint32_t ub_pitch)
{
    const uint32_t units = op_units(bytes);
    if (gm_pitch % 32 == 0 && gm_pitch / 32 >= units && gm_pitch / 32 - units <= 65535) {
        copy_gm_to_ubuf((__ubuf__ void *)(uintptr_t)ub, (__gm__ void *)gm, 0, (uint16_t)rows,
                        (uint16_t)units, (uint16_t)(gm_pitch / 32 - units),
                        (uint16_t)(ub_pitch / 32 - units));
        return;
    }
    for (uint32_t i = 0; i < rows; i++) {
        copy_gm_to_ubuf((__ubuf__ void *)(uintptr_t)(ub + i * ub_pitch),
                        (__gm__ void *)(gm + i * gm_pitch), 0, 1, (uint16_t)units, 0, 0);
    }
}

/* Bytes [from, bytes) of each row, `unit` of 1, 2, 4 or 8 at a time. */
OP_INLINE void store_tails(uint64_t gm, uint32_t ub, uint32_t rows, uint32_t from, uint32_t bytes,
                           uint64_t gm_pitch, uint32_t ub_pitch, uint32_t unit)
{
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t at = from; at < bytes; at += unit) {
            const uint64_t to = gm + i * gm_pitch + at;
            const uintptr_t source = ub + i * ub_pitch + at;
            if (unit == 8) {
                *(__gm__ volatile uint64_t *)to = *(__ubuf__ volatile uint64_t *)source;
            } else if (unit == 4) {
                *(__gm__ volatile uint32_t *)to = *(__ubuf__ volatile uint32_t *)source;
            } else if (unit == 2) {
                *(__gm__ volatile uint16_t *)to = *(__ubuf__ volatile uint16_t *)source;
            } else {
                *(__gm__ volatile uint8_t *)to = *(__ubuf__ volatile uint8_t *)source;
            }
        }
    }
}

/* Ends of rows without gaps between them, but for the last one's: whole blocks, of which the rows
 * then overwrite what was too much. */
OP_INLINE void store_ends(uint64_t gm, uint32_t ub, uint32_t rows, uint32_t bytes,
                          uint32_t ub_pitch)
{
    const uint32_t from = bytes / 32 * 32;
    for (uint32_t i = 0; i + 1 < rows; i++) {
        copy_ubuf_to_gm((__gm__ void *)(gm + (uint64_t)i * bytes + from),
                        (__ubuf__ void *)(uintptr_t)(ub + i * ub_pitch + from), 0, 1, 1, 0, 0);
    }
    pipe_barrier(PIPE_MTE3);
}

OP_INLINE void op_store_rows(uint64_t gm, uint32_t ub, uint32_t rows, uint32_t bytes,
                             uint64_t gm_pitch, uint32_t ub_pitch)
{
    const bool dense = bytes % 32 && bytes >= 64 && gm_pitch == bytes && rows > 1;
    if (dense) {
        store_ends(gm, ub, rows, bytes, ub_pitch);
    }
    const uint32_t units = bytes / 32, whole = units * 32;
    if (units && gm_pitch % 32 == 0 && gm_pitch / 32 - units <= 65535) {
        copy_ubuf_to_gm((__gm__ void *)gm, (__ubuf__ void *)(uintptr_t)ub, 0, (uint16_t)rows,
                        (uint16_t)units, (uint16_t)(ub_pitch / 32 - units),
                        (uint16_t)(gm_pitch / 32 - units));
    } else if (units) {
        for (uint32_t i = 0; i < rows; i++) {
            copy_ubuf_to_gm((__gm__ void *)(gm + i * gm_pitch),
                            (__ubuf__ void *)(uintptr_t)(ub + i * ub_pitch), 0, 1, (uint16_t)units,
                            0, 0);
        }
    }
    if (whole == bytes) {
        return;
    }
    if (dense) { // the last row's end is left
        gm += (uint64_t)(rows - 1) * bytes;
        ub += (rows - 1) * ub_pitch;
        rows = 1;
    }
    set_flag(PIPE_V, PIPE_S, 0);
    wait_flag(PIPE_V, PIPE_S, 0);
    const uint64_t alignment = gm | gm_pitch | bytes;
    if (alignment % 8 == 0) {
        store_tails(gm, ub, rows, whole, bytes, gm_pitch, ub_pitch, 8);
    } else if (alignment % 4 == 0) {
        store_tails(gm, ub, rows, whole, bytes, gm_pitch, ub_pitch, 4);
    } else if (alignment % 2 == 0) {
        store_tails(gm, ub, rows, whole, bytes, gm_pitch, ub_pitch, 2);
    } else {
        store_tails(gm, ub, rows, whole, bytes, gm_pitch, ub_pitch, 1);
    }
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
}
