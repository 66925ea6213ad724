/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of batch norm by type name on maps in NC1HWC0, against sums in double on the host.
 * Numbers of channels lie as rows or in blocks.
 */
#include "rig.h"

#include <acl/acl_op.h>
#include <acl/acl_op_compiler.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS = 8, C0 = 16 };

/* Maps of one call: [images][groups][positions][16] on the host, as float. */
struct maps {
    enum op_type type;
    int64_t dim[4];
    int64_t groups, positions, count; /* of the storage */
};

struct call {
    aclTensorDesc *desc[2][TENSORS];
    aclDataBuffer *buffer[2][TENSORS];
    void *memory[2][TENSORS];
    size_t bytes[2][TENSORS];
    int count[2];
    aclopAttr *attr;
};

static struct maps make_maps(enum op_type type, const int64_t *dim)
{
    struct maps m = {.type = type, .groups = (dim[1] + C0 - 1) / C0, .positions = dim[2] * dim[3]};
    memcpy(m.dim, dim, sizeof(m.dim));
    m.count = dim[0] * m.groups * m.positions * C0;
    return m;
}

static int64_t channel_at(const struct maps *m, int64_t i)
{
    return i / (m->positions * C0) % m->groups * C0 + i % C0;
}

/* Adds device memory of so many bytes, with surroundings that stay. */
static void add_memory(struct call *call, int side, aclTensorDesc *desc, const void *host,
                       size_t bytes)
{
    const int at = call->count[side]++;
    call->desc[side][at] = desc;
    call->bytes[side][at] = bytes;
    CU_ASSERT_EQUAL_FATAL(aclrtMalloc(&call->memory[side][at], bytes + 64, 0), 0);
    CU_ASSERT_EQUAL(aclrtMemset(call->memory[side][at], bytes + 64, 0x5a, bytes + 64), 0);
    if (host) {
        CU_ASSERT_EQUAL(aclrtMemcpy(call->memory[side][at], bytes, host, bytes, 1), 0);
    }
    call->buffer[side][at] = aclCreateDataBuffer(call->memory[side][at], bytes);
}

static void add_map(struct call *call, int side, const struct maps *m, const float *values)
{
    const unsigned unit = rig_type_bytes(m->type);
    const int64_t storage[] = {m->dim[0], m->groups, m->dim[2], m->dim[3], C0};
    unsigned char *host = values ? malloc((size_t)m->count * unit) : NULL;
    for (int64_t i = 0; values && i < m->count; i++) {
        rig_put_f(host + i * unit, m->type, values[i]);
    }
    aclTensorDesc *desc = aclCreateTensorDesc(rig_acl_type(m->type), 4, m->dim, ACL_FORMAT_NCHW);
    CU_ASSERT_EQUAL(aclSetTensorFormat(desc, ACL_FORMAT_NC1HWC0), 0);
    CU_ASSERT_EQUAL(aclSetTensorShape(desc, 5, storage), 0);
    add_memory(call, side, desc, host, (size_t)m->count * unit);
    free(host);
}

/* A number for each channel; `blocks`: with padding of zeros. */
static void add_channels(struct call *call, int side, const struct maps *m, bool blocks,
                         const float *values)
{
    const int64_t dim = m->dim[1], storage[] = {1, m->groups, 1, 1, C0};
    aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT, 1, &dim, ACL_FORMAT_ND);
    if (blocks) {
        CU_ASSERT_EQUAL(aclSetTensorFormat(desc, ACL_FORMAT_NC1HWC0), 0);
        CU_ASSERT_EQUAL(aclSetTensorShape(desc, 5, storage), 0);
    }
    add_memory(call, side, desc, values, (size_t)(blocks ? m->groups * C0 : dim) * sizeof(float));
}

static void take(const struct call *call, int at, enum op_type type, float *values, int64_t count)
{
    const size_t bytes = call->bytes[1][at];
    const unsigned unit = rig_type_bytes(type);
    unsigned char *host = malloc(bytes + 64);
    CU_ASSERT_EQUAL_FATAL(aclrtMemcpy(host, bytes + 64, call->memory[1][at], bytes + 64, 2), 0);
    for (int64_t i = 0; i < count; i++) {
        values[i] = rig_get_f(host + i * unit, type);
    }
    for (unsigned i = 0; i < 64; i++) {
        CU_ASSERT_EQUAL(host[bytes + i], 0x5a);
    }
    free(host);
}

