/* SPDX-License-Identifier: Apache-2.0 */
/* Each collective of HCCL over 2, 3 and 8 processes against what its definition says, element by
 * element; reductions in every type and with every operation. */
#include "harness.h"
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 301 }; // no multiple of a rank count or of a vector

/* ---- elements of any type as numbers ---- */

static const struct kind {
    HcclDataType type;
    size_t bytes;
} kinds[] = {
    {HCCL_DATA_TYPE_INT8, 1},   {HCCL_DATA_TYPE_UINT8, 1},  {HCCL_DATA_TYPE_INT16, 2},
    {HCCL_DATA_TYPE_UINT16, 2}, {HCCL_DATA_TYPE_INT32, 4},  {HCCL_DATA_TYPE_UINT32, 4},
    {HCCL_DATA_TYPE_INT64, 8},  {HCCL_DATA_TYPE_UINT64, 8}, {HCCL_DATA_TYPE_FP16, 2},
    {HCCL_DATA_TYPE_BFP16, 2},  {HCCL_DATA_TYPE_FP32, 4},   {HCCL_DATA_TYPE_FP64, 8},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Small whole numbers only: exact in every type. */
static void put(const struct kind *kind, void *buffer, size_t i, int value)
{
    char *to = (char *)buffer + i * kind->bytes;
    if (kind->type == HCCL_DATA_TYPE_FP16) {
        const aclFloat16 half = aclFloatToFloat16((float)value);
        memcpy(to, &half, sizeof(half));
    } else if (kind->type == HCCL_DATA_TYPE_BFP16) {
        const float wide = (float)value;
        memcpy(to, (const char *)&wide + 2, 2);
    } else if (kind->type == HCCL_DATA_TYPE_FP32) {
        const float single = (float)value;
        memcpy(to, &single, sizeof(single));
    } else if (kind->type == HCCL_DATA_TYPE_FP64) {
        const double wide = value;
        memcpy(to, &wide, sizeof(wide));
    } else {
        const int64_t whole = value;
        memcpy(to, &whole, kind->bytes); // little endian, two's complement
    }
}

/* What rank `rank` holds at element i: 1 or 2, so that products stay small. */
static int held(uint32_t rank, size_t i)
{
    return (rank + i) % 3 == 0 ? 2 : 1;
}

static int combine(HcclReduceOp op, int a, int b)
{
    switch (op) {
    case HCCL_REDUCE_SUM:
        return a + b;
    case HCCL_REDUCE_PROD:
        return a * b;
    case HCCL_REDUCE_MAX:
        return a > b ? a : b;
    default:
        return a < b ? a : b;
    }
}

static int reduced(HcclReduceOp op, uint32_t ranks, size_t i)
{
    int value = held(0, i);
    for (uint32_t r = 1; r < ranks; r++) {
        value = combine(op, value, held(r, i));
    }
    return value;
}

/* ---- buffers ---- */

/* a: elements of this rank from 0; b: zeros. */
static int fill(struct rank *self, const struct kind *kind, size_t count)
{
    CHECK(count * kind->bytes <= sizeof(self->host));
    for (size_t i = 0; i < count; i++) {
        put(kind, self->host, i, held(self->rank, i));
    }
    TRY(aclrtMemcpy(self->a, sizeof(self->host), self->host, count * kind->bytes,
                    ACL_MEMCPY_HOST_TO_DEVICE));
    TRY(aclrtMemset(self->b, sizeof(self->host), 0, sizeof(self->host)));
    return 0;
}

static int fetch(struct rank *self, const void *from)
{
    TRY(aclrtSynchronizeStream(self->stream));
    TRY(aclrtMemcpy(self->host, sizeof(self->host), from, sizeof(self->host),
                    ACL_MEMCPY_DEVICE_TO_HOST));
    return 0;
}

static bool is(const struct rank *self, const struct kind *kind, size_t i, int value)
{
    char wanted[8];
    put(kind, wanted, 0, value);
    return memcmp((const char *)self->host + i * kind->bytes, wanted, kind->bytes) == 0;
}

static const struct kind *const f32 = &kinds[10];

/* ---- reductions ---- */

static int check_all_reduce(struct rank *self, const struct kind *kind, HcclReduceOp op, void *out)
{
    if (fill(self, kind, COUNT)) {
        return 1;
    }
    TRY(HcclAllReduce(self->a, out, COUNT, kind->type, op, self->comm, self->stream));
    if (fetch(self, out)) {
        return 1;
    }
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(is(self, kind, i, reduced(op, self->ranks, i)));
    }
    return 0;
}

