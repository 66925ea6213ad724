/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by type name (aclop) and products by cblas, against references on the host. */
#include "rig.h"

#include <acl/acl_op.h>
#include <acl/acl_op_compiler.h>
#include <acl/ops/acl_cblas.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS = 12 };

/* A call by type name: f32 tensors in device memory, numbers in host memory. */
struct call {
    aclTensorDesc *desc[2][TENSORS];
    aclDataBuffer *buffer[2][TENSORS];
    void *memory[2][TENSORS];
    int count[2];
    aclopAttr *attr;
};

static struct call begin(void)
{
    return (struct call){.attr = aclopCreateAttr()};
}

static void add(struct call *call, int side, int rank, const int64_t *dim, const float *values)
{
    const int at = call->count[side]++;
    size_t count = 1;
    for (int i = 0; i < rank; i++) {
        count *= (size_t)dim[i];
    }
    call->desc[side][at] = aclCreateTensorDesc(ACL_FLOAT, rank, dim, ACL_FORMAT_NCHW);
    CU_ASSERT_EQUAL_FATAL(aclrtMalloc(&call->memory[side][at], count * 4, 0), 0);
    if (values) {
        CU_ASSERT_EQUAL_FATAL(aclrtMemcpy(call->memory[side][at], count * 4, values, count * 4, 1),
                              0);
    }
    call->buffer[side][at] = aclCreateDataBuffer(call->memory[side][at], count * 4);
}

static void add_host(struct call *call, int count, const int32_t *values)
{
    const int at = call->count[0]++;
    const int64_t dim[] = {count};
    call->desc[0][at] = aclCreateTensorDesc(ACL_INT32, 1, dim, ACL_FORMAT_ND);
    CU_ASSERT_EQUAL(aclSetTensorPlaceMent(call->desc[0][at], ACL_MEMTYPE_HOST), 0);
    call->buffer[0][at] =
        aclCreateDataBuffer((void *)(uintptr_t)values, (size_t)count * sizeof(*values));
}

// A number as torch_npu passes it: in host memory.
static void add_number(struct call *call, const float *value)
{
    const int at = call->count[0]++;
    call->desc[0][at] = aclCreateTensorDesc(ACL_FLOAT, 0, NULL, ACL_FORMAT_ND);
    CU_ASSERT_EQUAL(aclSetTensorPlaceMent(call->desc[0][at], ACL_MEMTYPE_HOST), 0);
    call->buffer[0][at] = aclCreateDataBuffer((void *)(uintptr_t)value, sizeof(*value));
}

static void add_longs(struct call *call, int count, const int64_t *values)
{
    const int at = call->count[0]++;
    const int64_t dim[] = {count};
    call->desc[0][at] = aclCreateTensorDesc(ACL_INT64, 1, dim, ACL_FORMAT_ND);
    CU_ASSERT_EQUAL(aclSetTensorPlaceMent(call->desc[0][at], ACL_MEMTYPE_HOST), 0);
    call->buffer[0][at] =
        aclCreateDataBuffer((void *)(uintptr_t)values, (size_t)count * sizeof(*values));
}

static aclError run(struct call *call, const char *type)
{
    aclError error = aclopCompileAndExecuteV2(
        type, call->count[0], call->desc[0], call->buffer[0], call->count[1], call->desc[1],
        call->buffer[1], call->attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, rig_stream());
    if (!error) {
        CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    }
    return error;
}

static void take(const struct call *call, int at, float *values, size_t count)
{
    CU_ASSERT_EQUAL_FATAL(aclrtMemcpy(values, count * 4, call->memory[1][at], count * 4, 2), 0);
}

static void end(struct call *call)
{
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < call->count[side]; i++) {
            aclDestroyTensorDesc(call->desc[side][i]);
            CU_ASSERT_EQUAL(aclDestroyDataBuffer(call->buffer[side][i]), 0);
            if (call->memory[side][i]) {
                CU_ASSERT_EQUAL(aclrtFree(call->memory[side][i]), 0);
            }
        }
    }
    aclopDestroyAttr(call->attr);
}

static void fill(float *values, size_t count, unsigned step)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)((int)(i * step % 23) - 11) / 4;
    }
}

static void expect_near(float got, float want)
{
    CU_ASSERT_DOUBLE_EQUAL(got, want, 2e-4 + fabsf(want) * 2e-4);
}

enum { N = 3, C = 5, PLANE = 12, COUNT = N * C * PLANE };

static size_t channel_of(size_t i)
{
    return i / PLANE % C;
}

