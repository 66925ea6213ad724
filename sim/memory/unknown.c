/* SPDX-License-Identifier: Apache-2.0 */
#include "unknown.h"

#include "../host/pages.h"
#include <leo/alloc.h>
#include <stdatomic.h>

enum { LINE_BYTES = 512, WORD_BITS = 64 };

struct sim_unknown {
    uint64_t base, lines;
    _Atomic uint64_t *word; /* bit set: the line is unknown; reserved, not committed */
};

static uint64_t bytes_of(uint64_t lines)
{
    return (lines + WORD_BITS - 1) / WORD_BITS * sizeof(uint64_t);
}

leo_status sim_unknown_create(uint64_t base, uint64_t bytes, struct sim_unknown **unknown_out)
{
    struct sim_unknown *unknown = leo_calloc(1, sizeof(*unknown));
    *unknown_out = unknown;
    if (!unknown) {
        return LEO_ERR_NO_MEMORY;
    }
    unknown->base = base;
    unknown->lines = bytes / LINE_BYTES;
    unknown->word = (void *)sim_pages_reserve(bytes_of(unknown->lines));
    return unknown->word ? LEO_OK : LEO_ERR_NO_MEMORY;
}

void sim_unknown_destroy(struct sim_unknown *unknown)
{
    if (unknown) {
        sim_pages_release((uint8_t *)(uintptr_t)unknown->word, bytes_of(unknown->lines));
        leo_free(unknown);
    }
}

/* The lines that a range meets, of those there are. */
static void lines_of(const struct sim_unknown *unknown, uint64_t addr, uint64_t bytes,
                     uint64_t *first, uint64_t *end)
{
    const uint64_t offset = addr - unknown->base;
    *first = *end = 0;
    if (bytes && addr >= unknown->base && offset / LINE_BYTES < unknown->lines) {
        *first = offset / LINE_BYTES;
        const uint64_t last = (offset + bytes - 1) / LINE_BYTES;
        *end = last < unknown->lines ? last + 1 : unknown->lines;
    }
}

/* The bits from `line` on of its word, up to `end`. */
static uint64_t bits_of(uint64_t line, uint64_t end)
{
    const uint64_t from = line % WORD_BITS, count = end - line;
    const uint64_t low = UINT64_MAX << from;
    return count < WORD_BITS - from ? low & ~(UINT64_MAX << (from + count)) : low;
}

void sim_unknown_set(struct sim_unknown *unknown, uint64_t addr, uint64_t bytes, bool known)
{
    uint64_t line, end;
    lines_of(unknown, addr, bytes, &line, &end);
    for (; line < end; line = (line / WORD_BITS + 1) * WORD_BITS) {
        const uint64_t bits = bits_of(line, end);
        if (known) {
            atomic_fetch_and(&unknown->word[line / WORD_BITS], ~bits);
        } else {
            atomic_fetch_or(&unknown->word[line / WORD_BITS], bits);
        }
    }
}

bool sim_unknown_has(const struct sim_unknown *unknown, uint64_t addr, uint64_t bytes)
{
    uint64_t line, end;
    lines_of(unknown, addr, bytes, &line, &end);
    for (; line < end; line = (line / WORD_BITS + 1) * WORD_BITS) {
        if (atomic_load(&unknown->word[line / WORD_BITS]) & bits_of(line, end)) {
            return true;
        }
    }
    return false;
}
