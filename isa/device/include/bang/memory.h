/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by <bang.h>: copies between memories. Whole blocks of 32 bytes go through the copying
 * units; what is left of the last one, and what does not begin at a block of NRAM, goes through the
 * scalar unit word by word, which is slow.
 */
#pragma once

typedef enum {
    GDRAM2NRAM,
    NRAM2GDRAM,
    NRAM2NRAM,
    GDRAM2GDRAM,
    GDRAM2WRAM,
    NRAM2WRAM,
    WRAM2NRAM,
    WRAM2GDRAM,
    LDRAM2NRAM,
    NRAM2LDRAM,
    LDRAM2GDRAM,
    GDRAM2LDRAM,
    LDRAM2LDRAM,
    SRAM2NRAM,
    NRAM2SRAM,
    GDRAM2SRAM,
    SRAM2GDRAM,
    SRAM2WRAM,
    SRAM2SRAM,
} mluMemcpyDirection_t;

/** Sides of a direction; the core's own memory (LDRAM) is its stack. */
enum class leo_side : uint8_t { GLOBAL, NRAM, WRAM, LOCAL, SRAM };

struct leo_sides {
    leo_side to, from;
};

/* By mluMemcpyDirection_t. */
constexpr leo_sides leo_copy_sides[] = {
    {leo_side::NRAM, leo_side::GLOBAL},  {leo_side::GLOBAL, leo_side::NRAM},
    {leo_side::NRAM, leo_side::NRAM},    {leo_side::GLOBAL, leo_side::GLOBAL},
    {leo_side::WRAM, leo_side::GLOBAL},  {leo_side::WRAM, leo_side::NRAM},
    {leo_side::NRAM, leo_side::WRAM},    {leo_side::GLOBAL, leo_side::WRAM},
    {leo_side::NRAM, leo_side::LOCAL},   {leo_side::LOCAL, leo_side::NRAM},
    {leo_side::GLOBAL, leo_side::LOCAL}, {leo_side::LOCAL, leo_side::GLOBAL},
    {leo_side::LOCAL, leo_side::LOCAL},  {leo_side::NRAM, leo_side::SRAM},
    {leo_side::SRAM, leo_side::NRAM},    {leo_side::SRAM, leo_side::GLOBAL},
    {leo_side::GLOBAL, leo_side::SRAM},  {leo_side::WRAM, leo_side::SRAM},
    {leo_side::SRAM, leo_side::SRAM},
};

enum : uint32_t { LEO_STAGE_BYTES = 8192, LEO_MAX_BURST = 65535 * LEO_BLOCK_BYTES };

/* Room of the language in NRAM, which programs leave 128 KiB of. */
__nram__ uint8_t leo_stage[3][LEO_STAGE_BYTES];

/* Not before what the units were given; also between memories that no unit joins. */
template <typename T> LEO_BANG void leo_copy_words(void *to, const void *from, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes / sizeof(T); i++) {
        ((T *)to)[i] = ((const T *)from)[i];
    }
}

LEO_BANG_SMALL void leo_copy_scalar(void *to, const void *from, uint64_t bytes)
{
    const uint64_t bits = (uint64_t)to | (uint64_t)from | bytes;
    __sync();
    if (bits % 8 == 0) {
        leo_copy_words<uint64_t>(to, from, bytes);
    } else if (bits % 4 == 0) {
        leo_copy_words<uint32_t>(to, from, bytes);
    } else if (bits % 2 == 0) {
        leo_copy_words<uint16_t>(to, from, bytes);
    } else {
        leo_copy_words<uint8_t>(to, from, bytes);
    }
}

/** Whole blocks by the unit that joins the two memories; false: no unit does. */
LEO_BANG bool leo_copy_blocks(leo_sides sides, void *to, const void *from, uint32_t blocks)
{
    void *source = (void *)from;
    if (sides.to == leo_side::NRAM && sides.from == leo_side::GLOBAL) {
        leo_bang_begin_load();
        copy_gm_to_ubuf(to, source, 0, 1, blocks, 0, 0);
    } else if (sides.to == leo_side::WRAM && sides.from == leo_side::GLOBAL) {
        leo_bang_begin_load();
        copy_gm_to_cbuf(to, source, 0, 1, blocks, 0, 0, PAD_NONE);
    } else if (sides.to == leo_side::GLOBAL && sides.from == leo_side::NRAM) {
        leo_bang_begin_store();
        copy_ubuf_to_gm(to, source, 0, 1, blocks, 0, 0);
    } else if (sides.to == leo_side::WRAM && sides.from == leo_side::NRAM) {
        leo_bang_begin_store();
        copy_ubuf_to_cbuf(to, source, 0, 1, blocks, 0, 0);
    } else if (sides.to == leo_side::NRAM && sides.from == leo_side::WRAM) {
        leo_bang_order<PIPE_S, PIPE_MTE1>();
        copy_cbuf_to_ubuf(to, source, 0, 1, blocks, 0, 0);
        leo_bang.moves = true;
    } else if (sides.to == leo_side::NRAM && sides.from == leo_side::NRAM) {
        leo_bang_begin_vector();
        copy_ubuf_to_ubuf(to, source, 0, 1, blocks, 0, 0);
        leo_bang_end_vector();
    } else {
        return false;
    }
    return true;
}

