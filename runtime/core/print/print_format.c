/* SPDX-License-Identifier: Apache-2.0 */
/* A record of leo_printf as text: printf with values that come as 8-byte words. */
#include "print.h"

#include <stdio.h>
#include <string.h>

typedef unsigned long long ull; // for printf

enum { WIDTH_MAX = 4000 };

struct record {
    const char *at; /**< the next character of the format */
    const uint64_t *value;
    unsigned values, used;
    const char *string, *end; /**< the next string, the end of all */
    char *out;
    size_t bytes, done;
};

static uint64_t next_value(struct record *record)
{
    return record->used < record->values ? record->value[record->used++] : 0;
}

static const char *next_string(struct record *record)
{
    const char *string = record->string;
    if (string >= record->end) {
        return "";
    }
    record->string += strlen(string) + 1;
    return string;
}

// An integer as wide as its length modifier says.
static uint64_t narrow(uint64_t value, const char *length, bool is_signed)
{
    unsigned bits = strcmp(length, "hh") == 0  ? 8
                    : strcmp(length, "h") == 0 ? 16
                    : *length                  ? 64
                                               : 32;
    unsigned shift = 64 - bits;
    return is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

/** One conversion taken apart. */
struct spec {
    char flags[8], length[3], kind;
    int width, precision; /**< -1: none */
};

static int read_number(struct record *record, int *value)
{
    if (*record->at == '*') {
        record->at++;
        // A wild value must not make the host write gigabytes.
        int given = (int)next_value(record);
        *value = given > WIDTH_MAX ? WIDTH_MAX : given < -WIDTH_MAX ? -WIDTH_MAX : given;
        return 1;
    }
    int number = 0, digits = 0;
    for (; *record->at >= '0' && *record->at <= '9'; record->at++, digits++) {
        number = number < WIDTH_MAX / 10 ? number * 10 + (*record->at - '0') : number;
    }
    *value = number;
    return digits > 0;
}

static struct spec read_spec(struct record *record)
{
    struct spec spec = {.width = -1, .precision = -1};
    size_t flags = 0, length = 0;
    while (*record->at && strchr("-+ #0", *record->at)) {
        if (flags < sizeof(spec.flags) - 1) {
            spec.flags[flags++] = *record->at;
        }
        record->at++;
    }
    if (!read_number(record, &spec.width)) {
        spec.width = -1;
    } else if (spec.width < 0) { // a negative '*' means '-'
        spec.width = -spec.width;
        spec.flags[flags < sizeof(spec.flags) - 1 ? flags : flags - 1] = '-';
    }
    if (*record->at == '.') {
        record->at++;
        read_number(record, &spec.precision);
    }
    while (*record->at && strchr("hlqjzt", *record->at)) {
        if (length < sizeof(spec.length) - 1) {
            spec.length[length++] = *record->at;
        }
        record->at++;
    }
    spec.kind = *record->at;
    record->at += *record->at != '\0';
    return spec;
}

static void advance(struct record *record, int count)
{
    record->done += count > 0 ? (size_t)count : 0;
    record->done = record->done < record->bytes ? record->done : record->bytes - 1;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" // made below, of known parts
static void convert(struct record *record, const struct spec *spec)
{
    char format[64], width[16] = "", precision[16] = "";
    char *out = record->out + record->done;
    size_t room = record->bytes - record->done;
    if (spec->width >= 0) {
        snprintf(width, sizeof(width), "%d", spec->width);
    }
    if (spec->precision >= 0) {
        snprintf(precision, sizeof(precision), ".%d", spec->precision);
    }
    bool integer = strchr("diouxX", spec->kind) != NULL;
    snprintf(format, sizeof(format), "%%%s%s%s%s%c", spec->flags, width, precision,
             integer ? "ll" : "", spec->kind);
    if (integer) {
        bool is_signed = spec->kind == 'd' || spec->kind == 'i';
        uint64_t value = narrow(next_value(record), spec->length, is_signed);
        advance(record, snprintf(out, room, format, (ull)value));
    } else if (strchr("fFeEgGaA", spec->kind)) {
        uint64_t bits = next_value(record);
        double value;
        memcpy(&value, &bits, sizeof(value));
        advance(record, snprintf(out, room, format, value));
    } else if (spec->kind == 's') {
        next_value(record);
        advance(record, snprintf(out, room, format, next_string(record)));
    } else if (spec->kind == 'c') {
        advance(record, snprintf(out, room, format, (int)next_value(record)));
    } else if (spec->kind == 'p') {
        advance(record, snprintf(out, room, "0x%llx", (ull)next_value(record)));
    } else {
        advance(record, snprintf(out, room, "%%%c", spec->kind));
    }
}
#pragma GCC diagnostic pop

void rt_print_format(const struct leo_print_record *from, char *out, size_t bytes)
{
    const uint64_t *value = (const uint64_t *)(from + 1);
    const char *format = (const char *)(value + from->args),
               *end = (const char *)from + from->bytes;
    struct record record = {
        .at = format,
        .value = value,
        .values = from->args,
        .string = format + strlen(format) + 1,
        .end = end,
        .out = out,
        .bytes = bytes,
    };
    out[0] = '\0';
    while (*record.at && record.done < bytes - 1) {
        if (record.at[0] == '%' && record.at[1] == '%') {
            record.at += 2;
            out[record.done++] = '%';
        } else if (record.at[0] == '%' && record.at[1]) {
            record.at++;
            struct spec spec = read_spec(&record);
            if (!spec.kind) {
                break;
            }
            convert(&record, &spec);
        } else {
            out[record.done++] = *record.at++;
        }
    }
    out[record.done] = '\0';
}
