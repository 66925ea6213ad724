/* SPDX-License-Identifier: Apache-2.0 */
/* leo_printf: formats nothing. The format, the values and the strings go into the core's ring; the
 * host formats. */
#include <leo/csr.h>
#include <leo/print_ring.h>
#include <stdarg.h>
#include <stddef.h>

void leo_print(const char *format, ...);
uint64_t leo_print_assert(const char *format, ...);

/* Read-only for the kernel: the loader writes it into the image. Protected: found in a stripped
 * file too. */
__attribute__((visibility("protected"), used))
const volatile struct leo_print_area leo_print_area = {0, 0, 0};

enum { VALUES_MAX = 24, STRINGS_MAX = 24 };

struct values {
    uint64_t value[VALUES_MAX];
    const char *string[STRINGS_MAX];
    unsigned count, strings;
};

struct writer {
    volatile uint64_t *data;
    uint64_t mask, at, word;
};

static void put_word(struct writer *out, uint64_t word)
{
    out->data[(out->at & out->mask) / 8] = word;
    out->at += 8;
}

static void put_byte(struct writer *out, uint64_t *count, char c)
{
    out->word |= (uint64_t)(uint8_t)c << (*count % 8 * 8);
    if (++*count % 8 == 0) {
        put_word(out, out->word);
        out->word = 0;
    }
}

static size_t length(const char *text)
{
    size_t bytes = 0;
    while (bytes < LEO_PRINT_STRING_MAX && text[bytes]) {
        bytes++;
    }
    return bytes;
}

static int is_in(char c, const char *set)
{
    for (; *set; set++) {
        if (*set == c) {
            return 1;
        }
    }
    return 0;
}

/* A function takes a va_list by reference only inside a struct, whatever type it is. */
struct list {
    va_list args;
};

static void take(struct values *values, struct list *list)
{
    if (values->count < VALUES_MAX) {
        values->value[values->count++] =
            va_arg(list->args, uint64_t); /* every value is one slot of 8 bytes */
    }
}

static void collect(struct values *values, const char *format, struct list *list)
{
    while (*format) {
        if (*format++ != '%') {
            continue;
        }
        for (; *format && is_in(*format, "-+ #0123456789.*hlqjzt"); format++) {
            if (*format == '*') {
                take(values, list);
            }
        }
        if (*format == 's' && values->count < VALUES_MAX) {
            const char *string = va_arg(list->args, const char *);
            values->value[values->count++] = (uint64_t)string;
            values->string[values->strings++] = string ? string : "(null)";
        } else if (*format && *format != '%') {
            take(values, list);
        }
        format += *format != 0;
    }
}

static void put_text(struct writer *out, uint64_t *count, const char *text)
{
    size_t bytes = length(text);
    for (size_t i = 0; i < bytes; i++) {
        put_byte(out, count, text[i]);
    }
    put_byte(out, count, 0);
}

/* Returns the record's place in global memory, 0 if there was no room. */
static uint64_t put_record(unsigned kind, const char *format, const struct values *values)
{
    uint64_t core, block, rings = leo_print_area.rings, ring_bytes = leo_print_area.ring_bytes;
    __asm__("csrr %0, %1" : "=r"(core) : "i"(LEO_CSR_CORE_ID));
    __asm__("csrr %0, %1" : "=r"(block) : "i"(LEO_CSR_BLOCK_IDX));
    volatile struct leo_print_head *head = (volatile struct leo_print_head *)leo_print_area.addr;
    if (!head || core >= rings) {
        return 0;
    }
    uint64_t text = length(format) + 1;
    for (unsigned i = 0; i < values->strings; i++) {
        text += length(values->string[i]) + 1;
    }
    uint64_t bytes = sizeof(struct leo_print_record) + values->count * 8 + (text + 7) / 8 * 8;
    uint64_t data = leo_print_area.addr + rings * sizeof(*head) + core * ring_bytes;
    head += core;
    uint64_t written = head->written;
    if (bytes > ring_bytes - (written - head->read)) {
        head->lost++;
        return 0;
    }
    struct writer out = {(volatile uint64_t *)data, ring_bytes - 1, written, 0};
    put_word(&out, bytes | (uint64_t)kind << 32 | (uint64_t)values->count << 48);
    put_word(&out, block);
    for (unsigned i = 0; i < values->count; i++) {
        put_word(&out, values->value[i]);
    }
    uint64_t count = 0;
    put_text(&out, &count, format);
    for (unsigned i = 0; i < values->strings; i++) {
        put_text(&out, &count, values->string[i]);
    }
    while (count % 8) {
        put_byte(&out, &count, 0);
    }
    head->written = out.at; /* last: the host may look at any time */
    return data + (written & out.mask);
}

void leo_print(const char *format, ...)
{
    struct values values;
    struct list list;
    values.count = values.strings = 0;
    va_start(list.args, format);
    collect(&values, format, &list);
    va_end(list.args);
    put_record(LEO_PRINT_TEXT, format, &values);
}

uint64_t leo_print_assert(const char *format, ...)
{
    struct values values;
    struct list list;
    values.count = values.strings = 0;
    va_start(list.args, format);
    collect(&values, format, &list);
    va_end(list.args);
    return put_record(LEO_PRINT_ASSERT, format, &values);
}