static void batch_norm_in_parts(void)
{
    const int64_t shape[] = {N, C, 3, 4}, channel[] = {C};
    float x[COUNT], dy[COUNT], y[COUNT], scale[C], offset[C], mean[C], variance[C], got[C];
    double m[C] = {0}, v[C] = {0}, ds[C] = {0}, d0[C] = {0};
    const double eps = 1e-3, factor = 0.1, each = N * PLANE;
    fill(x, COUNT, 7);
    fill(dy, COUNT, 5);
    for (int i = 0; i < C; i++) {
        scale[i] = 1 + (float)i / 4;
        offset[i] = (float)i;
        mean[i] = 0.5f;
        variance[i] = 2;
    }
    for (size_t i = 0; i < COUNT; i++) {
        m[channel_of(i)] += (double)x[i] / each;
    }
    for (size_t i = 0; i < COUNT; i++) {
        const double d = (double)x[i] - m[channel_of(i)];
        v[channel_of(i)] += d * d / each;
    }
    struct call reduce = begin();
    add(&reduce, 0, 4, shape, x);
    add(&reduce, 1, 1, channel, NULL);
    add(&reduce, 1, 1, channel, NULL);
    CU_ASSERT_EQUAL(run(&reduce, "BNTrainingReduce"), 0);
    float sums[2][C];
    take(&reduce, 0, sums[0], C);
    take(&reduce, 1, sums[1], C);
    end(&reduce);

    struct call update = begin();
    add(&update, 0, 4, shape, x);
    add(&update, 0, 1, channel, sums[0]);
    add(&update, 0, 1, channel, sums[1]);
    add(&update, 0, 1, channel, scale);
    add(&update, 0, 1, channel, offset);
    add(&update, 0, 1, channel, mean);
    add(&update, 0, 1, channel, variance);
    add(&update, 1, 4, shape, NULL);
    for (int i = 0; i < 4; i++) {
        add(&update, 1, 1, channel, NULL);
    }
    CU_ASSERT_EQUAL(aclopSetAttrFloat(update.attr, "factor", (float)factor), 0);
    CU_ASSERT_EQUAL(aclopSetAttrFloat(update.attr, "epsilon", (float)eps), 0);
    CU_ASSERT_EQUAL(run(&update, "BNTrainingUpdate"), 0);
    take(&update, 0, y, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t c = channel_of(i);
        expect_near(y[i], (float)(((double)x[i] - m[c]) / sqrt(v[c] + eps) * (double)scale[c] +
                                  (double)offset[c]));
    }
    float batch[2][C];
    take(&update, 1, got, C);
    for (int i = 0; i < C; i++) {
        expect_near(got[i], (float)(0.5 * (1 - factor) + factor * m[i]));
    }
    take(&update, 2, got, C);
    for (int i = 0; i < C; i++) {
        expect_near(got[i], (float)(2 * (1 - factor) + factor * v[i] * each / (each - 1)));
    }
    take(&update, 3, batch[0], C);
    take(&update, 4, batch[1], C);
    end(&update);

    struct call back = begin();
    add(&back, 0, 4, shape, dy);
    add(&back, 0, 4, shape, x);
    add(&back, 0, 1, channel, batch[0]);
    add(&back, 0, 1, channel, batch[1]);
    add(&back, 1, 1, channel, NULL);
    add(&back, 1, 1, channel, NULL);
    CU_ASSERT_EQUAL(aclopSetAttrFloat(back.attr, "epsilon", (float)eps), 0);
    CU_ASSERT_EQUAL(run(&back, "BNTrainingUpdateGrad"), 0);
    float diff[2][C];
    take(&back, 0, diff[0], C);
    take(&back, 1, diff[1], C);
    end(&back);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t c = channel_of(i);
        ds[c] += (double)dy[i] * ((double)x[i] - m[c]) / sqrt(v[c] + eps);
        d0[c] += (double)dy[i];
    }
    for (int i = 0; i < C; i++) {
        expect_near(diff[0][i], (float)ds[i]);
        expect_near(diff[1][i], (float)d0[i]);
    }

    struct call input = begin();
    add(&input, 0, 4, shape, dy);
    add(&input, 0, 4, shape, x);
    add(&input, 0, 1, channel, diff[0]);
    add(&input, 0, 1, channel, diff[1]);
    add(&input, 0, 1, channel, scale);
    add(&input, 0, 1, channel, batch[0]);
    add(&input, 0, 1, channel, batch[1]);
    add(&input, 1, 4, shape, NULL);
    CU_ASSERT_EQUAL(aclopSetAttrFloat(input.attr, "epsilon", (float)eps), 0);
    CU_ASSERT_EQUAL(run(&input, "BNTrainingReduceGrad"), 0);
    take(&input, 0, y, COUNT);
    end(&input);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t c = channel_of(i);
        const double inverse = 1 / sqrt(v[c] + eps), along = ((double)x[i] - m[c]) * inverse;
        expect_near(y[i], (float)((double)scale[c] * inverse *
                                  ((double)dy[i] - d0[c] / each - along * ds[c] / each)));
    }
}

static void slices_turns_and_joins(void)
{
    const int64_t whole[] = {4, 6}, part[] = {2, 3}, turned[] = {6, 4}, joined[] = {4, 12};
    const int32_t begin_at[] = {1, 2}, size[] = {2, 3};
    const int64_t perm[] = {1, 0};
    float x[24], y[48];
    fill(x, 24, 3);
    struct call slice = begin();
    add(&slice, 0, 2, whole, x);
    add_host(&slice, 2, begin_at);
    add_host(&slice, 2, size);
    add(&slice, 1, 2, part, NULL);
    CU_ASSERT_EQUAL(run(&slice, "Slice"), 0);
    take(&slice, 0, y, 6);
    for (int i = 0; i < 6; i++) {
        CU_ASSERT_EQUAL(y[i], x[(1 + i / 3) * 6 + 2 + i % 3]);
    }
    end(&slice);
    const int32_t outside[] = {3, 2};
    struct call bad = begin();
    add(&bad, 0, 2, whole, x);
    add_host(&bad, 2, outside);
    add_host(&bad, 2, size);
    add(&bad, 1, 2, part, NULL);
    CU_ASSERT_NOT_EQUAL(run(&bad, "Slice"), 0);
    end(&bad);
    struct call turn = begin();
    add(&turn, 0, 2, whole, x);
    add(&turn, 1, 2, turned, NULL);
    CU_ASSERT_EQUAL(aclopSetAttrListInt(turn.attr, "perm", 2, perm), 0);
    CU_ASSERT_EQUAL(run(&turn, "TransposeD"), 0);
    take(&turn, 0, y, 24);
    for (int i = 0; i < 24; i++) {
        CU_ASSERT_EQUAL(y[i], x[i % 4 * 6 + i / 4]);
    }
    end(&turn);
    struct call join = begin();
    add(&join, 0, 2, whole, x);
    add(&join, 0, 2, whole, x);
    add(&join, 1, 2, joined, NULL);
    CU_ASSERT_EQUAL(aclopSetAttrInt(join.attr, "concat_dim", 1), 0);
    CU_ASSERT_EQUAL(run(&join, "ConcatD"), 0);
    take(&join, 0, y, 48);
    for (int i = 0; i < 48; i++) {
        CU_ASSERT_EQUAL(y[i], x[i / 12 * 6 + i % 6]);
    }
    end(&join);
}

/* Windows of 2 x 2, side by side. */
static void halve(aclopAttr *attr)
{
    const int64_t window[] = {1, 1, 2, 2};
    CU_ASSERT_EQUAL(aclopSetAttrListInt(attr, "ksize", 4, window), 0);
    CU_ASSERT_EQUAL(aclopSetAttrListInt(attr, "strides", 4, window), 0);
    CU_ASSERT_EQUAL(aclopSetAttrString(attr, "padding", "VALID"), 0);
}

static void pools_give_no_indices(void)
{
    const int64_t in[] = {1, 2, 5, 5}, out[] = {1, 2, 2, 2};
    float x[50], y[8], dy[8], dx[50];
    fill(x, 50, 7);
    fill(dy, 8, 5);
    struct call pool = begin();
    add(&pool, 0, 4, in, x);
    add(&pool, 1, 4, out, NULL);
    halve(pool.attr);
    CU_ASSERT_EQUAL(run(&pool, "MaxPool"), 0);
    take(&pool, 0, y, 8);
    end(&pool);
    float want[50] = {0};
    for (int i = 0; i < 8; i++) {
        const int first = i / 4 * 25 + i / 2 % 2 * 10 + i % 2 * 2;
        int best = first;
        for (int k = 1; k < 4; k++) {
            const int at = first + k / 2 * 5 + k % 2;
            best = x[at] > x[best] ? at : best;
        }
        CU_ASSERT_EQUAL(y[i], x[best]);
        want[best] += dy[i];
    }
    struct call back = begin();
    add(&back, 0, 4, in, x);
    add(&back, 0, 4, out, y);
    add(&back, 0, 4, out, dy);
    add(&back, 1, 4, in, NULL);
    halve(back.attr);
    CU_ASSERT_EQUAL(run(&back, "MaxPoolGrad"), 0);
    take(&back, 0, dx, 50);
    end(&back);
    CU_ASSERT_EQUAL(memcmp(dx, want, sizeof(want)), 0);
}