static struct call begin(double epsilon)
{
    struct call call = {.attr = aclopCreateAttr()};
    CU_ASSERT_EQUAL(aclopSetAttrFloat(call.attr, "epsilon", (float)epsilon), 0);
    return call;
}

static void run(struct call *call, const char *type)
{
    CU_ASSERT_EQUAL_FATAL(aclopCompileAndExecuteV2(type, call->count[0], call->desc[0],
                                                   call->buffer[0], call->count[1], call->desc[1],
                                                   call->buffer[1], call->attr, ACL_ENGINE_SYS,
                                                   ACL_COMPILE_SYS, NULL, rig_stream()),
                          0);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
}

static void end(struct call *call)
{
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < call->count[side]; i++) {
            aclDestroyTensorDesc(call->desc[side][i]);
            CU_ASSERT_EQUAL(aclDestroyDataBuffer(call->buffer[side][i]), 0);
            CU_ASSERT_EQUAL(aclrtFree(call->memory[side][i]), 0);
        }
    }
    aclopDestroyAttr(call->attr);
}

/* Largest distance from what is wanted, in units of `scale` and a bit. */
static void expect(const char *what, const struct maps *m, int64_t count, const float *got,
                   const double *want, double relative, double least)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        const double bound = relative * fabs(want[i]) + least;
        if (!(fabs((double)got[i] - want[i]) <= bound) && wrong++ == 0) {
            fprintf(stderr, "%s, %s [%d, %d, %d, %d]: element %lld is %g, not %g\n", what,
                    rig_type_name(m->type), (int)m->dim[0], (int)m->dim[1], (int)m->dim[2],
                    (int)m->dim[3], (long long)i, (double)got[i], want[i]);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Everything of one shape. */
struct sample {
    struct maps m;
    float *x, *g, *got; /* of the storage */
    double *want;       /* same */
    float *channel[6];  /* scale, offset, running mean and variance, and two results */
    double *sum[6];     /* of x, x * x, g, g * (x - mean) / deviation; mean, variance */
    double eps, factor;
    bool blocks; /* channels in blocks */
};

enum { SCALE, OFFSET, MEAN, VARIANCE, FIRST, SECOND };
enum { SUM, SQUARES, G_SUM, G_PRODUCT, BATCH_MEAN, BATCH_VARIANCE };

static float round_to(enum op_type type, float value)
{
    unsigned char at[8];
    rig_put_f(at, type, value);
    return rig_get_f(at, type);
}

static struct sample make_sample(enum op_type type, const int64_t *dim, bool blocks)
{
    struct sample s = {.m = make_maps(type, dim), .eps = 1e-3, .factor = 0.1, .blocks = blocks};
    const struct maps *m = &s.m;
    const size_t count = (size_t)m->count, channels = (size_t)(m->groups * C0);
    const double each = (double)(dim[0] * m->positions);
    uint64_t state = 5;
    s.x = calloc(count, sizeof(float));
    s.g = calloc(count, sizeof(float));
    s.got = calloc(count, sizeof(float));
    s.want = calloc(count, sizeof(double));
    for (unsigned k = 0; k < 6; k++) {
        s.channel[k] = calloc(channels, sizeof(float));
        s.sum[k] = calloc(channels, sizeof(double));
    }
    for (int64_t i = 0; i < m->count; i++) {
        const int64_t c = channel_at(m, i);
        if (c < dim[1]) {
            const double a = (double)(rig_random(&state) % 2001) / 1000 - 1,
                         b = (double)(rig_random(&state) % 2001) / 1000 - 1;
            s.x[i] = round_to(type, (float)(a + (double)(c % 64) / 32));
            s.g[i] = round_to(type, (float)b);
            s.sum[SUM][c] += (double)s.x[i];
            s.sum[SQUARES][c] += (double)s.x[i] * (double)s.x[i];
        }
    }
    for (int64_t c = 0; c < dim[1]; c++) {
        s.channel[SCALE][c] = 1 + (float)(c % 5) / 4;
        s.channel[OFFSET][c] = (float)(c % 7) - 3;
        s.channel[MEAN][c] = 0.5f;
        s.channel[VARIANCE][c] = 2;
        s.sum[BATCH_MEAN][c] = s.sum[SUM][c] / each;
        s.sum[BATCH_VARIANCE][c] =
            s.sum[SQUARES][c] / each - s.sum[BATCH_MEAN][c] * s.sum[BATCH_MEAN][c];
    }
    for (int64_t i = 0; i < m->count; i++) {
        const int64_t c = channel_at(m, i);
        s.sum[G_SUM][c] += (double)s.g[i];
        s.sum[G_PRODUCT][c] += (double)s.g[i] * ((double)s.x[i] - s.sum[BATCH_MEAN][c]) /
                               sqrt(s.sum[BATCH_VARIANCE][c] + s.eps);
    }
    return s;
}

static void free_sample(struct sample *s)
{
    free(s->x);
    free(s->g);
    free(s->got);
    free(s->want);
    for (unsigned k = 0; k < 6; k++) {
        free(s->channel[k]);
        free(s->sum[k]);
    }
}

/* Half a step of the type beside what sums lose. */
static double step_of(const struct sample *s)
{
    return s->m.type == OP_TYPE_F16 ? 0x1p-11 : 0x1p-20;
}

static void put_doubles(float *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] = (float)from[i];
    }
}

