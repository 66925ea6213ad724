/* SPDX-License-Identifier: Apache-2.0 */
#include "dump.h"

#include <leo/alloc.h>

static bool is_dumped(enum op_role role, bool outputs)
{
    return outputs ? role != OP_ROLE_IN : role != OP_ROLE_OUT;
}

/* A tensor that is read and written appears on both sides. */
static size_t collect(const struct opapi_call *call, bool outputs, struct leo_acl_dumped *to)
{
    size_t count = 0;
    for (unsigned i = 0; i < call->row->param_count; i++) {
        for (uint32_t at = call->first[i]; at < call->first[i + 1]; at++) {
            const struct op_tensor *tensor = call->tensors[at];
            const aclDataType type = tensor ? opapi_data_type(tensor->type) : ACL_DT_UNDEFINED;
            if (type != ACL_DT_UNDEFINED && is_dumped(call->row->params[i].role, outputs)) {
                to[count++] = (struct leo_acl_dumped){.addr = call->addr[at],
                                                      .is_output = outputs,
                                                      .type = type,
                                                      .format = tensor->format,
                                                      .rank = tensor->rank,
                                                      .dim = tensor->dim,
                                                      .stride = tensor->stride};
            }
        }
    }
    return count;
}

aclError opapi_dump_begin(const struct leo_acl_dump_name *name, const struct opapi_call *call,
                          aclrtStream stream, void **dump)
{
    *dump = NULL;
    if (!name->folder && !leo_acl_dump_is_on()) {
        return ACL_SUCCESS;
    }
    const uint32_t most = 2 * call->first[call->row->param_count];
    struct leo_acl_dumped *tensors = leo_calloc(most + 1, sizeof(*tensors));
    if (!tensors) {
        return leo_acl_status(name->type, leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory"));
    }
    size_t count = collect(call, false, tensors);
    count += collect(call, true, tensors + count);
    aclError error = leo_acl_dump_begin(name, stream, tensors, count, dump);
    leo_free(tensors);
    return error;
}