/* The 910B's Cube has f32, and programs that call by name keep it; the 910A rounds to f16. */
static void products_keep_their_digits(void)
{
    const int64_t a_dim[] = {5, 64}, b_dim[] = {64, 6}, dim[] = {5, 6};
    float a[320], b[384], y[30];
    fill(a, 320, 7);
    fill(b, 384, 5);
    for (int i = 0; i < 320; i++) {
        a[i] += 1.0f / 4096; // has no place in f16 beside 1
    }
    struct call call = begin();
    add(&call, 0, 2, a_dim, a);
    add(&call, 0, 2, b_dim, b);
    add(&call, 1, 2, dim, NULL);
    CU_ASSERT_EQUAL(run(&call, "MatMul"), 0);
    take(&call, 0, y, 30);
    end(&call);
    const double limit = rig_chip() == 0 ? 2e-3 : 1e-6;
    for (int i = 0; i < 30; i++) {
        double want = 0, size = 0;
        for (int k = 0; k < 64; k++) {
            const double each = (double)a[i / 6 * 64 + k] * b[k * 6 + i % 6];
            want += each;
            size += fabs(each);
        }
        CU_ASSERT_DOUBLE_EQUAL(y[i], want, limit * (size + 1e-3));
    }
}

/* 6 elements, windows of 3 with step 2: SAME pads one element, at the end. */
static void same_pads_more_at_the_end(void)
{
    const int64_t in[] = {1, 2, 6, 6}, out[] = {1, 2, 3, 3}, window[] = {1, 1, 3, 3},
                  step[] = {1, 1, 2, 2};
    float x[72], y[18], dy[18], dx[72], want[72] = {0};
    fill(x, 72, 7);
    fill(dy, 18, 5);
    for (int back = 0; back < 2; back++) {
        struct call pool = begin();
        add(&pool, 0, 4, in, x);
        if (back) {
            add(&pool, 0, 4, out, y);
            add(&pool, 0, 4, out, dy);
        }
        add(&pool, 1, 4, back ? in : out, NULL);
        CU_ASSERT_EQUAL(aclopSetAttrListInt(pool.attr, "ksize", 4, window), 0);
        CU_ASSERT_EQUAL(aclopSetAttrListInt(pool.attr, "strides", 4, step), 0);
        CU_ASSERT_EQUAL(aclopSetAttrString(pool.attr, "padding", "SAME"), 0);
        CU_ASSERT_EQUAL(run(&pool, back ? "MaxPoolGrad" : "MaxPool"), 0);
        take(&pool, 0, back ? dx : y, back ? 72 : 18);
        end(&pool);
    }
    for (int i = 0; i < 18; i++) {
        const int row = i / 3 % 3 * 2, column = i % 3 * 2;
        int best = i / 9 * 36 + row * 6 + column;
        for (int k = 1; k < 9; k++) {
            const int at = i / 9 * 36 + (row + k / 3) * 6 + column + k % 3;
            best = row + k / 3 < 6 && column + k % 3 < 6 && x[at] > x[best] ? at : best;
        }
        CU_ASSERT_EQUAL(y[i], x[best]);
        want[best] += dy[i];
    }
    CU_ASSERT_EQUAL(memcmp(dx, want, sizeof(want)), 0);
}

/* A step of SGD (stat: where accum has yet to begin) and of ApplyMomentum, each with and without
 * nesterov, against double. */
static void steps_with_momentum(void)
{
    enum { ROW = 19 };
    const int64_t dim[] = {ROW}, one[] = {1};
    const float lr = 0.1f, momentum = 0.9f;
    for (int mode = 0; mode < 4; mode++) {
        const bool sgd = mode & 1, nesterov = mode & 2;
        float var[ROW], grad[ROW], accum[ROW], stat[ROW], got[3][ROW];
        fill(var, ROW, 3);
        fill(grad, ROW, 5);
        fill(accum, ROW, 7);
        for (int i = 0; i < ROW; i++) {
            stat[i] = i % 2 ? 1 : 0;
        }
        struct call call = begin();
        add(&call, 0, 1, dim, var);
        add(&call, 0, 1, dim, sgd ? grad : accum);
        add(&call, 0, 1, one, &lr);
        add(&call, 0, 1, dim, sgd ? accum : grad);
        add(&call, 0, 1, one, &momentum);
        if (sgd) {
            add(&call, 0, 1, dim, stat);
            CU_ASSERT_EQUAL(aclopSetAttrFloat(call.attr, "dampening", 0.5f), 0);
            CU_ASSERT_EQUAL(aclopSetAttrFloat(call.attr, "weight_decay", 0.25f), 0);
        }
        add(&call, 1, 1, dim, NULL);
        CU_ASSERT_EQUAL(aclopSetAttrBool(call.attr, sgd ? "nesterov" : "use_nesterov", nesterov),
                        0);
        CU_ASSERT_EQUAL(run(&call, sgd ? "SGD" : "ApplyMomentum"), 0);
        take(&call, 0, got[0], ROW);
        const int places[] = {sgd ? 3 : 1, sgd ? 5 : 1};
        for (int k = 0; k < 2; k++) {
            CU_ASSERT_EQUAL(aclrtMemcpy(got[1 + k], sizeof(got[0]), call.memory[0][places[k]],
                                        sizeof(got[0]), ACL_MEMCPY_DEVICE_TO_HOST),
                            0);
        }
        end(&call);
        for (int i = 0; i < ROW; i++) {
            const double g = grad[i] + (sgd ? 0.25 * var[i] : 0);
            const double sum = sgd && stat[i] > 0 ? g : accum[i] * 0.9 + (sgd ? 0.5 : 1) * g;
            const double step = nesterov ? g + 0.9 * sum : sum;
            CU_ASSERT_DOUBLE_EQUAL(got[0][i], var[i] - 0.1 * step, 1e-5 * (1 + fabs(step)));
            CU_ASSERT_DOUBLE_EQUAL(got[1][i], sum, 1e-5 * (1 + fabs(sum)));
            CU_ASSERT(!sgd || got[2][i] == 0);
        }
    }
}

