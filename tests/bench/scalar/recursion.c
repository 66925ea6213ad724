/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: Fibonacci, Ackermann, Hanoi, queens. */
#include "../../insn/programs/start.h"

static uint64_t fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static uint64_t ackermann(uint64_t m, uint64_t n)
{
    return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

static uint64_t move(unsigned count, unsigned from, unsigned to, uint64_t sum)
{
    if (count == 0) {
        return sum;
    }
    sum = move(count - 1, from, 3 - from - to, sum);
    return move(count - 1, 3 - from - to, to, sum * 3 + from * 2 + to);
}

static uint64_t place(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    if (columns == all) {
        return 1;
    }
    uint64_t found = 0;
    for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
        unsigned bit = free & (0 - free);
        found += place(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}

int program(void)
{
    emit(fibonacci(31));
    emit(ackermann(2, 1200));
    emit(move(20, 0, 2, 0));
    emit(place((1u << 9) - 1, 0, 0, 0));
    return 0;
}
