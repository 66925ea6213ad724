/* SPDX-License-Identifier: Apache-2.0 */
/* What float results beyond their type become, and the status that remembers them. */
#include "acl_internal.h"

enum {
    STATUS_BYTES = 64, /**< of the buffer a status is read into */
    NPU_CHECK_MODE = 0 /**< the one check mode that is documented */
};

// The first generation has the saturating mode only.
aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode)
{
    bool by_itself, now;
    if (mode != ACL_RT_OVERFLOW_MODE_SATURATION && mode != ACL_RT_OVERFLOW_MODE_INFNAN) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "mode %d is neither 0 nor 1", (int)mode);
    }
    const bool saturate = mode == ACL_RT_OVERFLOW_MODE_SATURATION;
    aclError error = acl_result(__func__, api_saturate_get(&by_itself, &now));
    if (!error && by_itself && !saturate) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                        "mode %d: this chip has the saturating mode (0) only", (int)mode);
    }
    return error ? error : acl_result(__func__, api_saturate_set(saturate));
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode)
{
    bool by_itself, saturate;
    if (!mode) {
        return acl_null(__func__, "mode");
    }
    aclError error = acl_result(__func__, api_saturate_get(&by_itself, &saturate));
    if (!error) {
        *mode = saturate ? ACL_RT_OVERFLOW_MODE_SATURATION : ACL_RT_OVERFLOW_MODE_INFNAN;
    }
    return error;
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag)
{
    API_PINNED struct api_stream *found = NULL;
    if (flag > 1) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "flag %u is neither 0 nor 1", flag);
    }
    aclError error = acl_result(__func__, api_stream_get(stream, &found));
    if (!error) {
        atomic_store(&found->number[ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK], flag);
    }
    return error;
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag)
{
    API_PINNED struct api_stream *found = NULL;
    if (!flag) {
        return acl_null(__func__, "flag");
    }
    aclError error = acl_result(__func__, api_stream_get(stream, &found));
    if (!error) {
        *flag = atomic_load(&found->number[ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK]);
    }
    return error;
}

static aclError read_status(const char *func, void *address, uint64_t bytes, aclrtStream stream)
{
    if (!address || bytes != STATUS_BYTES) {
        return acl_fail(
            ACL_ERROR_INVALID_PARAM, func,
            "outputAddr %p, outputSize %llu: the status takes %d bytes of device memory", address,
            (unsigned long long)bytes, STATUS_BYTES);
    }
    return acl_result(func, api_overflow(stream, (uintptr_t)address, STATUS_BYTES, 1, false));
}

static aclError clear_status(const char *func, aclrtStream stream)
{
    return acl_result(func, api_overflow(stream, 0, 0, 0, true));
}

aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize, aclrtStream stream)
{
    return read_status("aclrtGetOverflowStatus", outputAddr, outputSize, stream);
}

aclError aclrtResetOverflowStatus(aclrtStream stream)
{
    return clear_status("aclrtResetOverflowStatus", stream);
}

aclError aclrtGetFloatOverflowStatus(void *outputAddr, uint64_t outputSize, aclrtStream stream)
{
    return read_status("aclrtGetFloatOverflowStatus", outputAddr, outputSize, stream);
}

aclError aclrtResetFloatOverflowStatus(aclrtStream stream)
{
    return clear_status("aclrtResetFloatOverflowStatus", stream);
}

static aclError check_mode(const char *func, uint32_t mode)
{
    return mode == NPU_CHECK_MODE
               ? ACL_SUCCESS
               : acl_fail(ACL_ERROR_INVALID_PARAM, func, "checkMode %u is unknown: use %d", mode,
                          NPU_CHECK_MODE);
}

aclError aclrtNpuGetFloatOverFlowStatus(void *outputAddr, uint64_t outputSize, uint32_t checkMode,
                                        aclrtStream stream)
{
    const char *func = "aclrtNpuGetFloatOverFlowStatus";
    aclError error = check_mode(func, checkMode);
    return error ? error : read_status(func, outputAddr, outputSize, stream);
}

aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode, aclrtStream stream)
{
    const char *func = "aclrtNpuClearFloatOverFlowStatus";
    aclError error = check_mode(func, checkMode);
    return error ? error : clear_status(func, stream);
}