/* Several tiles and cores, and what is left of a line. */
static void step_of_adam(int64_t count, bool on_host)
{
    const int64_t one[] = {1};
    const float numbers[] = {0.9f, 0.999f, 0.01f, 0.9f, 0.999f, 1e-8f};
    float *host = malloc((size_t)count * 5 * sizeof(float));
    float *var = host, *m = var + count, *v = m + count, *g = v + count, *got = g + count;
    fill(var, (size_t)count, 3);
    fill(m, (size_t)count, 5);
    fill(g, (size_t)count, 7);
    for (int64_t i = 0; i < count; i++) {
        v[i] = (float)(i % 41) / 10;
    }
    struct call call = begin();
    add(&call, 0, 1, &count, var);
    add(&call, 0, 1, &count, m);
    add(&call, 0, 1, &count, v);
    for (int i = 0; i < 6 && on_host; i++) {
        add_number(&call, &numbers[i]);
    }
    for (int i = 0; i < 6 && !on_host; i++) {
        add(&call, 0, 1, one, &numbers[i]);
    }
    add(&call, 0, 1, &count, g);
    for (int i = 0; i < 3; i++) {
        add(&call, 1, 1, &count, NULL);
    }
    CU_ASSERT_EQUAL(run(&call, "ApplyAdamD"), 0);
    for (int k = 0; k < 3; k++) {
        take(&call, k, got, (size_t)count);
        for (int64_t i = 0; i < count; i++) {
            const double mean = (double)m[i] * 0.9 + 0.1 * (double)g[i],
                         square = (double)v[i] * 0.999 + 0.001 * (double)g[i] * (double)g[i],
                         rate = 0.01 * sqrt(1 - 0.999) / (1 - 0.9),
                         moved = (double)var[i] - rate * mean / (sqrt(square) + 1e-8);
            expect_near(got[i], (float)(k == 0 ? moved : k == 1 ? mean : square));
        }
    }
    end(&call);
    free(host);
}

static void a_step_of_adam(void)
{
    step_of_adam(1, false);
    step_of_adam(37, false);
    step_of_adam(37, true);
    step_of_adam(64, false);
    step_of_adam(300005, false);
}

static void rows_by_their_name(void)
{
    const int64_t shape[] = {3, 7};
    float x[21], y[21];
    fill(x, 21, 3);
    struct call call = begin();
    add(&call, 0, 2, shape, x);
    add(&call, 1, 2, shape, NULL);
    CU_ASSERT_EQUAL(run(&call, "Erf"), 0);
    take(&call, 0, y, 21);
    for (int i = 0; i < 21; i++) {
        expect_near(y[i], erff(x[i]));
    }
    CU_ASSERT_NOT_EQUAL(run(&call, "NoSuchType"), 0);
    CU_ASSERT_NOT_EQUAL(run(&call, "ForeachAddListV2"), 0);
    CU_ASSERT_NOT_EQUAL(run(&call, "Clamp"), 0);
    end(&call);
}

static void *device(const void *data, size_t bytes)
{
    void *memory = NULL;
    CU_ASSERT_EQUAL_FATAL(aclrtMalloc(&memory, bytes, 0), 0);
    CU_ASSERT_EQUAL_FATAL(aclrtMemcpy(memory, bytes, data, bytes, 1), 0);
    return memory;
}

static void products_of_integers(void)
{
    enum { M = 5, NN = 7, K = 1500 };
    static int8_t a[M * K], b[NN * K];
    int32_t c[M * NN], got[M * NN];
    const int32_t alpha = 3, beta = -2;
    for (int i = 0; i < M * K; i++) {
        a[i] = (int8_t)(i * 37 % 255 - 127);
    }
    for (int i = 0; i < NN * K; i++) {
        b[i] = (int8_t)(i * 53 % 255 - 127);
    }
    for (int i = 0; i < M * NN; i++) {
        c[i] = i * 1000;
    }
    void *da = device(a, sizeof(a)), *db = device(b, sizeof(b)), *dc = device(c, sizeof(c)),
         *d1 = device(&alpha, 4), *d2 = device(&beta, 4);
    CU_ASSERT_EQUAL(aclblasS8gemm(ACL_TRANS_N, ACL_TRANS_T, ACL_TRANS_N, M, NN, K, d1, da, K, db, K,
                                  d2, dc, NN, ACL_COMPUTE_HIGH_PRECISION, rig_stream()),
                    0);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    CU_ASSERT_EQUAL(aclrtMemcpy(got, sizeof(got), dc, sizeof(got), 2), 0);
    for (int i = 0; i < M * NN; i++) {
        int32_t sum = 0;
        for (int k = 0; k < K; k++) {
            sum += a[i / NN * K + k] * b[i % NN * K + k];
        }
        CU_ASSERT_EQUAL(got[i], alpha * sum + beta * c[i]);
    }
    CU_ASSERT_NOT_EQUAL(aclblasS8gemm(ACL_TRANS_NZ, ACL_TRANS_T, ACL_TRANS_N, M, NN, K, d1, da, K,
                                      db, K, d2, dc, NN, ACL_COMPUTE_HIGH_PRECISION, rig_stream()),
                        0);
    CU_ASSERT_NOT_EQUAL(aclblasS8gemm(ACL_TRANS_N, ACL_TRANS_T, ACL_TRANS_N, M, NN, K, d1, da,
                                      K - 1, db, K, d2, dc, NN, ACL_COMPUTE_HIGH_PRECISION,
                                      rig_stream()),
                        0);
    CU_ASSERT_NOT_EQUAL(aclblasS8gemm(ACL_TRANS_N, ACL_TRANS_T, ACL_TRANS_N, M, NN, K, NULL, da, K,
                                      db, K, d2, dc, NN, ACL_COMPUTE_HIGH_PRECISION, rig_stream()),
                        0);
    void *all[] = {da, db, dc, d1, d2};
    for (int i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(aclrtFree(all[i]), 0);
    }
}

static void products_of_halves(void)
{
    enum { M = 17, NN = 9, K = 33 };
    aclFloat16 a[M * K], x[M], numbers[2] = {aclFloatToFloat16(0.5f), aclFloatToFloat16(0)}, y[K];
    for (int i = 0; i < M * K; i++) {
        a[i] = aclFloatToFloat16((float)(i * 7 % 13 - 6) / 4);
    }
    for (int i = 0; i < M; i++) {
        x[i] = aclFloatToFloat16((float)(i % 5 - 2) / 2);
    }
    for (int i = 0; i < K; i++) {
        y[i] = 0x7e00; // no number: beta is 0, so it is not read
    }
    void *da = device(a, sizeof(a)), *dx = device(x, sizeof(x)), *dy = device(y, sizeof(y)),
         *dn = device(numbers, sizeof(numbers));
    CU_ASSERT_EQUAL(aclblasHgemv(ACL_TRANS_T, M, K, dn, da, -1, dx, 1, (aclFloat16 *)dn + 1, dy, 1,
                                 ACL_COMPUTE_HIGH_PRECISION, rig_stream()),
                    0);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    CU_ASSERT_EQUAL(aclrtMemcpy(y, sizeof(y), dy, sizeof(y), 2), 0);
    for (int k = 0; k < K; k++) {
        float sum = 0;
        for (int i = 0; i < M; i++) {
            sum += aclFloat16ToFloat(a[i * K + k]) * aclFloat16ToFloat(x[i]);
        }
        CU_ASSERT_DOUBLE_EQUAL(aclFloat16ToFloat(y[k]), 0.5f * sum, 1e-2);
    }
    void *all[] = {da, dx, dy, dn};
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(aclrtFree(all[i]), 0);
    }
}

