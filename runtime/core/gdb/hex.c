/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <string.h>

static const char digits[] = "0123456789abcdef";

static int value_of(char digit)
{
    if (digit >= 'A' && digit <= 'F') {
        digit = (char)(digit - 'A' + 'a');
    }
    const char *found = digit ? strchr(digits, digit) : NULL;
    return found ? (int)(found - digits) : -1;
}

uint64_t gdb_hex_take(const char **text)
{
    uint64_t value = 0;
    for (int digit; (digit = value_of(**text)) >= 0; ++*text) {
        value = value << 4 | (unsigned)digit;
    }
    return value;
}

char *gdb_hex_put(char *out, const void *bytes, size_t count)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < count; i++) {
        *out++ = digits[from[i] >> 4];
        *out++ = digits[from[i] & 15];
    }
    *out = '\0';
    return out;
}

bool gdb_hex_bytes(const char *text, void *bytes, size_t count)
{
    unsigned char *to = bytes;
    for (size_t i = 0; i < count; i++, text += 2) {
        const int high = value_of(text[0]), low = high >= 0 ? value_of(text[1]) : -1;
        if (low < 0) {
            return false;
        }
        to[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}
