/* SPDX-License-Identifier: Apache-2.0 */
/* The four functions a freestanding compiler may call on its own. Compiled with -fno-builtin, else
 * they call themselves. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t bytes);
void *memmove(void *dst, const void *src, size_t bytes);
void *memset(void *dst, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

/* A word that may alias anything. */
typedef uint64_t __attribute__((may_alias)) word;

static int both_aligned(const void *a, const void *b)
{
    return (((uintptr_t)a | (uintptr_t)b) & 7) == 0;
}

static void copy_up(uint8_t *dst, const uint8_t *src, size_t bytes)
{
    if (both_aligned(dst, src)) {
        for (; bytes >= 8; bytes -= 8, dst += 8, src += 8) {
            *(word *)dst = *(const word *)src;
        }
    }
    for (; bytes > 0; bytes--) {
        *dst++ = *src++;
    }
}

void *memcpy(void *restrict dst, const void *restrict src, size_t bytes)
{
    copy_up(dst, src, bytes);
    return dst;
}

void *memmove(void *dst, const void *src, size_t bytes)
{
    if ((uintptr_t)dst - (uintptr_t)src >= bytes) {
        copy_up(dst, src, bytes);
        return dst;
    }
    uint8_t *to = (uint8_t *)dst + bytes;
    const uint8_t *from = (const uint8_t *)src + bytes;
    for (; bytes > 0; bytes--) {
        *--to = *--from;
    }
    return dst;
}

void *memset(void *dst, int value, size_t bytes)
{
    uint8_t *to = dst;
    if (((uintptr_t)to & 7) == 0) {
        uint64_t pattern = (uint8_t)value * UINT64_C(0x0101010101010101);
        for (; bytes >= 8; bytes -= 8, to += 8) {
            *(word *)to = pattern;
        }
    }
    for (; bytes > 0; bytes--) {
        *to++ = (uint8_t)value;
    }
    return dst;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
    const uint8_t *x = a;
    const uint8_t *y = b;
    for (; bytes > 0; bytes--, x++, y++) {
        if (*x != *y) {
            return *x - *y;
        }
    }
    return 0;
}
