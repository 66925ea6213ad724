/* SPDX-License-Identifier: Apache-2.0 */
/* Types OutfeedEnqueueOp and OutfeedEnqueueOpV2: a stream sends tensors to the program through a
 * channel. */
#include "acl_tdt.h"

#include "../../api_common/stream/work.h"
#include "../acl_internal.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

enum { SLICE_MS = 50 }; // how often a wait looks whether its stream ends

/** One operator as it stands in a stream. */
struct enqueue {
    struct leo_rt_device *device;
    struct api_wait wait;
    char type[24]; /**< its name for messages */
    char channel[ACL_TDT_NAME_BYTES];
    acltdtDataset *set; /**< owned until it is sent */
    bool is_named;      /**< its last tensor is its name */
    const void
        *sources[]; /**< of each tensor, in device memory; NULL: its data are there already */
};

static void free_enqueue(void *user)
{
    struct enqueue *work = user;
    if (work) {
        acl_tdt_free(work->set);
    }
    leo_free(work);
}

static leo_status read_inputs(struct enqueue *work)
{
    leo_status status = LEO_OK;
    for (size_t i = 0; status == LEO_OK && i < work->set->count; i++) {
        const acltdtDataItem *item = work->set->items[i];
        void *window;
        if (!work->sources[i] || item->bytes == 0) {
            continue;
        }
        status = leo_rt_memory_window(work->device, (uint64_t)(uintptr_t)work->sources[i],
                                      item->bytes, &window);
        if (status == LEO_OK) {
            memcpy(item->data, window, item->bytes);
        }
    }
    return status;
}

// A text in a tensor is two 64-bit numbers, where it starts and its bytes, and the text; receivers
// get it alone. False: it is not so.
static bool unpack_text(acltdtDataItem *item)
{
    uint64_t head[2];
    if (item->bytes < sizeof(head)) {
        return false;
    }
    memcpy(head, item->data, sizeof(head));
    if (head[0] > item->bytes || head[1] > item->bytes - head[0]) {
        return false;
    }
    memmove(item->data, (char *)item->data + head[0], head[1]);
    ((char *)item->data)[head[1]] = '\0'; // behind it: there is always room for one more
    item->bytes = head[1];
    return true;
}

// Takes the heads off texts, and the set's name out of the set.
static leo_status unpack(struct enqueue *work)
{
    acltdtDataset *set = work->set;
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i]->type == ACL_STRING && !unpack_text(set->items[i])) {
            return LEO_ERR_MISMATCH;
        }
    }
    acltdtDataItem *name = work->is_named ? set->items[--set->count] : NULL;
    if (name) {
        snprintf(set->name, sizeof(set->name), "%s", (const char *)name->data);
        acl_tdt_free_item(name);
    }
    return LEO_OK;
}

// On the stream's thread, when the stream has come here.
static void send(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct enqueue *work = user;
    enum acl_tdt_end end = ACL_TDT_LATE;
    (void)start_ns;
    if (result->status != LEO_OK) {
        return;
    }
    leo_status status = read_inputs(work);
    if (status != LEO_OK) {
        acl_tdt_tell(result, status, work->type, work->channel, leo_rt_last_error());
        return;
    }
    status = unpack(work);
    if (status != LEO_OK) {
        acl_tdt_tell(result, status, work->type, work->channel,
                     "a text tensor does not hold where its text starts, its length and the text");
        return;
    }
    api_wait_begin(&work->wait);
    while (end == ACL_TDT_LATE) {
        end = acl_tdt_put(work->channel, SLICE_MS, work->set);
        if (end == ACL_TDT_LATE &&
            !api_wait_goes_on(&work->wait, NULL, "room in a channel", result)) {
            return;
        }
    }
    if (end == ACL_TDT_DONE) {
        work->set = NULL;
    } else {
        acl_tdt_tell(result, LEO_ERR_STATE, work->type, work->channel,
                     end == ACL_TDT_STOPPED ? "it is stopped" : "it was destroyed");
    }
}

// The data of an input that lies in host memory; NULL: it lies on the device.
static const void *host_data(const struct leo_acl_op *op, int i)
{
    const aclTensorDesc *desc = op->input_descs[i];
    if (desc->constant) {
        return desc->constant;
    }
    return desc->placement == ACL_MEMTYPE_DEVICE ? NULL : aclGetDataBufferAddr(op->inputs[i]);
}

static aclError add_input(const struct leo_acl_op *op, int i, struct enqueue *work)
{
    const aclTensorDesc *desc = op->input_descs[i];
    const size_t room =
        desc->constant ? desc->constant_bytes : aclGetDataBufferSizeV2(op->inputs[i]);
    const size_t bytes =
        desc->type == ACL_STRING ? room : aclGetTensorDescSize((aclTensorDesc *)(uintptr_t)desc);
    const void *host = host_data(op, i);
    const void *source = host ? NULL : aclGetDataBufferAddr(op->inputs[i]);
    const acltdtDataItem like = {
        .kind = ACL_TENSOR_DATA_TENSOR,
        .type = desc->type,
        .dim_count = desc->dim_count == LEO_ACL_NO_DIMS ? 0 : desc->dim_count,
        .bytes = bytes,
        .dims = (int64_t *)(uintptr_t)desc->dims,
    };
    if (bytes > room) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, op->type,
                        "input %d has %zu bytes, and its buffer fewer", i, bytes);
    }
    if (bytes > 0 && !host && !source) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, op->type,
                        "input %d has %zu bytes, and no address: its buffer needs one", i, bytes);
    }
    const size_t at = work->set->count;
    const acltdtDataItem *item = acl_tdt_add(work->set, &like);
    if (!item) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, op->type, "out of host memory");
    }
    work->sources[at] = source;
    if (host && bytes > 0) {
        memcpy(item->data, host, bytes);
    }
    return ACL_SUCCESS;
}

// The input that names the set, a text; -1: there is none.
static int find_name(const struct leo_acl_op *op)
{
    int i = op->input_count - 1;
    while (i >= 0 && (strcmp(op->input_descs[i]->name, "tensor_name") != 0 ||
                      op->input_descs[i]->type != ACL_STRING)) {
        i--;
    }
    return i;
}

static aclError fill(const struct leo_acl_op *op, struct enqueue *work)
{
    const int name = find_name(op);
    aclError error = ACL_SUCCESS;
    for (int i = 0; !error && i < op->input_count; i++) {
        if (i != name) {
            error = add_input(op, i, work);
        }
    }
    work->is_named = name >= 0;
    return error || name < 0 ? error : add_input(op, name, work);
}

aclError acl_tdt_enqueue(const struct leo_acl_op *op, const char *channel)
{
    API_PINNED struct api_stream *stream = NULL;
    aclError error = acl_result(op->type, api_stream_to_fill(op->stream, &stream));
    if (error) {
        return error;
    }
    struct enqueue *work =
        leo_calloc(1, sizeof(*work) + (size_t)op->input_count * sizeof(work->sources[0]));
    if (!work || !(work->set = acltdtCreateDataset())) {
        leo_free(work);
        return acl_fail(ACL_ERROR_BAD_ALLOC, op->type, "out of host memory");
    }
    work->device = stream->context->rt;
    work->wait.stream = stream;
    snprintf(work->type, sizeof(work->type), "%s", op->type);
    memcpy(work->channel, channel, strlen(channel) + 1);
    error = fill(op, work);
    if (!error) {
        error = acl_result(op->type, api_work(stream, send, free_enqueue, work));
    }
    if (error) {
        free_enqueue(work);
    }
    return error;
}
