/* SPDX-License-Identifier: Apache-2.0 */
/* Host speed of the cube's work against this host's own fp32 FMA peak, both measured in this run.
 */
#include "simd/simd_cube.h"

#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define ROUNDS 40

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* 24 independent chains: enough to hide the latency of any host. */
__attribute__((target("avx512f"))) static float spin_avx512(uint64_t loops)
{
    __m512 acc[24], x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(0.001f);
    for (int i = 0; i < 24; i++) {
        acc[i] = _mm512_set1_ps((float)i);
    }
    for (uint64_t l = 0; l < loops; l++) {
#pragma GCC unroll 24
        for (int i = 0; i < 24; i++) {
            acc[i] = _mm512_fmadd_ps(acc[i], x, y);
        }
    }
    for (int i = 1; i < 24; i++) {
        acc[0] = _mm512_add_ps(acc[0], acc[i]);
    }
    return _mm512_reduce_add_ps(acc[0]);
}

__attribute__((target("avx2,fma"))) static float spin_avx2(uint64_t loops)
{
    __m256 acc[12], x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
    for (int i = 0; i < 12; i++) {
        acc[i] = _mm256_set1_ps((float)i);
    }
    for (uint64_t l = 0; l < loops; l++) {
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++) {
            acc[i] = _mm256_fmadd_ps(acc[i], x, y);
        }
    }
    float out[8], sum = 0;
    for (int i = 1; i < 12; i++) {
        acc[0] = _mm256_add_ps(acc[0], acc[i]);
    }
    _mm256_storeu_ps(out, acc[0]);
    for (int i = 0; i < 8; i++) {
        sum += out[i];
    }
    return sum;
}

struct peak {
    float (*spin)(uint64_t loops);
    double fma_per_loop, rate; /* rate: best seen, GFMA/s */
    float sink;
};

static void measure_peak(struct peak *peak)
{
    uint64_t loops = 100000;
    double start = now();
    peak->sink += peak->spin(loops);
    double rate = peak->fma_per_loop * (double)loops / (now() - start) * 1e-9;
    peak->rate = rate > peak->rate ? rate : peak->rate;
}

static uint8_t *fill(size_t bytes)
{
    uint16_t *data = aligned_alloc(1 << 21, (bytes + (1 << 21) - 1) >> 21 << 21);
    if (data) {
        (void)madvise(data, bytes, MADV_HUGEPAGE); // as the chip's memory
    }
    for (size_t i = 0; data && i < bytes / 2; i++) {
        data[i] = (uint16_t)(0x3000 + i * 37 % 0x0c00); // small normal f16 values
    }
    return (uint8_t *)data;
}

struct buffers {
    uint8_t *gm, *l1, *l0a, *l0b, *l0c, *scratch;
};

