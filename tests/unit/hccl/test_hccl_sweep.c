/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every collective with every type, reduction and odd size, over 2, 4 and 8 processes, against a
 * plain reference; each round twice: the same bits and the same simulated times. A sample of the
 * rounds; with LEO_TEST_ALL=1 all of them.
 */
#include "harness.h"
#include "ranks.h"
#include "sweep_elements.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum collective {
    ALL_REDUCE,
    ALL_REDUCE_IN_PLACE,
    REDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_V,
    BROADCAST, // from here on nothing is reduced
    ALL_GATHER,
    ALL_GATHER_V,
    SCATTER,
    ALL_TO_ALL,
    ALL_TO_ALL_V,
    ALL_TO_ALL_VC,
    BATCH_SEND_RECV,
    COLLECTIVES
};

static const uint32_t sizes[] = {1, 2, 3, 7, 31, 65, 255, 2047, 2049, 4099, 30011};

enum {
    SIZES = sizeof(sizes) / sizeof(sizes[0]),
    ROUNDS = COLLECTIVES * SWEEP_KINDS * SWEEP_OPS * SIZES,
    SAMPLE = 211, /**< every so many rounds: shares no factor with what rounds are counted by */
    LARGEST = 30011,
    BEHIND = 16, /**< elements behind the result that must stay as they are */
    LEAD = 3,    /**< elements before it: no address is aligned */
    ROOM = (RANKS_MAX * LARGEST + RANKS_MAX + LEAD + BEHIND) * 8,
    UNTOUCHED = 0xa5
};

struct round {
    enum collective collective;
    const struct sweep_kind *kind;
    HcclReduceOp op;
    uint32_t size, root, number;
};

/* What stands at a place of the result. */
struct want {
    enum { STAYS, FROM_ONE, FROM_ALL } what;
    uint32_t rank;
    size_t index;
};

/* Bits and times of each rank's rounds, for the processes' parent. */
static uint64_t (*digests)[2];

static bool is_reduction(enum collective collective)
{
    return collective < BROADCAST;
}

static bool is_within(enum collective collective)
{
    return collective == ALL_REDUCE_IN_PLACE || collective == BROADCAST;
}

static struct round round_at(uint32_t number, uint32_t ranks)
{
    uint32_t rest = number;
    struct round round = {.number = number, .root = number % ranks};
    round.size = sizes[rest % SIZES];
    rest /= SIZES;
    round.op = (HcclReduceOp)(rest % SWEEP_OPS);
    rest /= SWEEP_OPS;
    round.kind = &sweep_kinds[rest % SWEEP_KINDS];
    round.collective = (enum collective)(rest / SWEEP_KINDS);
    return round;
}

/* ---- parts of different sizes ---- */

/* Some are empty. */
static uint64_t part(const struct round *round, uint32_t from, uint32_t to)
{
    return round->size >> ((from + 2 * to) & 3);
}

static uint64_t gap(const struct round *round)
{
    return round->collective == ALL_TO_ALL_VC ? 0 : 1;
}

/* Where rank `to`'s part stands among those of `from`. */
static uint64_t place(const struct round *round, uint32_t from, uint32_t to)
{
    uint64_t at = 0;
    for (uint32_t r = 0; r < to; r++) {
        at += part(round, from, r) + gap(round);
    }
    return at;
}

/* Of what rank `to` has from each. */
static uint64_t arrival(const struct round *round, uint32_t from, uint32_t to)
{
    uint64_t at = 0;
    for (uint32_t r = 0; r < from; r++) {
        at += part(round, r, to) + gap(round);
    }
    return at;
}

/* ---- what should be there ---- */

static struct want want_exchanged(const struct rank *self, const struct round *round, size_t i)
{
    for (uint32_t from = 0; from < self->ranks; from++) {
        const uint64_t at = arrival(round, from, self->rank);
        if (i >= at && i < at + part(round, from, self->rank)) {
            return (struct want){FROM_ONE, from, place(round, from, self->rank) + i - at};
        }
    }
    return (struct want){STAYS, 0, 0};
}

static struct want want_gathered_v(const struct rank *self, const struct round *round, size_t i)
{
    for (uint32_t r = 0; r < self->ranks; r++) {
        const uint64_t at = place(round, 0, r);
        if (i >= at && i < at + part(round, 0, r)) {
            return (struct want){FROM_ONE, r, i - at};
        }
    }
    return (struct want){STAYS, 0, 0};
}

