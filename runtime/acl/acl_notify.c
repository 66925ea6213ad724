/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies. */
#include "../api_common/stream/notify.h"

#include "acl_internal.h"

aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag)
{
    if (!notify) {
        return acl_null(__func__, "notify");
    }
    return flag == 0 ? acl_result(__func__, api_notify_create(notify))
                     : acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                                "flag 0x%llx is not supported", (unsigned long long)flag);
}

aclError aclrtDestroyNotify(aclrtNotify notify)
{
    return acl_result(__func__, api_notify_destroy(notify));
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream)
{
    API_PINNED struct api_notify *found = NULL;
    aclError error = acl_result(__func__, api_notify_get(notify, &found));
    return error ? error : acl_result(__func__, api_notify_record(found, stream));
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout)
{
    API_PINNED struct api_notify *found = NULL;
    aclError error = acl_result(__func__, api_notify_get(notify, &found));
    return error ? error : acl_result(__func__, api_notify_wait(found, stream, timeout));
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId)
{
    API_PINNED struct api_notify *found = NULL;
    if (!notifyId) {
        return acl_null(__func__, "notifyId");
    }
    aclError error = acl_result(__func__, api_notify_get(notify, &found));
    if (!error) {
        *notifyId = found->id;
    }
    return error;
}

aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num)
{
    if (!notifies || num == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "notifies is NULL or num is 0");
    }
    for (size_t i = 0; i < num; i++) {
        API_PINNED struct api_notify *found = NULL;
        aclError error = acl_result(__func__, api_notify_get(notifies[i], &found));
        if (!error) {
            error = acl_result(__func__, api_notify_reset(found));
        }
        if (error) {
            return error;
        }
    }
    return ACL_SUCCESS;
}
