/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch norm in training, forward and backward, on maps of f16 in NCHW as ResNet-50 has them, on
 * both simulated chips: simulated time beside the time that memory needs. Statistics need all of
 * the input before the first result: what does not fit in the L2 is read from HBM twice.
 * bench_batch_norm [batch]
 */
#include "chip.h"

#include <stdlib.h>

enum { RUNS = 3 };

struct shape {
    int64_t channels, side;
};

static const struct shape shapes[] = {
    {64, 112}, {64, 56},  {256, 56},  {128, 56}, {128, 28}, {512, 28},
    {256, 28}, {256, 14}, {1024, 14}, {512, 14}, {512, 7},  {2048, 7},
};

struct bench {
    struct bench_chip chip;
    double gb_per_s, l2_bytes;
    uint64_t memory; /* three maps of `most` bytes, then numbers of channels */
    uint64_t most;
};

enum { NUMBERS = 7, CHANNELS_MAX = 2048 };

static struct bench bench_open(const char *soc, double l2_bytes, int64_t batch)
{
    struct bench b = {.chip = bench_chip_open(soc, 0),
                      .l2_bytes = l2_bytes,
                      .most = (uint64_t)batch * 256 * 56 * 56 * 2};
    must(leo_rt_hbm_gb_per_s(b.chip.device, &b.gb_per_s), "soc_number");
    must(leo_rt_memory_alloc(b.chip.device,
                             3 * b.most + NUMBERS * CHANNELS_MAX * 4 + LEO_OP_READ_MARGIN,
                             &b.memory),
         "alloc");
    return b;
}

static double run_us(struct bench *b, const char *op, const struct leo_op_arg *args, unsigned count)
{
    const uint64_t begin = leo_rt_device_host_time_ns(b->chip.device);
    must(leo_op_run(b->chip.context, op, args, count), op);
    must(leo_rt_stream_synchronize(b->chip.stream, -1), op);
    return (double)(leo_rt_device_host_time_ns(b->chip.device) - begin) * 1e-3;
}

/* Maps of x, the gradient and the result, and numbers of each channel. */
struct tensors {
    struct leo_op_tensor map[3], numbers[NUMBERS];
};

static struct tensors make_tensors(const struct bench *b, const struct shape *shape, int64_t batch)
{
    struct tensors t;
    const int64_t dim[] = {batch, shape->channels, shape->side, shape->side};
    for (unsigned i = 0; i < 3; i++) {
        t.map[i] = leo_op_tensor(b->memory + i * b->most, LEO_DTYPE_F16, 4, dim);
    }
    for (unsigned i = 0; i < NUMBERS; i++) {
        t.numbers[i] = leo_op_tensor(b->memory + 3 * b->most + i * CHANNELS_MAX * 4, LEO_DTYPE_F32,
                                     1, &shape->channels);
    }
    return t;
}

static double forward_us(struct bench *b, struct tensors *t)
{
    const struct leo_op_arg args[] = {leo_op_arg_tensor(&t->map[0]),
                                      leo_op_arg_tensor(&t->numbers[0]),
                                      leo_op_arg_tensor(&t->numbers[1]),
                                      leo_op_arg_tensor(&t->numbers[2]),
                                      leo_op_arg_tensor(&t->numbers[3]),
                                      leo_op_arg_number(1),
                                      leo_op_arg_number(0.1),
                                      leo_op_arg_number(1e-5),
                                      leo_op_arg_tensor(&t->map[2]),
                                      leo_op_arg_tensor(&t->numbers[4]),
                                      leo_op_arg_tensor(&t->numbers[5])};
    return run_us(b, "BatchNorm", args, sizeof(args) / sizeof(args[0]));
}

static double backward_us(struct bench *b, struct tensors *t)
{
    static const bool all[] = {true, true, true};
    const struct leo_op_arg args[] = {
        leo_op_arg_tensor(&t->map[1]),     leo_op_arg_tensor(&t->map[0]),
        leo_op_arg_tensor(&t->numbers[0]), leo_op_arg_tensor(&t->numbers[2]),
        leo_op_arg_tensor(&t->numbers[3]), leo_op_arg_tensor(&t->numbers[4]),
        leo_op_arg_tensor(&t->numbers[5]), leo_op_arg_number(1),
        leo_op_arg_number(1e-5),           leo_op_arg_bools(all, 3),
        leo_op_arg_tensor(&t->map[2]),     leo_op_arg_tensor(&t->numbers[6]),
        leo_op_arg_tensor(&t->numbers[1])};
    return run_us(b, "BatchNormBackward", args, sizeof(args) / sizeof(args[0]));
}

/* Of `maps` that are read and one that is written. */
static double memory_us(const struct bench *b, double bytes, unsigned maps)
{
    const unsigned reads = maps * bytes > b->l2_bytes ? 2 * maps : maps;
    return (reads + 1) * bytes / b->gb_per_s * 1e-3;
}

static void measure(struct bench *b, const struct shape *shape, int64_t batch)
{
    struct tensors t = make_tensors(b, shape, batch);
    const double bytes = (double)(batch * shape->channels * shape->side * shape->side) * 2;
    double forward = 1e30, backward = 1e30;
    for (int run = 0; run < RUNS; run++) {
        const double f = forward_us(b, &t), g = backward_us(b, &t);
        forward = f < forward ? f : forward;
        backward = g < backward ? g : backward;
    }
    const double memory = memory_us(b, bytes, 1), memory_back = memory_us(b, bytes, 2);
    printf("  %4d x %3d x %3d  %6.1f MB  forward %7.1f us, %4.2f of memory's   "
           "backward %7.1f us, %4.2f\n",
           (int)shape->channels, (int)shape->side, (int)shape->side, bytes * 1e-6, forward,
           memory / forward, backward, memory_back / backward);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *soc;
        double l2_bytes; /* isa/soc */
    } chips[] = {{"ascend910a", 32 << 20}, {"ascend910b1", 192 << 20}};
    const int64_t batch = argc > 1 ? atoi(argv[1]) : 8;
    for (unsigned i = 0; i < 2; i++) {
        struct bench b = bench_open(chips[i].soc, chips[i].l2_bytes, batch);
        printf("%s, HBM %.0f GB/s, batch %d\n", chips[i].soc, b.gb_per_s, (int)batch);
        for (unsigned k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
            measure(&b, &shapes[k], batch);
        }
        must(leo_rt_memory_free(b.chip.device, b.memory), "free");
        bench_chip_close(&b.chip);
    }
    return 0;
}
