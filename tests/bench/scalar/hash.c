/* SPDX-License-Identifier: Apache-2.0 */
/* An open hash table, filled, searched and thinned out; and FNV of its bytes. */
#include "../../insn/programs/start.h"

enum { SLOTS = 1 << 13, KEYS = 5000, ROUNDS = 150 };

static uint64_t keys[SLOTS];
static uint32_t counts[SLOTS];

static unsigned find(uint64_t key)
{
    uint64_t mixed = key * 0x9e3779b97f4a7c15;
    unsigned slot = (unsigned)(mixed >> 51);
    while (keys[slot] && keys[slot] != key) {
        slot = (slot + 1) & (SLOTS - 1);
    }
    return slot;
}

static uint64_t fnv(const uint8_t *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3;
    }
    return hash;
}

int program(void)
{
    uint64_t seed = 3, sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t state = seed;
        for (int i = 0; i < KEYS; i++) {
            uint64_t key = next_random(&seed) | 1;
            unsigned slot = find(key);
            keys[slot] = key;
            counts[slot]++;
        }
        for (int i = 0; i < KEYS; i++) {
            sum += counts[find(next_random(&state) | 1)];
        }
        sum ^= fnv((const uint8_t *)counts, sizeof(counts) / 4);
        for (int i = 0; i < SLOTS; i++) {
            keys[i] = 0;
            counts[i] = 0;
        }
    }
    emit(sum);
    return 0;
}
