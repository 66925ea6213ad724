/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of HCCL. They only translate: names, types, defaults and error codes; what
 * happens is in ../comm. */
#pragma once

#include "../collective/communicator.h"

#include <hccl/hccl.h>

/** Logs the error as the ACL log does, makes it the recent error text and returns `code`. */
HcclResult hccl_fail(HcclResult code, const char *func, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** The code of a status, error set with the runtime's text. */
HcclResult hccl_result(const char *func, leo_status status);
/** The code alone. */
HcclResult hccl_code(leo_status status);
struct comm_type hccl_type(HcclDataType type);
