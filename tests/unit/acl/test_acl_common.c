/* SPDX-License-Identifier: Apache-2.0 */
#include "test_acl_common.h"

#include "harness.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const unsigned char acl_kernels_ascend910a_elf[];
extern const size_t acl_kernels_ascend910a_elf_bytes;
extern const unsigned char acl_kernels_ascend910b1_elf[];
extern const size_t acl_kernels_ascend910b1_elf_bytes;

void acl_expect(aclError got, aclError expected, const char *call, int line)
{
    if (got != expected) {
        const char *text = aclGetRecentErrMsg();
        fprintf(stderr, "line %d: %s gave %d, expected %d: %s\n", line, call, got, expected,
                text ? text : "");
    }
    CU_ASSERT_EQUAL(got, expected);
}

const void *acl_test_elf(const char *soc, size_t *bytes)
{
    bool split = strcmp(soc, "ascend910b1") == 0;
    *bytes = split ? acl_kernels_ascend910b1_elf_bytes : acl_kernels_ascend910a_elf_bytes;
    return split ? acl_kernels_ascend910b1_elf : acl_kernels_ascend910a_elf;
}

void acl_begin(const char *soc, aclrtBinHandle *binary)
{
    size_t bytes;
    setenv("LEO_SOC", soc, 1);
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    const void *elf = acl_test_elf(soc, &bytes);
    OK(aclrtBinaryLoadFromData(elf, bytes, NULL, binary));
}

void acl_begin_plain(void)
{
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
}

void acl_end_plain(void)
{
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
}

void acl_end(aclrtBinHandle binary)
{
    OK(aclrtBinaryUnLoad(binary));
    acl_end_plain();
}