static void calls_are_kept_in_handles(void)
{
    const int64_t dim[] = {4};
    const float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40};
    float sum[4];
    int32_t whole[4];
    const aclTensorDesc *in[2], *out[1];
    aclopHandle *handle, *cast;
    struct call call = begin();
    add(&call, 0, 1, dim, a);
    add(&call, 0, 1, dim, b);
    add(&call, 1, 1, dim, NULL);
    in[0] = call.desc[0][0];
    in[1] = call.desc[0][1];
    out[0] = call.desc[1][0];
    CU_ASSERT_EQUAL(aclopSetAttrInt(call.attr, "unused", 3), 0);
    CU_ASSERT_EQUAL_FATAL(aclopCreateHandle("Add", 2, in, 1, out, call.attr, &handle), 0);
    const aclDataBuffer *inputs[] = {call.buffer[0][0], call.buffer[0][1]};
    const aclDataBuffer *turned[] = {call.buffer[1][0], call.buffer[0][1]};
    CU_ASSERT_EQUAL(aclopExecWithHandle(handle, 2, inputs, 1, call.buffer[1], rig_stream()), 0);
    CU_ASSERT_EQUAL(aclopExecWithHandle(handle, 2, turned, 1, call.buffer[1], rig_stream()), 0);
    CU_ASSERT_EQUAL(aclopExecWithHandle(handle, 1, inputs, 1, call.buffer[1], rig_stream()),
                    ACL_ERROR_INVALID_PARAM);
    aclopDestroyHandle(handle);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    CU_ASSERT_EQUAL(aclrtMemcpy(sum, sizeof(sum), call.memory[1][0], sizeof(sum), 2), 0);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(sum[i], a[i] + 2 * b[i]);
    }
    // The old form, and a cast into the first input's memory.
    CU_ASSERT_EQUAL(aclopSetModelDir("/no/such/folder"), ACL_ERROR_READ_MODEL_FAILURE);
    CU_ASSERT_EQUAL(aclopLoad(a, sizeof(a)), ACL_ERROR_DESERIALIZE_MODEL);
    CU_ASSERT_EQUAL(aclopExecute("Mul", 2, in, inputs, 1, out, call.buffer[1], NULL, rig_stream()),
                    0);
    aclTensorDesc *integers = aclCreateTensorDesc(ACL_INT32, 1, dim, ACL_FORMAT_ND);
    CU_ASSERT_EQUAL(
        aclopCast(out[0], call.buffer[1][0], integers, call.buffer[0][0], 0, rig_stream()), 0);
    CU_ASSERT_EQUAL(aclopCreateHandleForCast(NULL, integers, 0, &cast), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    CU_ASSERT_EQUAL(aclrtMemcpy(whole, sizeof(whole), call.memory[0][0], sizeof(whole), 2), 0);
    CU_ASSERT_TRUE(whole[0] == 10 && whole[3] == 160);
    aclDestroyTensorDesc(integers);
    end(&call);
}

// The two parts of a norm; infinite orders come as the largest int.
static void norms_in_two_parts(void)
{
    enum { ELEMENTS = 12 };
    static const float orders[] = {1, 2, 3, 2147483648.0f};
    const int64_t shape[] = {ELEMENTS}, axis[] = {0}, one[] = {1};
    float x[ELEMENTS], sum, root;
    fill(x, ELEMENTS, 7);
    for (int k = 0; k < 4; k++) {
        double want = 0;
        for (int i = 0; i < ELEMENTS; i++) {
            want = k < 3 ? want + pow(fabs((double)x[i]), (double)orders[k])
                         : fmax(want, fabs((double)x[i]));
        }
        struct call reduce = begin();
        add(&reduce, 0, 1, shape, x);
        add(&reduce, 1, 1, one, NULL);
        CU_ASSERT_EQUAL(aclopSetAttrFloat(reduce.attr, "p", orders[k]), 0);
        CU_ASSERT_EQUAL(aclopSetAttrListInt(reduce.attr, "axes", 1, axis), 0);
        CU_ASSERT_EQUAL(aclopSetAttrBool(reduce.attr, "keepdim", 1), 0);
        CU_ASSERT_EQUAL(run(&reduce, "LpNormReduceV2"), 0);
        take(&reduce, 0, &sum, 1);
        expect_near(sum, (float)want);
        end(&reduce);
        struct call update = begin();
        add(&update, 0, 1, one, &sum);
        add(&update, 1, 1, one, NULL);
        CU_ASSERT_EQUAL(aclopSetAttrFloat(update.attr, "p", orders[k]), 0);
        CU_ASSERT_EQUAL(run(&update, "LpNormUpdateV2"), 0);
        take(&update, 0, &root, 1);
        expect_near(root, (float)(k < 3 ? pow(want, 1 / (double)orders[k]) : want));
        end(&update);
    }
}

// A result whose size depends on data: the description of the output gets it.
static void positions_tell_their_number(void)
{
    static const float x[] = {0, 2, 0, 0, 0, -1};
    static const int64_t want[] = {0, 1, 1, 2};
    const int64_t shape[] = {2, 3}, most[] = {6, 2};
    int64_t got[12], dim = 0;
    struct call call = begin();
    add(&call, 0, 2, shape, x);
    void *memory = NULL;
    CU_ASSERT_EQUAL_FATAL(aclrtMalloc(&memory, sizeof(got), 0), 0);
    call.memory[1][0] = memory;
    call.desc[1][0] = aclCreateTensorDesc(ACL_INT64, 2, most, ACL_FORMAT_ND);
    call.buffer[1][0] = aclCreateDataBuffer(memory, sizeof(got));
    call.count[1] = 1;
    CU_ASSERT_EQUAL(run(&call, "NonZero"), 0);
    CU_ASSERT_EQUAL(aclGetTensorDescDimV2(call.desc[1][0], 0, &dim), 0);
    CU_ASSERT_EQUAL(dim, 2);
    CU_ASSERT_EQUAL(aclrtMemcpy(got, sizeof(want), memory, sizeof(want), 2), 0);
    CU_ASSERT_EQUAL(memcmp(got, want, sizeof(want)), 0);
    end(&call);
}

