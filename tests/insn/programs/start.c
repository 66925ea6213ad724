/* SPDX-License-Identifier: Apache-2.0 */
#include "start.h"

static long call_linux(long number, long a, long b, long c)
{
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}

void emit_bytes(const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes) {
        long done = call_linux(64, 1, (long)at, (long)bytes);
        at += done;
        bytes -= (size_t)done;
    }
}

void emit(uint64_t value)
{
    emit_bytes(&value, sizeof(value));
}

uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// The compiler must not turn these loops into calls of themselves.
__attribute__((no_builtin)) void *memcpy(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        ((char *)to)[i] = ((const char *)from)[i];
    }
    return to;
}

__attribute__((no_builtin)) void *memset(void *to, int value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        ((char *)to)[i] = (char)value;
    }
    return to;
}

void _start(void);
void _start(void)
{
    call_linux(93, program(), 0, 0);
    __builtin_unreachable();
}
