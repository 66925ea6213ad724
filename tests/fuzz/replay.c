/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzzer without a fuzzing engine: runs the same entry over a fixed number of mutated seeds, the
 * same ones every time. Usage: replay [COUNT [FIRST]] | replay --seeds DIR | replay FILE...
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT_DEFAULT = 2000 };

struct random {
    uint64_t state;
};

static uint64_t next(struct random *random)
{
    // splitmix64: every state is good, neighbours are unlike.
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static const uint64_t odd_values[] = {
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    63,
    64,
    127,
    255,
    256,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0x1000000,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x100000000,
    0x10000000,
    0x20000000,
    0x30000000,
    0x31000000,
    UINT64_MAX / 2,
    UINT64_MAX - 31,
    UINT64_MAX,
};

/* One mutation; the new length. */
static size_t mutate(struct random *random, uint8_t *data, size_t bytes)
{
    size_t at = bytes ? next(random) % bytes : 0;
    size_t width = (size_t)1 << next(random) % 4;
    uint64_t value = odd_values[next(random) % (sizeof(odd_values) / sizeof(odd_values[0]))];
    switch (bytes ? next(random) % 8 : 6) {
    case 0:
        data[at] ^= (uint8_t)(1u << next(random) % 8);
        return bytes;
    case 1:
        data[at] = (uint8_t)next(random);
        return bytes;
    case 2:
    case 3: // fields of files and rings are aligned
        at &= ~(width - 1);
        memcpy(data + at, &value, at + width <= bytes ? width : bytes - at);
        return bytes;
    case 4:
        return at;
    case 5: {
        size_t from = next(random) % bytes;
        size_t count = next(random) % 64;
        count = count < bytes - from ? count : bytes - from;
        memmove(data + at, data + from, count < bytes - at ? count : bytes - at);
        return bytes;
    }
    case 6:
        for (size_t i = 0; i < 16 && bytes < FUZZ_MAX_BYTES; i++) {
            data[bytes++] = (uint8_t)next(random);
        }
        return bytes;
    default:
        value = next(random);
        memcpy(data + at, &value, at + width <= bytes ? width : bytes - at);
        return bytes;
    }
}

static void run_mutated(uint8_t *data, unsigned seeds, uint64_t number)
{
    struct random random = {number};
    size_t bytes = seeds ? fuzz_seed((unsigned)(next(&random) % seeds), data) : 0;
    for (uint64_t i = next(&random) % 8; number >= seeds && i < 8; i++) {
        bytes = mutate(&random, data, bytes);
    }
    // A block of its own, so that a read past the end is seen.
    uint8_t *exact = malloc(bytes ? bytes : 1);
    fuzz_check(exact != NULL, "out of memory");
    memcpy(exact, data, bytes);
    LLVMFuzzerTestOneInput(exact, bytes);
    free(exact);
}

static void write_seeds(const char *folder, uint8_t *data)
{
    size_t bytes;
    for (unsigned i = 0; (bytes = fuzz_seed(i, data)) != 0; i++) {
        char path[1024];
        snprintf(path, sizeof(path), "%s/seed%u", folder, i);
        FILE *file = fopen(path, "wb");
        fuzz_check(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0,
                   "cannot write a seed");
    }
}

static void run_file(const char *path, uint8_t *data)
{
    FILE *file = fopen(path, "rb");
    fuzz_check(file != NULL, "cannot open the input");
    size_t bytes = fread(data, 1, FUZZ_MAX_BYTES, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, bytes);
}

int main(int argc, char **argv)
{
    uint8_t *data = malloc(FUZZ_MAX_BYTES + 16);
    unsigned seeds = 0;
    char *end = NULL;
    uint64_t count = argc > 1 ? strtoull(argv[1], &end, 0) : COUNT_DEFAULT;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
    fuzz_check(data != NULL, "out of memory");
    if (argc == 3 && strcmp(argv[1], "--seeds") == 0) {
        write_seeds(argv[2], data);
    } else if (end && *end) {
        for (int i = 1; i < argc; i++) {
            run_file(argv[i], data);
        }
    } else {
        while (fuzz_seed(seeds, data)) {
            seeds++;
        }
        for (uint64_t i = first; i < first + count; i++) {
            // What hangs is killed, and ctest shows the last number.
            char text[64];
            int length = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)i);
            if (i % 100 == 0 && write(1, text, (size_t)length) < 0) {
                break;
            }
            run_mutated(data, seeds, i);
        }
    }
    free(data);
    return 0;
}
