/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose cores work together. */
#include <leo/device.h>

#define M  64
#define K  32
#define N  48
#define M1 (M / 16)
#define K1 (K / 16)
#define N1 (N / 16)

__cbuf_array__ half l1_a[M * K];
__cbuf_array__ half l1_b[K * N];
__ca_array__ half l0_a[M * K];
__cb_array__ half l0_b[K * N];
__cc_array__ float l0_c[M * N];
__ubuf_array__ float rows[M * N / 2];
__ubuf_array__ float mine[8];
__ubuf_array__ float parts[64 * 8];

static inline void load_part(__gm__ const float *part, int count)
{
    copy_gm_to_ubuf(parts, part, 0, 1, count, 0, 0);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
}

static inline void store_mine(__gm__ float *to, float value)
{
    for (int i = 0; i < 8; i++) {
        mine[i] = value;
    }
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(to, mine, 0, 1, 1, 0, 0);
}

/* sum[i] = 1 + 2 + .. + blocks, by every block, from what all blocks wrote. */
__global__ __vector__ void sum_all(__gm__ float *part, __gm__ float *sum)
{
    int block = get_block_idx(), blocks = get_block_num();
    float total = 0;
    store_mine(part + block * 8, block + 1);
    leo_cross_set(LEO_CROSS_ALL, PIPE_MTE3, 5);
    leo_cross_wait(5);
    load_part(part, blocks);
    for (int i = 0; i < blocks; i++) {
        total += parts[i * 8];
    }
    set_flag(PIPE_MTE3, PIPE_S, EVENT_ID0); // `mine` may be written again
    wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);
    store_mine(sum + block * 8, total);
}

