/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of kernel launch. */
#include "acl_internal.h"

#include <leo/alloc.h>
#include <string.h>

aclError acl_launch_check(const char *func, aclrtFuncHandle handle, uint32_t blocks,
                          aclrtStream stream, struct acl_func **out_func,
                          struct acl_stream **out_stream)
{
    aclError error = acl_stream_get(func, stream, out_stream);
    if (error) {
        return error;
    }
    struct acl_func *found = *out_func = acl_handle_find(handle, ACL_KIND_FUNC);
    if (!found) {
        return acl_fail(handle ? ACL_ERROR_RT_INVALID_HANDLE : ACL_ERROR_INVALID_PARAM, func,
                        "%p is no live function", handle);
    }
    if (blocks == 0) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func, "numBlocks is 0");
    }
    if ((*out_stream)->context->failed) {
        return acl_fail(ACL_ERROR_RT_TASK_ABORT_STOP, func,
                        "a kernel of this context faulted and its streams stop on failure");
    }
    if (found->module->context->rt != (*out_stream)->context->rt) {
        return acl_fail(ACL_ERROR_RT_STREAM_CONTEXT, func,
                        "the function was loaded on another device");
    }
    return ACL_SUCCESS;
}

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

aclError acl_launch_options(const char *name, const aclrtLaunchKernelCfg *cfg,
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

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                     aclrtStream stream, aclrtLaunchKernelCfg *cfg,
                                     aclrtArgsHandle argsHandle, void *reserve)
{
    const char *name = "aclrtLaunchKernelWithConfig";
    ACL_PINNED struct acl_func *func = NULL;
    ACL_PINNED struct acl_stream *where = NULL;
    struct leo_rt_launch_opts opts;
    if (reserve) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, name, "reserve must be NULL");
    }
    aclError error = acl_launch_check(name, funcHandle, numBlocks, stream, &func, &where);
    if (!error) {
        error = acl_launch_options(name, cfg, &opts);
    }
    return error ? error : acl_args_launch(name, argsHandle, func, numBlocks, where, &opts);
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
                             size_t argsSize, aclrtLaunchKernelCfg *cfg, aclrtStream stream)
{
    const char *name = "aclrtLaunchKernel";
    ACL_PINNED struct acl_func *func = NULL;
    ACL_PINNED struct acl_stream *where = NULL;
    struct leo_rt_launch_opts opts;
    aclError error = acl_launch_check(name, funcHandle, numBlocks, stream, &func, &where);
    if (!error) {
        error = acl_launch_options(name, cfg, &opts);
    }
    if (!error && argsSize > 0 && !argsData) {
        error = acl_fail(ACL_ERROR_INVALID_PARAM, name, "argsData is NULL");
    }
    return error ? error
                 : acl_status(name,
                              leo_rt_launch_packed_with_options(func->rt, numBlocks, where->rt,
                                                                argsData, argsSize, true, &opts));
}

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData,
                           size_t argsSize, aclrtStream stream)
{
    return aclrtLaunchKernelV2(funcHandle, numBlocks, argsData, argsSize, NULL, stream);
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                       aclrtStream stream, aclrtLaunchKernelCfg *cfg,
                                       void *hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo *placeHolderArray,
                                       size_t placeHolderNum)
{
    const char *name = "aclrtLaunchKernelWithHostArgs";
    ACL_PINNED struct acl_func *func = NULL;
    ACL_PINNED struct acl_stream *where = NULL;
    struct leo_rt_arg_data data[16];
    const void *values[64];
    struct leo_rt_launch_opts opts;
    aclError error = acl_launch_check(name, funcHandle, numBlocks, stream, &func, &where);
    if (!error) {
        error = acl_launch_options(name, cfg, &opts);
    }
    if (error) {
        return error;
    }
    unsigned count = leo_rt_kernel_arg_count(func->rt);
    if ((count && !hostArgs) || (placeHolderNum && !placeHolderArray)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, name, "hostArgs or placeHolderArray is NULL");
    }
    if (count > 64 || argsSize < (size_t)count * 8 || placeHolderNum > 16) {
        return acl_fail(
            ACL_ERROR_RT_PARAM_INVALID, name,
            "kernel '%s' takes %u arguments of 8 bytes each, the block has %zu bytes (at most 64 "
            "arguments and 16 placeholders here)",
            leo_rt_kernel_name(func->rt), count, argsSize);
    }
    for (unsigned i = 0; i < count; i++) {
        struct leo_rt_arg_info info = leo_rt_kernel_arg(func->rt, i);
        if (info.bytes > 8) {
            return acl_fail(ACL_ERROR_RT_PARAM_INVALID, name,
                            "argument %u%s%s of kernel '%s' is a struct of %u bytes, which has no "
                            "slot here: pass it "
                            "with aclrtLaunchKernelWithArgsArray",
                            i + 1, *info.name ? " " : "", info.name, leo_rt_kernel_name(func->rt),
                            info.bytes);
        }
        values[i] = (const char *)hostArgs + (size_t)i * 8;
    }
    for (size_t i = 0; i < placeHolderNum; i++) {
        const aclrtPlaceHolderInfo *place = &placeHolderArray[i];
        if (place->addrOffset % 8 || place->addrOffset / 8 >= count ||
            place->dataOffset >= argsSize) {
            return acl_fail(ACL_ERROR_RT_PARAM_INVALID, name,
                            "placeholder %zu (%u, %u) lies outside the block", i, place->addrOffset,
                            place->dataOffset);
        }
        data[i] = (struct leo_rt_arg_data){place->addrOffset / 8,
                                           (const char *)hostArgs + place->dataOffset,
                                           argsSize - place->dataOffset};
    }
    return acl_status(name,
                      leo_rt_launch_with_options(func->rt, numBlocks, where->rt, values, count,
                                                 data, (unsigned)placeHolderNum, &opts));
}

