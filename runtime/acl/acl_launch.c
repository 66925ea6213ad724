/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of kernel launch. */
#include "../api_common/stream/work.h"

#include "acl_internal.h"

// One attribute of a launch: what it does here, or that it does nothing. Never ignored in silence.
static aclError read_attribute(const char *name, const aclrtLaunchKernelAttr *attr,
                               struct leo_rt_launch_opts *opts)
{
    uint64_t us = 0;
    switch (attr->id) {
    case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT:
        us = (uint64_t)attr->value.timeout * 1000000;
        break;
    case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US:
        us = (uint64_t)attr->value.timeoutUs.timeoutHigh << 32 | attr->value.timeoutUs.timeoutLow;
        break;
    case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET:
        return attr->value.blockDimOffset == 0
                   ? ACL_SUCCESS
                   : acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, name,
                              "a block offset of %u is not supported", attr->value.blockDimOffset);
    case ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE:
        return attr->value.dynUBufSize == 0
                   ? ACL_SUCCESS
                   : acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, name,
                              "dynamic UB memory is not supported: declare arrays in the kernel");
    case ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP:
        return attr->value.isDataDump == 0
                   ? ACL_SUCCESS
                   : acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, name, "data dumps are not written");
    case ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE:
    case ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE:
    case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH:
    case ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING:
        return ACL_SUCCESS; // hints: the kernel file names its cores, and profiles hold all tasks
    default:
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, name, "launch attribute %d is unknown",
                        (int)attr->id);
    }
    if (us > UINT32_MAX) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, name, "a timeout of more than %u s",
                        UINT32_MAX / 1000000);
    }
    opts->limit_us = (uint32_t)us; // 0: the device's
    return ACL_SUCCESS;
}

static aclError read_options(const char *name, const aclrtLaunchKernelCfg *cfg,
                             struct leo_rt_launch_opts *opts)
{
    *opts = (struct leo_rt_launch_opts){0};
    if (cfg && cfg->numAttrs && !cfg->attrs) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, name, "cfg has %zu attributes at NULL",
                        cfg->numAttrs);
    }
    aclError error = ACL_SUCCESS;
    for (size_t i = 0; cfg && !error && i < cfg->numAttrs; i++) {
        error = read_attribute(name, &cfg->attrs[i], opts);
    }
    return error;
}

static aclError describe(const char *name, aclrtFuncHandle func, uint32_t blocks,
                         aclrtStream stream, const aclrtLaunchKernelCfg *cfg,
                         struct api_launch *launch)
{
    *launch = (struct api_launch){.func = func, .stream = stream, .blocks = blocks};
    return read_options(name, cfg, &launch->opts);
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                     aclrtStream stream, aclrtLaunchKernelCfg *cfg,
                                     aclrtArgsHandle argsHandle, void *reserve)
{
    struct api_launch launch;
    if (reserve) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "reserve must be NULL");
    }
    aclError error = describe(__func__, funcHandle, numBlocks, stream, cfg, &launch);
    return error ? error : acl_result(__func__, api_launch_args(&launch, argsHandle));
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
                             size_t argsSize, aclrtLaunchKernelCfg *cfg, aclrtStream stream)
{
    const char *name = "aclrtLaunchKernel";
    struct api_launch launch;
    aclError error = describe(name, funcHandle, numBlocks, stream, cfg, &launch);
    return error ? error : acl_result(name, api_launch_block(&launch, argsData, argsSize));
}

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
                           size_t argsSize, aclrtStream stream)
{
    return aclrtLaunchKernelV2(funcHandle, numBlocks, argsData, argsSize, NULL, stream);
}

_Static_assert(sizeof(aclrtPlaceHolderInfo) == sizeof(struct api_place) &&
                   offsetof(aclrtPlaceHolderInfo, dataOffset) ==
                       offsetof(struct api_place, data_offset),
               "one layout");

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                       aclrtStream stream, aclrtLaunchKernelCfg *cfg,
                                       void *hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo *placeHolderArray,
                                       size_t placeHolderNum)
{
    struct api_launch launch;
    aclError error = describe(__func__, funcHandle, numBlocks, stream, cfg, &launch);
    return error ? error
                 : acl_result(__func__,
                              api_launch_host_block(&launch, hostArgs, argsSize,
                                                    (const struct api_place *)placeHolderArray,
                                                    placeHolderNum));
}

aclError aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks, aclrtStream stream,
                                        aclrtLaunchKernelCfg *cfg, void **args)
{
    struct api_launch launch;
    aclError error = describe(__func__, func, numBlocks, stream, cfg, &launch);
    return error ? error
                 : acl_result(__func__, api_launch_array(&launch, (const void *const *)args));
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout)
{
    return acl_result(__func__, api_limit_set((uint64_t)timeout * 1000000));
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout)
{
    return acl_result(__func__, api_limit_set((uint64_t)timeout * 1000));
}

// A timeout is any number of these.
enum { TIMEOUT_STEP_US = 1 };

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout)
{
    if (!actualTimeout) {
        return acl_null(__func__, "actualTimeout");
    }
    aclError error = acl_result(__func__, api_limit_set(timeout));
    if (!error) {
        *actualTimeout = timeout;
    }
    return error;
}

aclError aclrtGetOpTimeOutInterval(uint64_t *interval)
{
    if (!interval) {
        return acl_null(__func__, "interval");
    }
    *interval = TIMEOUT_STEP_US;
    return ACL_SUCCESS;
}

aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs)
{
    uint32_t us;
    if (!timeoutMs) {
        return acl_null(__func__, "timeoutMs");
    }
    aclError error = acl_result(__func__, api_limit_get(&us));
    if (!error) {
        *timeoutMs = us / 1000;
    }
    return error;
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout)
{
    // A wait for an event of this process needs no limit: one that can never come is reported at
    // once.
    api_wait_limit_set(timeout);
    return ACL_SUCCESS;
}
