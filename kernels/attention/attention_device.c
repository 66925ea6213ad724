/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fused attention of the split generation: out = softmax(scale q k' + bias) v, a task of queries at
 * a time, with keys in steps. The cube core of a group makes scores and products, its vector cores
 * softmax and sums; what they hand each other goes through the workspace, which stays in the L2.
 * Two more steps' scores are made before the products of a step, so that neither waits for the
 * other.
 *
 * Flags between the cores of a group: 0 scores, 1 weights, 2 products of a step are there. A slot
 * of the workspace is free when its step's products are taken, which the weights of the step after
 * the next one tell.
 */
#include "attention_cube_device_2201.h"
#include "attention_vector_device_2201.h"

enum { CROSS_SCORES, CROSS_WEIGHTS, CROSS_PRODUCTS };

struct flow {
    struct cube cube;
    struct vector vector;
};

OP_INLINE void begin_step(const struct op_attention_args *t, const struct step *step,
                          struct flow *flow)
{
    if (leo_is_cube()) {
        make_scores(t, step, &flow->cube);
        leo_cross_set(LEO_CROSS_GROUP, PIPE_FIX, CROSS_SCORES);
    } else {
        leo_cross_wait(CROSS_SCORES);
        make_weights(t, step, &flow->vector);
        leo_cross_set(LEO_CROSS_GROUP, PIPE_MTE3, CROSS_WEIGHTS);
    }
}

OP_INLINE void end_step(const struct op_attention_args *t, const struct step *step,
                        struct flow *flow)
{
    if (leo_is_cube()) {
        leo_cross_wait(CROSS_WEIGHTS);
        make_products(t, step, &flow->cube);
        leo_cross_set(LEO_CROSS_GROUP, PIPE_FIX, CROSS_PRODUCTS);
    } else {
        leo_cross_wait(CROSS_PRODUCTS);
        take_products(t, step, &flow->vector);
    }
}

__global__ __mix__(1, 2) void attention(struct op_attention_args args)
{
    const struct op_attention_args t = args;
    struct flow flow = {.cube = {0}};
    struct step steps[OP_ATTENTION_SLOTS], at = first_step(&t);
    uint32_t under_way = 0, oldest = 0;
    bool more = true;
    if (leo_is_cube()) {
        begin_cube();
    } else {
        begin_vector(&t);
    }
    while (more || under_way) {
        if (more) {
            begin_step(&t, &at, &flow);
            steps[at.slot] = at;
            under_way++;
            more = next_step(&t, &at);
        }
        if (under_way == OP_ATTENTION_SLOTS || !more) {
            end_step(&t, &steps[oldest], &flow);
            oldest = oldest + 1 < OP_ATTENTION_SLOTS ? oldest + 1 : 0;
            under_way--;
        }
    }
    if (leo_is_cube()) {
        end_cube();
    } else {
        end_vector();
    }
}
