/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What frameworks do with CNRT while they train, as the two articles of the project's issues tell
 * it: a device is set, data and weights go to it, forward, loss, backward and step are kernels in a
 * queue, the queue is synchronised, single results are copied to the host; then mixed precision
 * with a scaled loss, and two cards that average their gradients.
 */
#include "harness.h"
#include "test_cnrt_common.h"

#include <cncl/cncl.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES = 64, PAD = 8 };

/** One card's part: y = 3 x + 1 is to be found. */
struct trainer {
    int device;
    cnrtQueue_t queue;
    void *w, *x, *y, *gradient, *flag;
};

static void begin(struct trainer *t, int device, float spread)
{
    float x[SAMPLES], y[SAMPLES], w[PAD] = {0};
    t->device = device;
    OK(cnrtSetDevice(device));
    OK(cnrtQueueCreate(&t->queue));
    OK(cnrtMalloc(&t->w, sizeof(w)));
    OK(cnrtMalloc(&t->gradient, sizeof(w)));
    OK(cnrtMalloc(&t->flag, sizeof(w)));
    OK(cnrtMalloc(&t->x, sizeof(x)));
    OK(cnrtMalloc(&t->y, sizeof(y)));
    for (int i = 0; i < SAMPLES; i++) {
        x[i] = spread * ((float)i / SAMPLES - 0.5F);
        y[i] = 3 * x[i] + 1;
    }
    OK(cnrtMemcpyAsync(t->x, x, sizeof(x), t->queue, cnrtMemcpyHostToDev));
    OK(cnrtMemcpyAsync(t->y, y, sizeof(y), t->queue, cnrtMemcpyHostToDev));
    OK(cnrtMemcpyAsync(t->w, w, sizeof(w), t->queue, cnrtMemcpyHostToDev));
    OK(cnrtQueueSync(t->queue));
}

static void end(struct trainer *t)
{
    OK(cnrtSetDevice(t->device));
    OK(cnrtFree(t->w));
    OK(cnrtFree(t->x));
    OK(cnrtFree(t->y));
    OK(cnrtFree(t->gradient));
    OK(cnrtFree(t->flag));
    OK(cnrtQueueDestroy(t->queue));
}

static void launch(const struct trainer *t, void (*stub)(void), void **args)
{
    const cnrtDim3_t one = {1, 1, 1};
    OK(cnrtInvokeKernel(kernel_of(stub), one, cnrtFuncTypeBlock, args, 0, t->queue));
}

// Forward and backward.
static void compute_gradient(struct trainer *t, float scale)
{
    int count = SAMPLES;
    void *args[] = {&t->gradient, &t->w, &t->x, &t->y, &count, &scale};
    launch(t, line_gradient_stub, args);
}

static void take_step(struct trainer *t, float rate)
{
    void *args[] = {&t->w, &t->gradient, &rate};
    launch(t, step_stub, args);
}

static void read_back(void *from, float values[PAD])
{
    OK(cnrtMemcpy(values, from, PAD * sizeof(float), cnrtMemcpyDevToHost));
}