/* Peak and mmad take turns, so that other load on the host meets both. */
static double measure_mmad(const struct sim_simd_cube *cube, const struct buffers *at,
                           struct peak *peak, enum leo_mad type, const uint32_t tile[3])
{
    const uint32_t m = tile[0], n = tile[1], k = tile[2];
    struct sim_mmad mmad = {.c = at->l0c,
                            .a = at->l0a,
                            .b = at->l0b,
                            .zero = true,
                            .type = type,
                            .m = m,
                            .n = n,
                            .k = k,
                            .k1 = k / 16,
                            .scratch = at->scratch};
    double best = 0;
    (void)cube->mmad(&mmad);
    mmad.zero = false;
    for (int round = 0; round < ROUNDS; round++) {
        measure_peak(peak);
        double start = now();
        for (int i = 0; i < 20; i++) {
            (void)cube->mmad(&mmad);
        }
        double rate = 20.0 * m * n * k / (now() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    return best;
}

/* GB/s of a 64 x 256 f16 tile: rows from a wide matrix, then fractals to L0 with and without
 * transpose. */
static void measure_moves(const struct sim_simd_cube *cube, const struct buffers *at,
                          double rates[3])
{
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now();
        for (int i = 0; i < 100; i++) {
            cube->nd2nz(at->l1, 64 * 32, 32, at->gm + i % 4 * 512, 8192, 64, 512);
        }
        double middle = now();
        for (int i = 0; i < 100; i++) {
            cube->transpose_b16(at->l0b, 512, at->l1, 512, 64);
        }
        double last = now();
        for (int i = 0; i < 100; i++) {
            cube->copy_fractals(at->l0a, 512, at->l1, 512, 64);
        }
        double end = now(), bytes = 32768e2 * 1e-9;
        double now_rates[3] = {bytes / (middle - begin), bytes / (last - middle),
                               bytes / (end - last)};
        for (int i = 0; i < 3; i++) {
            rates[i] = now_rates[i] > rates[i] ? now_rates[i] : rates[i];
        }
    }
}

/* A matmul of f16 by tiles of 128 x 256, with what the coupled chip's buffers ask of any simulator
 * and nothing else: each byte from memory to UB and L1, then the multiply-adds, which read L1 and
 * join steps of k (decision 37). No program, no log, no time. `in_place`: not even that, the
 * matrices lie in memory as they would in L1. */
enum { SIDE = 2048, TILE_M = 128, TILE_N = 256, CHUNK = 256, STEP = 64, FLOOR_ROUNDS = 400 };
enum { STEPS = CHUNK / STEP, ROWS = TILE_M / 16, COLUMNS = TILE_N / 16, DEEP = STEP / 16 };

struct floor {
    const struct sim_simd_cube *cube;
    const struct buffers *at;
    const uint8_t *a, *b;
    uint8_t *ub;
    bool in_place;
};

/* rows x columns of a matrix through UB to NZ columns in L1, `wide` columns at a time. */
static void floor_load(const struct floor *f, uint8_t *l1, const uint8_t *from, uint32_t rows,
                       uint32_t columns, uint32_t wide)
{
    for (uint32_t j = 0; j < columns; j += wide) {
        f->cube->copy_pieces(f->ub, wide * 2, from + j * 2, SIDE * 2, wide * 2, rows);
        for (uint32_t i = 0; i < wide / 16; i++) {
            f->cube->copy_pieces(l1 + (size_t)(j / 16 + i) * rows * 32, 32, f->ub + i * 32,
                                 wide * 2, 32, rows);
        }
    }
}

static void floor_views(uint32_t *a_view, uint32_t *b_view, uint32_t step)
{
    const uint32_t b = TILE_M * CHUNK * 2;
    for (uint32_t k = 0; k < DEEP; k++) {
        for (uint32_t i = 0; i < ROWS; i++) {
            a_view[i * DEEP + k] = ((step * DEEP + k) * ROWS + i) * 512 | SIM_VIEW;
        }
        for (uint32_t j = 0; j < COLUMNS; j++) {
            b_view[k * COLUMNS + j] =
                (b + (j * CHUNK / 16 + step * DEEP + k) * 512) | SIM_VIEW | SIM_VIEW_TURNED;
        }
    }
}

static void floor_multiply(const struct floor *f, const uint8_t *l1, bool first)
{
    uint32_t a_view[STEPS][ROWS * DEEP], b_view[STEPS][COLUMNS * DEEP];
    struct sim_mmad chain[STEPS];
    for (uint32_t i = 0; i < STEPS; i++) {
        floor_views(a_view[i], b_view[i], i);
        chain[i] = (struct sim_mmad){.c = f->at->l0c,
                                     .zero = first && i == 0,
                                     .m = TILE_M,
                                     .n = TILE_N,
                                     .k = STEP,
                                     .k1 = DEEP,
                                     .scratch = f->at->scratch,
                                     .l1 = l1,
                                     .a_view = a_view[i],
                                     .b_view = b_view[i],
                                     .next = i + 1 < STEPS ? &chain[i + 1] : NULL};
    }
    (void)f->cube->mmad(chain);
}

static void floor_chunk(const struct floor *f, const uint8_t *a, const uint8_t *b, bool first)
{
    floor_load(f, f->at->l1, a, TILE_M, CHUNK, 128);
    floor_load(f, f->at->l1 + TILE_M * CHUNK * 2, b, CHUNK, TILE_N, 64);
    floor_multiply(f, f->at->l1, first);
}

/* As many bytes of the matrices, one chunk behind the other. */
static void floor_in_place(const struct floor *f, uint32_t chunk, bool first)
{
    const uint32_t bytes = (TILE_M + TILE_N) * CHUNK * 2;
    const uint8_t *l1 = f->a + (size_t)(chunk % (2 * SIDE * SIDE * 2 / bytes)) * bytes;
    floor_multiply(f, l1, first);
}

static double measure_floor(const struct floor *f)
{
    double best = 0;
    for (uint32_t round = 0; round < FLOOR_ROUNDS; round++) { // a tile each, down the columns
        const uint8_t *a = f->a + (size_t)(round % (SIDE / TILE_M)) * TILE_M * SIDE * 2,
                      *b = f->b + (size_t)(round / (SIDE / TILE_M) % (SIDE / TILE_N)) * TILE_N * 2;
        double start = now();
        for (uint32_t k = 0; k < SIDE; k += CHUNK) {
            if (f->in_place) {
                floor_in_place(f, round * (SIDE / CHUNK) + k / CHUNK, k == 0);
            } else {
                floor_chunk(f, a + k * 2, b + (size_t)k * SIDE * 2, k == 0);
            }
        }
        double rate = (double)TILE_M * TILE_N * SIDE / (now() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    return best;
}

static void report(const char *name, const struct sim_simd_cube *cube, const struct buffers *at,
                   struct peak *peak)
{
    static const uint32_t tiles[][3] = {
        {128, 256, 64}, {256, 256, 64}, {128, 128, 256}, {64, 64, 64}, {100, 200, 50}};
    double speed[5], rates[3] = {0};
    for (int i = 0; i < 5; i++) {
        speed[i] = measure_mmad(cube, at, peak, LEO_MAD_F16F32, tiles[i]);
    }
    const double brain = measure_mmad(cube, at, peak, LEO_MAD_BF16F32, tiles[0]);
    measure_moves(cube, at, rates);
    printf("%-8s fp32 FMA peak %.1f G/s a thread\n", name, peak->rate);
    for (int i = 0; i < 5; i++) {
        printf("%-8s mmad %ux%ux%u %.1f G/s, %.2f of peak\n", name, tiles[i][0], tiles[i][1],
               tiles[i][2], speed[i], speed[i] / peak->rate);
    }
    printf("%-8s mmad of bf16 %ux%ux%u %.2f of peak\n", name, tiles[0][0], tiles[0][1], tiles[0][2],
           brain / peak->rate);
    struct floor floor = {cube, at, at->gm + (1 << 20), at->gm + (9 << 20), at->gm, false};
    const double alone = measure_floor(&floor);
    floor.in_place = true;
    const double in_place = measure_floor(&floor);
    printf("%-8s matmul of %d in tiles, moves and multiply-adds alone %.1f G/s, %.2f of peak; "
           "read where they lie %.2f\n",
           name, SIDE, alone, alone / peak->rate, in_place / peak->rate);
    printf("%-8s GB/s: nd2nz %.1f, load2d transpose %.1f, load2d plain %.1f\n", name, rates[0],
           rates[1], rates[2]);
}

int main(void)
{
    struct buffers at = {fill(17 << 20), fill(1 << 20), fill(1 << 17),
                         fill(1 << 17),  fill(1 << 18), fill(1 << 20)};
    if (!at.gm || !at.l1 || !at.l0a || !at.l0b || !at.l0c || !at.scratch) {
        return 1;
    }
    struct peak wide = {.spin = spin_avx512, .fma_per_loop = 24 * 16},
                narrow = {.spin = spin_avx2, .fma_per_loop = 96};
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        report("avx512", &sim_simd_cube_avx512, &at, &wide);
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        report("avx2", &sim_simd_cube_avx2, &at, &narrow);
    }
    uint8_t *all[] = {at.gm, at.l1, at.l0a, at.l0b, at.l0c, at.scratch};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        free(all[i]);
    }
    return wide.sink + narrow.sink == 0.125f; // reading the sinks keeps the spins alive
}
