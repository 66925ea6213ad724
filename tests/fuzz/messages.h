/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of protocol buffers, written by hand: seeds of fuzzers. */
#pragma once

#include "fuzz.h"

#include <string.h>

/** Messages being written; a message is told its bytes when it is whole. */
struct text {
    size_t count;
    uint8_t bytes[2048];
};

static inline void put_number(struct text *text, uint64_t number)
{
    do {
        const uint8_t more = number > 127 ? 128 : 0;
        fuzz_check(text->count < sizeof(text->bytes), "a seed is too long");
        text->bytes[text->count++] = (uint8_t)(number & 127) | more;
        number >>= 7;
    } while (number);
}

static inline void put_bytes(struct text *text, unsigned field, const void *bytes, size_t count)
{
    put_number(text, field << 3 | 2);
    put_number(text, count);
    fuzz_check(count <= sizeof(text->bytes) - text->count, "a seed is too long");
    memcpy(text->bytes + text->count, bytes, count);
    text->count += count;
}

static inline void put_name(struct text *text, unsigned field, const char *name)
{
    put_bytes(text, field, name, strlen(name));
}

static inline void put_int(struct text *text, unsigned field, uint64_t number)
{
    put_number(text, field << 3);
    put_number(text, number);
}

static inline void put_text(struct text *text, unsigned field, const struct text *part)
{
    put_bytes(text, field, part->bytes, part->count);
}
