/* SPDX-License-Identifier: Apache-2.0 */
/* Every collective between real processes, against what each rank can compute itself. */
#include "harness.h"
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COUNT = 700001, TIMEOUT_MS = 20000 };

static const uint64_t counts[] = {0, 1, 15, 17, 1000, MAX_COUNT};

struct rank {
    struct coll_wire *wire;
    uint32_t rank, ranks;
    int32_t *send, *recv;
    char text[256];
};

/* What rank r has at element i; sums of 8 ranks stay far from the limits. */
static int32_t value(uint32_t rank, uint64_t i)
{
    return (int32_t)((i * 2654435761u + rank * 40503u) % 1000003u);
}

static int32_t sum(uint32_t ranks, uint64_t i)
{
    int32_t total = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        total += value(r, i);
    }
    return total;
}

static bool run(struct rank *self, struct coll_op op)
{
    struct coll_times times = {.arrival_ns = 1000 * (self->rank + 1)};
    op.type = COLL_S32;
    leo_status status =
        coll_run(self->wire, &op, TIMEOUT_MS, &times, self->text, sizeof(self->text));
    if (status != LEO_OK) {
        fprintf(stderr, "rank %u: %s\n", self->rank, self->text);
        return false;
    }
    return op.kind == COLL_POINT_TO_POINT || times.last_arrival_ns == 1000 * self->ranks;
}

static void fill(struct rank *self, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        self->send[i] = value(self->rank, i);
    }
    memset(self->recv, 0xee, MAX_COUNT * sizeof(*self->recv));
}

static bool check_reductions(struct rank *self, uint64_t count)
{
    fill(self, count);
    if (!run(self, (struct coll_op){.kind = COLL_ALL_REDUCE,
                                    .count = count,
                                    .send = self->send,
                                    .recv = self->recv})) {
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (self->recv[i] != sum(self->ranks, i)) {
            return false;
        }
    }
    // In place.
    if (!run(self, (struct coll_op){.kind = COLL_ALL_REDUCE,
                                    .count = count,
                                    .send = self->send,
                                    .recv = self->send}) ||
        memcmp(self->send, self->recv, count * sizeof(*self->send)) != 0) {
        return false;
    }
    const uint32_t root = self->ranks - 1;
    fill(self, count);
    if (!run(self, (struct coll_op){.kind = COLL_REDUCE,
                                    .count = count,
                                    .root = root,
                                    .send = self->send,
                                    .recv = self->recv})) {
        return false;
    }
    for (uint64_t i = 0; self->rank == root && i < count; i++) {
        if (self->recv[i] != sum(self->ranks, i)) {
            return false;
        }
    }
    const uint64_t part = count / self->ranks;
    if (!run(self, (struct coll_op){.kind = COLL_REDUCE_SCATTER,
                                    .count = part,
                                    .send = self->send,
                                    .recv = self->recv})) {
        return false;
    }
    for (uint64_t i = 0; i < part; i++) {
        if (self->recv[i] != sum(self->ranks, self->rank * part + i)) {
            return false;
        }
    }
    return true;
}

static bool check_copies(struct rank *self, uint64_t count)
{
    const uint32_t root = 1 % self->ranks;
    const uint64_t part = count / self->ranks;
    fill(self, count);
    if (!run(self, (struct coll_op){.kind = COLL_BROADCAST,
                                    .count = count,
                                    .root = root,
                                    .send = self->send,
                                    .recv = self->send})) {
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (self->send[i] != value(root, i)) {
            return false;
        }
    }
    fill(self, count);
    if (!run(self,
             (struct coll_op){
                 .kind = COLL_ALL_GATHER, .count = part, .send = self->send, .recv = self->recv})) {
        return false;
    }
    for (uint64_t i = 0; i < part * self->ranks; i++) {
        if (self->recv[i] != value((uint32_t)(i / part), i % part)) {
            return false;
        }
    }
    if (!run(self, (struct coll_op){.kind = COLL_SCATTER,
                                    .count = part,
                                    .root = root,
                                    .send = self->send,
                                    .recv = self->recv})) {
        return false;
    }
    for (uint64_t i = 0; i < part; i++) {
        if (self->recv[i] != value(root, self->rank * part + i)) {
            return false;
        }
    }
    if (!run(self,
             (struct coll_op){
                 .kind = COLL_ALL_TO_ALL, .count = part, .send = self->send, .recv = self->recv})) {
        return false;
    }
    for (uint64_t i = 0; i < part * self->ranks; i++) {
        if (self->recv[i] != value((uint32_t)(i / part), self->rank * part + i % part)) {
            return false;
        }
    }
    return run(self, (struct coll_op){.kind = COLL_BARRIER});
}

/* Parts of several sizes: rank r gives rank q r + 2 q + 1 elements. */
static bool check_uneven(struct rank *self)
{
    uint64_t send_count[RANKS_MAX], send_at[RANKS_MAX], recv_count[RANKS_MAX], recv_at[RANKS_MAX];
    uint64_t out = 0, in = 0;
    for (uint32_t q = 0; q < self->ranks; q++) {
        send_count[q] = self->rank + 2 * q + 1;
        recv_count[q] = q + 2 * self->rank + 1;
        send_at[q] = out;
        recv_at[q] = in;
        out += send_count[q] + 3;
        in += recv_count[q] + 1;
    }
    fill(self, out);
    if (!run(self, (struct coll_op){.kind = COLL_ALL_TO_ALL,
                                    .send = self->send,
                                    .recv = self->recv,
                                    .send_parts = {send_count, send_at},
                                    .recv_parts = {recv_count, recv_at}})) {
        return false;
    }
    for (uint32_t q = 0; q < self->ranks; q++) {
        uint64_t from = 0;
        for (uint32_t k = 0; k < self->rank; k++) {
            from += q + 2 * k + 1 + 3;
        }
        for (uint64_t i = 0; i < recv_count[q]; i++) {
            if (self->recv[recv_at[q] + i] != value(q, from + i)) {
                return false;
            }
        }
    }
    return true;
}

