/* SPDX-License-Identifier: Apache-2.0 */
/* CNCL: every collective against its definition, between ranks of one process and of several. */
#include "harness.h"

#include <cncl/cncl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3, DEVICES = 2, COUNT = 1000 };

struct clique {
    cnclComm_t comm[RANKS];
    cnrtQueue_t queue[RANKS];
    float *a[RANKS], *b[RANKS]; /* device memory of RANKS x COUNT */
};

#define OK(call) CU_ASSERT_EQUAL((int)(call), 0)

// What rank `rank` gives as element `i`.
static float given(int rank, int i)
{
    return (float)(rank * 100 + i % 13);
}

static void clique_begin(struct clique *clique)
{
    static float host[RANKS * COUNT];
    int ranks[RANKS], devices[RANKS];
    memset(clique, 0, sizeof(*clique));
    for (int rank = 0; rank < RANKS; rank++) {
        ranks[rank] = rank;
        devices[rank] = rank % DEVICES;
        OK(cnrtSetDevice(devices[rank]));
        OK(cnrtQueueCreate(&clique->queue[rank]));
        OK(cnrtMalloc((void **)&clique->a[rank], sizeof(host)));
        OK(cnrtMalloc((void **)&clique->b[rank], sizeof(host)));
        for (int i = 0; i < RANKS * COUNT; i++) {
            host[i] = given(rank, i);
        }
        OK(cnrtMemcpy(clique->a[rank], host, sizeof(host), cnrtMemcpyHostToDev));
        OK(cnrtMemset(clique->b[rank], 0, sizeof(host)));
    }
    CU_ASSERT_EQUAL_FATAL(cnclInitComms(clique->comm, RANKS, devices, ranks, RANKS, NULL),
                          CNCL_RET_SUCCESS);
}

static void reset_devices(void)
{
    for (int device = 0; device < DEVICES; device++) {
        OK(cnrtSetDevice(device));
        OK(cnrtDeviceReset());
    }
}

static void clique_end(struct clique *clique)
{
    OK(cnclDestroyComms(clique->comm, RANKS));
    for (int rank = 0; rank < RANKS; rank++) {
        OK(cnrtQueueDestroy(clique->queue[rank]));
        OK(cnrtFree(clique->a[rank]));
        OK(cnrtFree(clique->b[rank]));
    }
    reset_devices();
}

static void clique_sync(struct clique *clique)
{
    for (int rank = 0; rank < RANKS; rank++) {
        OK(cnrtQueueSync(clique->queue[rank]));
        OK(cnclGetCommAsyncError(clique->comm[rank]));
    }
}

