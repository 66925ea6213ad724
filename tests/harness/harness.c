/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_named(const char *name, int argc, char **argv)
{
    bool named = argc < 2;
    for (int i = 1; i < argc; i++) {
        named = named || strcmp(argv[i], name) == 0;
    }
    return named;
}

int leo_test_main(const char *suite, const struct leo_test *tests, size_t count, int argc,
                  char **argv)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 2;
    }
    CU_pSuite cu_suite = CU_add_suite(suite, NULL, NULL);
    size_t added = 0;
    for (size_t i = 0; cu_suite && i < count; i++) {
        if (is_named(tests[i].name, argc, argv)) {
            added += CU_add_test(cu_suite, tests[i].name, tests[i].run) != NULL;
        }
    }
    if (added == 0) {
        fprintf(stderr, "%s: no test of that name\n", suite);
        return 2;
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
