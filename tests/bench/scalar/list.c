/* SPDX-License-Identifier: Apache-2.0 */
/* Linked lists: built in random order, walked, reversed, merge-sorted. */
#include "../../insn/programs/start.h"

enum { NODES = 4000, ROUNDS = 120 };

struct node {
    struct node *next;
    uint32_t value;
};

static struct node nodes[NODES];

static struct node *reverse(struct node *list)
{
    struct node *done = NULL;
    while (list) {
        struct node *next = list->next;
        list->next = done;
        done = list;
        list = next;
    }
    return done;
}

static struct node *merge(struct node *left, struct node *right)
{
    struct node head = {NULL, 0}, *tail = &head;
    while (left && right) {
        struct node **least = left->value <= right->value ? &left : &right;
        tail->next = *least;
        tail = *least;
        *least = tail->next;
    }
    tail->next = left ? left : right;
    return head.next;
}

static struct node *sort(struct node *list, int count)
{
    if (count < 2) {
        return list;
    }
    struct node *middle = list;
    for (int i = 1; i < count / 2; i++) {
        middle = middle->next;
    }
    struct node *right = middle->next;
    middle->next = NULL;
    return merge(sort(list, count / 2), sort(right, count - count / 2));
}

int program(void)
{
    uint64_t seed = 17, sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < NODES; i++) {
            nodes[i].next = i + 1 < NODES ? &nodes[i + 1] : NULL;
            nodes[i].value = (uint32_t)next_random(&seed);
        }
        struct node *list = sort(nodes, NODES);
        for (int i = 0; i < 20; i++) {
            list = reverse(list);
            for (struct node *n = list; n; n = n->next) {
                sum += n->value ^ (uint32_t)i;
            }
        }
    }
    emit(sum);
    return 0;
}
