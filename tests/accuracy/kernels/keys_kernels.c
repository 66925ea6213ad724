/* SPDX-License-Identifier: Apache-2.0 */
/* Programs whose time depends on numbers that no published workload shows (keys.py). */
#include <leo/device.h>

/* Every kind of work of the scalar unit. */
__global__ __vector__ void scalar_unit(__gm__ volatile uint32_t *memory)
{
    volatile uint32_t own[64];
    __ubuf__ volatile uint32_t *ub = (__ubuf__ volatile uint32_t *)0;
    float real = 1.5f;
    uint32_t whole = 7;

    for (uint32_t i = 0; i < 64; i++) {
        own[i] = i;
        ub[i] = own[i] + 1;
        whole = whole * 2654435761u + ub[i] / (i + 1);
        real = real * 1.0625f + 1.0f / ((float)i + real);
    }
    // 48 KB twice over: more than the data cache has.
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t line = 0; line < 768; line++) {
            whole += memory[line * 16];
        }
    }
    for (uint32_t i = 0; i < 16; i++) {
        memory[i] = whole + (uint32_t)real;
    }
}

#define TEN(work) work work work work work work work work work work
/* 4 KB of instructions. */
#define PART TEN(TEN(TEN(pipe_barrier(PIPE_V);)))
static __attribute__((noinline)) void part0(void)
{
    PART
}
static __attribute__((noinline)) void part1(void)
{
    PART
}
static __attribute__((noinline)) void part2(void)
{
    PART
}
static __attribute__((noinline)) void part3(void)
{
    PART
}
static __attribute__((noinline)) void part4(void)
{
    PART
}
static __attribute__((noinline)) void part5(void)
{
    PART
}
static __attribute__((noinline)) void part6(void)
{
    PART
}
static __attribute__((noinline)) void part7(void)
{
    PART
}
static __attribute__((noinline)) void part8(void)
{
    PART
}
static __attribute__((noinline)) void part9(void)
{
    PART
}
static __attribute__((noinline)) void part10(void)
{
    PART
}
static __attribute__((noinline)) void part11(void){PART}

/* 48 KB of instructions, up and down and up again: more than the instruction cache has. */
__global__ __vector__ void long_text(__gm__ volatile uint32_t *memory)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        part11(), part9(), part7(), part5(), part3(), part1();
        part10(), part8(), part6(), part4(), part2(), part0();
    }
    *memory = 1;
}

/* More instructions for one pipe than its queue holds, then long work for another. */
static void add_often(uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        vadd((__ubuf__ half *)0, (__ubuf__ half *)0, (__ubuf__ half *)0, 128, 1, 1, 1, 8, 8, 8);
    }
}

static void load_often(__gm__ half *memory, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        copy_gm_to_ubuf((__ubuf__ half *)0x8000, memory, 0, 1, 512, 0, 0);
    }
}

static void multiply_often(uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        mad((__cc__ float *)0, (__ca__ half *)0, (__cb__ half *)0, 128, 64, 128, 0, false, false,
            true);
    }
}

__global__ __vector__ void queue_v(__gm__ half *memory)
{
    add_often(48);
    load_often(memory, 150);
}

__global__ __vector__ void queue_mte2(__gm__ half *memory)
{
    load_often(memory, 48);
    add_often(150);
}

__global__ __vector__ void queue_mte3(__gm__ half *memory)
{
    for (uint32_t i = 0; i < 48; i++) {
        copy_ubuf_to_gm(memory, (__ubuf__ half *)0x8000, 0, 1, 512, 0, 0);
    }
    add_often(150);
}

__global__ __cube__ void queue_m(__gm__ half *memory)
{
    multiply_often(48);
    for (uint32_t i = 0; i < 48; i++) {
        copy_matrix_cc_to_gm(memory, (__cc__ float *)0, 0, 16, 64, 16, 64, 0, F322F16, 0, false,
                             true);
    }
}

__global__ __cube__ void queue_mte1(__gm__ half *memory)
{
    (void)memory;
    for (uint32_t i = 0; i < 48; i++) {
        load_cbuf_to_ca((__ca__ half *)0, (__cbuf__ half *)0, 0, 128, 1, 0, 0, false, inc);
    }
    multiply_often(150);
}

__global__ __cube__ void queue_fix(__gm__ half *memory)
{
    for (uint32_t i = 0; i < 48; i++) {
        copy_matrix_cc_to_gm(memory, (__cc__ float *)0, 0, 16, 64, 16, 64, 0, F322F16, 0, false,
                             true);
    }
    multiply_often(150);
}

/* All vector cores meet ten times. */
__global__ __vector__ void meet(__gm__ uint32_t *memory)
{
    (void)memory;
    for (uint32_t i = 0; i < 10; i++) {
        leo_cross_set(LEO_CROSS_ALL, PIPE_MTE3, 0);
        leo_cross_wait(0);
    }
}
