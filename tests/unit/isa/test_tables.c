/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include <leo/dtype.h>
#include <leo/faults.h>
#include <leo/isa_enums.h>
#include <leo/soc.h>
#include <leo/status.h>
#include <stdlib.h>
#include <string.h>

static void statuses_have_name_and_text(void)
{
    CU_ASSERT_EQUAL(LEO_OK, 0);
    CU_ASSERT_STRING_EQUAL(leo_status_name(LEO_OK), "LEO_OK");
    CU_ASSERT_STRING_EQUAL(leo_status_name(LEO_ERR_NO_MEMORY), "LEO_ERR_NO_MEMORY");
    CU_ASSERT_STRING_EQUAL(leo_status_text(LEO_ERR_TIMEOUT), "timed out");
    CU_ASSERT_STRING_EQUAL(leo_status_name(1), "LEO_ERR_?");
    CU_ASSERT_STRING_EQUAL(leo_status_text(-9999), "unknown status");
}

static void faults_have_name_and_text(void)
{
    enum { RETIRED = 25 }; // its number is not given again
    for (unsigned i = 0; i < LEO_FAULT_COUNT; i++) {
        if (i == RETIRED) {
            continue;
        }
        CU_ASSERT_STRING_NOT_EQUAL(leo_fault_name((enum leo_fault)i), "?");
        CU_ASSERT_TRUE(strlen(leo_fault_text((enum leo_fault)i)) > 5);
    }
    CU_ASSERT_STRING_EQUAL(leo_fault_name(LEO_FAULT_WATCHDOG), "watchdog");
    CU_ASSERT_STRING_EQUAL(leo_fault_name((enum leo_fault)LEO_FAULT_COUNT), "?");
    CU_ASSERT_STRING_EQUAL(leo_fault_text((enum leo_fault) - 1), "unknown fault");
}

static void enum_names_survive_gaps(void)
{
    CU_ASSERT_STRING_EQUAL(leo_dtype_name(LEO_DTYPE_BF16), "bf16");
    CU_ASSERT_STRING_EQUAL(leo_pipe_name(LEO_PIPE_MTE2), "mte2");
    CU_ASSERT_EQUAL(LEO_SQE_OP_COUNT, LEO_SQE_OP_READ_UNWRITTEN + 1);
    CU_ASSERT_STRING_EQUAL(leo_sqe_op_name(LEO_SQE_OP_CREATE_QUEUE), "create_queue");
    CU_ASSERT_STRING_EQUAL(leo_sqe_op_name((enum leo_sqe_op)10), "?");
    CU_ASSERT_STRING_EQUAL(leo_sqe_op_name((enum leo_sqe_op)1000), "?");
}

/* A type's name ends with its bits. */
static void types_are_as_wide_as_their_names_say(void)
{
    for (unsigned i = 0; i < LEO_DTYPE_COUNT; i++) {
        const char *name = leo_dtype_name((enum leo_dtype)i);
        const uint32_t bits = (uint32_t)strtoul(name + strcspn(name, "0123456789"), NULL, 10);
        CU_ASSERT_EQUAL(leo_dtype_bits((enum leo_dtype)i), bits);
        CU_ASSERT_EQUAL(leo_dtype_bytes((enum leo_dtype)i), bits / 8);
    }
    CU_ASSERT_EQUAL(leo_dtype_bits(LEO_DTYPE_COUNT), 0);
    CU_ASSERT_EQUAL(leo_dtype_bits((enum leo_dtype) - 1), 0);
}

static void soc_files_are_built_in(void)
{
    size_t count = 0;

    for (const char *name; (name = leo_isa_soc_name(count)) != NULL; count++) {
        char line[64] = "name = ";
        const char *text = leo_isa_soc_text(name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        strncat(line, name, sizeof(line) - strlen(line) - 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, line));
    }
    CU_ASSERT_TRUE(count >= 2);
    CU_ASSERT_PTR_NOT_NULL(leo_isa_soc_text("ascend910a"));
    CU_ASSERT_PTR_NULL(leo_isa_soc_text("ascend"));
    CU_ASSERT_PTR_NULL(leo_isa_soc_text(""));
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"statuses_have_name_and_text", statuses_have_name_and_text},
        {"faults_have_name_and_text", faults_have_name_and_text},
        {"enum_names_survive_gaps", enum_names_survive_gaps},
        {"types_are_as_wide_as_their_names_say", types_are_as_wide_as_their_names_say},
        {"soc_files_are_built_in", soc_files_are_built_in},
    };

    return leo_test_main("isa_tables", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
