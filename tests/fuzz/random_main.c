/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a fuzz target files, or a fixed row of pseudo-random inputs: what a build without libFuzzer runs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { MOST_BYTES = 1 << 16 };

static int run_file(const char *path)
{
    static uint8_t data[MOST_BYTES];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 2;
    }
    size_t bytes = fread(data, 1, sizeof(data), file);
    fclose(file);
    return LLVMFuzzerTestOneInput(data, bytes);
}

/* usage: fuzz_x [FILE | rounds seed] */
int main(int argc, char **argv)
{
    if (argc == 2) {
        return run_file(argv[1]);
    }
    static uint8_t data[MOST_BYTES];
    unsigned long rounds = argc > 2 ? strtoul(argv[1], NULL, 10) : 200;
    uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (unsigned long round = 0; round < rounds; round++) {
        size_t bytes = 66 * (round % 40 + 1);
        for (size_t i = 0; i < bytes; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            uint8_t byte = (uint8_t)(state >> 56);
            // Zeros are as likely as all else together: fields must be small to mean something.
            data[i] = state >> 40 & 3 ? 0 : byte;
            data[i] = i % 66 < 3 ? byte : data[i];
        }
        if (LLVMFuzzerTestOneInput(data, bytes)) {
            return 1;
        }
    }
    return 0;
}
