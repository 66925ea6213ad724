/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of custom operators' libraries about objects. */
#include "objects.h"

#include <aclnn/custom_op.h>
#include <leo/acl_hook.h>
#include <leo/exchange.h>

const int64_t *opapiIntArrayItems(const aclIntArray *array, uint64_t *count)
{
    *count = array ? array->value.count : 0;
    return array ? array->items : NULL;
}

const float *opapiFloatArrayItems(const aclFloatArray *array, uint64_t *count)
{
    *count = array ? array->value.count : 0;
    return array ? array->items : NULL;
}

const bool *opapiBoolArrayItems(const aclBoolArray *array, uint64_t *count)
{
    *count = array ? array->value.count : 0;
    return array ? array->items : NULL;
}

const aclTensor *const *opapiTensorListItems(const aclTensorList *list, uint64_t *count)
{
    *count = list ? list->value.count : 0;
    return list ? list->items : NULL;
}

aclnnStatus opapiFail(aclnnStatus status, const char *func, const char *text)
{
    leo_acl_fail(status, func, "%s", text);
    return status;
}

/* The text is in the runtime's error: it becomes this thread's recent one. */
static aclnnStatus group_status(const char *func, leo_status status)
{
    return status == LEO_OK ? ACLNN_SUCCESS
                            : opapiFail(ACLNN_ERR_RUNTIME_ERROR, func, leo_rt_last_error());
}

aclnnStatus opapiGroupServe(const char *group, aclrtStream stream, void **context, void **launch)
{
    const struct leo_rt_exchanges *exchanges = leo_rt_exchanges();
    struct leo_rt_stream *rt;
    struct leo_rt_device *device;
    uint64_t address = 0;
    if (!exchanges || leo_acl_stream_get(stream, &rt, &device)) {
        return group_status(__func__, LEO_ERR_STATE);
    }
    if (!exchanges->serve) {
        return opapiFail(ACLNN_ERR_RUNTIME_ERROR, __func__,
                         "the loaded library of collectives does not serve kernels");
    }
    leo_status status = exchanges->serve(device, group, rt, &address, launch);
    *context = (void *)(uintptr_t)address;
    return group_status(__func__, status);
}

aclnnStatus opapiGroupServed(void *launch, aclrtStream stream)
{
    struct leo_rt_stream *rt;
    struct leo_rt_device *device;
    if (leo_acl_stream_get(stream, &rt, &device)) {
        return group_status(__func__, LEO_ERR_STATE);
    }
    return group_status(__func__, leo_rt_exchanges()->served(launch, rt));
}
