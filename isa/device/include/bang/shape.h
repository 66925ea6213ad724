/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <bang.h>: elements in another order. The scalar unit moves them; dst is not src. */
#pragma once

template <typename T> LEO_BANG bool leo_is_same_place(const T *dst, const T *src)
{
    if (dst == src) {
        leo_bang_refuse("a call that changes the order of elements needs another place for them");
    }
    return dst == src;
}

/** src[height][width] becomes dst[width][height]. */
template <typename T>
LEO_BANG_SMALL void __bang_transpose(T *dst, const T *src, int height, int width)
{
    if (leo_is_same_place<T>(dst, src)) {
        return;
    }
    __sync();
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            dst[x * height + y] = src[y * width + x];
        }
    }
}

/** src[height][width] with both orders turned round. */
template <typename T>
LEO_BANG_SMALL void __bang_rotate180(T *dst, const T *src, int height, int width)
{
    const int64_t count = (int64_t)height * width;
    if (leo_is_same_place<T>(dst, src)) {
        return;
    }
    __sync();
    for (int64_t i = 0; i < count; i++) {
        dst[count - 1 - i] = src[i];
    }
}

/** Rows and columns of 0 around src[height][width][channels]. */
template <typename T>
LEO_BANG_SMALL void __bang_pad(T *dst, const T *src, int channels, int height, int width, int top,
                               int bottom, int left, int right)
{
    const int64_t wide = (int64_t)(left + width + right) * channels;
    if (leo_is_same_place<T>(dst, src)) {
        return;
    }
    __bang_write_zero(dst, wide * (top + height + bottom));
    for (int64_t y = 0; y < height; y++) {
        __memcpy(dst + (top + y) * wide + (int64_t)left * channels,
                 src + y * width * (int64_t)channels, (uint64_t)width * channels * sizeof(T),
                 NRAM2NRAM);
    }
}
