/* SPDX-License-Identifier: Apache-2.0 */
/* <string.h> but for the four functions of memory.c. */
#include <stddef.h>
#include <stdint.h>

#include <string.h>

size_t strlen(const char *s)
{
    const char *end = s;
    while (*end) {
        end++;
    }
    return (size_t)(end - s);
}

size_t strnlen(const char *s, size_t most)
{
    size_t n = 0;
    while (n < most && s[n]) {
        n++;
    }
    return n;
}

int strncmp(const char *a, const char *b, size_t most)
{
    for (size_t i = 0; i < most; i++) {
        if (a[i] != b[i] || !a[i]) {
            return (uint8_t)a[i] - (uint8_t)b[i];
        }
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

char *strcpy(char *restrict to, const char *restrict from)
{
    memcpy(to, from, strlen(from) + 1);
    return to;
}

char *strncpy(char *restrict to, const char *restrict from, size_t bytes)
{
    size_t length = strnlen(from, bytes);
    memcpy(to, from, length);
    memset(to + length, 0, bytes - length);
    return to;
}

char *strcat(char *restrict to, const char *restrict from)
{
    strcpy(to + strlen(to), from);
    return to;
}

void *memchr(const void *bytes, int value, size_t count)
{
    const uint8_t *at = bytes;
    for (; count > 0; count--, at++) {
        if (*at == (uint8_t)value) {
            return (void *)(uintptr_t)at;
        }
    }
    return NULL;
}

char *strchr(const char *s, int c)
{
    return memchr(s, c, strlen(s) + 1);
}

char *strrchr(const char *s, int c)
{
    for (size_t n = strlen(s) + 1; n > 0; n--) {
        if (s[n - 1] == (char)c) {
            return (char *)(uintptr_t)(s + n - 1);
        }
    }
    return NULL;
}

char *strstr(const char *s, const char *part)
{
    size_t length = strlen(part);
    for (;; s++) {
        if (strncmp(s, part, length) == 0) {
            return (char *)(uintptr_t)s;
        }
        if (!*s) {
            return NULL;
        }
    }
}