static void expect_channels(const char *what, const struct sample *s, const struct call *call,
                            int at, const double *want, double least)
{
    const int64_t count = s->blocks ? s->m.groups * C0 : s->m.dim[1]; // padding is 0
    take(call, at, OP_TYPE_F32, s->channel[FIRST], count);
    expect(what, &s->m, count, s->channel[FIRST], want, 1e-5, least);
}

static void check_reduce(const struct sample *s)
{
    struct call call = begin(s->eps);
    const double size = (double)(s->m.dim[0] * s->m.positions);
    add_map(&call, 0, &s->m, s->x);
    add_channels(&call, 1, &s->m, s->blocks, NULL);
    add_channels(&call, 1, &s->m, s->blocks, NULL);
    run(&call, "BNTrainingReduce");
    expect_channels("sum", s, &call, 0, s->sum[SUM], size * 1e-6);
    expect_channels("square_sum", s, &call, 1, s->sum[SQUARES], size * 1e-6);
    end(&call);
    call = begin(s->eps);
    add_map(&call, 0, &s->m, s->x);
    add_channels(&call, 1, &s->m, s->blocks, NULL);
    run(&call, "BiasAddGrad");
    expect_channels("BiasAddGrad", s, &call, 0, s->sum[SUM], size * 1e-6);
    end(&call);
}

static void want_forward(const struct sample *s, const double *mean, const double *variance)
{
    for (int64_t i = 0; i < s->m.count; i++) {
        const int64_t c = channel_at(&s->m, i);
        s->want[i] = c < s->m.dim[1] ? ((double)s->x[i] - mean[c]) / sqrt(variance[c] + s->eps) *
                                               (double)s->channel[SCALE][c] +
                                           (double)s->channel[OFFSET][c]
                                     : 0;
    }
}

