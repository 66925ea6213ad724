/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks that learn digits on the device: a list of layers, then softmax with cross entropy.
 * Products take f16, weights have an f32 master copy; gradients carry a loss scale, and a step
 * whose gradients overflow f16 is skipped.
 */
#pragma once

#include "digits.h"
#include "random.h"
#include <leo/op.h>
#include <stdbool.h>

enum { NET_CLASSES = DIGITS_CLASSES };

struct net_opts {
    const char *name; /**< one of net_names */
    uint32_t batch;   /**< rows of a training step */
    uint32_t rows;    /**< most rows of one upload */
    float loss_scale, momentum, weight_decay;
};

/** "mlp, lenet". */
extern const char net_names[];
/** What the network is, in a line; NULL if there is none of that name. */
const char *net_describe(const char *name);

struct net;
LEO_MUST_CHECK leo_status net_create(struct leo_rt_device *device, const struct net_opts *opts,
                                     struct train_random *random, struct net **net);
void net_destroy(struct net *net);

/** Puts rows (f32 pixels and labels) on the device, in f16, for the calls below. */
LEO_MUST_CHECK leo_status net_upload(struct net *net, const float *pixels, const int32_t *labels,
                                     uint32_t rows);
/** One step on the `batch` uploaded rows from `row` on. `skipped`: the gradients overflowed and
 * nothing was updated. */
LEO_MUST_CHECK leo_status net_step(struct net *net, uint32_t row, float rate, bool *skipped);
/** Losses of all uploaded rows that steps or net_infer have seen since the upload. */
LEO_MUST_CHECK leo_status net_losses(struct net *net, uint32_t rows, float *losses);
/** Runs the uploaded rows forward; scores: [rows, 10], the largest is the answer. */
LEO_MUST_CHECK leo_status net_infer(struct net *net, uint32_t rows, float *scores);
