/* SPDX-License-Identifier: Apache-2.0 */
/* <string.h> for kernels. A pass for the host gets the host's own header. */
#if defined(__riscv) || defined(LEO_DEVICE_STRING)
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#define restrict __restrict__
#endif

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
void *memchr(const void *bytes, int value, size_t count);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t most);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t most);
char *strcpy(char *restrict to, const char *restrict from);
char *strncpy(char *restrict to, const char *restrict from, size_t bytes);
char *strcat(char *restrict to, const char *restrict from);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *part);

#ifdef __cplusplus
#undef restrict
}
#endif
#else
#include_next <string.h>
#endif
