/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_known TAPE CHIP...: prices a tape on each chip twice, by itself and with what the chips
 * before it found out. Both must tell the same of every task. Says how many launches each time took
 * from another one.
 */
#include <leo/replay.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 24, MAX_KNOWN_BYTES = 1 << 26 };

struct told {
    uint64_t hash;
    struct leo_sim_replay_result result;
    leo_status status;
};

static void add(uint64_t *hash, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        *hash = (*hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    }
}

static void add_task(void *user, const struct leo_sim_replayed *task)
{
    struct told *told = user;
    const uint64_t times[] = {task->start_ps, task->end_ps, task->number};
    add(&told->hash, times, sizeof(times));
    add(&told->hash, task->record, sizeof(*task->record));
}

static struct told price(const struct leo_sim_tape *tape, struct leo_sim_known *known,
                         const char *chip, const char *name)
{
    struct told told = {.hash = 1};
    char error[512] = "";
    const struct leo_sim_replay_opts opts = {.size = sizeof(opts),
                                             .tape = tape,
                                             .known = known,
                                             .soc_text = chip,
                                             .each = add_task,
                                             .user = &told};
    told.status = leo_sim_replay(&opts, &told.result, error, sizeof(error));
    if (told.status != LEO_OK) {
        fprintf(stderr, "%s: %s\n", name, error);
    }
    return told;
}

static size_t read_file(const char *path, char *data)
{
    FILE *file = fopen(path, "rb");
    const size_t bytes = file ? fread(data, 1, MAX_BYTES - 1, file) : 0;
    data[bytes] = 0;
    if (file) {
        fclose(file);
    }
    return bytes;
}

int main(int argc, char **argv)
{
    char *data = malloc(MAX_BYTES);
    struct leo_sim_tape *tape = NULL;
    struct leo_sim_known *known = NULL;
    bool good = argc > 2 && data &&
                leo_sim_tape_open(data, read_file(argv[1], data), &tape) == LEO_OK &&
                leo_sim_known_create(tape, MAX_KNOWN_BYTES, &known) == LEO_OK;
    for (int i = 2; i < argc && good; i++) {
        (void)read_file(argv[i], data);
        const struct told alone = price(tape, NULL, data, argv[i]);
        const struct told told = price(tape, known, data, argv[i]);
        good = alone.status == told.status &&
               (alone.status != LEO_OK ||
                (alone.hash == told.hash && alone.result.ps == told.result.ps &&
                 alone.result.instructions == told.result.instructions));
        printf("%s %d %llu %llu\n", good ? "same" : "other", (int)told.status,
               (unsigned long long)alone.result.recalled, (unsigned long long)told.result.recalled);
    }
    leo_sim_known_destroy(known);
    leo_sim_tape_close(tape);
    free(data);
    return !good;
}
