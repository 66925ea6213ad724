/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "ring.h"

#include <stdlib.h>
#include <string.h>

// The device's side: completes the next entry.
struct peer {
    uint32_t head, cq_tail, phase;
};

static void complete(struct drv_ring *ring, struct peer *peer)
{
    ring->cq[peer->cq_tail].cmd_id = ring->sq[peer->head].cmd_id;
    ring->cq[peer->cq_tail].phase = peer->phase;
    peer->head = (peer->head + 1) % ring->depth;
    peer->cq_tail = (peer->cq_tail + 1) % ring->depth;
    peer->phase += peer->cq_tail == 0;
}

static void push(struct drv_ring *ring, uint32_t cmd_id)
{
    const struct leo_sqe entry = {.cmd_id = cmd_id};
    drv_ring_write(ring, &entry);
    drv_ring_push(ring);
}

static void ring_is_full_one_short_of_its_depth(void)
{
    void *memory = calloc(1, drv_ring_bytes(4));
    struct drv_ring ring;
    drv_ring_init(&ring, memory, 4);
    CU_ASSERT(!drv_ring_is_full(&ring));
    push(&ring, 1);
    push(&ring, 2);
    CU_ASSERT(!drv_ring_is_full(&ring));
    push(&ring, 3);
    CU_ASSERT(drv_ring_is_full(&ring));
    free(memory);
}

static void ring_pop_finds_nothing_before_a_completion(void)
{
    void *memory = calloc(1, drv_ring_bytes(4));
    struct drv_ring ring;
    struct leo_cqe done;
    drv_ring_init(&ring, memory, 4);
    CU_ASSERT(!drv_ring_pop(&ring, &done));
    push(&ring, 1);
    CU_ASSERT(!drv_ring_pop(&ring, &done));
    free(memory);
}

static void ring_keeps_order_over_many_turns(void)
{
    void *memory = calloc(1, drv_ring_bytes(8));
    struct drv_ring ring;
    struct peer peer = {.phase = 1};
    struct leo_cqe done;
    uint32_t next = 0, expected = 0;
    drv_ring_init(&ring, memory, 8);
    for (int turn = 0; turn < 100; turn++) {
        int count = turn % 8;
        for (int i = 0; i < count; i++) {
            push(&ring, next++);
        }
        for (int i = 0; i < count; i++) {
            complete(&ring, &peer);
            CU_ASSERT(drv_ring_pop(&ring, &done));
            CU_ASSERT_EQUAL(done.cmd_id, expected);
            expected++;
        }
        CU_ASSERT(!drv_ring_pop(&ring, &done));
        CU_ASSERT_EQUAL(ring.used, 0);
    }
    free(memory);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"ring_is_full_one_short_of_its_depth", ring_is_full_one_short_of_its_depth},
        {"ring_pop_finds_nothing_before_a_completion", ring_pop_finds_nothing_before_a_completion},
        {"ring_keeps_order_over_many_turns", ring_keeps_order_over_many_turns},
    };
    return leo_test_main("ring", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
