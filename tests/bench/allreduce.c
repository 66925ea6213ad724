/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce of 64 MiB of floats over two processes, as a share of what memcpy does in both at
 * once. Each of the two ranks sends and receives 64 MiB: half of the elements as an addend, half as
 * a sum. */
#include <acl/acl.h>
#include <hccl/hccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 64 << 20, ROUNDS = 15 };

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), compare);
    return values[ROUNDS / 2];
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) {                                                                                \
            const char *why = aclGetRecentErrMsg();                                                \
            fprintf(stderr, "%s: %s\n", #call, why ? why : "");                                    \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

/* Copies and all-reduces by turns, so that both see the same state of the machine. */
static int measure(HcclComm comm, aclrtStream stream, void *data, int rank)
{
    double copies[ROUNDS], sums[ROUNDS];
    char *from = malloc(BYTES), *to = malloc(BYTES);
    if (!from || !to) {
        return 1;
    }
    memset(from, 1, BYTES);
    memset(to, 2, BYTES);
    for (int i = -1; i < ROUNDS; i++) { // one round to warm up
        TRY(HcclBarrier(comm, stream));
        TRY(aclrtSynchronizeStream(stream));
        double start = now_us();
        memcpy(to, from, BYTES);
        const double copied = now_us() - start;
        TRY(HcclBarrier(comm, stream));
        TRY(aclrtSynchronizeStream(stream));
        start = now_us();
        TRY(HcclAllReduce(data, data, BYTES / 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm,
                          stream));
        TRY(aclrtSynchronizeStream(stream));
        if (i >= 0) {
            copies[i] = copied;
            sums[i] = now_us() - start;
        }
    }
    if (rank == 0) {
        const double copy = median(copies), sum = median(sums);
        printf("memcpy of 64 MiB in two processes   %8.0f us, %.1f GB/s each\n", copy,
               BYTES / copy / 1e3);
        printf("all-reduce of 64 MiB over the two   %8.0f us, %.2f of memcpy's bandwidth\n", sum,
               copy / sum);
    }
    free(from);
    free(to);
    return 0;
}

static int be_rank(int rank, const int *pipes)
{
    aclrtStream stream;
    HcclRootInfo root;
    HcclComm comm;
    void *data;
    TRY(aclInit(NULL));
    TRY(aclrtSetDevice(0));
    TRY(aclrtCreateStream(&stream));
    TRY(aclrtMalloc(&data, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    TRY(aclrtMemset(data, BYTES, 0, BYTES));
    if (rank == 0) {
        TRY(HcclGetRootInfo(&root));
        TRY(write(pipes[1], &root, sizeof(root)) != sizeof(root));
    } else {
        TRY(read(pipes[0], &root, sizeof(root)) != sizeof(root));
    }
    TRY(HcclCommInitRootInfo(2, &root, (uint32_t)rank, &comm));
    int code = measure(comm, stream, data, rank);
    TRY(HcclCommDestroy(comm));
    TRY(aclrtResetDevice(0));
    TRY(aclFinalize());
    return code;
}

int main(void)
{
    int pipes[2], state = 0;
    if (pipe(pipes)) {
        return 1;
    }
    const pid_t other = fork();
    if (other == 0) {
        exit(be_rank(1, pipes));
    }
    const int code = be_rank(0, pipes);
    return waitpid(other, &state, 0) != other || code || state ? 1 : 0;
}
