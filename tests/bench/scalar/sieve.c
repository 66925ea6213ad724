/* SPDX-License-Identifier: Apache-2.0 */
/* Sieve of Eratosthenes: byte stores with large strides, and a count. */
#include "../../insn/programs/start.h"

enum { LIMIT = 1 << 16, ROUNDS = 400 };

static uint8_t composite[LIMIT];

int program(void)
{
    uint64_t count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LIMIT; i++) {
            composite[i] = 0;
        }
        for (int i = 2; i * i < LIMIT; i++) {
            for (int k = i * i; !composite[i] && k < LIMIT; k += i) {
                composite[k] = 1;
            }
        }
        for (int i = 2; i < LIMIT; i++) {
            count += !composite[i];
        }
    }
    emit(count);
    return 0;
}
