/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes: words counted in a hash table, numbers printed, text searched. */
#include "start.h"

static size_t get_length(const char *s)
{
    size_t n = 0;
    while (s[n]) {
        n++;
    }
    return n;
}

static int compare_text(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static char *print_number(char *to, int64_t value, unsigned base)
{
    char digits[70];
    size_t n = 0;
    uint64_t rest = value < 0 && base == 10 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[n++] = "0123456789abcdef"[rest % base];
        rest /= base;
    } while (rest);
    if (value < 0 && base == 10) {
        digits[n++] = '-';
    }
    while (n) {
        *to++ = digits[--n];
    }
    *to = 0;
    return to;
}

static const char *find_text(const char *text, const char *word)
{
    for (size_t n = get_length(word); *text; text++) {
        size_t i = 0;
        while (i < n && text[i] == word[i]) {
            i++;
        }
        if (i == n) {
            return text;
        }
    }
    return NULL;
}

struct entry {
    char word[12];
    unsigned count;
};

static struct entry entries[2048];

int program(void)
{
    static char text[40000];
    char *at = text;
    uint64_t seed = 99;
    for (int i = 0; i < 4000; i++) {
        uint64_t r = next_random(&seed);
        for (unsigned k = 0; k < 1 + (r & 3); k++) {
            *at++ = (char)('a' + (r >> (8 * k + 4)) % 5);
        }
        *at++ = ' ';
    }
    *at = 0;
    emit(get_length(text));
    for (const char *s = text; *s;) {
        char word[12] = {0};
        unsigned hash = 5381;
        for (int n = 0; *s != ' '; s++) {
            word[n++] = *s;
            hash = hash * 33 + (unsigned char)*s;
        }
        s++;
        struct entry *e = &entries[hash % 2048];
        while (e->count && compare_text(e->word, word) != 0) {
            e = e == &entries[2047] ? entries : e + 1;
        }
        memcpy(e->word, word, sizeof(word));
        e->count++;
    }
    emit_bytes(entries, sizeof(entries));
    const char *found = find_text(text, " abba ");
    emit(found ? (uint64_t)(found - text) : 0);
    char line[200];
    for (int i = 0; i < 64; i++) {
        int64_t value = (int64_t)(UINT64_C(0x8badf00ddeadbeef) >> i);
        char *end = print_number(line, value, 10);
        end = print_number(end, -value, 16);
        end = print_number(end, value * 3, 2);
        emit_bytes(line, (size_t)(end - line));
    }
    return 0;
}