aclError aclrtLaunchKernelWithArgsArray(void *func, uint32_t numBlocks, aclrtStream stream,
                                        aclrtLaunchKernelCfg *cfg, void **args)
{
    const char *name = "aclrtLaunchKernelWithArgsArray";
    ACL_PINNED struct acl_func *found = NULL;
    ACL_PINNED struct acl_stream *where = NULL;
    struct leo_rt_launch_opts opts;
    aclError error = acl_launch_check(name, func, numBlocks, stream, &found, &where);
    if (!error) {
        error = acl_launch_options(name, cfg, &opts);
    }
    if (error) {
        return error;
    }
    unsigned count = leo_rt_kernel_arg_count(found->rt);
    if (count && !args) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, name, "args is NULL");
    }
    return acl_status(name,
                      leo_rt_launch_with_options(found->rt, numBlocks, where->rt,
                                                 (const void *const *)args, count, NULL, 0, &opts));
}

static aclError set_limit(const char *name, uint64_t us)
{
    struct leo_rt *rt;
    pthread_mutex_t *lock = &acl_process()->device_lock;
    if (us == 0 || us > UINT32_MAX) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, name,
                        "the timeout must lie between 1 ms and %u s", UINT32_MAX / 1000000);
    }
    pthread_mutex_lock(lock);
    aclError error = acl_runtime(name, &rt);
    if (!error) {
        leo_rt_set_limit_us(rt, (uint32_t)us);
    }
    pthread_mutex_unlock(lock);
    return error;
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout)
{
    return set_limit("aclrtSetOpExecuteTimeOut", (uint64_t)timeout * 1000000);
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout)
{
    return set_limit("aclrtSetOpExecuteTimeOutWithMs", (uint64_t)timeout * 1000);
}

// A timeout is any number of these.
enum { TIMEOUT_STEP_US = 1 };

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout)
{
    const char *name = "aclrtSetOpExecuteTimeOutV2";
    if (!actualTimeout) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, name, "actualTimeout is NULL");
    }
    aclError error = set_limit(name, timeout);
    if (!error) {
        *actualTimeout = timeout;
    }
    return error;
}

aclError aclrtGetOpTimeOutInterval(uint64_t *interval)
{
    if (!interval) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetOpTimeOutInterval", "interval is NULL");
    }
    *interval = TIMEOUT_STEP_US;
    return ACL_SUCCESS;
}

aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs)
{
    struct leo_rt *rt;
    const char *name = "aclrtGetOpExecuteTimeout";
    if (!timeoutMs) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, name, "timeoutMs is NULL");
    }
    aclError error = acl_runtime(name, &rt);
    if (!error) {
        *timeoutMs = leo_rt_get_limit_us(rt) / 1000;
    }
    return error;
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout)
{
    return timeout == 0
               ? ACL_SUCCESS
               : acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtSetOpWaitTimeout",
                          "streams wait for events as long as it takes: only 0 is possible");
}