// Asserts that `count` floats of b at `rank`, from `from` on, are what `expected` says of index i.
static void expect(struct clique *clique, int rank, int from, int count,
                   float (*expected)(int rank, int i))
{
    static float got[RANKS * COUNT];
    OK(cnrtMemcpy(got, clique->b[rank] + from, (size_t)count * sizeof(float), cnrtMemcpyDevToHost));
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        wrong += got[i] != expected(rank, i);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static float sum_of(int rank, int i)
{
    (void)rank;
    return given(0, i) + given(1, i) + given(2, i);
}

static float largest_of(int rank, int i)
{
    (void)rank;
    return given(RANKS - 1, i);
}

static float of_rank_1(int rank, int i)
{
    (void)rank;
    return given(1, i);
}

static float gathered(int rank, int i)
{
    (void)rank;
    return given(i / COUNT, i % COUNT);
}

static float scattered_sum(int rank, int i)
{
    return sum_of(0, rank * COUNT + i);
}

static float swapped(int rank, int i)
{
    return given(i / COUNT, rank * COUNT + i % COUNT);
}

static float of_left(int rank, int i)
{
    return given((rank + RANKS - 1) % RANKS, i);
}

static float nothing(int rank, int i)
{
    (void)rank;
    (void)i;
    return 0;
}

static void ranks_of_a_process_reduce(void)
{
    struct clique c;
    clique_begin(&c);
    for (int r = 0; r < RANKS; r++) {
        OK(cnclAllReduce(c.a[r], c.b[r], COUNT, cnclFloat, cnclSum, c.comm[r], c.queue[r]));
    }
    clique_sync(&c);
    for (int r = 0; r < RANKS; r++) {
        expect(&c, r, 0, COUNT, sum_of);
        expect(&c, r, COUNT, COUNT, nothing);
        OK(cnclAllReduce(c.a[r], c.b[r], COUNT, cnclFloat, cnclMax, c.comm[r], c.queue[r]));
    }
    clique_sync(&c);
    for (int r = 0; r < RANKS; r++) {
        expect(&c, r, 0, COUNT, largest_of);
        OK(cnclReduceScatter(c.a[r], c.b[r], COUNT, cnclFloat, cnclSum, c.comm[r], c.queue[r]));
    }
    clique_sync(&c);
    for (int r = 0; r < RANKS; r++) {
        expect(&c, r, 0, COUNT, scattered_sum);
        // Only the root needs room for the result.
        OK(cnrtSetDevice(r % DEVICES));
        OK(cnrtMemset(c.b[r], 0, COUNT * sizeof(float)));
        OK(cnclReduce(c.a[r], r == 2 ? c.b[r] : NULL, COUNT, cnclFloat, cnclSum, 2, c.comm[r],
                      c.queue[r]));
    }
    clique_sync(&c);
    expect(&c, 2, 0, COUNT, sum_of);
    expect(&c, 0, 0, COUNT, nothing);
    clique_end(&c);
}

static void ranks_of_a_process_move_data(void)
{
    struct clique c;
    clique_begin(&c);
    for (int r = 0; r < RANKS; r++) {
        // The root's buffers are two: what it sends it has too.
        OK(cnclBroadcast(c.a[r], c.b[r], COUNT, cnclFloat, 1, c.comm[r], c.queue[r]));
    }
    clique_sync(&c);
    for (int r = 0; r < RANKS; r++) {
        expect(&c, r, 0, COUNT, of_rank_1);
        OK(cnclAllGather(c.a[r], c.b[r], COUNT, cnclFloat, c.comm[r], c.queue[r]));
    }
    clique_sync(&c);
    for (int r = 0; r < RANKS; r++) {
        expect(&c, r, 0, RANKS * COUNT, gathered);
        OK(cnclAlltoAll(c.a[r], c.b[r], COUNT, cnclFloat, c.comm[r], c.queue[r]));
    }
    clique_sync(&c);
    for (int r = 0; r < RANKS; r++) {
        expect(&c, r, 0, RANKS * COUNT, swapped);
        OK(cnrtSetDevice(r % DEVICES));
        OK(cnrtMemset(c.b[r], 0, RANKS * COUNT * sizeof(float)));
        const void *send[RANKS];
        void *recv[RANKS];
        uint32_t counts[RANKS];
        cnclDataType_t types[RANKS];
        for (int i = 0; i < RANKS; i++) {
            send[i] = c.a[r] + i * COUNT;
            recv[i] = c.b[r] + i * COUNT;
            counts[i] = COUNT;
            types[i] = cnclFloat32;
        }
        OK(cnclAlltoAllv(send, counts, types, recv, counts, types, c.comm[r], c.queue[r]));
    }
    clique_sync(&c);
    for (int r = 0; r < RANKS; r++) {
        expect(&c, r, 0, RANKS * COUNT, swapped);
    }
    // A ring of sends and receives, all of one thread: only possible as a group.
    OK(cnclGroupStart());
    for (int r = 0; r < RANKS; r++) {
        OK(cnclSend(c.a[r], COUNT, cnclFloat, (r + 1) % RANKS, c.comm[r], c.queue[r]));
        OK(cnclRecv(c.b[r], COUNT, cnclFloat, (r + RANKS - 1) % RANKS, c.comm[r], c.queue[r]));
    }
    OK(cnclGroupEnd());
    clique_sync(&c);
    for (int r = 0; r < RANKS; r++) {
        expect(&c, r, 0, COUNT, of_left);
        OK(cnclBcast(c.a[r], COUNT, cnclFloat, 0, c.comm[r], c.queue[r]));
    }
    clique_sync(&c);
    clique_end(&c);
}

static void a_communicator_tells_what_it_is(void)
{
    struct clique c;
    struct cnclCommConfig config = {CNCL_PRIORITY_DEFAULT};
    int number = -1, major = 0, minor = 0, patch = -1;
    clique_begin(&c);
    OK(cnclGetCommCount(&number, c.comm[1]));
    CU_ASSERT_EQUAL(number, RANKS);
    OK(cnclGetCommRank(&number, c.comm[1]));
    CU_ASSERT_EQUAL(number, 1);
    OK(cnclGetCommDevice(&number, c.comm[1]));
    CU_ASSERT_EQUAL(number, 1);
    OK(cnclGetLibVersion(&major, &minor, &patch));
    CU_ASSERT(major == CNCL_MAJOR_VERSION && minor == CNCL_MINOR_VERSION && patch >= 0);
    OK(cnclSetCommConfig(c.comm[0], &config));
    config.priority = CNCL_PRIORITY_HIGH;
    CU_ASSERT_EQUAL(cnclSetCommConfig(c.comm[0], &config), CNCL_RET_ERR_UNSUPPORTED);
    CU_ASSERT_STRING_EQUAL(cnclGetErrorStr(CNCL_RET_ERR_ARGUMENTS), "an argument is invalid");
    clique_end(&c);
}

static void wrong_use_is_refused(void)
{
    struct clique c;
    cnclComm_t comm;
    struct cnclCliqueId foreign = {{0}, 0};
    const int zero[2] = {0, 0}, far_rank[1] = {5};
    clique_begin(&c);
    const cnclComm_t one = c.comm[0];
    const cnrtQueue_t queue = c.queue[0];
    CU_ASSERT_EQUAL(cnclGetCliqueId(NULL), CNCL_RET_ERR_ARGUMENTS);
    CU_ASSERT_EQUAL(cnclInitComms(&comm, 1, zero, zero, 1, &foreign), CNCL_RET_ERR_ARGUMENTS);
    CU_ASSERT_EQUAL(cnclInitComms(&comm, 1, zero, zero, 2, NULL), CNCL_RET_ERR_ARGUMENTS);
    CU_ASSERT_EQUAL(cnclInitComms(&comm, 1, zero, far_rank, 1, NULL), CNCL_RET_ERR_ARGUMENTS);
    CU_ASSERT_EQUAL(cnclInitComms(NULL, 1, zero, zero, 1, NULL), CNCL_RET_ERR_ARGUMENTS);
    CU_ASSERT_EQUAL(cnclAllReduce(c.a[0], NULL, 1, cnclFloat, cnclSum, one, queue),
                    CNCL_RET_ERR_ARGUMENTS);
    CU_ASSERT_EQUAL(cnclAllReduce(c.a[0], c.b[0], 1, cnclInvalid, cnclSum, one, queue),
                    CNCL_RET_ERR_UNSUPPORTED);
    CU_ASSERT_EQUAL(cnclAllReduce(c.a[0], c.b[0], 1, cnclFloat, (cnclReduceOp_t)9, one, queue),
                    CNCL_RET_ERR_UNSUPPORTED);
    CU_ASSERT_EQUAL(cnclBcast(c.a[0], 1, cnclFloat, RANKS, one, queue), CNCL_RET_ERR_ARGUMENTS);
    CU_ASSERT_EQUAL(cnclSend(c.a[0], 1, cnclFloat, RANKS, one, queue), CNCL_RET_ERR_ARGUMENTS);
    CU_ASSERT_EQUAL(cnclGroupEnd(), CNCL_RET_ERR_ARGUMENTS);
    // A group with a message that failed sends none, and says so.
    OK(cnclGroupStart());
    OK(cnclSend(c.a[0], 1, cnclFloat, 1, one, queue));
    CU_ASSERT_EQUAL(cnclSend(c.a[0], 1, cnclFloat, RANKS, one, queue), CNCL_RET_ERR_ARGUMENTS);
    CU_ASSERT_EQUAL(cnclGroupEnd(), CNCL_RET_ERR_ARGUMENTS);
    OK(cnrtQueueSync(queue));
    clique_end(&c);
    CU_ASSERT_EQUAL(cnclFreeComm(one), CNCL_RET_ERR_ARGUMENTS);
    CU_ASSERT_EQUAL(cnclAllReduce(c.a[0], c.b[0], 1, cnclFloat, cnclSum, one, queue),
                    CNCL_RET_ERR_ARGUMENTS);
}

// Ranks that differ in what they call all learn it, at the queue and from the communicator.
static void a_mismatch_is_told_to_every_rank(void)
{
    struct clique c;
    clique_begin(&c);
    for (int r = 0; r < RANKS; r++) {
        OK(cnclAllReduce(c.a[r], c.b[r], r == 1 ? 7 : 8, cnclFloat, cnclSum, c.comm[r],
                         c.queue[r]));
    }
    for (int r = 0; r < RANKS; r++) {
        CU_ASSERT_NOT_EQUAL(cnrtQueueSync(c.queue[r]), cnrtSuccess);
        CU_ASSERT_EQUAL(cnclGetCommAsyncError(c.comm[r]), CNCL_RET_ASYNC_ERROR);
    }
    clique_end(&c);
}

// A rank that waits for one that never calls is freed by an abort.
static void an_abort_ends_what_waits(void)
{
    struct clique c;
    clique_begin(&c);
    OK(cnclAllReduce(c.a[0], c.b[0], COUNT, cnclFloat, cnclSum, c.comm[0], c.queue[0]));
    CU_ASSERT_EQUAL(cnclGetCommAsyncError(c.comm[0]), CNCL_RET_ASYNC_IN_PROGRESS);
    for (int r = 0; r < RANKS; r++) {
        OK(cnclAbortComm(c.comm[r]));
    }
    CU_ASSERT_NOT_EQUAL(cnrtQueueSync(c.queue[0]), cnrtSuccess);
    reset_devices();
}

/* ---- ranks that are processes ---- */

static int be_rank(int rank, const int *pipe_ends)
{
    struct cnclCliqueId id;
    const int device = 0;
    static float host[COUNT];
    cnclComm_t comm;
    cnrtQueue_t queue;
    float *data;
    if (rank == 0) {
        if (cnclGetCliqueId(&id) || write(pipe_ends[1], &id, sizeof(id)) != sizeof(id)) {
            return 1;
        }
    } else if (read(pipe_ends[0], &id, sizeof(id)) != sizeof(id)) {
        return 2;
    }
    if (cnrtSetDevice(0) || cnrtQueueCreate(&queue) || cnrtMalloc((void **)&data, sizeof(host)) ||
        cnclInitComms(&comm, 1, &device, &rank, 2, &id)) {
        return 3;
    }
    for (int i = 0; i < COUNT; i++) {
        host[i] = given(rank, i);
    }
    if (cnrtMemcpy(data, host, sizeof(host), cnrtMemcpyHostToDev) ||
        cnclAllReduce(data, data, COUNT, cnclFloat, cnclSum, comm, queue) || cnrtQueueSync(queue) ||
        cnrtMemcpy(host, data, sizeof(host), cnrtMemcpyDevToHost)) {
        return 4;
    }
    for (int i = 0; i < COUNT; i++) {
        if (host[i] != given(0, i) + given(1, i)) {
            return 5;
        }
    }
    return cnclFreeComm(comm) || cnrtQueueDestroy(queue) || cnrtFree(data) ? 6 : 0;
}

static void ranks_of_two_processes_meet(void)
{
    int ends[2];
    pid_t pids[2];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    for (int rank = 0; rank < 2; rank++) {
        if ((pids[rank] = fork()) == 0) {
            _exit(be_rank(rank, ends));
        }
    }
    for (int rank = 0; rank < 2; rank++) {
        int state = 0;
        waitpid(pids[rank], &state, 0);
        CU_ASSERT(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    }
    close(ends[0]);
    close(ends[1]);
}

static const struct leo_test tests[] = {
    {"ranks_of_two_processes_meet", ranks_of_two_processes_meet},
    {"ranks_of_a_process_reduce", ranks_of_a_process_reduce},
    {"ranks_of_a_process_move_data", ranks_of_a_process_move_data},
    {"a_communicator_tells_what_it_is", a_communicator_tells_what_it_is},
    {"wrong_use_is_refused", wrong_use_is_refused},
    {"a_mismatch_is_told_to_every_rank", a_mismatch_is_told_to_every_rank},
    {"an_abort_ends_what_waits", an_abort_ends_what_waits},
};

int main(int argc, char **argv)
{
    setenv("LEO_DEVICES", "2", 1);
    return leo_test_main("cncl", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