static struct want want(const struct rank *self, const struct round *round, size_t i)
{
    const size_t size = round->size;
    const uint32_t from = (uint32_t)(i / size);
    const struct want stays = {STAYS, 0, 0};
    switch (round->collective) {
    case ALL_REDUCE:
    case ALL_REDUCE_IN_PLACE:
        return i < size ? (struct want){FROM_ALL, 0, i} : stays;
    case REDUCE:
        return i < size && self->rank == round->root ? (struct want){FROM_ALL, 0, i} : stays;
    case REDUCE_SCATTER:
        return i < size ? (struct want){FROM_ALL, 0, self->rank * size + i} : stays;
    case REDUCE_SCATTER_V:
        return i < part(round, 0, self->rank)
                   ? (struct want){FROM_ALL, 0, place(round, 0, self->rank) + i}
                   : stays;
    case BROADCAST:
        return i < size ? (struct want){FROM_ONE, round->root, i} : stays;
    case ALL_GATHER:
        return from < self->ranks ? (struct want){FROM_ONE, from, i % size} : stays;
    case ALL_GATHER_V:
        return want_gathered_v(self, round, i);
    case SCATTER:
        return i < size ? (struct want){FROM_ONE, round->root, self->rank * size + i} : stays;
    case ALL_TO_ALL:
        return from < self->ranks ? (struct want){FROM_ONE, from, self->rank * size + i % size}
                                  : stays;
    case BATCH_SEND_RECV:
        return from < self->ranks && from != self->rank ? (struct want){FROM_ONE, from, i % size}
                                                        : stays;
    default:
        return want_exchanged(self, round, i);
    }
}

/* Elements at which the result is looked at. */
static size_t looked_at(const struct rank *self, const struct round *round)
{
    const size_t most = (size_t)round->size * self->ranks + self->ranks;
    return (is_within(round->collective) ? round->size : most) + BEHIND;
}

static bool is_right(const struct rank *self, const struct round *round, const char *result,
                     size_t i)
{
    const struct sweep_kind *kind = round->kind;
    const char *at = result + i * kind->bytes;
    const struct want wanted = want(self, round, i);
    char bits[8];
    if (wanted.what == STAYS && is_within(round->collective)) {
        sweep_element(kind, round->number, self->rank, i, bits);
        return memcmp(at, bits, kind->bytes) == 0;
    }
    if (wanted.what == STAYS) {
        memset(bits, UNTOUCHED, sizeof(bits));
        return memcmp(at, bits, kind->bytes) == 0;
    }
    if (wanted.what == FROM_ONE) {
        sweep_element(kind, round->number, wanted.rank, wanted.index, bits);
        return memcmp(at, bits, kind->bytes) == 0;
    }
    sweep_reduced(kind, round->op, round->number, self->ranks, wanted.index, bits);
    return sweep_same(kind, at, bits);
}

/* ---- the calls ---- */

struct buffers {
    char *a, *b, *host;
    aclrtEvent before, after;
};

static HcclResult call_v(struct rank *self, const struct round *round, void *a, void *b)
{
    const HcclDataType type = round->kind->type;
    uint64_t counts[2][RANKS_MAX], offsets[2][RANKS_MAX], matrix[RANKS_MAX * RANKS_MAX];
    const uint32_t sender = round->collective == ALL_TO_ALL_V ? self->rank : 0;
    for (uint32_t r = 0; r < self->ranks; r++) {
        counts[0][r] = part(round, sender, r);
        offsets[0][r] = place(round, sender, r);
        counts[1][r] = part(round, r, self->rank);
        offsets[1][r] = arrival(round, r, self->rank);
        for (uint32_t to = 0; to < self->ranks; to++) {
            matrix[r * self->ranks + to] = part(round, r, to);
        }
    }
    switch (round->collective) {
    case REDUCE_SCATTER_V:
        return HcclReduceScatterV(a, counts[0], offsets[0], b, counts[0][self->rank], type,
                                  round->op, self->comm, self->stream);
    case ALL_GATHER_V:
        return HcclAllGatherV(a, counts[0][self->rank], b, counts[0], offsets[0], type, self->comm,
                              self->stream);
    case ALL_TO_ALL_V:
        return HcclAlltoAllV(a, counts[0], offsets[0], type, b, counts[1], offsets[1], type,
                             self->comm, self->stream);
    default:
        return HcclAlltoAllVC(a, matrix, type, b, type, self->comm, self->stream);
    }
}

static HcclResult exchange(struct rank *self, const struct round *round, char *a, char *b)
{
    HcclSendRecvItem items[2 * RANKS_MAX];
    uint32_t used = 0;
    const size_t bytes = (size_t)round->size * round->kind->bytes;
    for (uint32_t r = 0; r < self->ranks; r++) {
        if (r != self->rank) {
            items[used++] = (HcclSendRecvItem){HCCL_SEND, a, round->size, round->kind->type, r};
            items[used++] =
                (HcclSendRecvItem){HCCL_RECV, b + r * bytes, round->size, round->kind->type, r};
        }
    }
    return HcclBatchSendRecv(items, used, self->comm, self->stream);
}

static HcclResult call(struct rank *self, const struct round *round, char *a, char *b)
{
    const uint64_t size = round->size;
    const HcclDataType type = round->kind->type;
    switch (round->collective) {
    case ALL_REDUCE:
        return HcclAllReduce(a, b, size, type, round->op, self->comm, self->stream);
    case ALL_REDUCE_IN_PLACE:
        return HcclAllReduce(a, a, size, type, round->op, self->comm, self->stream);
    case REDUCE:
        return HcclReduce(a, b, size, type, round->op, round->root, self->comm, self->stream);
    case REDUCE_SCATTER:
        return HcclReduceScatter(a, b, size, type, round->op, self->comm, self->stream);
    case BROADCAST:
        return HcclBroadcast(a, size, type, round->root, self->comm, self->stream);
    case ALL_GATHER:
        return HcclAllGather(a, b, size, type, self->comm, self->stream);
    case SCATTER:
        return HcclScatter(a, b, size, type, round->root, self->comm, self->stream);
    case ALL_TO_ALL:
        return HcclAlltoAll(a, size, type, b, size, type, self->comm, self->stream);
    case BATCH_SEND_RECV:
        return exchange(self, round, a, b);
    default:
        return call_v(self, round, a, b);
    }
}