static bool check_messages(struct rank *self)
{
    // A ring in both directions at once, lengths by direction.
    const uint32_t next = (self->rank + 1) % self->ranks;
    const uint32_t last = (self->rank + self->ranks - 1) % self->ranks;
    const struct coll_message messages[] = {
        {true, next, COLL_S32, 1000, self->send},
        {false, last, COLL_S32, 1000, self->recv},
        {true, last, COLL_S32, 1000, self->send + 2000},
        {false, next, COLL_S32, 1000, self->recv + 2000},
    };
    fill(self, 3000);
    if (!run(self, (struct coll_op){
                       .kind = COLL_POINT_TO_POINT, .messages = messages, .message_count = 4})) {
        return false;
    }
    for (uint64_t i = 0; i < 1000; i++) {
        if (self->recv[i] != value(last, i) || self->recv[2000 + i] != value(next, 2000 + i)) {
            return false;
        }
    }
    return true;
}

static int do_everything(struct coll_wire *wire, void *arg)
{
    (void)arg;
    struct rank self = {.wire = wire, .rank = coll_wire_rank(wire), .ranks = coll_wire_ranks(wire)};
    self.send = malloc(MAX_COUNT * sizeof(*self.send));
    self.recv = malloc(MAX_COUNT * sizeof(*self.recv));
    int code = 0;
    for (size_t i = 0; !code && i < sizeof(counts) / sizeof(counts[0]); i++) {
        code = !check_reductions(&self, counts[i]) ? 1 : !check_copies(&self, counts[i]) ? 2 : 0;
    }
    code = code                                       ? code
           : !check_uneven(&self)                     ? 3
           : self.ranks > 2 && !check_messages(&self) ? 4
                                                      : 0;
    free(self.send);
    free(self.recv);
    return code;
}

static void all_collectives_are_right(void)
{
    for (uint32_t ranks = 2; ranks <= 5; ranks++) {
        int codes[RANKS_MAX];
        ranks_run(ranks, do_everything, NULL, codes);
        for (uint32_t i = 0; i < ranks; i++) {
            CU_ASSERT_EQUAL(codes[i], 0);
        }
    }
}

/* Rank 1 asks for something else in one respect. */
static int differ(struct coll_wire *wire, void *arg)
{
    const struct coll_op *other = arg;
    float data[64] = {0}, out[64];
    struct coll_op op = {.kind = COLL_ALL_REDUCE, .type = COLL_F32, .count = 64};
    if (coll_wire_rank(wire) == 1) {
        op = *other;
    }
    op.send = data;
    op.recv = out;
    char text[256];
    struct coll_times times = {0};
    leo_status status = coll_run(wire, &op, TIMEOUT_MS, &times, text, sizeof(text));
    if (status != LEO_ERR_MISMATCH || !strstr(text, "rank 1")) {
        return 1;
    }
    // The connections are still good.
    op = (struct coll_op){.kind = COLL_BARRIER};
    return coll_run(wire, &op, TIMEOUT_MS, &times, text, sizeof(text)) == LEO_OK ? 0 : 2;
}

static void ranks_that_differ_are_told(void)
{
    struct coll_op others[] = {
        {.kind = COLL_ALL_REDUCE, .type = COLL_F32, .count = 63},
        {.kind = COLL_ALL_REDUCE, .type = COLL_S32, .count = 64},
        {.kind = COLL_ALL_REDUCE, .type = COLL_F32, .count = 64, .reduction = COLL_MAX},
        {.kind = COLL_BROADCAST, .type = COLL_F32, .count = 64},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        int codes[RANKS_MAX];
        ranks_run(3, differ, &others[i], codes);
        for (int k = 0; k < 3; k++) {
            CU_ASSERT_EQUAL(codes[k], 0);
        }
    }
}

/* A sum whose order shows: the same bits at every rank, those of rank 0 first. */
static int sum_in_order(struct coll_wire *wire, void *arg)
{
    (void)arg;
    static const float give[] = {1, 0x1p24f, -0x1p24f, 0};
    float data[100], out[100], text_value;
    const uint32_t rank = coll_wire_rank(wire);
    for (int i = 0; i < 100; i++) {
        data[i] = give[rank];
    }
    text_value = ((give[0] + give[1]) + give[2]) + give[3];
    char text[256];
    struct coll_times times = {0};
    const struct coll_op op = {
        .kind = COLL_ALL_REDUCE, .type = COLL_F32, .count = 100, .send = data, .recv = out};
    if (coll_run(wire, &op, TIMEOUT_MS, &times, text, sizeof(text)) != LEO_OK) {
        return 1;
    }
    for (int i = 0; i < 100; i++) {
        if (out[i] != text_value) {
            return 2;
        }
    }
    return 0;
}

static void sums_have_the_order_of_ranks(void)
{
    int codes[RANKS_MAX];
    ranks_run(4, sum_in_order, NULL, codes);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(codes[i], 0);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"all_collectives_are_right", all_collectives_are_right},
        {"ranks_that_differ_are_told", ranks_that_differ_are_told},
        {"sums_have_the_order_of_ranks", sums_have_the_order_of_ranks},
    };
    return leo_test_main("coll_collective", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