static void check_update(const struct sample *s)
{
    const struct maps *m = &s->m;
    const double each = (double)(m->dim[0] * m->positions);
    double *running = calloc((size_t)(m->groups * C0), sizeof(double));
    struct call call = begin(s->eps);
    CU_ASSERT_EQUAL(aclopSetAttrFloat(call.attr, "factor", (float)s->factor), 0);
    add_map(&call, 0, m, s->x);
    for (unsigned k = SUM; k <= SQUARES; k++) {
        put_doubles(s->channel[FIRST], s->sum[k], m->dim[1]);
        add_channels(&call, 0, m, s->blocks, s->channel[FIRST]);
    }
    for (unsigned k = SCALE; k <= VARIANCE; k++) {
        add_channels(&call, 0, m, s->blocks, s->channel[k]);
    }
    add_map(&call, 1, m, NULL);
    for (unsigned k = 0; k < 4; k++) {
        add_channels(&call, 1, m, s->blocks, NULL);
    }
    run(&call, "BNTrainingUpdate");
    take(&call, 0, m->type, s->got, m->count);
    want_forward(s, s->sum[BATCH_MEAN], s->sum[BATCH_VARIANCE]);
    // A variance that is a difference of squares loses what they have too much.
    expect("y", m, m->count, s->got, s->want, step_of(s), 2e-3);
    for (int64_t c = 0; c < m->dim[1]; c++) {
        running[c] = 0.5 * (1 - s->factor) + s->factor * s->sum[BATCH_MEAN][c];
    }
    expect_channels("running mean", s, &call, 1, running, 1e-5);
    for (int64_t c = 0; c < m->dim[1]; c++) {
        running[c] = 2 * (1 - s->factor) +
                     s->factor * s->sum[BATCH_VARIANCE][c] * (each > 1 ? each / (each - 1) : 1);
    }
    expect_channels("running variance", s, &call, 2, running, 1e-5);
    expect_channels("batch mean", s, &call, 3, s->sum[BATCH_MEAN], 1e-6);
    expect_channels("batch variance", s, &call, 4, s->sum[BATCH_VARIANCE], 1e-5);
    end(&call);
    free(running);
}

static void check_infer(const struct sample *s)
{
    struct call call = begin(s->eps);
    double *mean = calloc((size_t)(s->m.groups * C0), sizeof(double)),
           *variance = calloc((size_t)(s->m.groups * C0), sizeof(double));
    add_map(&call, 0, &s->m, s->x);
    for (unsigned k = SCALE; k <= VARIANCE; k++) {
        add_channels(&call, 0, &s->m, s->blocks, s->channel[k]);
    }
    add_map(&call, 1, &s->m, NULL);
    run(&call, "BNInfer");
    take(&call, 0, s->m.type, s->got, s->m.count);
    for (int64_t c = 0; c < s->m.dim[1]; c++) {
        mean[c] = 0.5;
        variance[c] = 2;
    }
    want_forward(s, mean, variance);
    expect("BNInfer", &s->m, s->m.count, s->got, s->want, step_of(s), 1e-5);
    end(&call);
    free(mean);
    free(variance);
}

static void check_gradients(const struct sample *s)
{
    const struct maps *m = &s->m;
    const double each = (double)(m->dim[0] * m->positions);
    struct call call = begin(s->eps);
    add_map(&call, 0, m, s->g);
    add_map(&call, 0, m, s->x);
    for (unsigned k = BATCH_MEAN; k <= BATCH_VARIANCE; k++) {
        put_doubles(s->channel[FIRST], s->sum[k], m->dim[1]);
        add_channels(&call, 0, m, s->blocks, s->channel[FIRST]);
    }
    add_channels(&call, 1, m, s->blocks, NULL);
    add_channels(&call, 1, m, s->blocks, NULL);
    run(&call, "BNTrainingUpdateGrad");
    expect_channels("diff_scale", s, &call, 0, s->sum[G_PRODUCT], each * 1e-5);
    expect_channels("diff_offset", s, &call, 1, s->sum[G_SUM], each * 1e-6);
    end(&call);

    call = begin(s->eps);
    add_map(&call, 0, m, s->g);
    add_map(&call, 0, m, s->x);
    const double *const numbers[] = {s->sum[G_PRODUCT], s->sum[G_SUM], NULL, s->sum[BATCH_MEAN],
                                     s->sum[BATCH_VARIANCE]};
    for (unsigned k = 0; k < 5; k++) {
        if (numbers[k]) {
            put_doubles(s->channel[FIRST], numbers[k], m->dim[1]);
        }
        add_channels(&call, 0, m, s->blocks, s->channel[numbers[k] ? FIRST : SCALE]);
    }
    add_map(&call, 1, m, NULL);
    run(&call, "BNTrainingReduceGrad");
    take(&call, 0, m->type, s->got, m->count);
    for (int64_t i = 0; i < m->count; i++) {
        const int64_t c = channel_at(m, i);
        const double inverse = 1 / sqrt(s->sum[BATCH_VARIANCE][c] + s->eps);
        s->want[i] =
            (double)s->channel[SCALE][c] * inverse *
            ((double)s->g[i] - s->sum[G_SUM][c] / each -
             ((double)s->x[i] - s->sum[BATCH_MEAN][c]) * inverse * s->sum[G_PRODUCT][c] / each);
    }
    expect("dx", m, m->count, s->got, s->want, step_of(s), 2e-4);
    end(&call);
}

