/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of words and of bytes, and a comparison. */
#include "../../insn/programs/start.h"

enum { WORDS = 4096, ROUNDS = 2500 };

static uint64_t from[WORDS], to[WORDS];

int program(void)
{
    uint64_t seed = 7, differences = 0;
    for (int i = 0; i < WORDS; i++) {
        from[i] = next_random(&seed);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++) {
            to[i] = from[i];
        }
        const uint8_t *bytes = (const uint8_t *)from;
        uint8_t *out = (uint8_t *)to;
        for (int i = 0; i < WORDS; i++) {
            out[i + round % 8] = bytes[i];
        }
        for (int i = 0; i < WORDS; i++) {
            differences += to[i] != from[i];
        }
    }
    emit(differences);
    return 0;
}
