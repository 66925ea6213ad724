/* SPDX-License-Identifier: Apache-2.0 */
/* Names below AscendCL that adapters link although only optional back ends of theirs call them. */
#pragma once

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels of the vendor's binary format cannot run here: these return 207000. */
ACL_FUNC_VISIBILITY aclError rtDevBinaryRegister(const void *bin, void **hdl);
ACL_FUNC_VISIBILITY aclError rtDevBinaryUnRegister(void *hdl);
ACL_FUNC_VISIBILITY aclError rtLaunch(const void *stubFunc);
ACL_FUNC_VISIBILITY aclError rtFunctionRegister(void *binHandle, const void *stubFunc,
                                                const char *stubName, const void *kernelInfoExt,
                                                uint32_t funcMode);
ACL_FUNC_VISIBILITY aclError rtKernelLaunch(const void *stubFunc, uint32_t blockDim, void *args,
                                            uint32_t argsSize, void *smDesc, void *stm);
ACL_FUNC_VISIBILITY aclError rtGetC2cCtrlAddr(uint64_t *addr, uint32_t *len);

/** Nanoseconds of the host's monotonic clock. */
ACL_FUNC_VISIBILITY uint64_t MsprofSysCycleTime(void);
/** FNV-1a over the text. */
ACL_FUNC_VISIBILITY uint64_t MsprofGetHashId(const char *hashInfo, size_t length);
/* Reports of other libraries are not collected: all four return -1. */
ACL_FUNC_VISIBILITY int32_t MsprofReportApi(uint32_t agingFlag, const void *api);
ACL_FUNC_VISIBILITY int32_t MsprofReportCompactInfo(uint32_t agingFlag, const void *data,
                                                    uint32_t length);
ACL_FUNC_VISIBILITY int32_t MsprofReportAdditionalInfo(uint32_t agingFlag, const void *data,
                                                       uint32_t length);
ACL_FUNC_VISIBILITY int32_t MsprofRegisterCallback(uint32_t moduleId, void *handle);

#ifdef __cplusplus
}
#endif