/* ---- rounds ---- */

static uint64_t digest(uint64_t so_far, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) { // FNV-1a
        so_far = (so_far ^ ((const unsigned char *)data)[i]) * 0x100000001b3;
    }
    return so_far;
}

static int do_round(struct rank *self, const struct buffers *buffers, const struct round *round)
{
    const struct sweep_kind *kind = round->kind;
    const size_t lead = LEAD * kind->bytes, looked = looked_at(self, round);
    const size_t elements = (size_t)round->size * self->ranks + self->ranks + BEHIND;
    char *a = buffers->a + lead, *b = buffers->b + lead;
    const char *result = is_within(round->collective) ? a : b;
    float ms = 0;
    for (size_t i = 0; i < elements; i++) {
        sweep_element(kind, round->number, self->rank, i, buffers->host + i * kind->bytes);
    }
    TRY(aclrtMemcpy(a, ROOM - lead, buffers->host, elements * kind->bytes,
                    ACL_MEMCPY_HOST_TO_DEVICE));
    TRY(aclrtMemset(buffers->b, ROOM, UNTOUCHED, ROOM));
    // The ranks come at different simulated times.
    TRY(aclrtMemsetAsync(buffers->b, ROOM, UNTOUCHED, 1 + self->rank * (round->number % 997),
                         self->stream));
    TRY(aclrtRecordEvent(buffers->before, self->stream));
    TRY(call(self, round, a, b));
    TRY(aclrtRecordEvent(buffers->after, self->stream));
    TRY(aclrtSynchronizeStream(self->stream));
    TRY(aclrtEventElapsedTime(&ms, buffers->before, buffers->after));
    TRY(aclrtMemcpy(buffers->host, ROOM, result, looked * kind->bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t i = 0; i < looked; i++) {
        if (!is_right(self, round, buffers->host, i)) {
            fprintf(stderr, "round %u: collective %d, %s, operation %d, size %u, element %zu\n",
                    round->number, (int)round->collective, kind->name, (int)round->op, round->size,
                    i);
            return 3;
        }
    }
    digests[self->rank][0] = digest(digests[self->rank][0], buffers->host, looked * kind->bytes);
    digests[self->rank][1] = digest(digests[self->rank][1], &ms, sizeof(ms));
    return 0;
}

static int do_rounds(struct rank *self, const struct buffers *buffers)
{
    const uint32_t step = getenv("LEO_TEST_ALL") ? 1 : SAMPLE;
    for (uint32_t number = self->ranks % step; number < ROUNDS; number += step) {
        const struct round round = round_at(number, self->ranks);
        const bool is_twin = !is_reduction(round.collective) && round.op != HCCL_REDUCE_SUM;
        const int code = is_twin && step == 1 ? 0 : do_round(self, buffers, &round);
        if (code) {
            return code;
        }
    }
    return 0;
}

static int sweep(struct rank *self)
{
    struct buffers buffers = {.host = malloc(ROOM)};
    CHECK(buffers.host);
    TRY(aclrtMalloc((void **)&buffers.a, ROOM, ACL_MEM_MALLOC_HUGE_FIRST));
    TRY(aclrtMalloc((void **)&buffers.b, ROOM, ACL_MEM_MALLOC_HUGE_FIRST));
    TRY(aclrtCreateEvent(&buffers.before));
    TRY(aclrtCreateEvent(&buffers.after));
    const int code = do_rounds(self, &buffers);
    TRY(aclrtDestroyEvent(buffers.before));
    TRY(aclrtDestroyEvent(buffers.after));
    free(buffers.host);
    return code;
}

static void twice(uint32_t ranks)
{
    const size_t bytes = RANKS_MAX * sizeof(*digests);
    uint64_t first[RANKS_MAX][2];
    digests = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(digests != MAP_FAILED);
    ranks_run(ranks, sweep);
    memcpy(first, digests, bytes);
    memset(digests, 0, bytes);
    ranks_run(ranks, sweep);
    for (uint32_t r = 0; r < ranks; r++) {
        CU_ASSERT_EQUAL(digests[r][0], first[r][0]);
        CU_ASSERT_EQUAL(digests[r][1], first[r][1]);
    }
    munmap(digests, bytes);
}

static void two_ranks(void)
{
    twice(2);
}

static void four_ranks(void)
{
    twice(4);
}

static void eight_ranks(void)
{
    twice(8);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"two_ranks", two_ranks}, {"four_ranks", four_ranks}, {"eight_ranks", eight_ranks}};
    return leo_test_main("hccl_sweep", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
