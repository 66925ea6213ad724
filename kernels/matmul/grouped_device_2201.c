/* SPDX-License-Identifier: Apache-2.0 */
/* Products of groups, one after the other, each over all cores: where a group begins and ends is
 * read from device memory. */
#include "matmul_cube_device_2201.c"

#include "grouped_args.h"

/* The end of a group, and the end of the one before. */
struct grouped_span {
    int64_t begin, end;
};

OP_INLINE struct grouped_span next_span(const struct op_matmul_grouped_args *g, uint32_t group,
                                        int64_t begin)
{
    const int64_t entry = *((__gm__ int64_t *)g->list + group);
    return (struct grouped_span){begin, g->counts ? begin + entry : entry};
}

OP_INLINE void one_group(const struct op_matmul_grouped_args *g, uint32_t number,
                         struct grouped_span span)
{
    struct op_matmul_args t = g->matmul;
    const uint64_t begin = (uint64_t)span.begin;
    const uint32_t length = (uint32_t)(span.end - span.begin);
    t.b += number * g->b_group;
    t.bias += number * g->bias_group;
    t.out += number * g->out_group;
    if (g->split_k) {
        t.a += begin * (t.flags & OP_MATMUL_TRANSPOSE_A ? t.a_pitch : 1) * MATMUL_UNIT;
        t.b += begin * (t.flags & OP_MATMUL_TRANSPOSE_B ? 1 : t.b_pitch) * MATMUL_UNIT;
        t.k = length;
    } else {
        t.a += begin * (t.flags & OP_MATMUL_TRANSPOSE_A ? 1 : t.a_pitch) * MATMUL_UNIT;
        t.out += begin * t.out_pitch * g->out_bytes;
        t.m = length;
    }
    matmul_run(&t);
}

__global__ __cube__ void op_matmul_grouped(struct op_matmul_grouped_args args)
{
    const struct op_matmul_grouped_args g = args;
    struct grouped_span span = {0, 0};
    if (MATMUL_UNIT == 4) {
        leo_set_hf32(g.matmul.flags & OP_MATMUL_HF32);
    }
    set_flag(PIPE_M, PIPE_MTE1, BT_FREE);
    for (uint32_t i = 0; i < g.first + g.groups; i++) {
        span = next_span(&g, i, span.end);
        if (span.end < span.begin || span.end > (int64_t)g.total) {
            trap(); // a list of groups that the tensors do not have
        }
        if (i >= g.first && span.end > span.begin) {
            one_group(&g, i - g.first, span);
        }
    }
    wait_flag(PIPE_M, PIPE_MTE1, BT_FREE);
}
