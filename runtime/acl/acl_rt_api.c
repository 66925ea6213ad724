/* SPDX-License-Identifier: Apache-2.0 */
#include "acl_internal.h"

#include <acl/rt_api.h>
#include <stdio.h>
#include <time.h>

static aclError refuse(const char *func)
{
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func,
                    "kernels of the vendor's binary format cannot run here: compile the kernel's "
                    "source with leo cc and load it with aclrtBinaryLoadFromFile");
}

aclError rtDevBinaryRegister(const void *bin, void **hdl)
{
    (void)bin;
    (void)hdl;
    return refuse("rtDevBinaryRegister");
}

aclError rtDevBinaryUnRegister(void *hdl)
{
    (void)hdl;
    return refuse("rtDevBinaryUnRegister");
}

aclError rtLaunch(const void *stubFunc)
{
    (void)stubFunc;
    return refuse("rtLaunch");
}

aclError rtFunctionRegister(void *binHandle, const void *stubFunc, const char *stubName,
                            const void *kernelInfoExt, uint32_t funcMode)
{
    (void)binHandle;
    (void)stubFunc;
    (void)stubName;
    (void)kernelInfoExt;
    (void)funcMode;
    return refuse("rtFunctionRegister");
}

aclError rtKernelLaunch(const void *stubFunc, uint32_t blockDim, void *args, uint32_t argsSize,
                        void *smDesc, void *stm)
{
    (void)stubFunc;
    (void)blockDim;
    (void)args;
    (void)argsSize;
    (void)smDesc;
    (void)stm;
    return refuse("rtKernelLaunch");
}

aclError rtGetC2cCtrlAddr(uint64_t *addr, uint32_t *len)
{
    (void)addr;
    (void)len;
    return refuse("rtGetC2cCtrlAddr");
}

uint64_t MsprofSysCycleTime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t MsprofGetHashId(const char *hashInfo, size_t length)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; hashInfo && i < length; i++) {
        hash = (hash ^ (unsigned char)hashInfo[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

int32_t MsprofReportApi(uint32_t agingFlag, const void *api)
{
    (void)agingFlag;
    (void)api;
    return -1;
}

int32_t MsprofReportCompactInfo(uint32_t agingFlag, const void *data, uint32_t length)
{
    (void)agingFlag;
    (void)data;
    (void)length;
    return -1;
}

int32_t MsprofReportAdditionalInfo(uint32_t agingFlag, const void *data, uint32_t length)
{
    (void)agingFlag;
    (void)data;
    (void)length;
    return -1;
}

// The first call of generators of machine code. A later refusal they do not look at and crash.
int32_t MsprofRegisterCallback(uint32_t moduleId, void *handle)
{
    (void)moduleId;
    (void)handle;
    fprintf(stderr, "leonardo: MsprofRegisterCallback: a library that makes machine code for the "
                    "chip cannot run here. MindSpore does so with jit_level O1: set O0\n");
    return -1;
}