static int all_reduce(struct rank *self)
{
    int code = 0;
    for (size_t k = 0; k < KINDS; k++) {
        for (int op = HCCL_REDUCE_SUM; op <= HCCL_REDUCE_MIN && !code; op++) {
            code = check_all_reduce(self, &kinds[k], (HcclReduceOp)op, op % 2 ? self->b : self->a);
        }
    }
    return code;
}

static int reduce(struct rank *self)
{
    for (uint32_t root = 0; root < self->ranks; root++) {
        const struct kind *kind = &kinds[root % KINDS];
        if (fill(self, kind, COUNT)) {
            return 1;
        }
        TRY(HcclReduce(self->a, self->b, COUNT, kind->type, HCCL_REDUCE_SUM, root, self->comm,
                       self->stream));
        if (fetch(self, self->b)) {
            return 1;
        }
        for (size_t i = 0; i < COUNT; i++) {
            // The others' buffers stay as they are.
            CHECK(is(self, kind, i,
                     self->rank == root ? reduced(HCCL_REDUCE_SUM, self->ranks, i) : 0));
        }
    }
    return 0;
}

static int reduce_scatter(struct rank *self)
{
    for (size_t k = 0; k < KINDS; k++) {
        if (fill(self, &kinds[k], COUNT * (size_t)self->ranks)) {
            return 1;
        }
        TRY(HcclReduceScatter(self->a, self->b, COUNT, kinds[k].type, HCCL_REDUCE_MAX, self->comm,
                              self->stream));
        if (fetch(self, self->b)) {
            return 1;
        }
        for (size_t i = 0; i < COUNT; i++) {
            CHECK(is(self, &kinds[k], i,
                     reduced(HCCL_REDUCE_MAX, self->ranks, self->rank * (size_t)COUNT + i)));
        }
        CHECK(is(self, &kinds[k], COUNT, 0));
    }
    return 0;
}

/* Part r of a buffer has r * 7 elements and a gap of one behind it. */
static void uneven(uint32_t ranks, uint64_t *count, uint64_t *offset)
{
    for (uint32_t r = 0, at = 0; r < ranks; r++) {
        count[r] = r * 7;
        offset[r] = at;
        at += r * 7 + 1;
    }
}

static int reduce_scatter_v(struct rank *self)
{
    uint64_t count[RANKS_MAX], offset[RANKS_MAX];
    uneven(self->ranks, count, offset);
    if (fill(self, f32, COUNT)) {
        return 1;
    }
    TRY(HcclReduceScatterV(self->a, count, offset, self->b, count[self->rank], f32->type,
                           HCCL_REDUCE_SUM, self->comm, self->stream));
    if (fetch(self, self->b)) {
        return 1;
    }
    for (size_t i = 0; i < count[self->rank]; i++) {
        CHECK(is(self, f32, i, reduced(HCCL_REDUCE_SUM, self->ranks, offset[self->rank] + i)));
    }
    CHECK(is(self, f32, count[self->rank], 0));
    CHECK(HcclReduceScatterV(self->a, count, offset, self->b, count[self->rank] + 1, f32->type,
                             HCCL_REDUCE_SUM, self->comm, self->stream) == HCCL_E_PARA);
    return 0;
}

/* ---- copies ---- */

