/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cube busy of a large matmul and of the 23 convolutions of ResNet-50, forward and both gradients,
 * in the chip's own formats (NC1HWC0, FRACTAL_Z): useful multiplications against what all cubes
 * could do in the simulated time of the operator, from the start of its first task to the end of
 * its last one.
 *
 * Usage: bench_convolutions [batch [soc [convolution]]]. Batch 32, both chips, all of them. With a
 * chip, a line for each convolution and pass tells what holds it:
 * - memory: the Cube's share if memory alone took time: what is read and written once, at the rate
 *   of HBM where it exceeds the L2, else at that of the L2
 * - out: the same for the path of the results, UB to memory or the fixpipe
 * - busy: each unit's share of the time of its cores
 * - lost: where the Cube's own time went, cycles of waiting for a flag, of the scalar unit, others
 * - traffic: bytes from and to memory over those that are read and written once
 */
#include "accuracy.h"

#include <stdlib.h>
#include <string.h>

struct shape {
    unsigned size, in, out, kernel, stride;
};

static const struct shape shapes[] = {
    {224, 3, 64, 7, 2},     {56, 64, 64, 1, 1},    {56, 64, 64, 3, 1},    {56, 64, 256, 1, 1},
    {56, 256, 64, 1, 1},    {56, 256, 128, 1, 1},  {56, 128, 128, 3, 2},  {28, 128, 512, 1, 1},
    {56, 256, 512, 1, 2},   {28, 512, 128, 1, 1},  {28, 128, 128, 3, 1},  {28, 512, 256, 1, 1},
    {28, 256, 256, 3, 2},   {14, 256, 1024, 1, 1}, {28, 512, 1024, 1, 2}, {14, 1024, 256, 1, 1},
    {14, 256, 256, 3, 1},   {14, 1024, 512, 1, 1}, {14, 512, 512, 3, 2},  {7, 512, 2048, 1, 1},
    {14, 1024, 2048, 1, 2}, {7, 2048, 512, 1, 1},  {7, 512, 512, 3, 1},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]), PASSES = 3, CUBE = 4096 };
enum { GRAD_FILTER = 2 };

static const char *const passes[PASSES] = {"op_conv2d", "op_conv2d_grad_input",
                                           "op_conv2d_grad_filter"};
static const char *const pass_text[PASSES] = {"forward", "of x", "of w"};

struct figure {
    double us, busy, memory, out; /* shares of the Cube; the last two: allowed */
    double once;                  /* bytes that are read and written once */
    struct leo_task_record record;
};

static double soc_number(const struct accuracy_chip *chip, const char *section, const char *key)
{
    double value = 0;
    if (leo_rt_soc_number(chip->device, section, key, &value) != LEO_OK) {
        fprintf(stderr, "bench_convolutions: %s has no %s\n", chip->soc, key);
        exit(1);
    }
    return value;
}

/* What memory and the path of `out` bytes of results allow of a Cube that has `us` of work. */
static void set_limits(const struct accuracy_chip *chip, double us, double bytes, double out,
                       struct figure *figure)
{
    double rate = soc_number(chip, "gm", "l2_gb_per_s");
    if (bytes > soc_number(chip, "memory", "l2_bytes") &&
        leo_rt_hbm_gb_per_s(chip->device, &rate) != LEO_OK) {
        exit(1);
    }
    const double out_rate = soc_number(chip, "gm", "gm_write_rate") * chip->caps.clock_khz / 1e6 *
                            chip->caps.cube_cores;
    figure->once = bytes;
    figure->memory = us / (us > bytes / rate / 1e3 ? us : bytes / rate / 1e3);
    figure->out = us / (us > out / out_rate / 1e3 ? us : out / out_rate / 1e3);
}

/* `products`: multiply-adds of the workload; it reads and writes `bytes`, of which `out` results.
 */
static struct figure measure(const char *soc, const char *name, const char *text, double products,
                             double bytes, double out)
{
    struct accuracy_chip chip;
    struct accuracy_params params;
    struct accuracy_result result;
    struct figure figure;
    char error[512] = "";
    accuracy_params_parse(text, &params);
    if (accuracy_chip_open(&chip, soc) != LEO_OK ||
        accuracy_workload_run(&chip, name, &params, &result, error, sizeof(error)) != LEO_OK) {
        fprintf(stderr, "bench_convolutions: %s %s: %s\n", name, text, error);
        exit(1);
    }
    const double cubes = chip.caps.clock_khz / 1e3 * chip.caps.cube_cores * CUBE;
    figure.record = result.record;
    figure.us = (double)(result.record.end_ns - result.record.start_ns) / 1e3;
    figure.busy = products / (figure.us * cubes);
    set_limits(&chip, products / cubes, bytes, out, &figure);
    accuracy_chip_close(&chip);
    return figure;
}

static unsigned out_size(const struct shape *shape)
{
    return (shape->size + 2 * ((shape->kernel - 1) / 2) - shape->kernel) / shape->stride + 1;
}