static aclError copy_view(int64_t rank, const int64_t *to_size, const int64_t *to_stride,
                          int64_t offset, float *out)
{
    static const int64_t size[] = {2, 2}, zero[] = {0}, flat[] = {2, 1};
    static const float source[] = {1, 2, 3, 4};
    const int64_t shape[] = {2, 3}, other[] = {4}, offsets[] = {offset};
    const float x[6] = {0};
    struct call call = begin();
    add(&call, 0, 2, shape, x);
    add_longs(&call, rank, to_size);
    add_longs(&call, rank, to_stride);
    add_longs(&call, 1, offsets);
    add(&call, 0, 1, other, source);
    add_longs(&call, 2, size);
    add_longs(&call, 2, flat);
    add_longs(&call, 1, zero);
    const aclError error = run(&call, "ViewCopy");
    CU_ASSERT_EQUAL(aclrtMemcpy(out, sizeof(x), call.memory[0][0], sizeof(x), 2), 0);
    end(&call);
    return error;
}

static void views_stay_inside(void)
{
    float got[6];
    static const float want[] = {0, 1, 2, 0, 3, 4};
    static const int64_t size[] = {2, 2}, stride[] = {3, 1};
    // Their last element is number 3 (2^31 - 2) (2^31 - 1), beyond 64 bits.
    static const int64_t far[] = {INT32_MAX, INT32_MAX, INT32_MAX};
    CU_ASSERT_EQUAL(copy_view(2, size, stride, 1, got), 0);
    CU_ASSERT_EQUAL(memcmp(got, want, sizeof(want)), 0);
    CU_ASSERT_NOT_EQUAL(copy_view(2, size, stride, 2, got), 0);
    CU_ASSERT_NOT_EQUAL(copy_view(2, size, stride, -1, got), 0);
    CU_ASSERT_NOT_EQUAL(copy_view(3, far, far, 0, got), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(aclGetRecentErrMsg(), "a view reaches beyond its tensor"));
}

static aclError slice(int64_t from, int64_t to, int64_t step, int64_t shrunk, float *out)
{
    static const float x[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const int64_t shape[] = {2, 4}, begin_at[] = {1, from}, end_at[] = {2, to}, steps[] = {1, step},
                  made[] = {1, 2};
    struct call call = begin();
    add(&call, 0, 2, shape, x);
    add_longs(&call, 2, begin_at);
    add_longs(&call, 2, end_at);
    add_longs(&call, 2, steps);
    add(&call, 1, shrunk ? 1 : 2, made + (shrunk != 0), NULL);
    CU_ASSERT_EQUAL(aclopSetAttrInt(call.attr, "shrink_axis_mask", shrunk), 0);
    const aclError error = run(&call, "StridedSlice");
    take(&call, 0, out, 2);
    end(&call);
    return error;
}

static void slices_with_steps(void)
{
    float got[2];
    CU_ASSERT_EQUAL(slice(0, 4, 2, 0, got), 0);
    CU_ASSERT_TRUE(got[0] == 4 && got[1] == 6);
    CU_ASSERT_EQUAL(slice(-2, 9, 1, 1, got), 0);
    CU_ASSERT_TRUE(got[0] == 6 && got[1] == 7);
    CU_ASSERT_NOT_EQUAL(slice(5, 9, 1, 0, got), 0);
    CU_ASSERT_NOT_EQUAL(slice(0, 2, 0, 0, got), 0);
    CU_ASSERT_NOT_EQUAL(slice(4, 6, 1, 2, got), 0);
}

// Rows of one element, with tensors that have no dimensions.
static void norms_of_no_dimensions(void)
{
    static const float x = 3, gamma = 2, beta = 0.5f, dy = 4, zero = 0;
    const int64_t one[] = {1};
    float y, dgamma;
    for (int rank = 0; rank < 2; rank++) {
        struct call forward = begin(), back = begin();
        add(&forward, 0, rank, one, &x);
        add(&forward, 0, 0, NULL, &gamma);
        add(&forward, 0, 0, NULL, &beta);
        for (int i = 0; i < 3; i++) {
            add(&forward, 1, i ? 1 : rank, one, NULL);
        }
        CU_ASSERT_EQUAL(aclopSetAttrInt(forward.attr, "begin_norm_axis", 0), 0);
        CU_ASSERT_EQUAL(run(&forward, "LayerNorm"), 0);
        take(&forward, 0, &y, 1);
        CU_ASSERT_EQUAL(y, beta);
        end(&forward);
        add(&back, 0, rank, one, &dy);
        add(&back, 0, rank, one, &x);
        add(&back, 0, 1, one, &zero); // variance
        add(&back, 0, 1, one, &x);    // mean
        add(&back, 0, 0, NULL, &gamma);
        for (int i = 0; i < 3; i++) {
            add(&back, 1, i ? 0 : rank, one, NULL);
        }
        CU_ASSERT_EQUAL(run(&back, "LayerNormGrad"), 0);
        take(&back, 0, &y, 1);
        CU_ASSERT_EQUAL(y, 0);
        take(&back, 1, &dgamma, 1);
        CU_ASSERT_EQUAL(dgamma, 0);
        take(&back, 2, &dgamma, 1);
        CU_ASSERT_EQUAL(dgamma, dy);
        end(&back);
    }
}

static void losses_and_places(void)
{
    enum { ELEMENTS = 6 };
    static const char *const how[] = {"none", "mean", "sum"};
    static const float y[ELEMENTS] = {1, -1, -1, 1, 1, -1};
    const int64_t shape[] = {2, 3}, line[] = {ELEMENTS}, four[] = {4}, index[] = {5, 0, 2, 5},
                  one[] = {1};
    float x[ELEMENTS], got[ELEMENTS];
    double sum = 0;
    fill(x, ELEMENTS, 7);
    for (int i = 0; i < ELEMENTS; i++) {
        sum += log1p(exp(-(double)y[i] * (double)x[i]));
    }
    for (int k = 0; k < 3; k++) {
        struct call loss = begin();
        add(&loss, 0, 2, shape, x);
        add(&loss, 0, 2, shape, y);
        add(&loss, 1, k ? k - 1 : 2, k ? one : shape, NULL); // torch_npu makes it of one dimension
        CU_ASSERT_EQUAL(aclopSetAttrString(loss.attr, "reduction", how[k]), 0);
        CU_ASSERT_EQUAL(run(&loss, "SoftMarginLoss"), 0);
        take(&loss, 0, got, k ? 1 : ELEMENTS);
        for (int i = 0; i < ELEMENTS && k == 0; i++) {
            expect_near(got[i], log1pf(expf(-y[i] * x[i])));
        }
        if (k) {
            expect_near(got[0], (float)(k == 1 ? sum / ELEMENTS : sum));
        }
        end(&loss);
    }
    struct call gather = begin();
    add(&gather, 0, 1, line, x);
    void *memory = NULL;
    CU_ASSERT_EQUAL_FATAL(aclrtMalloc(&memory, sizeof(index), 0), 0);
    CU_ASSERT_EQUAL_FATAL(aclrtMemcpy(memory, sizeof(index), index, sizeof(index), 1), 0);
    gather.memory[0][1] = memory;
    gather.desc[0][1] = aclCreateTensorDesc(ACL_INT64, 1, four, ACL_FORMAT_ND);
    gather.buffer[0][1] = aclCreateDataBuffer(memory, sizeof(index));
    gather.count[0] = 2;
    add(&gather, 1, 1, four, NULL);
    CU_ASSERT_EQUAL(run(&gather, "Gather"), 0);
    take(&gather, 0, got, 4);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(got[i], x[index[i]]);
    }
    end(&gather);
}

