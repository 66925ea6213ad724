/* SPDX-License-Identifier: Apache-2.0 */
/* What code compiled with -fsanitize=array-bounds calls for an index outside of its array: ends the
 * kernel like a failed leo_assert. */
#include <stdint.h>

enum { KIND_INTEGER = 0 };

/* As the compiler lays them out (clang's UndefinedBehaviorSanitizer). */
struct type {
    uint16_t kind;
    uint16_t info; /* of integers: bit 0 signed, above it the logarithm of the width in bits */
    char name[];
};

struct out_of_bounds {
    const char *file;
    uint32_t line, column;
    const struct type *array, *index;
};

uint64_t leo_print_assert(const char *format, ...);
void __ubsan_handle_out_of_bounds(const struct out_of_bounds *where, uint64_t index);

/* Indices come without their sign extended. */
static int64_t value_of(const struct type *type, uint64_t index)
{
    const unsigned bits = 1u << (type->info >> 1);
    const unsigned shift = bits < 64 ? 64 - bits : 0;
    if (type->kind != KIND_INTEGER || !(type->info & 1)) {
        return (int64_t)index;
    }
    return (int64_t)(index << shift) >> shift;
}

void __ubsan_handle_out_of_bounds(const struct out_of_bounds *where, uint64_t index)
{
    const uint64_t told = leo_print_assert(
        "index %lld is outside of %s at %s:%u:%u\n", (long long)value_of(where->index, index),
        where->array->name, where->file, where->line, where->column);
    /* The instruction of leo_assert: a trap that carries the place of its text. */
    __asm__ volatile(".insn i 0x7b, 7, x0, 0(%0)" : : "r"(told));
}

/* With -fno-sanitize-recover. */
void __ubsan_handle_out_of_bounds_abort(const struct out_of_bounds *where, uint64_t index)
    __attribute__((alias("__ubsan_handle_out_of_bounds")));