static struct figure measure_convolution(const char *soc, const struct shape *shape, unsigned pass,
                                         unsigned batch)
{
    char text[256];
    const unsigned out = out_size(shape);
    const double x = 2.0 * batch * shape->size * shape->size * (shape->in < 16 ? 16 : shape->in),
                 y = 2.0 * batch * out * out * shape->out,
                 w = (pass == GRAD_FILTER ? 4.0 : 2.0) * shape->in * shape->out * shape->kernel *
                     shape->kernel;
    const double results[PASSES] = {y, x, w};
    snprintf(text, sizeof(text), "dtype=f16 n=%u ci=%u co=%u k=%u s=%u h=%u w=%u pad=same", batch,
             shape->in, shape->out, shape->kernel, shape->stride, shape->size, shape->size);
    return measure(soc, passes[pass], text,
                   (double)batch * out * out * shape->out * shape->in * shape->kernel *
                       shape->kernel,
                   x + y + w, results[pass]);
}

static const char *shape_name(const struct shape *s, char *name, size_t bytes)
{
    snprintf(name, bytes, "%ux%u %u -> %u, %ux%u /%u", s->size, s->size, s->in, s->out, s->kernel,
             s->kernel, s->stride);
    return name;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_matmul(const char *soc)
{
    const struct figure figure = measure(soc, "op_matmul", "dtype=f16 m=4096 k=4096 n=4096",
                                         4096.0 * 4096 * 4096, 3 * 4096 * 4096 * 2.0, 0);
    printf("%s, matmul of rows, 4096 x 4096 x 4096, f16: %.1f us, Cube busy %.1f %% (aim 80)\n",
           soc, figure.us, 100 * figure.busy);
}

static void print_summary(double all[PASSES][SHAPES])
{
    for (unsigned p = 0; p < PASSES; p++) {
        unsigned half = 0;
        qsort(all[p], SHAPES, sizeof(double), compare);
        for (unsigned i = 0; i < SHAPES; i++) {
            half += all[p][i] >= 0.5;
        }
        printf("%-24s Cube busy: median %.1f %%, worst %.1f %%, %u of %d at 50 %% or more\n",
               passes[p], 100 * all[p][SHAPES / 2], 100 * all[p][0], half, SHAPES);
    }
}

static void print_chip(const char *soc, unsigned batch)
{
    double all[PASSES][SHAPES];
    printf("%s, batch %u\n%-32s%28s%28s%28s\n", soc, batch, "convolution", "forward",
           "gradient of x", "gradient of w");
    for (unsigned i = 0; i < SHAPES; i++) {
        char name[64];
        printf("%-32s", shape_name(&shapes[i], name, sizeof(name)));
        for (unsigned p = 0; p < PASSES; p++) {
            const struct figure figure = measure_convolution(soc, &shapes[i], p, batch);
            all[p][i] = figure.busy;
            printf("%14.1f us%9.1f %%", figure.us, 100 * figure.busy);
        }
        printf("\n");
    }
    print_summary(all);
    fflush(stdout);
}

static void print_limits(const struct figure *figure)
{
    const struct leo_task_record *record = &figure->record;
    const double cycles = (double)record->core_cycles / 100;
    const uint64_t *lost = &record->stall[LEO_PIPE_M * LEO_STALL_COUNT];
    printf("%8.1f us %5.1f %%  memory %3.0f %% out %3.0f %%  busy", figure->us, 100 * figure->busy,
           100 * figure->memory, 100 * figure->out);
    for (unsigned pipe = LEO_PIPE_S; pipe < LEO_PIPE_ALL; pipe++) {
        if (record->busy[pipe]) {
            printf(" %s %2.0f", leo_pipe_name((enum leo_pipe)pipe),
                   (double)record->busy[pipe] / cycles);
        }
    }
    printf("  lost flag %2.0f scalar %2.0f other %2.0f", (double)lost[LEO_STALL_FLAG] / cycles,
           (double)lost[LEO_STALL_SCALAR] / cycles,
           (double)(lost[LEO_STALL_BARRIER] + lost[LEO_STALL_QUEUE]) / cycles);
    printf("  traffic %.1f, HBM %.1f\n",
           (double)(record->gm_read + record->gm_write) / figure->once,
           (double)(record->hbm_read + record->hbm_write) / figure->once);
}

/* `which`: a convolution, or SHAPES for all. */
static void print_why(const char *soc, unsigned batch, unsigned which)
{
    double all[PASSES][SHAPES];
    const unsigned first = which < SHAPES ? which : 0, end = which < SHAPES ? which + 1 : SHAPES;
    for (unsigned i = first; i < end; i++) {
        for (unsigned p = 0; p < PASSES; p++) {
            const struct figure figure = measure_convolution(soc, &shapes[i], p, batch);
            char name[64];
            all[p][i] = figure.busy;
            printf("%2u %-26s %-8s", i, shape_name(&shapes[i], name, sizeof(name)), pass_text[p]);
            print_limits(&figure);
            fflush(stdout);
        }
    }
    if (which >= SHAPES) {
        print_summary(all);
    }
}

int main(int argc, char **argv)
{
    const unsigned batch = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 32;
    if (argc > 2) {
        print_why(argv[2], batch, argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : SHAPES);
        return 0;
    }
    print_matmul("ascend910a");
    print_matmul("ascend910b1");
    print_chip("ascend910a", batch);
    print_chip("ascend910b1", batch);
    return 0;
}