// What a row cannot do is reported, not left out.
static void attributes_are_looked_at(void)
{
    const int64_t shape[] = {2, 3};
    float x[6], y[6];
    fill(x, 6, 3);
    for (int k = 0; k < 3; k++) {
        struct call call = begin();
        add(&call, 0, 2, shape, x);
        add(&call, 0, 2, shape, x);
        add(&call, 1, 0, NULL, NULL);
        if (k) {
            CU_ASSERT_EQUAL(aclopSetAttrString(call.attr, "reduction", k == 1 ? "sum" : "median"),
                            0);
        }
        CU_ASSERT_EQUAL(run(&call, "MseLoss") != 0, k == 2);
        end(&call);
    }
    for (int k = 0; k < 3; k++) {
        struct call call = begin();
        for (int i = 0; i < 6; i++) {
            x[i] = (float)(1 << i);
        }
        add(&call, 0, 2, shape, x);
        add(&call, 1, 2, shape, NULL);
        CU_ASSERT_EQUAL(aclopSetAttrFloat(call.attr, "base", k ? 2 : -1), 0);
        CU_ASSERT_EQUAL(aclopSetAttrFloat(call.attr, "scale", k == 2 ? 3 : 1), 0);
        CU_ASSERT_EQUAL(run(&call, "Log") != 0, k == 2);
        take(&call, 0, y, 6);
        for (int i = 0; i < 6 && k < 2; i++) {
            expect_near(y[i], k ? (float)i : logf(x[i]));
        }
        end(&call);
    }
}

/* ---- gradients of convolutions, in the chip's own formats ---- */

enum { CH = 16, SIDE = 6, KERNEL = 3, MAP = CH * SIDE * SIDE, WEIGHTS = CH * CH * KERNEL * KERNEL };

// Where channel c of place (y, x) is in NC1HWC0, and a weight in FRACTAL_Z.
static int map_at(int c, int y, int x)
{
    return (y * SIDE + x) * CH + c;
}

static int weight_at(int out, int in, int y, int x)
{
    return (y * KERNEL + x) * CH * CH + out * CH + in;
}

/* f16 or f32 numbers in a format; NULL: memory that nothing has written. */
static void add_native(struct call *call, int side, aclDataType type, bool weights,
                       const float *values)
{
    const int64_t map[] = {1, CH, SIDE, SIDE}, kernel[] = {CH, CH, KERNEL, KERNEL},
                  map_storage[] = {1, 1, SIDE, SIDE, CH},
                  kernel_storage[] = {KERNEL * KERNEL, 1, CH, CH};
    const int at = call->count[side]++;
    const size_t count = weights ? WEIGHTS : MAP, bytes = count * (type == ACL_FLOAT ? 4 : 2);
    aclTensorDesc *desc = aclCreateTensorDesc(type, 4, weights ? kernel : map, ACL_FORMAT_NCHW);
    CU_ASSERT_EQUAL(aclSetTensorFormat(desc, weights ? ACL_FORMAT_FRACTAL_Z : ACL_FORMAT_NC1HWC0),
                    0);
    CU_ASSERT_EQUAL(
        aclSetTensorShape(desc, weights ? 4 : 5, weights ? kernel_storage : map_storage), 0);
    call->desc[side][at] = desc;
    CU_ASSERT_EQUAL_FATAL(aclrtMalloc(&call->memory[side][at], bytes, 0), 0);
    if (values) {
        aclFloat16 halves[WEIGHTS];
        for (size_t i = 0; i < count; i++) {
            halves[i] = aclFloatToFloat16(values[i]);
        }
        CU_ASSERT_EQUAL(aclrtMemcpy(call->memory[side][at], bytes, halves, bytes, 1), 0);
    }
    call->buffer[side][at] = aclCreateDataBuffer(call->memory[side][at], bytes);
}

static void set_convolution(aclopAttr *attr)
{
    const int64_t ones[] = {1, 1, 1, 1};
    CU_ASSERT_EQUAL(aclopSetAttrListInt(attr, "strides", 4, ones), 0);
    CU_ASSERT_EQUAL(aclopSetAttrListInt(attr, "pads", 4, ones), 0);
    CU_ASSERT_EQUAL(aclopSetAttrListInt(attr, "dilations", 4, ones), 0);
    CU_ASSERT_EQUAL(aclopSetAttrInt(attr, "groups", 1), 0);
    CU_ASSERT_EQUAL(aclopSetAttrString(attr, "data_format", "NCHW"), 0);
}

