/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of channels; types InitData and GetNext: a stream takes the next set of tensors. */
#include "acl_tdt.h"

#include "../../api_common/stream/work.h"
#include "../acl_internal.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

enum { SLICE_MS = 50 }; // how often a wait looks whether its stream ends

struct output {
    void *addr;
    size_t bytes;
    aclDataType type;
};

/** One GetNext as it stands in a stream. */
struct next {
    struct leo_rt_device *device;
    struct api_wait wait;
    char channel[ACL_TDT_NAME_BYTES];
    size_t count;
    struct output outputs[];
};

static void fail(struct leo_rt_host_result *result, leo_status status, const char *channel,
                 const char *what)
{
    acl_tdt_tell(result, status, "GetNext", channel, what);
}

static bool fits(const struct next *next, const acltdtDataset *set,
                 struct leo_rt_host_result *result)
{
    char text[160];
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i]->kind != ACL_TENSOR_DATA_TENSOR) {
            fail(result, LEO_ERR_STATE, next->channel,
                 set->items[i]->kind == ACL_TENSOR_DATA_END_OF_SEQUENCE
                     ? "the data have ended"
                     : "the sender gave up (no tensor)");
            return false;
        }
    }
    if (set->count != next->count) {
        snprintf(text, sizeof(text), "the set has %zu tensors, the operator %zu outputs",
                 set->count, next->count);
        fail(result, LEO_ERR_MISMATCH, next->channel, text);
        return false;
    }
    for (size_t i = 0; i < set->count; i++) {
        const acltdtDataItem *item = set->items[i];
        const struct output *output = &next->outputs[i];
        if (item->type != output->type || item->bytes != output->bytes) {
            snprintf(text, sizeof(text),
                     "tensor %zu has type %d and %zu bytes, the output type %d and %zu bytes", i,
                     (int)item->type, item->bytes, (int)output->type, output->bytes);
            fail(result, LEO_ERR_MISMATCH, next->channel, text);
            return false;
        }
    }
    return true;
}

static leo_status write_output(const struct next *next, const struct output *output,
                               const void *data)
{
    void *window;
    if (output->bytes == 0) {
        return LEO_OK;
    }
    leo_status status = leo_rt_memory_window(next->device, (uint64_t)(uintptr_t)output->addr,
                                             output->bytes, &window);
    if (status == LEO_OK) {
        memcpy(window, data, output->bytes);
    }
    return status;
}

static void write_outputs(const struct next *next, const acltdtDataset *set,
                          struct leo_rt_host_result *result)
{
    for (size_t i = 0; i < next->count; i++) {
        leo_status status = write_output(next, &next->outputs[i], set->items[i]->data);
        if (status != LEO_OK) {
            fail(result, status, next->channel, leo_rt_last_error());
            return;
        }
    }
}

// On the stream's thread, when the stream has come here.
static void take(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct next *next = user;
    acltdtDataset *set = NULL;
    enum acl_tdt_end end = ACL_TDT_LATE;
    (void)start_ns;
    if (result->status != LEO_OK) {
        return;
    }
    api_wait_begin(&next->wait);
    while (end == ACL_TDT_LATE) {
        end = acl_tdt_take(next->channel, SLICE_MS, &set);
        if (end == ACL_TDT_LATE &&
            !api_wait_goes_on(&next->wait, NULL, "set of a channel", result)) {
            return;
        }
    }
    if (end != ACL_TDT_DONE) {
        fail(result, LEO_ERR_STATE, next->channel,
             end == ACL_TDT_STOPPED ? "it is stopped" : "it was destroyed");
    } else if (fits(next, set, result)) {
        write_outputs(next, set, result);
    }
    acl_tdt_free(set);
}

static aclError fill_outputs(const struct leo_acl_op *op, struct next *next)
{
    for (size_t i = 0; i < next->count; i++) {
        next->outputs[i] = (struct output){
            .addr = aclGetDataBufferAddr(op->outputs[i]),
            .bytes = aclGetTensorDescSize((aclTensorDesc *)(uintptr_t)op->output_descs[i]),
            .type = op->output_descs[i]->type,
        };
        if (next->outputs[i].bytes > aclGetDataBufferSizeV2(op->outputs[i])) {
            return acl_fail(ACL_ERROR_INVALID_PARAM, "GetNext",
                            "output %zu has %zu bytes, and its buffer fewer", i,
                            next->outputs[i].bytes);
        }
    }
    return ACL_SUCCESS;
}

static aclError get_next(const struct leo_acl_op *op, const char *channel)
{
    API_PINNED struct api_stream *stream = NULL;
    aclError error = acl_result(op->type, api_stream_to_fill(op->stream, &stream));
    if (error) {
        return error;
    }
    const size_t count = (size_t)op->output_count;
    struct next *next = leo_calloc(1, sizeof(*next) + count * sizeof(next->outputs[0]));
    if (!next) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, op->type, "out of host memory");
    }
    next->device = stream->context->rt;
    next->wait.stream = stream;
    next->count = count;
    memcpy(next->channel, channel, strlen(channel) + 1);
    error = fill_outputs(op, next);
    if (!error) {
        error = acl_result(op->type, api_work(stream, take, leo_free, next));
    }
    if (error) {
        leo_free(next);
    }
    return error;
}

static const char *channel_of(const struct leo_acl_op *op)
{
    const struct leo_acl_attr *attr = op->attr ? op->attr->first : NULL;
    while (attr && (strcmp(attr->name, "channel_name") != 0 || attr->kind != LEO_ACL_ATTR_STRING)) {
        attr = attr->next;
    }
    return attr ? attr->value.text : NULL;
}

// The channel may be made after it: programs start their sender later.
static aclError init_data(const struct leo_acl_op *op, const char *channel)
{
    (void)op;
    return acl_tdt_expect(channel)
               ? ACL_SUCCESS
               : acl_fail(ACL_ERROR_BAD_ALLOC, "InitData", "out of host memory");
}

struct channel_op {
    const char *type;
    bool needs_channel; /**< one must be there, or be expected */
    aclError (*run)(const struct leo_acl_op *op, const char *channel);
};

static const struct channel_op channel_ops[] = {
    {"GetNext", true, get_next},
    {"InitData", false, init_data},
    {"OutfeedEnqueueOp", true, acl_tdt_enqueue},
    {"OutfeedEnqueueOpV2", true, acl_tdt_enqueue},
};

bool acl_tdt_run_op(const struct leo_acl_op *op, aclError *error)
{
    const struct channel_op *row = channel_ops;
    const struct channel_op *end = row + sizeof(channel_ops) / sizeof(channel_ops[0]);
    while (row < end && strcmp(op->type, row->type) != 0) {
        row++;
    }
    if (row == end) {
        return false;
    }
    const char *channel = channel_of(op);
    if (!channel || strlen(channel) >= ACL_TDT_NAME_BYTES) {
        *error = acl_fail(ACL_ERROR_INVALID_PARAM, op->type,
                          "attribute channel_name is not given, or has %d characters or more",
                          ACL_TDT_NAME_BYTES);
    } else if (row->needs_channel && !acl_tdt_exists(channel)) {
        *error =
            acl_fail(ACL_ERROR_INVALID_PARAM, op->type,
                     "there is no channel %s: acltdtCreateChannel makes channels, and InitData "
                     "says that one will be made",
                     channel);
    } else {
        *error = row->run(op, channel);
    }
    return true;
}