static int broadcast(struct rank *self)
{
    for (uint32_t root = 0; root < self->ranks; root++) {
        const struct kind *kind = &kinds[root % KINDS];
        if (fill(self, kind, COUNT)) {
            return 1;
        }
        TRY(HcclBroadcast(self->a, COUNT, kind->type, root, self->comm, self->stream));
        if (fetch(self, self->a)) {
            return 1;
        }
        for (size_t i = 0; i < COUNT; i++) {
            CHECK(is(self, kind, i, held(root, i)));
        }
    }
    return 0;
}

static int all_gather(struct rank *self)
{
    if (fill(self, f32, COUNT)) {
        return 1;
    }
    TRY(HcclAllGather(self->a, self->b, COUNT, f32->type, self->comm, self->stream));
    if (fetch(self, self->b)) {
        return 1;
    }
    for (size_t i = 0; i < COUNT * (size_t)self->ranks; i++) {
        CHECK(is(self, f32, i, held((uint32_t)(i / COUNT), i % COUNT)));
    }
    return 0;
}

static int all_gather_v(struct rank *self)
{
    uint64_t count[RANKS_MAX], offset[RANKS_MAX];
    uneven(self->ranks, count, offset);
    if (fill(self, f32, COUNT)) {
        return 1;
    }
    TRY(HcclAllGatherV(self->a, count[self->rank], self->b, count, offset, f32->type, self->comm,
                       self->stream));
    if (fetch(self, self->b)) {
        return 1;
    }
    for (uint32_t r = 0; r < self->ranks; r++) {
        for (size_t i = 0; i < count[r]; i++) {
            CHECK(is(self, f32, offset[r] + i, held(r, i)));
        }
        CHECK(is(self, f32, offset[r] + count[r], 0)); // the gap
    }
    return 0;
}

static int scatter(struct rank *self)
{
    for (uint32_t root = 0; root < self->ranks; root++) {
        if (fill(self, f32, COUNT * (size_t)self->ranks)) {
            return 1;
        }
        TRY(HcclScatter(self->a, self->b, COUNT, f32->type, root, self->comm, self->stream));
        if (fetch(self, self->b)) {
            return 1;
        }
        for (size_t i = 0; i < COUNT; i++) {
            CHECK(is(self, f32, i, held(root, self->rank * (size_t)COUNT + i)));
        }
    }
    return 0;
}

static int all_to_all(struct rank *self)
{
    if (fill(self, f32, COUNT * (size_t)self->ranks)) {
        return 1;
    }
    TRY(HcclAlltoAll(self->a, COUNT, f32->type, self->b, COUNT, f32->type, self->comm,
                     self->stream));
    if (fetch(self, self->b)) {
        return 1;
    }
    for (size_t i = 0; i < COUNT * (size_t)self->ranks; i++) {
        CHECK(
            is(self, f32, i, held((uint32_t)(i / COUNT), self->rank * (size_t)COUNT + i % COUNT)));
    }
    return 0;
}

/* Rank r sends r + 2 p elements to rank p; one after the other, or with gaps of one. */
static uint64_t sent(uint32_t from, uint32_t to)
{
    return from + 2 * (uint64_t)to;
}

static int check_exchanged(struct rank *self, uint64_t gap)
{
    uint64_t at = 0;
    if (fetch(self, self->b)) {
        return 1;
    }
    for (uint32_t from = 0; from < self->ranks; from++) {
        uint64_t begin = 0;
        for (uint32_t to = 0; to < self->rank; to++) {
            begin += sent(from, to) + gap;
        }
        for (uint64_t i = 0; i < sent(from, self->rank); i++) {
            CHECK(is(self, f32, at + i, held(from, begin + i)));
        }
        at += sent(from, self->rank) + gap;
    }
    return 0;
}

static int all_to_all_v(struct rank *self)
{
    uint64_t counts[2][RANKS_MAX], offsets[2][RANKS_MAX], at[2] = {0};
    for (uint32_t r = 0; r < self->ranks; r++) {
        counts[0][r] = sent(self->rank, r);
        counts[1][r] = sent(r, self->rank);
        for (int side = 0; side < 2; side++) {
            offsets[side][r] = at[side];
            at[side] += counts[side][r] + 1;
        }
    }
    if (fill(self, f32, COUNT)) {
        return 1;
    }
    TRY(HcclAlltoAllV(self->a, counts[0], offsets[0], f32->type, self->b, counts[1], offsets[1],
                      f32->type, self->comm, self->stream));
    return check_exchanged(self, 1);
}

