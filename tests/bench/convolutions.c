/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cube busy of a large matmul and of the 23 convolutions of ResNet-50, forward and both gradients,
 * in the chip's own formats (NC1HWC0, FRACTAL_Z), batch 32: useful multiplications against what all
 * cubes could do in the simulated time of the operator, from the start of its first task to the end
 * of its last one. Usage: bench_convolutions [batch].
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

static const char *const passes[PASSES] = {"op_conv2d", "op_conv2d_grad_input",
                                           "op_conv2d_grad_filter"};

struct figure {
    double us, busy;
};

/* `products`: multiply-adds of the workload. */
static struct figure measure(const char *soc, const char *name, const char *text, double products)
{
    struct accuracy_chip chip;
    struct accuracy_params params;
    struct accuracy_result result;
    char error[512] = "";
    accuracy_params_parse(text, &params);
    if (accuracy_chip_open(&chip, soc) != LEO_OK ||
        accuracy_workload_run(&chip, name, &params, &result, error, sizeof(error)) != LEO_OK) {
        fprintf(stderr, "bench_convolutions: %s %s: %s\n", name, text, error);
        exit(1);
    }
    const double us = (double)(result.record.end_ns - result.record.start_ns) / 1e3;
    const double most = us * chip.caps.clock_khz / 1e3 * chip.caps.cube_cores * CUBE;
    accuracy_chip_close(&chip);
    return (struct figure){us, products / most};
}

static struct figure measure_convolution(const char *soc, const struct shape *shape,
                                         const char *pass, unsigned batch)
{
    char text[256];
    const unsigned span = shape->size + 2 * ((shape->kernel - 1) / 2) - shape->kernel,
                   out = span / shape->stride + 1;
    snprintf(text, sizeof(text), "dtype=f16 n=%u ci=%u co=%u k=%u s=%u h=%u w=%u pad=same", batch,
             shape->in, shape->out, shape->kernel, shape->stride, shape->size, shape->size);
    return measure(soc, pass, text,
                   (double)batch * out * out * shape->out * shape->in * shape->kernel *
                       shape->kernel);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_matmul(const char *soc)
{
    const struct figure figure =
        measure(soc, "op_matmul", "dtype=f16 m=4096 k=4096 n=4096", 4096.0 * 4096 * 4096);
    printf("%s, matmul of rows, 4096 x 4096 x 4096, f16: %.1f us, Cube busy %.1f %% (aim 80)\n",
           soc, figure.us, 100 * figure.busy);
}

static void print_chip(const char *soc, unsigned batch)
{
    double all[PASSES][SHAPES];
    printf("%s, batch %u\n%-32s%28s%28s%28s\n", soc, batch, "convolution", "forward",
           "gradient of x", "gradient of w");
    for (unsigned i = 0; i < SHAPES; i++) {
        const struct shape *s = &shapes[i];
        char name[64];
        snprintf(name, sizeof(name), "%ux%u %u -> %u, %ux%u /%u", s->size, s->size, s->in, s->out,
                 s->kernel, s->kernel, s->stride);
        printf("%-32s", name);
        for (unsigned p = 0; p < PASSES; p++) {
            const struct figure figure = measure_convolution(soc, s, passes[p], batch);
            all[p][i] = figure.busy;
            printf("%14.1f us%9.1f %%", figure.us, 100 * figure.busy);
        }
        printf("\n");
    }
    for (unsigned p = 0; p < PASSES; p++) {
        unsigned half = 0;
        qsort(all[p], SHAPES, sizeof(double), compare);
        for (unsigned i = 0; i < SHAPES; i++) {
            half += all[p][i] >= 0.5;
        }
        printf("%-24s Cube busy: median %.1f %%, worst %.1f %%, %u of %d at 50 %% or more\n",
               passes[p], 100 * all[p][SHAPES / 2], 100 * all[p][0], half, SHAPES);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const unsigned batch = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 32;
    print_matmul("ascend910a");
    print_matmul("ascend910b1");
    print_chip("ascend910a", batch);
    print_chip("ascend910b1", batch);
    return 0;
}