// A result's memory is written and not read: the checker of kernels knows what nothing has written.
static void gradients_of_convolutions_read_no_result(void)
{
    static float x[MAP], g[MAP], w[WEIGHTS], dx[MAP], dw[WEIGHTS], got[WEIGHTS];
    static aclFloat16 halves[MAP];
    const int32_t map[] = {1, CH, SIDE, SIDE}, kernel[] = {CH, CH, KERNEL, KERNEL};
    for (int i = 0; i < WEIGHTS; i++) { // sums of products of these are exact
        x[i % MAP] = (float)(i * 7 % 5 - 2) / 2;
        g[i % MAP] = (float)(i * 11 % 3 - 1) / 2;
        w[i] = (float)(i * 13 % 5 - 2) / 2;
    }
    for (int i = 0; i < CH * CH * KERNEL * KERNEL * SIDE * SIDE; i++) {
        const int out = i % CH, in = i / CH % CH, ky = i / (CH * CH) % KERNEL,
                  kx = i / (CH * CH * KERNEL) % KERNEL, oy = i / (CH * CH * KERNEL * KERNEL) % SIDE,
                  ox = i / (CH * CH * KERNEL * KERNEL * SIDE), iy = oy + ky - 1, ix = ox + kx - 1;
        if (iy >= 0 && iy < SIDE && ix >= 0 && ix < SIDE) {
            dx[map_at(in, iy, ix)] += g[map_at(out, oy, ox)] * w[weight_at(out, in, ky, kx)];
            dw[weight_at(out, in, ky, kx)] += g[map_at(out, oy, ox)] * x[map_at(in, iy, ix)];
        }
    }
    struct call input = begin(), filter = begin();
    add_host(&input, 4, map);
    add_native(&input, 0, ACL_FLOAT16, true, w);
    add_native(&input, 0, ACL_FLOAT16, false, g);
    add_native(&input, 1, ACL_FLOAT16, false, NULL);
    set_convolution(input.attr);
    CU_ASSERT_EQUAL(run(&input, "Conv2DBackpropInput"), 0);
    CU_ASSERT_EQUAL(aclrtMemcpy(halves, sizeof(halves), input.memory[1][0], sizeof(halves), 2), 0);
    for (int i = 0; i < MAP; i++) {
        CU_ASSERT_EQUAL(aclFloat16ToFloat(halves[i]), dx[i]);
    }
    end(&input);
    add_native(&filter, 0, ACL_FLOAT16, false, x);
    add_host(&filter, 4, kernel);
    add_native(&filter, 0, ACL_FLOAT16, false, g);
    add_native(&filter, 1, ACL_FLOAT, true, NULL);
    set_convolution(filter.attr);
    CU_ASSERT_EQUAL(run(&filter, "Conv2DBackpropFilter"), 0);
    take(&filter, 0, got, WEIGHTS);
    for (int i = 0; i < WEIGHTS; i++) {
        CU_ASSERT_EQUAL(got[i], dw[i]);
    }
    end(&filter);
}

/* What onnxruntime's provider calls by name where it runs operator by operator. */
static void shapes_and_matrices(void)
{
    enum { ROWS = 3, COLUMNS = 4 };
    const int64_t row[] = {COLUMNS}, matrix[] = {ROWS, COLUMNS}, flat[] = {1, ROWS * COLUMNS},
                  square[] = {ROWS, ROWS};
    float x[ROWS * COLUMNS], got[ROWS * COLUMNS];
    fill(x, ROWS * COLUMNS, 7);
    struct call spread = begin(), flatten = begin(), wrong = begin(), product = begin();
    add(&spread, 0, 1, row, x);
    add(&spread, 1, 2, matrix, NULL);
    CU_ASSERT_EQUAL(run(&spread, "BroadcastToD"), 0);
    take(&spread, 0, got, ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        CU_ASSERT_EQUAL(got[i], x[i % COLUMNS]);
    }
    add(&flatten, 0, 2, matrix, x);
    add(&flatten, 1, 2, flat, NULL);
    CU_ASSERT_EQUAL(run(&flatten, "Flatten"), 0);
    take(&flatten, 0, got, ROWS * COLUMNS);
    CU_ASSERT_EQUAL(memcmp(got, x, sizeof(x)), 0);
    add(&product, 0, 2, matrix, x);
    add(&product, 0, 2, matrix, x);
    add(&product, 1, 2, square, NULL);
    CU_ASSERT_EQUAL(aclopSetAttrBool(product.attr, "adj_x2", 1), 0);
    CU_ASSERT_EQUAL(run(&product, "BatchMatMul"), 0);
    take(&product, 0, got, ROWS * ROWS);
    for (int i = 0; i < ROWS * ROWS; i++) {
        float sum = 0;
        for (int k = 0; k < COLUMNS; k++) {
            sum += x[i / ROWS * COLUMNS + k] * x[i % ROWS * COLUMNS + k];
        }
        expect_near(got[i], sum);
    }
    end(&spread);
    end(&flatten);
    end(&product);
    // Last: a refused call is reported by every later wait of this thread's device.
    add(&wrong, 0, 2, matrix, x);
    add(&wrong, 1, 1, row, NULL);
    CU_ASSERT_EQUAL(run(&wrong, "Flatten"), ACL_ERROR_OP_OUTPUT_NOT_MATCH);
    end(&wrong);
}

/* Inference alone: y = (x - mean) / sqrt(variance + epsilon) * scale + offset. */
static void batch_norm_of_inference(void)
{
    const int64_t shape[] = {N, C, 3, 4}, channel[] = {C};
    const float epsilon = 1e-3f;
    float x[COUNT], got[COUNT], parts[4][C]; // scale, offset, mean, variance
    fill(x, COUNT, 7);
    for (int i = 0; i < C; i++) {
        parts[0][i] = 1 + (float)i / 4;
        parts[1][i] = (float)i;
        parts[2][i] = 0.5f;
        parts[3][i] = 2 + (float)i;
    }
    struct call call = begin();
    add(&call, 0, 4, shape, x);
    for (int i = 0; i < 4; i++) {
        add(&call, 0, 1, channel, parts[i]);
    }
    add(&call, 1, 4, shape, NULL);
    CU_ASSERT_EQUAL(aclopSetAttrFloat(call.attr, "epsilon", epsilon), 0);
    CU_ASSERT_EQUAL(aclopSetAttrBool(call.attr, "is_training", 0), 0);
    CU_ASSERT_EQUAL(run(&call, "BatchNorm"), 0);
    take(&call, 0, got, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const size_t c = channel_of(i);
        expect_near(got[i], (x[i] - parts[2][c]) / sqrtf(parts[3][c] + epsilon) * parts[0][c] +
                                parts[1][c]);
    }
    end(&call);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"batch_norm_in_parts", batch_norm_in_parts},
        {"slices_turns_and_joins", slices_turns_and_joins},
        {"pools_give_no_indices", pools_give_no_indices},
        {"products_keep_their_digits", products_keep_their_digits},
        {"same_pads_more_at_the_end", same_pads_more_at_the_end},
        {"steps_with_momentum", steps_with_momentum},
        {"a_step_of_adam", a_step_of_adam},
        {"rows_by_their_name", rows_by_their_name},
        {"calls_are_kept_in_handles", calls_are_kept_in_handles},
        {"norms_in_two_parts", norms_in_two_parts},
        {"positions_tell_their_number", positions_tell_their_number},
        {"views_stay_inside", views_stay_inside},
        {"slices_with_steps", slices_with_steps},
        {"norms_of_no_dimensions", norms_of_no_dimensions},
        {"losses_and_places", losses_and_places},
        {"gradients_of_convolutions_read_no_result", gradients_of_convolutions_read_no_result},
        {"attributes_are_looked_at", attributes_are_looked_at},
        {"products_of_integers", products_of_integers},
        {"products_of_halves", products_of_halves},
        {"batch_norm_of_inference", batch_norm_of_inference},
        {"shapes_and_matrices", shapes_and_matrices},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_by_name", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
