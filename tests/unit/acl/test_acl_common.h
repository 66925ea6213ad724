/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <acl/acl.h>
#include <stddef.h>

/** Asserts that a call answers `expected`, printing the library's text when it does not. */
void acl_expect(aclError got, aclError expected, const char *call, int line);
#define EXPECT(call, code) acl_expect((call), (code), #call, __LINE__)
#define OK(call)           acl_expect((call), ACL_SUCCESS, #call, __LINE__)

/** Starts on a chip ("ascend910a"), loads the test kernels; ends everything. */
void acl_begin(const char *soc, aclrtBinHandle *binary);
void acl_end(aclrtBinHandle binary);
/** The same without kernels, on the chip that the environment names. */
void acl_begin_plain(void);
void acl_end_plain(void);
const void *acl_test_elf(const char *soc, size_t *bytes);

/** Tests of wrong use (test_acl_errors.c). */
void device_errors(void);
void memory_errors(void);
void binary_errors(void);
void launch_errors(void);
void kernel_faults_910a(void);
void kernel_faults_910b1(void);
void stop_on_failure(void);
