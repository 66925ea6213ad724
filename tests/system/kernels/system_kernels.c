/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the system tests: small, and each wrong in at most one way. */
#include <leo/device.h>

#define TILE 64

struct small {
    int16_t a, b;
    float c;
};
struct pair {
    uint64_t a;
    float b;
    int32_t c;
};
struct wide {
    int64_t a, b;
} __attribute__((aligned(16)));
struct big {
    int32_t a[9];
    double b;
};

__ubuf_array__ float ub_a[TILE];
__ubuf_array__ float ub_b[TILE];
__ubuf_array__ float ub_c[TILE];

__global__ __vector__ void empty(void)
{
}

/* c = a + b, a tile a block. */
__global__ __vector__ void add(__gm__ const float *a, __gm__ const float *b, __gm__ float *c)
{
    uint32_t first = get_block_idx() * TILE;

    set_mask_norm();
    set_vector_mask(0, ~0ull);
    copy_gm_to_ubuf(ub_a, a + first, 0, 1, TILE / 8, 0, 0);
    copy_gm_to_ubuf(ub_b, b + first, 0, 1, TILE / 8, 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    vadd(ub_c, ub_a, ub_b, 1, 1, 1, 1, 8, 8, 8);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(c + first, ub_c, 0, 1, TILE / 8, 0, 0);
    pipe_barrier(PIPE_ALL);
}

/* Every kind of argument, some beyond the eighth register. */
__global__ __vector__ void arguments(__gm__ int64_t *out, int8_t a, uint8_t b, int16_t c,
                                     uint16_t d, int32_t e, uint32_t f, int64_t g, uint64_t h,
                                     float x, double y, half z, bool t)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
    out[4] = e;
    out[5] = f;
    out[6] = g;
    out[7] = (int64_t)h;
    out[8] = (int64_t)(x * 4);
    out[9] = (int64_t)(y * 4);
    out[10] = (int64_t)((float)z * 4);
    out[11] = t;
}

__global__ __vector__ void structs(__gm__ int64_t *out, struct small s, struct pair p, struct big q,
                                   int32_t last)
{
    out[0] = s.a;
    out[1] = s.b;
    out[2] = (int64_t)s.c;
    out[3] = (int64_t)p.a;
    out[4] = (int64_t)p.b;
    out[5] = p.c;
    out[6] = q.a[0] + q.a[8];
    out[7] = (int64_t)q.b;
    out[8] = last;
}

/* Structures of 16 bytes that ask for 16: in registers from an odd one on, split between the last
 * one and the stack, and on the stack behind an odd number of words. */
__global__ __vector__ void aligned_structs(__gm__ int64_t *out, struct wide u, int64_t c, int64_t d,
                                           int64_t e, int64_t f, struct wide v, int64_t g,
                                           int64_t h, struct wide w, int64_t last)
{
    const int64_t all[] = {u.a, u.b, c, d, e, f, v.a, v.b, g, h, w.a, w.b, last};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        out[i] = all[i];
    }
}

/* Initialised and zero data, and a table of functions: each block has its own copy. */
static int64_t counter = 40;
static int64_t zeros[300];
static int64_t add_one(int64_t x)
{
    return x + 1;
}
static int64_t add_two(int64_t x)
{
    return x + 2;
}
static int64_t (*volatile table[2])(int64_t) = {add_one, add_two};

__global__ __vector__ void globals(__gm__ int64_t *out)
{
    counter = table[get_block_idx() & 1](counter);
    zeros[299]++;
    out[get_block_idx()] = counter + 1000 * zeros[299];
}

/* Multiplies by 3 and adds `x`: the result tells the order of several. */
__global__ __vector__ void step(__gm__ int64_t *value, int64_t x, int32_t spins)
{
    for (volatile int32_t i = 0; i < spins; i++) {
    }
    *value = *value * 3 + x;
}

/* Data sent along with the launch. */
__global__ __vector__ void sum_data(__gm__ int64_t *out, const int32_t *data, int32_t count)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += data[i];
    }
    *out = sum;
}

__global__ __vector__ void store_at(__gm__ int64_t *out, int64_t index)
{
    out[index] = 1; /* line of the fault */
}

__global__ __vector__ void load_tile(__gm__ const float *a)
{
    copy_gm_to_ubuf(ub_a, a, 0, 1, TILE / 8, 0, 0);
    pipe_barrier(PIPE_ALL);
}

__global__ __vector__ void misaligned(void)
{
    set_mask_norm();
    set_vector_mask(0, ~0ull);
    vadd((__ubuf__ float *)((char *)ub_c + 4), ub_a, ub_b, 1, 1, 1, 1, 8, 8, 8);
}

__global__ __vector__ void illegal(void)
{
    __asm__ volatile(".word 0xffffffff");
}

__global__ __vector__ void trapping(void)
{
    trap();
}

__global__ __vector__ void endless(void)
{
    for (volatile int i = 0;; i++) {
    }
}

#if __NPU_ARCH__ == 2201
__cbuf_array__ half l1_row[16];

/* 4095 matrices of 16384 rows of 65535 columns, every block of them to one place. */
__global__ __cube__ void rewrite(__gm__ const half *x)
{
    for (;;) {
        copy_gm_to_cbuf_multi_nd2nz_b16(l1_row, x, 0, 4095, 16384, 65535, 0, 1, 0, 0, 0);
    }
}
#endif

__global__ __vector__ void call(void (*function)(void))
{
    function();
}
