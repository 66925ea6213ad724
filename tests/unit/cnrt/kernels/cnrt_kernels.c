/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the CNRT tests. Vectors are whole numbers of 8 floats for each block. */
#include <leo/device.h>

enum { MAX_COUNT = 4096 };
__ubuf_array__ float first[MAX_COUNT], second[MAX_COUNT];

static void load(__ubuf__ float *to, __gm__ const float *from, uint32_t count)
{
    copy_gm_to_ubuf(to, from, 0, 1, count / 8, 0, 0);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
}

static void store(__gm__ float *to, __ubuf__ const float *from, uint32_t count)
{
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(to, from, 0, 1, count / 8, 0, 0);
    pipe_barrier(PIPE_ALL);
}

/* out = a + b; each block adds its share. */
__global__ __vector__ void add(__gm__ float *out, __gm__ const float *a, __gm__ const float *b,
                               int32_t count)
{
    const uint32_t share = (uint32_t)count / get_block_num(), at = share * get_block_idx();
    load(first, a + at, share);
    load(second, b + at, share);
    for (uint32_t i = 0; i < share; i++) {
        first[i] += second[i];
    }
    store(out + at, first, share);
}

/* Mean squared error of w[0] * x + w[1] against y, and its gradient times `scale`:
 * out = {loss, d/dw0, d/dw1}, with gradients as a type of 16 bits would hold them. */
__global__ __vector__ void line_gradient(__gm__ float *out, __gm__ const float *w,
                                         __gm__ const float *x, __gm__ const float *y,
                                         int32_t count, float scale)
{
    const float largest = 65504.0f;
    float loss = 0, slope = 0, offset = 0;
    load(first, w, 8);
    const float w0 = first[0], w1 = first[1];
    load(first, x, (uint32_t)count);
    load(second, y, (uint32_t)count);
    for (int32_t i = 0; i < count; i++) {
        const float off = w0 * first[i] + w1 - second[i];
        loss += off * off / (float)count;
        slope += 2 * off * first[i] / (float)count;
        offset += 2 * off / (float)count;
    }
    slope *= scale;
    offset *= scale;
    for (int i = 0; i < 8; i++) {
        first[i] = 0;
    }
    first[0] = loss;
    first[1] = slope > largest || slope < -largest ? slope * 1e38f * 1e38f : slope;
    first[2] = offset > largest || offset < -largest ? offset * 1e38f * 1e38f : offset;
    store(out, first, 8);
}

/* Divides gradients by the scale and says in flag[0] whether one was not finite. */
__global__ __vector__ void unscale(__gm__ float *gradient, __gm__ float *flag, float inverse)
{
    load(first, gradient, 8);
    float bad = 0;
    for (int i = 1; i < 3; i++) {
        bad = first[i] - first[i] != 0 ? 1 : bad; // of an infinity it is no number
        first[i] *= inverse;
    }
    store(gradient, first, 8);
    for (int i = 0; i < 8; i++) {
        first[i] = bad;
    }
    store(flag, first, 8);
}

/* w -= rate * gradient, whose first number is the loss. */
__global__ __vector__ void step(__gm__ float *w, __gm__ const float *gradient, float rate)
{
    load(first, w, 8);
    load(second, gradient, 8);
    first[0] -= rate * second[1];
    first[1] -= rate * second[2];
    store(w, first, 8);
}

__global__ __vector__ void trapped(void)
{
    trap();
}

__global__ __vector__ void outside(__gm__ float *out)
{
    copy_gm_to_ubuf(first, out, 0, 1, 8, 0, 0);
}
