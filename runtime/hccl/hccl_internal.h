/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of HCCL: communicators and errors. */
#pragma once

#include <hccl/hccl.h>
#include <stddef.h>

struct hccl_comm {
    uint32_t ranks, rank;
    char name[HCCL_COMM_NAME_MAX_LENGTH];
    struct hccl_comm *next;
};

/** Logs the error as the ACL log does and returns `code`. */
HcclResult hccl_fail(HcclResult code, const char *func, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** The communicator behind a handle; NULL for anything that is not a live one. */
struct hccl_comm *hccl_comm_find(HcclComm handle);
/** Bytes of one element; 0 for a type that is not known. */
size_t hccl_type_bytes(HcclDataType type);
