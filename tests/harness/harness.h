/* SPDX-License-Identifier: Apache-2.0 */
/* One test program = one table of named tests run by CUnit. */
#pragma once

#include <CUnit/CUnit.h>
#include <stddef.h>

/** A test: the name says what is expected ("ring_push_fails_when_full"). */
struct leo_test {
    const char *name;
    void (*run)(void);
};

/** Runs all tests (or those that argv names) and returns the exit code of main. */
int leo_test_main(const char *suite, const struct leo_test *tests, size_t count, int argc,
                  char **argv);
