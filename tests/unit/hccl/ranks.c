/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"

#include "harness.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = -1 };

/* The root information goes round through pipes, as a program would hand it round. */
static int meet(struct rank *self, const int *pipes)
{
    HcclRootInfo root;
    if (self->rank == 0) {
        TRY(HcclGetRootInfo(&root));
        for (uint32_t i = 1; i < self->ranks; i++) {
            CHECK(write(pipes[2 * i + 1], &root, sizeof(root)) == sizeof(root));
        }
    } else {
        CHECK(read(pipes[2 * self->rank], &root, sizeof(root)) == sizeof(root));
    }
    TRY(HcclCommInitRootInfo(self->ranks, &root, self->rank, &self->comm));
    return 0;
}

static int be_rank(uint32_t rank, uint32_t ranks, const int *pipes, rank_fn fn)
{
    struct rank *self = calloc(1, sizeof(*self));
    self->rank = rank;
    self->ranks = ranks;
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    TRY(aclInit(NULL));
    TRY(aclrtSetDevice(0));
    TRY(aclrtCreateStream(&self->stream));
    TRY(aclrtMalloc(&self->a, sizeof(self->host), 0));
    TRY(aclrtMalloc(&self->b, sizeof(self->host), 0));
    int code = pipes ? meet(self, pipes) : 0;
    if (code == 0) {
        code = fn(self);
    }
    if (!code) {
        if (self->comm) {
            TRY(HcclCommDestroy(self->comm));
        }
        TRY(aclrtResetDevice(0));
        TRY(aclFinalize());
    }
    free(self);
    return code;
}

static void start_all(uint32_t ranks, rank_fn fn, int killed, bool grouped)
{
    int pipes[2 * RANKS_MAX];
    pid_t pids[RANKS_MAX];
    for (uint32_t i = 1; i < ranks; i++) {
        CU_ASSERT_EQUAL_FATAL(pipe(&pipes[2 * i]), 0);
    }
    for (uint32_t i = 0; i < ranks; i++) {
        if ((pids[i] = fork()) == 0) {
            _exit(be_rank(i, ranks, grouped ? pipes : NULL, fn));
        }
    }
    for (uint32_t i = 0; i < ranks; i++) {
        int state = 0;
        waitpid(pids[i], &state, 0);
        if ((int)i == killed) {
            CU_ASSERT(WIFSIGNALED(state));
        } else {
            CU_ASSERT(WIFEXITED(state) && WEXITSTATUS(state) == 0);
        }
    }
    for (uint32_t i = 2; i < 2 * ranks; i++) {
        close(pipes[i]);
    }
}

void ranks_run(uint32_t ranks, rank_fn fn)
{
    start_all(ranks, fn, NOBODY, true);
}

void ranks_run_losing(uint32_t ranks, rank_fn fn, int killed)
{
    start_all(ranks, fn, killed, true);
}

void ranks_run_alone(uint32_t ranks, rank_fn fn)
{
    start_all(ranks, fn, NOBODY, false);
}
