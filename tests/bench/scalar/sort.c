/* SPDX-License-Identifier: Apache-2.0 */
/* Quicksort by recursion, insertion sort of the short ends. */
#include "../../insn/programs/start.h"

enum { COUNT = 20000, ROUNDS = 30, SHORT = 12 };

static int32_t values[COUNT];

static void insert(int32_t *v, int count)
{
    for (int i = 1; i < count; i++) {
        int32_t value = v[i];
        int k = i;
        for (; k > 0 && v[k - 1] > value; k--) {
            v[k] = v[k - 1];
        }
        v[k] = value;
    }
}

static void sort(int32_t *v, int count)
{
    while (count > SHORT) {
        int32_t pivot = v[count / 2];
        int left = 0, right = count - 1;
        while (left <= right) {
            while (v[left] < pivot) {
                left++;
            }
            while (v[right] > pivot) {
                right--;
            }
            if (left <= right) {
                int32_t value = v[left];
                v[left++] = v[right];
                v[right--] = value;
            }
        }
        sort(v + left, count - left);
        count = right + 1;
    }
    insert(v, count);
}

int program(void)
{
    uint64_t seed = 99, sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++) {
            values[i] = (int32_t)next_random(&seed);
        }
        sort(values, COUNT);
        for (int i = 0; i < COUNT; i++) {
            sum = sum * 31 + (uint32_t)values[i];
        }
    }
    emit(sum);
    return 0;
}
