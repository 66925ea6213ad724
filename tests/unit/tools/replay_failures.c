/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_failures TAPE: prices a tape again and again while the n-th allocation fails, for every n.
 * Each time it must say that, or give the times that it gives with all its memory.
 */
#include <leo/alloc.h>
#include <leo/replay.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_TAPE_BYTES = 1 << 24, MAX_FAILURES = 100000 };

struct times {
    uint64_t hash, tasks;
};

static void add_task(void *user, const struct leo_sim_replayed *task)
{
    struct times *times = user;
    times->hash = times->hash * UINT64_C(0x9e3779b97f4a7c15) + task->start_ps;
    times->hash = times->hash * UINT64_C(0x9e3779b97f4a7c15) + task->end_ps;
    times->tasks++;
}

static leo_status price(const struct leo_sim_tape *tape, struct times *times)
{
    char error[512] = "";
    struct leo_sim_replay_result result;
    const struct leo_sim_replay_opts opts = {.size = sizeof(opts),
                                             .tape = tape,
                                             .soc_text = leo_sim_tape_soc_text(tape),
                                             .each = add_task,
                                             .user = times};
    *times = (struct times){0};
    return leo_sim_replay(&opts, &result, error, sizeof(error));
}

static struct leo_sim_tape *open_tape(const char *path)
{
    struct leo_sim_tape *tape = NULL;
    FILE *file = fopen(path, "rb");
    void *data = malloc(MAX_TAPE_BYTES);
    if (file && data) {
        const size_t bytes = fread(data, 1, MAX_TAPE_BYTES, file);
        tape = leo_sim_tape_open(data, bytes, &tape) == LEO_OK ? tape : NULL;
    }
    if (file) {
        fclose(file);
    }
    free(data);
    return tape;
}

int main(int argc, char **argv)
{
    struct leo_sim_tape *tape = argc == 2 ? open_tape(argv[1]) : NULL;
    struct times all, times;
    int refused = 0, priced = 0, wrong = 0, n = 1;
    if (!tape || price(tape, &all) != LEO_OK) {
        fprintf(stderr, "replay_failures: one tape is needed\n");
        return 2;
    }
    for (bool over = false; !over && n < MAX_FAILURES; n++) {
        leo_alloc_fail_after(n);
        const leo_status status = price(tape, &times);
        over = leo_alloc_fail_pending() != 0;
        leo_alloc_fail_after(0);
        refused += status != LEO_OK;
        priced += status == LEO_OK;
        if (status == LEO_OK ? times.hash != all.hash || times.tasks != all.tasks
                             : status != LEO_ERR_NO_MEMORY) {
            fprintf(stderr, "allocation %d fails: %s\n", n,
                    status == LEO_OK ? "other times" : leo_status_text(status));
            wrong++;
        }
    }
    leo_sim_tape_close(tape);
    printf("%d allocations, %d refused, %d priced, %d wrong\n", n - 2, refused, priced, wrong);
    return wrong || refused < 10 || n == MAX_FAILURES;
}
