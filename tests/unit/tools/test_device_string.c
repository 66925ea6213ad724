/* SPDX-License-Identifier: Apache-2.0 */
/* string.c and divide128.c of the device library, compiled for the host under other names, against
 * the host's own. */
#include "harness.h"

#include <string.h>

#include <stdint.h>

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

size_t device_strnlen(const char *s, size_t most);
size_t device_strlen(const char *s);
int device_strcmp(const char *a, const char *b);
int device_strncmp(const char *a, const char *b, size_t most);
char *device_strcpy(char *restrict to, const char *restrict from);
char *device_strncpy(char *restrict to, const char *restrict from, size_t bytes);
char *device_strcat(char *restrict to, const char *restrict from);
void *device_memchr(const void *bytes, int value, size_t count);
char *device_strchr(const char *s, int c);
char *device_strrchr(const char *s, int c);
char *device_strstr(const char *s, const char *part);
u128 device_udivti3(u128 a, u128 b);
u128 device_umodti3(u128 a, u128 b);
i128 device_divti3(i128 a, i128 b);
i128 device_modti3(i128 a, i128 b);

static const char *const texts[] = {"",    "a",     "b",        "ab",        "aab",   "abc",
                                    "abd", "aaaab", "\xff\x01", "abcabcabd", "ab cd", "cab"};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void texts_are_compared_and_searched(void)
{
    for (unsigned i = 0; i < TEXTS; i++) {
        const char *a = texts[i];
        CU_ASSERT_EQUAL(device_strlen(a), strlen(a));
        CU_ASSERT_EQUAL(device_strnlen(a, 2), strlen(a) < 2 ? strlen(a) : 2);
        for (int c = 0; c < 256; c++) {
            CU_ASSERT_PTR_EQUAL(device_strchr(a, c), strchr(a, c));
            CU_ASSERT_PTR_EQUAL(device_strrchr(a, c), strrchr(a, c));
            CU_ASSERT_PTR_EQUAL(device_memchr(a, c, strlen(a)), memchr(a, c, strlen(a)));
        }
        for (unsigned k = 0; k < TEXTS; k++) {
            const char *b = texts[k];
            CU_ASSERT_EQUAL(sign(device_strcmp(a, b)), sign(strcmp(a, b)));
            CU_ASSERT_PTR_EQUAL(device_strstr(a, b), strstr(a, b));
            for (size_t n = 0; n < 5; n++) {
                CU_ASSERT_EQUAL(sign(device_strncmp(a, b, n)), sign(strncmp(a, b, n)));
            }
        }
    }
}

static void texts_are_copied_and_joined(void)
{
    for (unsigned i = 0; i < TEXTS; i++) {
        char ours[32], host[32];
        for (size_t n = 0; n < 14; n++) {
            memset(ours, 7, sizeof(ours));
            memset(host, 7, sizeof(host));
            CU_ASSERT_PTR_EQUAL(device_strncpy(ours, texts[i], n), ours);
            memcpy(host, texts[i], strlen(texts[i]) < n ? strlen(texts[i]) : n);
            memset(host + (strlen(texts[i]) < n ? strlen(texts[i]) : n), 0,
                   strlen(texts[i]) < n ? n - strlen(texts[i]) : 0);
            CU_ASSERT_EQUAL(memcmp(ours, host, sizeof(host)), 0);
        }
        CU_ASSERT_PTR_EQUAL(device_strcpy(ours, texts[i]), ours);
        CU_ASSERT_PTR_EQUAL(device_strcat(ours, "xy"), ours);
        CU_ASSERT_EQUAL(strncmp(ours, texts[i], strlen(texts[i])), 0);
        CU_ASSERT_STRING_EQUAL(ours + strlen(texts[i]), "xy");
    }
}

static void wide_division_is_that_of_the_host(void)
{
    uint64_t seed = 77;
    for (int i = 0; i < 300000; i++) {
        u128 value[2];
        for (int k = 0; k < 2; k++) {
            uint64_t word[2];
            for (int j = 0; j < 2; j++) {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                word[j] = seed;
            }
            value[k] = ((u128)word[0] << 64 | word[1]) >> (seed >> 8) % 128;
            value[k] = seed & 1 ? 0 - value[k] : value[k];
        }
        u128 a = value[0], b = value[1] ? value[1] : 1;
        CU_ASSERT(device_udivti3(a, b) == a / b && device_umodti3(a, b) == a % b);
        if (b != ~(u128)0) {
            CU_ASSERT(device_divti3((i128)a, (i128)b) == (i128)a / (i128)b);
            CU_ASSERT(device_modti3((i128)a, (i128)b) == (i128)a % (i128)b);
        }
    }
    CU_ASSERT(device_udivti3(5, 0) == UINT64_MAX); // by zero: no crash
    CU_ASSERT(device_umodti3((u128)5 << 70, 0) == (u128)5 << 70);
}

static const struct leo_test tests[] = {
    {"texts_are_compared_and_searched", texts_are_compared_and_searched},
    {"texts_are_copied_and_joined", texts_are_copied_and_joined},
    {"wide_division_is_that_of_the_host", wide_division_is_that_of_the_host},
};

int main(int argc, char **argv)
{
    return leo_test_main("device string", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
