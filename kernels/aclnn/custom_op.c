/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of custom operators' libraries about objects. */
#include "objects.h"

#include <aclnn/custom_op.h>
#include <leo/acl_hook.h>

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
