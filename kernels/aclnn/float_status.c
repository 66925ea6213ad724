/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NPUAllocFloatStatus, NPUGetFloatStatus, NPUClearFloatStatus and their second versions. A status
 * is 8 words; the first one is 1 (of the tensor's type) if results have overflown. The first
 * versions write their input too: callers look there.
 */
#include "float_status.h"

#include <leo/runtime.h>
#include <stdio.h>
#include <string.h>

enum { STATUS_BYTES = 32, ONE_F32 = 0x3f800000, ONE_I32 = 1 };

enum action { ALLOC, GET, CLEAR };

static const struct {
    const char *type;
    enum action action;
    int inputs, outputs;
    aclDataType data_type;
    uint32_t one;
} ops[] = {
    {"NPUAllocFloatStatus", ALLOC, 0, 1, ACL_FLOAT, ONE_F32},
    {"NPUClearFloatStatus", CLEAR, 1, 1, ACL_FLOAT, ONE_F32},
    {"NPUClearFloatStatusV2", CLEAR, 0, 0, ACL_INT32, ONE_I32},
    {"NPUGetFloatStatus", GET, 1, 1, ACL_FLOAT, ONE_F32},
    {"NPUGetFloatStatusV2", GET, 0, 1, ACL_INT32, ONE_I32},
};

static aclError check_tensor(const struct leo_acl_op *op, const aclTensorDesc *desc,
                             const aclDataBuffer *buffer, aclDataType type)
{
    if (aclGetTensorDescType(desc) != type || aclGetDataBufferSizeV2(buffer) < STATUS_BYTES) {
        return leo_acl_fail(ACL_ERROR_OP_INPUT_NOT_MATCH, op->type,
                            "a status is 8 elements of aclDataType %d, not %zu bytes of %d",
                            (int)type, aclGetDataBufferSizeV2(buffer),
                            (int)aclGetTensorDescType(desc));
    }
    return ACL_SUCCESS;
}

// As opapi_describe has it: each tensor of the type is 8 elements.
static void note(struct leo_rt_device *device, const struct leo_acl_op *op, aclDataType type,
                 uint64_t begin_ns)
{
    char tag[128];
    const char *tensor = type == ACL_FLOAT ? "FLOAT[8]/ND" : "INT32[8]/ND";
    snprintf(tag, sizeof(tag), "%s|%s|%s", op->type, op->input_count ? tensor : "",
             op->output_count ? tensor : "");
    leo_rt_profile_call(device, LEO_RT_PROFILE_OPERATOR, tag, begin_ns);
}

static aclError run(const struct leo_acl_op *op, enum action action, aclDataType type, uint32_t one)
{
    struct leo_rt_stream *stream;
    struct leo_rt_device *device;
    leo_status status = LEO_OK;
    aclError error = leo_acl_stream_get(op->stream, &stream, &device);
    const uint64_t begin_ns =
        !error && leo_rt_profile_is_on(device) ? leo_rt_profile_clock_ns() : 0;
    if (!error && action == CLEAR) {
        status = leo_rt_overflow_async(stream, 0, 0, 0, true);
    }
    const int count = op->input_count + op->output_count;
    for (int i = 0; !error && status == LEO_OK && i < count; i++) {
        const int out = i - op->input_count;
        const aclDataBuffer *buffer = out < 0 ? op->inputs[i] : op->outputs[out];
        error =
            check_tensor(op, out < 0 ? op->input_descs[i] : op->output_descs[out], buffer, type);
        if (!error) {
            const uint64_t addr = (uintptr_t)aclGetDataBufferAddr(buffer);
            status =
                leo_rt_overflow_async(stream, addr, STATUS_BYTES, action == GET ? one : 0, false);
        }
    }
    if (begin_ns) {
        note(device, op, type, begin_ns);
    }
    return error ? error : leo_acl_status(op->type, status);
}

bool aclop_run_float_status(const struct leo_acl_op *op, aclError *error)
{
    for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        if (strcmp(op->type, ops[i].type) != 0) {
            continue;
        }
        if (op->input_count != ops[i].inputs || op->output_count != ops[i].outputs) {
            *error = leo_acl_fail(ACL_ERROR_OP_INPUT_NOT_MATCH, op->type,
                                  "%d inputs and %d outputs: it takes %d and %d", op->input_count,
                                  op->output_count, ops[i].inputs, ops[i].outputs);
        } else {
            *error = run(op, ops[i].action, ops[i].data_type, ops[i].one);
        }
        return true;
    }
    return false;
}
