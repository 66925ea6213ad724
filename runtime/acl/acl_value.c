/* SPDX-License-Identifier: Apache-2.0 */
/* Values in device memory that streams write and wait for; stream attributes; cache hints. */
#include "acl_internal.h"

#include <string.h>

aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    return devAddr && !flag ? acl_result(__func__, api_value_write(devAddr, value, stream))
                            : acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                                       "devAddr is NULL or flag %u is not 0", flag);
}

aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    static const enum leo_value_compare compare[] = {
        [ACL_STREAM_WAIT_VALUE_GEQ] = LEO_VALUE_COMPARE_GREATER_EQUAL,
        [ACL_STREAM_WAIT_VALUE_EQ] = LEO_VALUE_COMPARE_EQUAL,
        [ACL_STREAM_WAIT_VALUE_AND] = LEO_VALUE_COMPARE_AND,
        [ACL_STREAM_WAIT_VALUE_NOR] = LEO_VALUE_COMPARE_NOR,
    };
    return devAddr && flag < sizeof(compare) / sizeof(compare[0])
               ? acl_result(__func__, api_value_wait(devAddr, value, compare[flag], stream))
               : acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                          "devAddr is NULL or flag %u is unknown", flag);
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue *value)
{
    API_PINNED struct api_stream *found = NULL;
    const char *func = "aclrtSetStreamAttribute";
    if (!value) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "value is NULL");
    }
    switch (stmAttrType) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
        return aclrtSetStreamFailureMode(stream, value->failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        return aclrtSetStreamOverflowSwitch(stream, value->overflowSwitch);
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
        break;
    case ACL_STREAM_ATTR_PRIORITY:
    default:
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func, "attribute %d cannot be set",
                        (int)stmAttrType);
    }
    aclError error = acl_result(func, api_stream_get(stream, &found));
    if (!error) {
        // Both are 32-bit numbers for tools that look at the stream.
        atomic_store(&found->number[stmAttrType], value->userCustomTag);
    }
    return error;
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue *value)
{
    API_PINNED struct api_stream *found = NULL;
    const char *func = "aclrtGetStreamAttribute";
    if (!value) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "value is NULL");
    }
    aclError error = acl_result(func, api_stream_get(stream, &found));
    if (error) {
        return error;
    }
    memset(value, 0, sizeof(*value));
    switch (stmAttrType) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
        value->failureMode = atomic_load(&found->context->stop_on_failure)
                                 ? ACL_STOP_ON_FAILURE
                                 : ACL_CONTINUE_ON_FAILURE;
        return ACL_SUCCESS;
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        value->overflowSwitch = atomic_load(&found->number[ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK]);
        return ACL_SUCCESS;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
        value->userCustomTag = atomic_load(&found->number[stmAttrType]);
        return ACL_SUCCESS;
    case ACL_STREAM_ATTR_PRIORITY:
        value->streamPriority = found->priority;
        return ACL_SUCCESS;
    }
    return acl_fail(ACL_ERROR_INVALID_PARAM, func, "attribute %d is unknown", (int)stmAttrType);
}

aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType, aclrtStream stream)
{
    API_PINNED struct api_stream *found = NULL;
    if (!src || size == 0 || (int)cmoType < ACL_RT_CMO_TYPE_PREFETCH ||
        cmoType > ACL_RT_CMO_TYPE_FLUSH) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                        "src is NULL, size is 0 or type %d unknown", (int)cmoType);
    }
    // The L2 model holds no data of its own: memory is always what was written. A prefetch is a
    // hint and the model has no engine for it.
    leo_status status = api_stream_to_fill(stream, &found);
    return acl_result(__func__, status != LEO_OK ? status : api_memory_check(src, size));
}