LEO_BANG bool leo_is_chip(leo_side side)
{
    return side == leo_side::NRAM || side == leo_side::WRAM;
}

/** True if the on-chip ends of a copy begin at a block. */
LEO_BANG bool leo_copy_fits(leo_sides sides, const void *to, const void *from)
{
    return (!leo_is_chip(sides.to) || leo_is_whole((uint64_t)to)) &&
           (!leo_is_chip(sides.from) || leo_is_whole((uint64_t)from));
}

/* Pieces through NRAM, for memories that no unit joins. */
LEO_BANG_SMALL void leo_copy_staged(leo_sides sides, uint8_t *to, const uint8_t *from,
                                    uint64_t bytes)
{
    const leo_sides in = {leo_side::NRAM, sides.from}, out = {sides.to, leo_side::NRAM};
    __sync();
    while (bytes >= LEO_BLOCK_BYTES) {
        const uint64_t part = bytes < LEO_STAGE_BYTES ? bytes & ~(uint64_t)31 : LEO_STAGE_BYTES;
        leo_copy_blocks(in, leo_stage[0], from, (uint32_t)(part / LEO_BLOCK_BYTES));
        __sync();
        leo_copy_blocks(out, to, leo_stage[0], (uint32_t)(part / LEO_BLOCK_BYTES));
        __sync();
        to += part;
        from += part;
        bytes -= part;
    }
}

/** One run of bytes; asynchronous as far as units do it. */
LEO_BANG void leo_copy_run(leo_sides sides, uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    const bool wram = sides.to == leo_side::WRAM || sides.from == leo_side::WRAM,
               local = sides.to == leo_side::LOCAL || sides.from == leo_side::LOCAL,
               fits = leo_copy_fits(sides, to, from);
    if (wram && !(fits && leo_is_whole(bytes))) {
        leo_bang_refuse("a copy from or to WRAM takes whole blocks of 32 bytes");
        return;
    }
    uint64_t blocks = fits && !local ? bytes / LEO_BLOCK_BYTES : 0;
    const uint64_t whole = blocks * LEO_BLOCK_BYTES;
    if (sides.to == leo_side::GLOBAL && sides.from != leo_side::NRAM) {
        leo_copy_staged(sides, to, from, whole);
    } else {
        for (uint64_t at = 0; at < whole; at += LEO_MAX_BURST) {
            const uint64_t left = whole - at;
            const uint64_t part = left < LEO_MAX_BURST ? left : (uint64_t)LEO_MAX_BURST;
            leo_copy_blocks(sides, to + at, from + at, (uint32_t)(part / LEO_BLOCK_BYTES));
        }
    }
    if (bytes > whole) {
        leo_copy_scalar(to + whole, from + whole, bytes - whole);
    }
}

/** As __memcpy, done only after a __sync. */
LEO_BANG void __memcpy_async(void *dst, const void *src, uint64_t bytes,
                             mluMemcpyDirection_t direction)
{
    leo_sides sides = leo_copy_sides[direction];
    if (sides.to == leo_side::SRAM) {
        sides.to = leo_side::GLOBAL;
        dst = leo_shared_place(dst);
    }
    if (sides.from == leo_side::SRAM) {
        sides.from = leo_side::GLOBAL;
        src = leo_shared_place(src);
    }
    leo_copy_run(sides, (uint8_t *)dst, (const uint8_t *)src, bytes);
}

/** `segments` + 1 runs of `bytes`, so many bytes apart on each side. */
LEO_BANG void __memcpy_async(void *dst, const void *src, uint64_t bytes,
                             mluMemcpyDirection_t direction, int64_t dst_stride, int64_t src_stride,
                             int64_t segments)
{
    for (int64_t i = 0; i <= segments; i++) {
        __memcpy_async((uint8_t *)dst + i * dst_stride, (const uint8_t *)src + i * src_stride,
                       bytes, direction);
    }
}

/** The same `planes` + 1 times. */
LEO_BANG void __memcpy_async(void *dst, const void *src, uint64_t bytes,
                             mluMemcpyDirection_t direction, int64_t dst_stride, int64_t rows_dst,
                             int64_t dst_plane, int64_t planes_dst, int64_t src_stride,
                             int64_t rows_src, int64_t src_plane, int64_t planes_src)
{
    if (rows_dst != rows_src || planes_dst != planes_src) {
        leo_bang_refuse("__memcpy: both sides must have the same numbers of segments");
        return;
    }
    for (int64_t i = 0; i <= planes_dst; i++) {
        __memcpy_async((uint8_t *)dst + i * dst_plane, (const uint8_t *)src + i * src_plane, bytes,
                       direction, dst_stride, src_stride, rows_dst);
    }
}

/** Done when it returns; arguments as __memcpy_async. */
template <typename... A>
LEO_BANG void __memcpy(void *dst, const void *src, uint64_t bytes, A... how)
{
    __memcpy_async(dst, src, bytes, how...);
    __sync_move();
}

LEO_BANG void __bang_move(void *dst, const void *src, uint64_t bytes)
{
    __memcpy(dst, src, bytes, NRAM2NRAM);
}
