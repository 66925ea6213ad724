/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention of f16 and its gradients on the second generation: simulated time, and how busy it
 * keeps the cubes (multiplications of both products, five of the gradients, half of them where keys
 * behind a query are not seen). Usage: bench_attention [part of a name].
 */
#include "chip.h"

#include <string.h>

enum { CUBE = 4096, Q = 0, K, V, DY, OUT, DQ, DK, DV, TENSORS, RUNS = 2 };

struct shape {
    const char *name;
    int64_t batch, heads, length, features;
    bool causal;
};

static const struct shape shapes[] = {
    {"gpt 8 x 8 x 256 x 32", 8, 8, 256, 32, false},
    {"gpt 8 x 8 x 256 x 64", 8, 8, 256, 64, false},
    {"gpt 8 x 8 x 256 x 64 causal", 8, 8, 256, 64, true},
    {"middle 4 x 16 x 1024 x 64", 4, 16, 1024, 64, false},
    {"long 1 x 16 x 4096 x 128", 1, 16, 4096, 128, false},
    {"long 1 x 16 x 4096 x 128 causal", 1, 16, 4096, 128, true},
};

struct bench {
    struct bench_chip chip;
    struct leo_caps caps;
};

struct call {
    struct leo_op_tensor tensor[TENSORS], max, sum, none;
    const struct shape *shape;
};

static struct leo_op_tensor make(struct bench *b, enum leo_dtype type, unsigned rank,
                                 const int64_t *dim)
{
    uint64_t bytes = type == LEO_DTYPE_F32 ? 4 : 2, addr;
    for (unsigned i = 0; i < rank; i++) {
        bytes *= (uint64_t)dim[i];
    }
    must(leo_rt_memory_alloc(b->chip.device, bytes + LEO_OP_READ_MARGIN, &addr), "alloc");
    must(leo_rt_memset_async(b->chip.stream, addr, 0x2c, bytes), "set"); // 0x2c2c is 0.065
    return leo_op_tensor(addr, type, rank, dim);
}

static double run_us(struct bench *b, struct call *c, bool backward)
{
    const struct leo_op_arg no = leo_op_arg_none(), nothing = leo_op_arg_tensor(&c->none),
                            one = leo_op_arg_number(1), zero = leo_op_arg_number(0),
                            mode = leo_op_arg_number(c->shape->causal ? 2 : 0),
                            far = leo_op_arg_number(65535), scale = leo_op_arg_number(0.125),
                            heads = leo_op_arg_number((double)c->shape->heads),
                            layout = leo_op_arg_text("BNSD"), max = leo_op_arg_tensor(&c->max),
                            sum = leo_op_arg_tensor(&c->sum);
    struct leo_op_arg t[TENSORS];
    for (unsigned i = 0; i < TENSORS; i++) {
        t[i] = leo_op_arg_tensor(&c->tensor[i]);
    }
    const uint64_t begin = leo_rt_device_host_time_ns(b->chip.device);
    if (backward) {
        must(LEO_OP(b->chip.context, "FlashAttentionScoreGrad", t[Q], t[K], t[V], t[DY], no, no, no,
                    no, max, sum, no, t[OUT], no, scale, one, far, far, heads, layout, zero, mode,
                    t[DQ], t[DK], t[DV], nothing),
             "backward");
    } else {
        must(LEO_OP(b->chip.context, "FlashAttentionScore", t[Q], t[K], t[V], no, no, no, no, no,
                    scale, one, far, far, heads, layout, zero, mode, max, sum, nothing, t[OUT]),
             "forward");
    }
    must(leo_rt_stream_synchronize(b->chip.stream, -1), "synchronize");
    return (double)(leo_rt_device_host_time_ns(b->chip.device) - begin) * 1e-3;
}

static void measure(struct bench *b, const struct shape *shape)
{
    const int64_t dim[] = {shape->batch, shape->heads, shape->length, shape->features},
                  column[] = {shape->batch, shape->heads, shape->length, 8}, empty[] = {0};
    struct call c = {.shape = shape};
    for (unsigned i = 0; i < TENSORS; i++) {
        c.tensor[i] = make(b, LEO_DTYPE_F16, 4, dim);
    }
    c.max = make(b, LEO_DTYPE_F32, 4, column);
    c.sum = make(b, LEO_DTYPE_F32, 4, column);
    c.none = leo_op_tensor(c.tensor[0].addr, LEO_DTYPE_F16, 1, empty);
    printf("  %-32s", shape->name);
    for (int backward = 0; backward < 2; backward++) {
        double us = run_us(b, &c, backward); // the plan, the programs
        for (int run = 1; run < RUNS; run++) {
            us = run_us(b, &c, backward);
        }
        const double products = (double)(shape->batch * shape->heads) * (double)shape->length *
                                (double)shape->length * (double)shape->features *
                                (backward ? 5 : 2) / (shape->causal ? 2 : 1),
                     most = us * b->caps.clock_khz / 1e3 * b->caps.cube_cores * CUBE;
        printf("   %s %9.1f us, Cube %4.1f %%", backward ? "backward" : "forward", us,
               100 * products / most);
        fflush(stdout);
    }
    printf("\n");
    for (unsigned i = 0; i < TENSORS; i++) {
        must(leo_rt_memory_free(b->chip.device, c.tensor[i].addr), "free");
    }
    must(leo_rt_memory_free(b->chip.device, c.max.addr), "free");
    must(leo_rt_memory_free(b->chip.device, c.sum.addr), "free");
}

int main(int argc, char **argv)
{
    struct bench b = {.chip = bench_chip_open("ascend910b1", 0)};
    leo_rt_device_get_caps(b.chip.device, &b.caps);
    printf("ascend910b1, attention of f16\n");
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (argc < 2 || strstr(shapes[i].name, argv[1])) {
            measure(&b, &shapes[i]);
        }
    }
    bench_chip_close(&b.chip);
    return 0;
}