/* Shapes: images that share a tile, pieces of an image, padding, single positions, many groups. */
static void parts_are_those_of_the_host(void)
{
    static const int64_t shapes[][4] = {
        {2, 16, 9, 9},  {3, 20, 14, 23}, {8, 40, 33, 30}, {5, 64, 7, 7},   {1, 5, 3, 70},
        {32, 16, 1, 1}, {40, 33, 2, 3},  {1, 1, 1, 2},    {2, 48, 80, 81}, {7, 640, 5, 5}};
    static const enum op_type types[] = {OP_TYPE_F16, OP_TYPE_F32};
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (unsigned k = 0; k < 4; k++) {
            struct sample s = make_sample(types[k / 2], shapes[i], k % 2);
            check_reduce(&s);
            check_update(&s);
            check_infer(&s);
            check_gradients(&s);
            free_sample(&s);
        }
    }
}

/* In torch_npu's training the running statistics are moved in place, and so may y be. */
static void statistics_move_in_place(void)
{
    static const int64_t dim[] = {4, 20, 30, 31};
    struct sample s = make_sample(OP_TYPE_F16, dim, false);
    const struct maps *m = &s.m;
    struct call call = begin(s.eps);
    CU_ASSERT_EQUAL(aclopSetAttrFloat(call.attr, "factor", (float)s.factor), 0);
    add_map(&call, 0, m, s.x);
    for (unsigned k = SUM; k <= SQUARES; k++) {
        put_doubles(s.channel[FIRST], s.sum[k], m->dim[1]);
        add_channels(&call, 0, m, false, s.channel[FIRST]);
    }
    for (unsigned k = SCALE; k <= VARIANCE; k++) {
        add_channels(&call, 0, m, false, s.channel[k]);
    }
    add_map(&call, 1, m, NULL);
    for (unsigned k = 0; k < 4; k++) {
        add_channels(&call, 1, m, false, NULL);
    }
    // y is x; the running statistics are the inputs; the batch's mean takes the place of the sum.
    static const int pairs[][2] = {{0, 0}, {1, 5}, {2, 6}, {3, 1}};
    void *own[4];
    for (unsigned k = 0; k < 4; k++) {
        own[k] = call.memory[1][pairs[k][0]];
        call.memory[1][pairs[k][0]] = call.memory[0][pairs[k][1]];
        CU_ASSERT_EQUAL(aclUpdateDataBuffer(call.buffer[1][pairs[k][0]],
                                            call.memory[0][pairs[k][1]],
                                            call.bytes[1][pairs[k][0]]),
                        0);
    }
    run(&call, "BNTrainingUpdate");
    take(&call, 0, m->type, s.got, m->count);
    want_forward(&s, s.sum[BATCH_MEAN], s.sum[BATCH_VARIANCE]);
    expect("y in place", m, m->count, s.got, s.want, step_of(&s), 2e-3);
    expect_channels("batch mean in place", &s, &call, 3, s.sum[BATCH_MEAN], 1e-6);
    double running[32] = {0};
    for (int64_t c = 0; c < m->dim[1]; c++) {
        running[c] = 0.5 * (1 - s.factor) + s.factor * s.sum[BATCH_MEAN][c];
    }
    expect_channels("running mean in place", &s, &call, 1, running, 1e-5);
    for (unsigned k = 0; k < 4; k++) {
        call.memory[1][pairs[k][0]] = own[k];
    }
    end(&call);
    free_sample(&s);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"parts_are_those_of_the_host", parts_are_those_of_the_host},
        {"statistics_move_in_place", statistics_move_in_place},
    };
    rig_open();
    const int code = leo_test_main("aclnn_batch_norm_native", tests,
                                   sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