/* c = relu(a b) + 1, 64 rows a block: the cube core multiplies, the vector cores do the rest. */
__global__ __mix__(1, 2) void fused(__gm__ half *a, __gm__ half *b, __gm__ float *product,
                                    __gm__ float *c)
{
    int block = get_block_idx();
    product += block * M * N;
    c += block * M * N;
    if (leo_is_cube()) {
        a += block * M * K;
        copy_gm_to_cbuf_multi_nd2nz_b16(l1_a, a, 0, 1, M, K, 0, K, M, 1, 0);
        copy_gm_to_cbuf_multi_nd2nz_b16(l1_b, b, 0, 1, K, N, 0, N, K, 1, 0);
        set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        for (int i = 0; i < M1; i++) {
            load_cbuf_to_ca(l0_a + i * K1 * 256, l1_a, i, K1, M1, 0, 0, false, inc);
        }
        for (int p = 0; p < K1; p++) {
            load_cbuf_to_cb(l0_b + p * N1 * 256, l1_b, p, N1, K1, 0, 0, true, inc);
        }
        set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        mad(l0_c, l0_a, l0_b, M, K, N, true);
        set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
        wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
        copy_matrix_cc_to_gm(product, l0_c, 0, N, M, N, M, 0, NoQuant, 0, false, true);
        leo_cross_set(LEO_CROSS_GROUP, PIPE_FIX, 0);
        return;
    }
    int first = get_subblockid() * (M / 2) * N;
    leo_cross_wait(0);
    copy_gm_to_ubuf(rows, product + first, 0, 1, M / 2 * N * 4 / 32, 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    set_vector_mask(0, ~UINT64_C(0));
    vrelu(rows, rows, M / 2 * N / 64, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vadds(rows, rows, 1.0f, M / 2 * N / 64, 1, 1, 8, 8);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(c + first, rows, 0, 1, M / 2 * N * 4 / 32, 0, 0);
}

/* out[t] = 2 a a': the cube core multiplies into one of two slots, a vector core adds the slot to
 * itself and hands it back. */
__global__ __mix__(1, 1) void handed(__gm__ half *a, __gm__ float *slots, __gm__ float *out,
                                     int32_t tiles)
{
    enum { TILE = 16 * 16 };
    for (int t = 0; t < tiles; t++) {
        __gm__ float *slot = slots + t % 2 * TILE;
        if (leo_is_cube()) {
            copy_gm_to_cbuf(l1_a, a, 0, 1, TILE * 2 / 32, 0, 0);
            set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
            load_cbuf_to_ca(l0_a, l1_a, 0, 1, 1, 0, 0, false, inc);
            load_cbuf_to_cb(l0_b, l1_a, 0, 1, 1, 0, 0, false, inc);
            set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
            wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
            mad(l0_c, l0_a, l0_b, 16, 16, 16, true);
            set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
            wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
            if (t >= 2) {
                leo_cross_wait(1); // the slot was read
            }
            copy_matrix_cc_to_gm(slot, l0_c, 0, 16, 16, 16, 16, 0, NoQuant, 0, false, true);
            leo_cross_set(LEO_CROSS_GROUP, PIPE_FIX, 0);
            pipe_barrier(PIPE_ALL); // buffers on chip may be written again
        } else {
            leo_cross_wait(0);
            copy_gm_to_ubuf(rows, slot, 0, 1, TILE * 4 / 32, 0, 0);
            if (t + 2 < tiles) {
                leo_cross_set(LEO_CROSS_GROUP, PIPE_MTE2, 1);
            }
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            set_vector_mask(0, ~UINT64_C(0));
            vadd(rows, rows, rows, TILE / 64, 1, 1, 1, 8, 8, 8);
            set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
            copy_ubuf_to_gm(out + t * TILE, rows, 0, 1, TILE * 4 / 32, 0, 0);
            pipe_barrier(PIPE_ALL);
        }
    }
}

/* The cores of a block count to `rounds` in turns: cube core, then both vector cores, each over
 * flags of mode 2, the vector cores with mode 1 among themselves; then all of the launch meet. */
__global__ __mix__(1, 2) void turns(__gm__ int64_t *out, int32_t rounds)
{
    int sum = 0;
    for (int i = 0; i < rounds; i++) {
        if (leo_is_cube()) {
            leo_cross_set(LEO_CROSS_GROUP, PIPE_MTE2, 1);
            leo_cross_wait(2);
        } else {
            leo_cross_wait(1);
            leo_cross_set(LEO_CROSS_VECTORS, PIPE_MTE2, 3);
            leo_cross_wait(3);
            leo_cross_set(LEO_CROSS_GROUP, PIPE_MTE2, 2);
        }
        sum++;
    }
    leo_sync_group();
    leo_sync_all();
    int core = leo_is_cube() ? 0 : 1 + get_subblockid();
    __gm__ int64_t *line = out + (get_block_idx() * 3 + core) * 8; // lines of their own
    line[0] = sum;
    line[1] = get_subblockdim();
    line[2] = leo_group_vectors();
}

/* One vector core a group. */
__global__ __mix__(1, 1) void pair(__gm__ int64_t *out)
{
    leo_sync_group();
    out[(get_block_idx() * 2 + leo_is_vector()) * 8] = get_coreid();
}

/* Vector core 1 never sets the flag. */
__global__ __mix__(1, 2) void late(__gm__ int64_t *out)
{
    if (leo_is_cube()) {
        leo_cross_wait(3);
        leo_cross_set(LEO_CROSS_GROUP, PIPE_FIX, 4);
    } else if (!leo_is_cube() && get_subblockid() == 0) {
        leo_cross_set(LEO_CROSS_GROUP, PIPE_MTE3, 3);
        leo_cross_wait(4);
    }
    out[0] = 1;
}

/* Block 0 traps, the others wait for it. */
__global__ __vector__ void trapped(__gm__ int64_t *out)
{
    if (get_block_idx() == 0) {
        trap();
    }
    leo_sync_all();
    out[0] = 1;
}

/* The flag is raised `times` times before anyone looks. */
__global__ __mix__(1, 2) void flood(__gm__ int64_t *out, int32_t times)
{
    if (leo_is_cube()) {
        for (int i = 0; i < times; i++) {
            leo_cross_set(LEO_CROSS_GROUP, PIPE_FIX, 4);
        }
        leo_cross_wait(6);
    } else {
        for (volatile int i = 0; i < 3000; i++) {
        }
        for (int i = 0; i < times; i++) {
            leo_cross_wait(4);
        }
        leo_cross_set(LEO_CROSS_GROUP, PIPE_MTE3, 6);
    }
    out[(get_block_idx() * 3 + leo_is_vector() * (1 + get_subblockid())) * 8] = times;
}

__global__ __vector__ void lonely(__gm__ int64_t *out)
{
    leo_cross_set(LEO_CROSS_GROUP, PIPE_MTE3, 0); // there is no group
    out[0] = 1;
}

/* Vector cores busy for a while. */
__global__ __vector__ void spin(__gm__ int64_t *out, int32_t times)
{
    for (volatile int i = 0; i < times; i++) {
    }
    out[get_block_idx() * 8] = times;
}

/* Raises flags that nobody waits for: `mode` 0 of all vector cores, else of the group. */
__global__ __mix__(1, 2) void left(__gm__ int64_t *out, int32_t mode)
{
    if (leo_is_cube() && mode != 0) {
        leo_cross_set(LEO_CROSS_GROUP, PIPE_FIX, 7);
        out[get_block_idx() * 8] = 1;
    } else if (!leo_is_cube() && mode == 0) {
        leo_cross_set(LEO_CROSS_ALL, PIPE_MTE3, 8);
    } else if (!leo_is_cube() && get_subblockid() == 0) {
        leo_cross_wait(7);
    }
}
