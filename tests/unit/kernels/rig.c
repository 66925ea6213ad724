/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const rig_socs[2] = {"ascend910a", "ascend910b1"};

static const uint8_t guard_byte = 0xa5;

static void must(leo_status status, const char *what)
{
    if (status != LEO_OK) {
        fprintf(stderr, "%s: %s (%s)\n", what, leo_status_name(status), leo_rt_last_error());
        CU_FAIL_FATAL("the device does not work");
    }
}

void rig_init(struct rig *rig, const char *soc, unsigned threads, const char *simd)
{
    const struct leo_rt_opts opts = {
        .size = sizeof(opts), .soc = soc, .host_threads = threads, .simd = simd};
    struct leo_caps caps;
    must(leo_rt_create(&opts, &rig->rt), "rt_create");
    must(leo_rt_device_open(rig->rt, 0, &rig->device), "device_open");
    must(leo_rt_stream_create(rig->device, &rig->stream), "stream_create");
    must(leo_op_context_create(rig->device, rig->stream, &rig->context), "op_context_create");
    leo_rt_device_get_caps(rig->device, &caps);
    rig->arch = caps.arch;
}

void rig_finish(struct rig *rig)
{
    leo_op_context_destroy(rig->context);
    leo_rt_stream_destroy(rig->stream);
    leo_rt_device_close(rig->device);
    leo_rt_destroy(rig->rt);
}

void rig_synchronize(struct rig *rig)
{
    must(leo_rt_stream_synchronize(rig->stream, -1), "synchronize");
}

void *rig_alloc(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        abort();
    }
    return memory;
}

struct rig_buffer rig_put(struct rig *rig, enum leo_dtype dtype, uint32_t rows, uint32_t columns,
                          const void *data)
{
    const size_t unit = dtype == LEO_DTYPE_F16 ? 2 : 4;
    struct rig_buffer buffer = {.bytes = (size_t)rows * (columns ? columns : 1) * unit};
    uint8_t *host = rig_alloc(1, buffer.bytes + 2 * RIG_GUARD);
    memset(host, guard_byte, buffer.bytes + 2 * RIG_GUARD);
    if (data) {
        memcpy(host + RIG_GUARD, data, buffer.bytes);
    }
    must(leo_rt_memory_alloc(rig->device, buffer.bytes + 2 * RIG_GUARD, &buffer.base),
         "memory_alloc");
    must(leo_rt_memcpy(rig->device, (void *)(uintptr_t)buffer.base, host,
                       buffer.bytes + 2 * RIG_GUARD),
         "memcpy");
    free(host);
    const int64_t dim[] = {rows, columns};
    buffer.tensor = leo_op_tensor(buffer.base + RIG_GUARD, dtype, columns ? 2 : 1, dim);
    return buffer;
}

void rig_take(struct rig *rig, struct rig_buffer *buffer, void *data)
{
    uint8_t *host = rig_alloc(1, buffer->bytes + 2 * RIG_GUARD);
    must(leo_rt_memcpy(rig->device, host, (void *)(uintptr_t)buffer->base,
                       buffer->bytes + 2 * RIG_GUARD),
         "memcpy");
    bool whole = true;
    for (size_t i = 0; i < RIG_GUARD; i++) {
        whole = whole && host[i] == guard_byte && host[RIG_GUARD + buffer->bytes + i] == guard_byte;
    }
    CU_ASSERT_TRUE(whole);
    if (data) {
        memcpy(data, host + RIG_GUARD, buffer->bytes);
    }
    free(host);
    must(leo_rt_memory_free(rig->device, buffer->base), "memory_free");
}

uint32_t rig_random_next(struct rig_random *random)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random->state >> 32);
}

float rig_random_float(struct rig_random *random)
{
    return (float)((int)(rig_random_next(random) % 2049) - 1024) / 1024.0f;
}

uint16_t *rig_random_halves(struct rig_random *random, size_t count)
{
    uint16_t *halves = rig_alloc(count, sizeof(*halves));
    for (size_t i = 0; i < count; i++) {
        halves[i] = op_ref_to_half(rig_random_float(random));
    }
    return halves;
}

float *rig_random_floats(struct rig_random *random, size_t count)
{
    float *floats = rig_alloc(count, sizeof(*floats));
    for (size_t i = 0; i < count; i++) {
        // Not exact in f16: conversions have something to round.
        floats[i] = rig_random_float(random) * 1.0009765f + rig_random_float(random) * 0x1p-14f;
    }
    return floats;
}

long rig_compare(const void *a, const void *b, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        if (memcmp((const char *)a + i * size, (const char *)b + i * size, size) != 0) {
            return (long)i;
        }
    }
    return -1;
}
