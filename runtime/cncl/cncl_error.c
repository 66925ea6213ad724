/* SPDX-License-Identifier: Apache-2.0 */
/* Codes and their texts. */
#include "cncl_internal.h"

#include <leo/cnrt_hook.h>
#include <stdio.h>
#include <stdlib.h>

struct code {
    cnclResult_t value;
    const char *name, *text;
};

static const struct code codes[] = {
    {CNCL_RET_SUCCESS, "CNCL_RET_SUCCESS", "no error"},
    {CNCL_RET_ERR_INTERNAL, "CNCL_RET_ERR_INTERNAL", "internal error"},
    {CNCL_RET_ERR_UNSUPPORTED, "CNCL_RET_ERR_UNSUPPORTED", "not supported"},
    {CNCL_RET_ERR_NULL_POINTER, "CNCL_RET_ERR_NULL_POINTER", "a pointer is NULL"},
    {CNCL_RET_ERR_BUILD_RING, "CNCL_RET_ERR_BUILD_RING", "the ranks form no ring"},
    {CNCL_RET_ERR_BUILD_TREE, "CNCL_RET_ERR_BUILD_TREE", "the ranks form no tree"},
    {CNCL_RET_ERR_INIT, "CNCL_RET_ERR_INIT", "the communicator could not be made"},
    {CNCL_RET_ERR_NOT_INIT, "CNCL_RET_ERR_NOT_INIT", "no live communicator"},
    {CNCL_RET_ERR_REINIT, "CNCL_RET_ERR_REINIT", "the communicator exists already"},
    {CNCL_RET_ERR_NO_ALGO, "CNCL_RET_ERR_NO_ALGO", "the ranks cannot be connected"},
    {CNCL_RET_ERR_INVALID_VERSION, "CNCL_RET_ERR_INVALID_VERSION", "the version is not known"},
    {CNCL_RET_ERR_SYSTEM, "CNCL_RET_ERR_SYSTEM", "the operating system failed"},
    {CNCL_RET_ERR_SYS_MALLOC, "CNCL_RET_ERR_SYS_MALLOC", "out of host memory"},
    {CNCL_RET_ERR_SYS_SOCKET, "CNCL_RET_ERR_SYS_SOCKET", "the network failed"},
    {CNCL_RET_ERR_SYS_IBV, "CNCL_RET_ERR_SYS_IBV", "an InfiniBand call failed"},
    {CNCL_RET_ERR_MLU_RUNTIME, "CNCL_RET_ERR_MLU_RUNTIME", "a call of CNRT failed"},
    {CNCL_RET_ERR_CNRT_DEVICE, "CNCL_RET_ERR_CNRT_DEVICE", "the device cannot be used"},
    {CNCL_RET_ERR_CNRT_MEMCOPY, "CNCL_RET_ERR_CNRT_MEMCOPY", "a copy failed"},
    {CNCL_RET_ERR_CNRT_MALLOC, "CNCL_RET_ERR_CNRT_MALLOC", "out of device memory"},
    {CNCL_RET_ERR_MLU_DEVICE, "CNCL_RET_ERR_MLU_DEVICE", "a call of CNDev failed"},
    {CNCL_RET_ERR_CNDEV_NODE, "CNCL_RET_ERR_CNDEV_NODE", "the device's bus is not known"},
    {CNCL_RET_ERR_CNDEV_RELATIONSHIP, "CNCL_RET_ERR_CNDEV_RELATIONSHIP",
     "how two devices are connected is not known"},
    {CNCL_RET_ERR_MLU_INNETWORK_COMPUTE, "CNCL_RET_ERR_MLU_INNETWORK_COMPUTE",
     "computing in the network failed"},
    {CNCL_RET_ERR_CNLINC_TASK, "CNCL_RET_ERR_CNLINC_TASK", "the network takes no task"},
    {CNCL_RET_ERR_CNLINC_WR, "CNCL_RET_ERR_CNLINC_WR", "the network takes no request"},
    {CNCL_RET_ERR_CNLINC_KERNEL, "CNCL_RET_ERR_CNLINC_KERNEL", "the network runs no kernel"},
    {CNCL_RET_ASYNC_IN_PROGRESS, "CNCL_RET_ASYNC_IN_PROGRESS", "operations are under way"},
    {CNCL_RET_ASYNC_ERROR, "CNCL_RET_ASYNC_ERROR", "a queued operation failed"},
    {CNCL_RET_ASYNC_UNKNOWN_ERROR, "CNCL_RET_ASYNC_UNKNOWN_ERROR",
     "a queued operation failed for an unknown reason"},
    {CNCL_RET_ERR_ARGUMENTS, "CNCL_RET_ERR_ARGUMENTS", "an argument is invalid"},
    {CNCL_RET_ERR_MLU_ALLOCATE, "CNCL_RET_ERR_MLU_ALLOCATE", "the memory pool gives nothing"},
    {CNCL_RET_ERR_MLU_DEALLOCATE, "CNCL_RET_ERR_MLU_DEALLOCATE", "the memory pool takes nothing"},
    {CNCL_RET_IB_RECV_NOTREADY, "CNCL_RET_IB_RECV_NOTREADY", "the receiver is not ready"},
};

static const struct code *find(cnclResult_t value)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i].value == value) {
            return &codes[i];
        }
    }
    static const struct code none = {CNCL_RET_ERR_INTERNAL, "?", "unknown result"};
    return &none;
}

cnclResult_t cncl_code(leo_status status)
{
    switch ((int)status) {
    case LEO_OK:
        return CNCL_RET_SUCCESS;
    case LEO_ERR_UNSUPPORTED:
        return CNCL_RET_ERR_UNSUPPORTED;
    case LEO_ERR_INVALID_ARG:
    case LEO_ERR_MISMATCH:
        return CNCL_RET_ERR_ARGUMENTS;
    case LEO_ERR_NO_MEMORY:
        return CNCL_RET_ERR_SYS_MALLOC;
    case LEO_ERR_TIMEOUT:
    case COMM_BAD_NETWORK:
        return CNCL_RET_ERR_SYS_SOCKET;
    case COMM_BAD_POINTER:
        return CNCL_RET_ERR_ARGUMENTS;
    case COMM_NO_THREAD:
    case COMM_NO_FILE:
        return CNCL_RET_ERR_SYSTEM;
    case COMM_RUNTIME:
        return CNCL_RET_ERR_MLU_RUNTIME;
    default:
        return CNCL_RET_ERR_INTERNAL;
    }
}

cnclResult_t cncl_fail(cnclResult_t code, const char *func, const char *text)
{
    leo_cnrt_tell("cncl", func, find(code)->name, (int)code, text);
    return code;
}

cnclResult_t cncl_result(const char *func, leo_status status)
{
    return status == LEO_OK ? CNCL_RET_SUCCESS
                            : cncl_fail(cncl_code(status), func, leo_rt_last_error());
}

const char *cnclGetErrorStr(cnclResult_t ret)
{
    return find(ret)->text;
}

void cnclCheck(cnclResult_t ret, const char *expression, const char *file, int line)
{
    if (ret != CNCL_RET_SUCCESS) {
        fprintf(stderr, "%s:%d: %s: %s (%d): %s\n", file, line, expression, find(ret)->name,
                (int)ret, find(ret)->text);
        exit(EXIT_FAILURE);
    }
}
