/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of dumped tensors. Its header is a message of protocol buffers, few enough fields to be
 * written here: DumpData{version 1, dump_time 2, output 3, input 4, op_name 6}, an input or output
 * {data_type 1, format 2, shape 3{dim 1}, size 5 or 6}.
 */
#include "../process/code.h"
#include "dump.h"

#include <leo/alloc.h>
#include <leo/runtime.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, VARINT_MAX = 10 };
/* Of a tensor's message, its shape and the heads of both: 25 dimensions and some numbers. */
enum { TENSOR_MAX = (API_DUMP_RANK + 8) * VARINT_MAX };

struct text {
    uint8_t *bytes;
    size_t count;
};

static void put_number(struct text *text, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        text->bytes[text->count++] = (uint8_t)(value | 0x80);
    }
    text->bytes[text->count++] = (uint8_t)value;
}

static void put_field(struct text *text, unsigned field, uint64_t value)
{
    put_number(text, field << 3 | WIRE_VARINT);
    put_number(text, value);
}

static void put_bytes(struct text *text, unsigned field, const void *bytes, size_t count)
{
    put_number(text, field << 3 | WIRE_BYTES);
    put_number(text, count);
    memcpy(text->bytes + text->count, bytes, count);
    text->count += count;
}

static void put_tensor(struct text *text, const struct api_dump_values *values)
{
    const struct api_dump_tensor *tensor = &values->tensor;
    uint8_t shape_bytes[TENSOR_MAX], bytes[TENSOR_MAX];
    struct text packed = {shape_bytes, 0}, shape = {bytes, 0};
    for (unsigned i = 0; i < tensor->rank; i++) {
        put_number(&packed, (uint64_t)tensor->dim[i]);
    }
    put_bytes(&shape, 1, packed.bytes, packed.count);
    uint8_t body_bytes[2 * TENSOR_MAX];
    struct text body = {body_bytes, 0};
    put_field(&body, 1, tensor->type);
    put_field(&body, 2, tensor->format);
    put_bytes(&body, 3, shape.bytes, shape.count);
    put_field(&body, tensor->is_output ? 6 : 5, values->count);
    put_bytes(text, tensor->is_output ? 3 : 4, body.bytes, body.count);
}

/** Where the pieces go. */
struct out {
    const char *path;
    api_dump_fn take;
    void *user;
    int64_t offset;
    bool failed;
};

static void put_out(struct out *out, const uint8_t *bytes, uint64_t count, bool last)
{
    do {
        const uint32_t piece = (uint32_t)(count < API_DUMP_CHUNK ? count : API_DUMP_CHUNK);
        out->failed = out->failed || out->take(out->user, out->path, bytes, piece, out->offset,
                                               last && piece == count) != 0;
        bytes += piece;
        out->offset += piece;
        count -= piece;
    } while (count && !out->failed);
}

leo_status api_dump_encode(const char *name, uint64_t time_us, const struct api_dump_values *values,
                           size_t count, const char *path, api_dump_fn take, void *user)
{
    static const char version[] = "2.0";
    const size_t most = (count + 1) * 2 * TENSOR_MAX + strlen(name) + sizeof(version);
    struct text head = {leo_alloc(sizeof(uint64_t) + most), sizeof(uint64_t)};
    if (!head.bytes) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    put_bytes(&head, 1, version, sizeof(version) - 1);
    put_field(&head, 2, time_us);
    for (size_t i = 0; i < count; i++) {
        if (values[i].bytes) {
            put_tensor(&head, &values[i]);
        }
    }
    put_bytes(&head, 6, name, strlen(name));
    const uint64_t head_bytes = head.count - sizeof(uint64_t);
    memcpy(head.bytes, &head_bytes, sizeof(head_bytes));
    struct out out = {.path = path, .take = take, .user = user};
    put_out(&out, head.bytes, head.count, false);
    leo_free(head.bytes);
    // Inputs lie before outputs, whatever the order in the call.
    for (int outputs = 0; outputs < 2; outputs++) {
        for (size_t i = 0; i < count; i++) {
            if (values[i].bytes && values[i].tensor.is_output == outputs) {
                put_out(&out, values[i].bytes, values[i].count, false);
            }
        }
    }
    put_out(&out, NULL, 0, true);
    return out.failed ? leo_rt_fail(LEO_ERR_IO, "%s: a dump cannot be written", path) : LEO_OK;
}
