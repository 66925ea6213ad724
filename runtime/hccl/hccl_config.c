/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the process and of communicators, names of results and types. */
#include "hccl_internal.h"

#include <acl/acl.h>
#include <leo/acl_hook.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

// The API has no handle to keep it in: HcclSetConfig is for the process (decision 8).
static _Atomic int32_t deterministic;

HcclResult hccl_fail(HcclResult code, const char *func, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    aclAppLog(ACL_ERROR, func, __FILE__, __LINE__, "%s (%s)", text, HcclGetErrorString(code));
    leo_acl_fail((aclError)code, func, "%s (%s)", text, HcclGetErrorString(code));
    return code;
}

const char *HcclGetErrorString(HcclResult code)
{
    static const char *const text[] = {
        [HCCL_SUCCESS] = "no error",
        [HCCL_E_PARA] = "wrong parameter",
        [HCCL_E_PTR] = "NULL or unknown pointer",
        [HCCL_E_MEMORY] = "memory error",
        [HCCL_E_INTERNAL] = "internal error",
        [HCCL_E_NOT_SUPPORT] = "not supported",
        [HCCL_E_NOT_FOUND] = "not found",
        [HCCL_E_UNAVAIL] = "not available",
        [HCCL_E_SYSCALL] = "a system call failed",
        [HCCL_E_TIMEOUT] = "timeout",
        [HCCL_E_OPEN_FILE_FAILURE] = "cannot open a file",
        [HCCL_E_TCP_CONNECT] = "TCP connection failed",
        [HCCL_E_ROCE_CONNECT] = "RoCE connection failed",
        [HCCL_E_TCP_TRANSFER] = "TCP transfer failed",
        [HCCL_E_ROCE_TRANSFER] = "RoCE transfer failed",
        [HCCL_E_RUNTIME] = "a call of the runtime failed",
        [HCCL_E_DRV] = "a call of the driver failed",
        [HCCL_E_PROFILING] = "a profiling call failed",
        [HCCL_E_CCE] = "compute error",
        [HCCL_E_NETWORK] = "network error",
        [HCCL_E_AGAIN] = "try again",
        [HCCL_E_REMOTE] = "error of another rank",
        [HCCL_E_SUSPENDING] = "communicator is suspended",
        [HCCL_E_OPRETRY_FAIL] = "repeating the operation failed",
        [HCCL_E_OOM] = "out of memory",
    };
    size_t count = sizeof(text) / sizeof(text[0]);
    return (size_t)code < count && text[code] ? text[code] : "unknown result";
}

HcclResult hccl_code(leo_status status)
{
    switch ((int)status) {
    case LEO_OK:
        return HCCL_SUCCESS;
    case LEO_ERR_TIMEOUT:
        return HCCL_E_TIMEOUT;
    case LEO_ERR_IO:
    case LEO_ERR_STATE:
        return HCCL_E_REMOTE;
    case LEO_ERR_MISMATCH:
    case LEO_ERR_INVALID_ARG:
        return HCCL_E_PARA;
    case LEO_ERR_UNSUPPORTED:
        return HCCL_E_NOT_SUPPORT;
    case LEO_ERR_NO_MEMORY:
        return HCCL_E_OOM;
    case LEO_ERR_CANCELLED:
        return HCCL_E_SUSPENDING;
    case COMM_BAD_POINTER:
        return HCCL_E_PTR;
    case COMM_BAD_NETWORK:
        return HCCL_E_NETWORK;
    case COMM_NO_THREAD:
        return HCCL_E_SYSCALL;
    case COMM_NO_FILE:
        return HCCL_E_OPEN_FILE_FAILURE;
    case COMM_RUNTIME:
        return HCCL_E_RUNTIME;
    default:
        return HCCL_E_INTERNAL;
    }
}

HcclResult hccl_result(const char *func, leo_status status)
{
    return status == LEO_OK ? HCCL_SUCCESS
                            : hccl_fail(hccl_code(status), func, "%s", leo_rt_last_error());
}