static int all_to_all_vc(struct rank *self)
{
    uint64_t matrix[RANKS_MAX * RANKS_MAX];
    for (uint32_t from = 0; from < self->ranks; from++) {
        for (uint32_t to = 0; to < self->ranks; to++) {
            matrix[from * self->ranks + to] = sent(from, to);
        }
    }
    if (fill(self, f32, COUNT)) {
        return 1;
    }
    TRY(HcclAlltoAllVC(self->a, matrix, f32->type, self->b, f32->type, self->comm, self->stream));
    return check_exchanged(self, 0);
}

/* ---- messages and barrier ---- */

/* Around the ring, one after the other: rank 0 sends first. */
static int send_recv(struct rank *self)
{
    const uint32_t next = (self->rank + 1) % self->ranks,
                   last = (self->rank + self->ranks - 1) % self->ranks;
    if (fill(self, f32, COUNT)) {
        return 1;
    }
    if (self->rank == 0) {
        TRY(HcclSend(self->a, COUNT, f32->type, next, self->comm, self->stream));
        TRY(HcclRecv(self->b, COUNT, f32->type, last, self->comm, self->stream));
    } else {
        TRY(HcclRecv(self->b, COUNT, f32->type, last, self->comm, self->stream));
        TRY(HcclSend(self->b, COUNT, f32->type, next, self->comm, self->stream));
    }
    if (fetch(self, self->b)) {
        return 1;
    }
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(is(self, f32, i, held(0, i)));
    }
    return 0;
}

/* Everybody with everybody at once. */
static int batch_send_recv(struct rank *self)
{
    HcclSendRecvItem items[2 * RANKS_MAX];
    uint32_t used = 0;
    if (fill(self, f32, COUNT)) {
        return 1;
    }
    for (uint32_t r = 0; r < self->ranks; r++) {
        if (r != self->rank) {
            items[used++] = (HcclSendRecvItem){HCCL_SEND, self->a, COUNT, f32->type, r};
            items[used++] = (HcclSendRecvItem){HCCL_RECV, (char *)self->b + r * COUNT * f32->bytes,
                                               COUNT, f32->type, r};
        }
    }
    TRY(HcclBatchSendRecv(items, used, self->comm, self->stream));
    if (fetch(self, self->b)) {
        return 1;
    }
    for (size_t i = 0; i < COUNT * (size_t)self->ranks; i++) {
        const uint32_t from = (uint32_t)(i / COUNT);
        CHECK(is(self, f32, i, from == self->rank ? 0 : held(from, i % COUNT)));
    }
    return 0;
}

static int barrier(struct rank *self)
{
    for (int i = 0; i < 5; i++) {
        TRY(HcclBarrier(self->comm, self->stream));
    }
    TRY(aclrtSynchronizeStream(self->stream));
    return 0;
}

/* ---- all of them ---- */

static void over_ranks(rank_fn fn)
{
    ranks_run(2, fn);
    ranks_run(3, fn);
    ranks_run(8, fn);
}

#define COLLECTIVES(x)                                                                             \
    x(all_reduce) x(reduce) x(reduce_scatter) x(reduce_scatter_v) x(broadcast) x(all_gather)       \
        x(all_gather_v) x(scatter) x(all_to_all) x(all_to_all_v) x(all_to_all_vc) x(send_recv)     \
            x(batch_send_recv) x(barrier)
#define DEFINE(name)                                                                               \
    static void test_##name(void)                                                                  \
    {                                                                                              \
        over_ranks(name);                                                                          \
    }
#define LIST(name) {#name, test_##name},
COLLECTIVES(DEFINE)

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {COLLECTIVES(LIST)};
    return leo_test_main("hccl_collectives", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
