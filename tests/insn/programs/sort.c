/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting three ways, through function pointers, recursion and a list. */
#include "start.h"

enum { COUNT = 3000 };

typedef int (*compare_fn)(int64_t a, int64_t b);

static int by_value(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_low_byte(int64_t a, int64_t b)
{
    int d = (int8_t)a - (int8_t)b;
    return d ? d : by_value(a, b);
}

static const compare_fn orders[] = {by_value, by_low_byte};

static void quick_sort(int64_t *v, long low, long high, compare_fn compare)
{
    while (low < high) {
        int64_t pivot = v[(low + high) / 2];
        long i = low, j = high;
        while (i <= j) {
            while (compare(v[i], pivot) < 0) {
                i++;
            }
            while (compare(v[j], pivot) > 0) {
                j--;
            }
            if (i <= j) {
                int64_t t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        quick_sort(v, low, j, compare);
        low = i;
    }
}

struct node {
    struct node *next;
    int16_t key;
    uint8_t payload[5];
};

static struct node *merge(struct node *a, struct node *b)
{
    struct node head = {0}, *tail = &head;
    while (a && b) {
        struct node **least = a->key <= b->key ? &a : &b;
        tail->next = *least;
        tail = *least;
        *least = tail->next;
    }
    tail->next = a ? a : b;
    return head.next;
}

static struct node *merge_sort(struct node *list, long count)
{
    if (count < 2) {
        if (list) {
            list->next = NULL;
        }
        return list;
    }
    struct node *middle = list;
    for (long i = 0; i < count / 2; i++) {
        middle = middle->next;
    }
    struct node *right = merge_sort(middle, count - count / 2);
    return merge(merge_sort(list, count / 2), right);
}

static int64_t values[COUNT];
static struct node nodes[COUNT];

int program(void)
{
    uint64_t seed = 88172645463325252u;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            values[i] = (int64_t)next_random(&seed) >> (i % 50);
        }
        quick_sort(values, 0, COUNT - 1, orders[round]);
        emit_bytes(values, sizeof(values));
    }
    for (int i = 0; i < COUNT; i++) {
        uint64_t r = next_random(&seed);
        nodes[i].key = (int16_t)r;
        memcpy(nodes[i].payload, (char *)&r + 3, 5);
        nodes[i].next = i + 1 < COUNT ? &nodes[i + 1] : NULL;
    }
    for (struct node *n = merge_sort(nodes, COUNT); n; n = n->next) {
        emit_bytes(&n->key, 7);
    }
    return 0;
}