struct comm_type hccl_type(HcclDataType type)
{
    static const struct comm_type types[] = {
        [HCCL_DATA_TYPE_INT8] = {0, 1, true, COLL_S8},
        [HCCL_DATA_TYPE_INT16] = {0, 2, true, COLL_S16},
        [HCCL_DATA_TYPE_INT32] = {0, 4, true, COLL_S32},
        [HCCL_DATA_TYPE_FP16] = {0, 2, true, COLL_F16},
        [HCCL_DATA_TYPE_FP32] = {0, 4, true, COLL_F32},
        [HCCL_DATA_TYPE_INT64] = {0, 8, true, COLL_S64},
        [HCCL_DATA_TYPE_UINT64] = {0, 8, true, COLL_U64},
        [HCCL_DATA_TYPE_UINT8] = {0, 1, true, COLL_U8},
        [HCCL_DATA_TYPE_UINT16] = {0, 2, true, COLL_U16},
        [HCCL_DATA_TYPE_UINT32] = {0, 4, true, COLL_U32},
        [HCCL_DATA_TYPE_FP64] = {0, 8, true, COLL_F64},
        [HCCL_DATA_TYPE_BFP16] = {0, 2, true, COLL_BF16},
        // Only carried.
        [HCCL_DATA_TYPE_INT128] = {0, 16, false, COLL_U8},
        [HCCL_DATA_TYPE_HIF8] = {0, 1, false, COLL_U8},
        [HCCL_DATA_TYPE_FP8E4M3] = {0, 1, false, COLL_U8},
        [HCCL_DATA_TYPE_FP8E5M2] = {0, 1, false, COLL_U8},
        [HCCL_DATA_TYPE_FP8E8M0] = {0, 1, false, COLL_U8},
    };
    const size_t at = (size_t)type;
    struct comm_type found =
        at < sizeof(types) / sizeof(types[0]) ? types[at] : (struct comm_type){0};
    found.number = (int)type;
    return found;
}

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue)
{
    if (config != HCCL_DETERMINISTIC || configValue.value < 0 || configValue.value > 2) {
        return hccl_fail(HCCL_E_PARA, "HcclSetConfig",
                         "setting %d, value %d: known is HCCL_DETERMINISTIC (0) with 0, 1 or 2",
                         (int)config, configValue.value);
    }
    atomic_store(&deterministic, configValue.value);
    return HCCL_SUCCESS;
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue *configValue)
{
    if (!configValue) {
        return hccl_fail(HCCL_E_PTR, "HcclGetConfig", "configValue is NULL");
    }
    if (config != HCCL_DETERMINISTIC) {
        return hccl_fail(HCCL_E_PARA, "HcclGetConfig", "setting %d is not known", (int)config);
    }
    configValue->value = atomic_load(&deterministic);
    return HCCL_SUCCESS;
}

uint32_t HcclGetCommConfigCapability(void)
{
    return HCCL_COMM_CONFIG_ALGO; // all up to the execution timeout
}

void HcclCommConfigInit(HcclCommConfig *config)
{
    const struct {
        size_t size;
        uint32_t magic, version;
    } head = {sizeof(*config), HCCL_COMM_CONFIG_MAGIC_WORD, HCCL_COMM_CONFIG_VERSION};
    if (!config) {
        hccl_fail(HCCL_E_PTR, "HcclCommConfigInit", "config is NULL");
        return;
    }
    memset(config, 0, sizeof(*config));
    memcpy(config->reserved, &head, sizeof(head));
    config->hcclBufferSize = 200; // MB, the documented default
    config->hcclDeterministic = HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET;
    config->hcclRdmaTrafficClass = HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET;
    config->hcclRdmaServiceLevel = HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET;
    config->hcclWorldRankID = HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET;
}

/* ---- what a simulated network has no use for ---- */

static HcclResult refuse(const char *func, const char *what)
{
    return hccl_fail(HCCL_E_NOT_SUPPORT, func, "%s", what);
}

static const char ALWAYS_COPIES[] = "exchanges always copy here; leave this call out";

HcclResult HcclCommSetMemoryRange(HcclComm comm, void *baseVirPtr, size_t size, size_t alignment,
                                  uint64_t flags)
{
    (void)comm, (void)baseVirPtr, (void)size, (void)alignment, (void)flags;
    return refuse(__func__, ALWAYS_COPIES);
}

HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void *baseVirPtr)
{
    (void)comm, (void)baseVirPtr;
    return refuse(__func__, ALWAYS_COPIES);
}

HcclResult HcclCommActivateCommMemory(HcclComm comm, void *virPtr, size_t size, size_t offset,
                                      void *handle, uint64_t flags)
{
    (void)comm, (void)virPtr, (void)size, (void)offset, (void)handle, (void)flags;
    return refuse(__func__, ALWAYS_COPIES);
}

HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void *virPtr)
{
    (void)comm, (void)virPtr;
    return refuse(__func__, ALWAYS_COPIES);
}

HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t *ranks, bool *useBackup,
                                    uint32_t nRanks)
{
    (void)comm, (void)ranks, (void)useBackup, (void)nRanks;
    return refuse(__func__, "a simulated card has one network card");
}

HcclResult HcclCommResume(HcclComm comm)
{
    (void)comm;
    return refuse(__func__, "a communicator that failed cannot go on: destroy it and make another");
}
