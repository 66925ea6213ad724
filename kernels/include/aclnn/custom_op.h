/* SPDX-License-Identifier: Apache-2.0 */
/* What libraries of custom operators (kernels/custom, docs/ascend_c.md) ask of the objects beyond
 * the two-phase interface: values of arrays, members of lists. No part of the vendor's interface.
 */
#pragma once

#include <aclnn/acl_meta.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The items, which stay the object's, and their number; NULL and 0 of a NULL object. */
ACL_FUNC_VISIBILITY const int64_t *opapiIntArrayItems(const aclIntArray *array, uint64_t *count);
ACL_FUNC_VISIBILITY const float *opapiFloatArrayItems(const aclFloatArray *array, uint64_t *count);
ACL_FUNC_VISIBILITY const bool *opapiBoolArrayItems(const aclBoolArray *array, uint64_t *count);
ACL_FUNC_VISIBILITY const aclTensor *const *opapiTensorListItems(const aclTensorList *list,
                                                                 uint64_t *count);
/** Makes `text` the recent error of this thread (aclGetRecentErrMsg) and returns `status`. */
ACL_FUNC_VISIBILITY aclnnStatus opapiFail(aclnnStatus status, const char *func, const char *text);

/** The next kernel of the stream asks the group for collectives itself: `context` is what it is
 * given. `launch` goes to opapiGroupServed, once, behind the kernel or if it could not be launched.
 */
ACL_FUNC_VISIBILITY aclnnStatus opapiGroupServe(const char *group, aclrtStream stream,
                                                void **context, void **launch);
ACL_FUNC_VISIBILITY aclnnStatus opapiGroupServed(void *launch, aclrtStream stream);

#ifdef __cplusplus
}
#endif
