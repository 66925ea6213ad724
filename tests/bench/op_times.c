/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every operator costs, on the chip of LEO_SOC: simulated time and the host's, of a call with
 * tensors of zeros, of one shape (the first of a list that the operator takes) or as op_calls.txt
 * says. Lines "name,shape,simulated us,host us" on stdout: docs/api/aclnn_times.csv is made of
 * them.
 */
#include "op_calls.h"

#include <leo/exchange.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT = 4 << 20, RUNS = 3 };

static const struct rig_wish shapes[] = {
    {.rank = 2, .param = RIG_PARAMS, .dim = {256, 1024}},
    {.rank = 2, .param = RIG_PARAMS, .dim = {256, 256}},
    {.rank = 1, .param = RIG_PARAMS, .dim = {4096}},
    {.rank = 4, .param = RIG_PARAMS, .dim = {8, 16, 32, 32}},
    {.rank = 4, .param = RIG_PARAMS, .dim = {4, 1, 1, 1}},
    {.rank = 3, .param = RIG_PARAMS, .dim = {4, 64, 64}},
    {.rank = 5, .param = RIG_PARAMS, .dim = {2, 4, 8, 8, 8}},
    {.rank = 0, .param = RIG_PARAMS},
    {.rank = 1, .param = RIG_PARAMS, .dim = {1}},
};

static void print_shape(const struct rig_wish *wish)
{
    for (unsigned i = 0; i < wish->rank; i++) {
        printf(i ? "x%d" : "%d", (int)wish->dim[i]);
    }
}

/* The best of some runs with these arguments; *fault: the device must be reset. */
static bool measure(const struct op_test_row *row, union op_test_arg *args,
                    const struct rig_wish *shape, bool *fault)
{
    double simulated = 1e30, host = 1e30;
    bool good = true;
    for (int i = 0; i < RUNS && good; i++) {
        double sim, us;
        good = op_call_run(row, args, &sim, &us);
        *fault = !good && aclrtSynchronizeStream(rig_stream());
        simulated = good && sim < simulated ? sim : simulated;
        host = good && us < host ? us : host;
    }
    good = simulated < 1e30 && !*fault; // results that have got their shape are not taken again
    for (unsigned i = 0; i < row->param_count; i++) {
        rig_arg_free(&row->params[i], args[i]);
    }
    if (good) {
        printf("%s,", row->name);
        print_shape(shape);
        printf(",%.2f,%.1f\n", simulated, host);
        fflush(stdout);
    }
    return good;
}

/* One shape for all tensors. */
static bool measure_shape(const struct op_test_row *row, struct rig_wish wish,
                          unsigned char *memory, bool *fault)
{
    union op_test_arg args[RIG_PARAMS + 1];
    wish.memory = memory;
    wish.slot = SLOT;
    for (unsigned i = 0; i < row->param_count; i++) {
        args[i] = rig_arg_make(&row->params[i], i, &wish);
    }
    return measure(row, args, &wish, fault);
}

/* Operators named on the command line; all of them without one. */
static bool is_wanted(const char *name, int argc, char **argv)
{
    bool wanted = argc < 2;
    for (int i = 1; i < argc; i++) {
        wanted = wanted || strcmp(argv[i], name) == 0;
    }
    return wanted;
}

/* ---- a group of this card alone, so that products with exchanges are products ---- */

static leo_status place(const struct leo_rt_device *device, const char *group, uint32_t *rank,
                        uint32_t *ranks)
{
    (void)device;
    (void)group;
    *rank = 0;
    *ranks = 1;
    return LEO_OK;
}

static leo_status put(const struct leo_rt_device *device, const char *group,
                      const struct leo_rt_exchange *exchange, struct leo_rt_stream *stream)
{
    (void)device;
    (void)group;
    const uint64_t bytes = exchange->count * (exchange->type == LEO_RT_EXCHANGE_I8 ? 1 : 2);
    return exchange->send == exchange->recv
               ? LEO_OK
               : leo_rt_memcpy_async(stream, (void *)(uintptr_t)exchange->recv,
                                     (const void *)(uintptr_t)exchange->send, bytes);
}

int main(int argc, char **argv)
{
    static const struct leo_rt_exchanges alone = {place, put, NULL, NULL};
    unsigned char *memory = NULL;
    const char *calls = op_calls_read(OP_CALLS);
    rig_open();
    leo_rt_exchanges_offer(&alone);
    for (unsigned r = 0; r < op_test_row_count; r++) {
        const struct op_test_row *row = &op_test_rows[r];
        const char *call = op_call_find(calls, row->name);
        union op_test_arg args[RIG_PARAMS + 1];
        struct rig_wish shape = {.param = RIG_PARAMS, .slot = SLOT};
        bool done = !rig_row_is_here(row) || !is_wanted(row->name, argc, argv), fault = false;
        for (unsigned i = 0; i < (call ? 1 : sizeof(shapes) / sizeof(shapes[0])) && !done && !fault;
             i++) {
            // Zeros again: what operators before left there may be no good index or divisor.
            if ((!memory && aclrtMalloc((void **)&memory, (size_t)RIG_PARAMS * SLOT, 0)) ||
                aclrtMemset(memory, (size_t)RIG_PARAMS * SLOT, 0, (size_t)RIG_PARAMS * SLOT)) {
                return 1;
            }
            done = call ? op_call_make(row, call, memory, args, &shape) &&
                              measure(row, args, &shape, &fault)
                        : measure_shape(row, shapes[i], memory, &fault);
        }
        if (!done && (call || argc > 1)) {
            fprintf(stderr, "op_times: %s %s: %s\n", row->name,
                    call ? "does not take its line of op_calls.txt"
                         : "takes no tensors of one shape and needs a line in op_calls.txt",
                    aclGetRecentErrMsg());
        }
        if (fault) {
            rig_reset();
            memory = NULL;
        }
    }
    rig_close();
    return 0;
}
