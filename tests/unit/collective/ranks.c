/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = -1 };

static int be_rank(uint32_t rank, uint32_t ranks, unsigned wait_ms, const int *pipes, rank_fn fn,
                   void *arg)
{
    struct coll_wire_opts opts = {.rank = rank, .ranks = ranks, .timeout_ms = wait_ms};
    if (rank == 0) {
        if (coll_bootstrap_create(NULL, NULL, &opts.root, &opts.bootstrap) != LEO_OK) {
            return RANK_NO_WIRE;
        }
        for (uint32_t i = 1; i < ranks; i++) {
            if (write(pipes[2 * i + 1], &opts.root, sizeof(opts.root)) < 0) {
                return RANK_NO_WIRE;
            }
        }
    } else if (read(pipes[2 * rank], &opts.root, sizeof(opts.root)) != sizeof(opts.root)) {
        return RANK_NO_WIRE;
    }
    char text[256];
    struct coll_wire *wire;
    if (coll_wire_create(&opts, &wire, text, sizeof(text)) != LEO_OK) {
        fprintf(stderr, "rank %u: %s\n", rank, text);
        return RANK_NO_WIRE;
    }
    int code = fn(wire, arg);
    coll_wire_destroy(wire);
    return code;
}

static void start_all(uint32_t ranks, int absent, unsigned wait_ms, rank_fn fn, void *arg,
                      int *codes)
{
    int pipes[2 * RANKS_MAX];
    pid_t pids[RANKS_MAX] = {0};
    for (uint32_t i = 1; i < ranks; i++) {
        if (pipe(&pipes[2 * i])) {
            perror("pipe");
        }
    }
    for (uint32_t i = 0; i < ranks; i++) {
        if ((int)i != absent && (pids[i] = fork()) == 0) {
            _exit(be_rank(i, ranks, wait_ms, pipes, fn, arg));
        }
    }
    for (uint32_t i = 0; i < ranks; i++) {
        int state = 0;
        codes[i] = 0;
        if (pids[i] && waitpid(pids[i], &state, 0) == pids[i]) {
            codes[i] = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
        }
    }
    for (uint32_t i = 2; i < 2 * ranks; i++) {
        close(pipes[i]);
    }
}

void ranks_run(uint32_t ranks, rank_fn fn, void *arg, int *codes)
{
    start_all(ranks, NOBODY, 30000, fn, arg, codes);
}

void ranks_run_without(uint32_t ranks, uint32_t absent, unsigned wait_ms, rank_fn fn, void *arg,
                       int *codes)
{
    start_all(ranks, (int)absent, wait_ms, fn, arg, codes);
}
