/* SPDX-License-Identifier: Apache-2.0 */
/* The device library's functions, compiled for the host under other names, against the host's own.
 */
#include "harness.h"

#include <string.h>

#define memcpy  device_memcpy
#define memmove device_memmove
#define memset  device_memset
#define memcmp  device_memcmp
#include "memory.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp

#define BYTES 40

static void fill(uint8_t *bytes, unsigned seed)
{
    for (unsigned i = 0; i < BYTES; i++) {
        bytes[i] = (uint8_t)(seed + i * 37);
    }
}

/* Runs `check` for every length and every alignment of both sides. */
static void for_all(void (*check)(unsigned to, unsigned from, unsigned bytes))
{
    for (unsigned to = 0; to < 9; to++) {
        for (unsigned from = 0; from < 9; from++) {
            for (unsigned bytes = 0; bytes + 9 < BYTES; bytes++) {
                check(to, from, bytes);
            }
        }
    }
}

static void check_copy(unsigned to, unsigned from, unsigned bytes)
{
    _Alignas(8) uint8_t source[BYTES], ours[BYTES], theirs[BYTES];
    fill(source, 1);
    fill(ours, 99);
    fill(theirs, 99);
    CU_ASSERT_PTR_EQUAL(device_memcpy(ours + to, source + from, bytes), ours + to);
    memcpy(theirs + to, source + from, bytes);
    CU_ASSERT_EQUAL(memcmp(ours, theirs, BYTES), 0);
}

static void check_move(unsigned to, unsigned from, unsigned bytes)
{
    _Alignas(8) uint8_t ours[BYTES], theirs[BYTES];
    fill(ours, 3);
    fill(theirs, 3);
    CU_ASSERT_PTR_EQUAL(device_memmove(ours + to, ours + from, bytes), ours + to);
    memmove(theirs + to, theirs + from, bytes);
    CU_ASSERT_EQUAL(memcmp(ours, theirs, BYTES), 0);
}

static void check_set(unsigned to, unsigned value, unsigned bytes)
{
    _Alignas(8) uint8_t ours[BYTES], theirs[BYTES];
    fill(ours, 5);
    fill(theirs, 5);
    device_memset(ours + to, (int)(value * 251), bytes);
    memset(theirs + to, (int)(value * 251), bytes);
    CU_ASSERT_EQUAL(memcmp(ours, theirs, BYTES), 0);
}

static void copy_matches_the_host(void)
{
    for_all(check_copy);
}

static void overlapping_move_matches_the_host(void)
{
    for_all(check_move);
}

static void set_matches_the_host(void)
{
    for_all(check_set);
}

static void compare_has_the_sign_of_the_first_difference(void)
{
    CU_ASSERT_EQUAL(device_memcmp("abc", "abd", 2), 0);
    CU_ASSERT(device_memcmp("abc", "abd", 3) < 0);
    CU_ASSERT(device_memcmp("\xff", "\x01", 1) > 0);
    CU_ASSERT_EQUAL(device_memcmp("a", "b", 0), 0);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"copy_matches_the_host", copy_matches_the_host},
        {"overlapping_move_matches_the_host", overlapping_move_matches_the_host},
        {"set_matches_the_host", set_matches_the_host},
        {"compare_has_the_sign_of_the_first_difference",
         compare_has_the_sign_of_the_first_difference},
    };
    return leo_test_main("device/memory", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