static void a_model_is_trained_layer_by_layer(void)
{
    struct trainer t;
    float first[PAD], last[PAD], weights[PAD];
    begin(&t, 0, 2);
    for (int i = 0; i < 400; i++) {
        compute_gradient(&t, 1);
        take_step(&t, 0.25F);
        if (i == 0) {
            // To look at one layer, the queue is waited for and its output copied.
            OK(cnrtSyncQueue(t.queue));
            read_back(t.gradient, first);
        }
    }
    OK(cnrtSyncQueue(t.queue));
    read_back(t.gradient, last);
    read_back(t.w, weights);
    CU_ASSERT(first[0] > 1 && last[0] < 1e-6F);
    CU_ASSERT_DOUBLE_EQUAL((double)weights[0], 3, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL((double)weights[1], 1, 1e-3);
    // The model is kept: written, read, and it is the same on the card.
    FILE *file = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    float loaded[PAD] = {0}, again[PAD];
    CU_ASSERT_EQUAL(fwrite(weights, sizeof(weights), 1, file), 1);
    rewind(file);
    CU_ASSERT_EQUAL(fread(loaded, sizeof(loaded), 1, file), 1);
    fclose(file);
    OK(cnrtMemcpy(t.w, loaded, sizeof(loaded), cnrtMemcpyHostToDev));
    read_back(t.w, again);
    CU_ASSERT_EQUAL(memcmp(again, weights, sizeof(again)), 0);
    end(&t);
}

/** What a gradient scaler keeps on the host. */
struct scaler {
    float scale;
    int good, skipped, grown;
};

// Divides by the scale, looks for what overflowed, steps or skips, and adapts the scale.
static void scaled_step(struct trainer *t, struct scaler *s, float rate)
{
    enum { GROW_AFTER = 20 };
    float inverse = 1 / s->scale, flag[PAD];
    void *args[] = {&t->gradient, &t->flag, &inverse};
    launch(t, unscale_stub, args);
    OK(cnrtQueueSync(t->queue));
    read_back(t->flag, flag);
    if (flag[0] != 0) {
        s->scale /= 2;
        s->good = 0;
        s->skipped++;
        return;
    }
    take_step(t, rate);
    if (++s->good == GROW_AFTER) {
        s->scale *= 2;
        s->good = 0;
        s->grown++;
    }
}

static void a_scaled_loss_is_trained(void)
{
    struct trainer t;
    struct scaler s = {.scale = 65536 * 16};
    float weights[PAD];
    begin(&t, 0, 2);
    for (int i = 0; i < 400; i++) {
        compute_gradient(&t, s.scale);
        scaled_step(&t, &s, 0.25F);
    }
    OK(cnrtQueueSync(t.queue));
    read_back(t.w, weights);
    CU_ASSERT(s.skipped >= 4); // the first gradients overflow 16 bits
    CU_ASSERT(s.grown >= 2);
    CU_ASSERT_DOUBLE_EQUAL((double)weights[0], 3, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL((double)weights[1], 1, 1e-3);
    end(&t);
}

// Two cards with different samples, whose gradients are summed: both end with the same weights.
static void two_cards_average_their_gradients(void)
{
    struct trainer t[2];
    void *other[2];
    float weights[2][PAD];
    unsigned int can = 0;
    begin(&t[0], 0, 2);
    OK(cnrtMalloc(&other[0], sizeof(weights[0])));
    begin(&t[1], 1, 1);
    OK(cnrtMalloc(&other[1], sizeof(weights[0])));
    OK(cnrtGetPeerAccessibility(&can, 0, 1));
    CU_ASSERT_EQUAL(can, 1);
    for (int i = 0; i < 200; i++) {
        for (int card = 0; card < 2; card++) {
            OK(cnrtSetDevice(card));
            compute_gradient(&t[card], 1);
            OK(cnrtQueueSync(t[card].queue));
        }
        for (int card = 0; card < 2; card++) {
            OK(cnrtSetDevice(card));
            OK(cnrtMemcpyPeerAsync(other[card], card, t[!card].gradient, !card, sizeof(weights[0]),
                                   t[card].queue));
            OK(cnrtQueueSync(t[card].queue));
        }
        for (int card = 0; card < 2; card++) {
            int count = PAD;
            void *args[] = {&t[card].gradient, &t[card].gradient, &other[card], &count};
            OK(cnrtSetDevice(card));
            launch(&t[card], add_stub, args);
            take_step(&t[card], 0.125F); // of the sum of two: a rate of 0.25 for their mean
        }
    }
    for (int card = 0; card < 2; card++) {
        OK(cnrtSetDevice(card));
        OK(cnrtQueueSync(t[card].queue));
        read_back(t[card].w, weights[card]);
        OK(cnrtFree(other[card]));
        end(&t[card]);
    }
    CU_ASSERT_EQUAL(memcmp(weights[0], weights[1], sizeof(weights[0])), 0);
    CU_ASSERT_DOUBLE_EQUAL((double)weights[0][0], 3, 1e-2);
}

/* ---- a card by its number, batches by threads ---- */

enum { WORKERS = 10, CARD = 2 };

static void *fill_batch(void *batch)
{
    float *at = batch;
    for (int i = 0; i < SAMPLES; i++) {
        at[i] = 2 * ((float)i / SAMPLES - 0.5F);
        at[SAMPLES + i] = 3 * at[i] + 1;
    }
    return NULL;
}

// `--gpu 2 --workers 10`, and images that go to the card without waiting.
static void the_card_that_is_named_trains(void)
{
    struct trainer t;
    float *batch[WORKERS], weights[PAD];
    pthread_t worker[WORKERS];
    size_t before = 0, after = 0, all;
    OK(cnrtSetDevice(0));
    OK(cnrtMemGetInfo(&before, &all));
    begin(&t, CARD, 2);
    for (int i = 0; i < WORKERS; i++) {
        OK(cnrtHostMalloc((void **)&batch[i], 2 * SAMPLES * sizeof(float)));
        CU_ASSERT_EQUAL(pthread_create(&worker[i], NULL, fill_batch, batch[i]), 0);
    }
    for (int i = 0; i < 20 * WORKERS; i++) {
        const float *from = batch[i % WORKERS];
        if (i < WORKERS) {
            pthread_join(worker[i], NULL);
        }
        OK(cnrtMemcpyAsync(t.x, (void *)(uintptr_t)from, SAMPLES * sizeof(float), t.queue,
                           cnrtMemcpyHostToDev));
        OK(cnrtMemcpyAsync(t.y, (void *)(uintptr_t)(from + SAMPLES), SAMPLES * sizeof(float),
                           t.queue, cnrtMemcpyHostToDev));
        compute_gradient(&t, 1);
        take_step(&t, 0.25F);
    }
    OK(cnrtSyncQueue(t.queue));
    read_back(t.w, weights);
    CU_ASSERT_DOUBLE_EQUAL((double)weights[0], 3, 1e-2);
    for (int i = 0; i < WORKERS; i++) {
        OK(cnrtFreeHost(batch[i]));
    }
    end(&t);
    OK(cnrtSetDevice(0)); // the first card has nothing of it
    OK(cnrtMemGetInfo(&after, &all));
    CU_ASSERT_EQUAL(after, before);
}

/* ---- a process for each card ---- */

enum { PROCESSES = 2 };

static cnclComm_t meet(int rank, int pipe_from, int pipe_to)
{
    struct cnclCliqueId id;
    cnclComm_t comm = NULL;
    if (rank == 0) {
        OK(cnclGetCliqueId(&id));
        CU_ASSERT_EQUAL(write(pipe_to, &id, sizeof(id)), (ssize_t)sizeof(id));
    } else {
        CU_ASSERT_EQUAL(read(pipe_from, &id, sizeof(id)), (ssize_t)sizeof(id));
    }
    OK(cnclInitComms(&comm, 1, &rank, &rank, PROCESSES, &id));
    return comm;
}

// Weights of one process, which had half of the samples.
static void train_rank(int rank, const int *ends, float weights[PAD])
{
    struct trainer t;
    begin(&t, rank, (float)(2 - rank));
    cnclComm_t comm = meet(rank, ends[0], ends[1]);
    for (int i = 0; i < 200; i++) {
        compute_gradient(&t, 1);
        OK(cnclAllReduce(t.gradient, t.gradient, PAD, cnclFloat, cnclSum, comm, t.queue));
        take_step(&t, 0.125F); // of the sum of two
    }
    OK(cnrtQueueSync(t.queue));
    read_back(t.w, weights);
    OK(cnclFreeComm(comm));
    end(&t);
}

// `torch.distributed.launch --nproc_per_node 2`: each process has the card of its local rank.
static void a_process_for_each_card_trains(void)
{
    int ends[2], results[2];
    float weights[PROCESSES][PAD];
    pid_t pids[PROCESSES];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    CU_ASSERT_EQUAL_FATAL(pipe(results), 0);
    for (int rank = 0; rank < PROCESSES; rank++) {
        if ((pids[rank] = fork()) == 0) {
            train_rank(rank, ends, weights[rank]);
            const ssize_t put = write(results[1], weights[rank], sizeof(weights[rank]));
            _exit(CU_get_number_of_failures() || put != (ssize_t)sizeof(weights[rank]));
        }
    }
    for (int rank = 0; rank < PROCESSES; rank++) {
        int state = -1;
        waitpid(pids[rank], &state, 0);
        CU_ASSERT_FATAL(WIFEXITED(state) && WEXITSTATUS(state) == 0);
        CU_ASSERT_EQUAL(read(results[0], weights[rank], sizeof(weights[rank])),
                        (ssize_t)sizeof(weights[rank]));
    }
    CU_ASSERT_EQUAL(memcmp(weights[0], weights[1], sizeof(weights[0])), 0);
    CU_ASSERT_DOUBLE_EQUAL((double)weights[0][0], 3, 1e-2);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(results[i]);
    }
}

static const struct leo_test tests[] = {
    {"a_process_for_each_card_trains", a_process_for_each_card_trains}, // before there are threads
    {"a_model_is_trained_layer_by_layer", a_model_is_trained_layer_by_layer},
    {"a_scaled_loss_is_trained", a_scaled_loss_is_trained},
    {"the_card_that_is_named_trains", the_card_that_is_named_trains},
    {"two_cards_average_their_gradients", two_cards_average_their_gradients},
};

int main(int argc, char **argv)
{
    setenv("LEO_DEVICES", "3", 1);
    cnrt_register();
    return leo_test_main("cnrt_training", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
