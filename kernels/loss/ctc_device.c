/* SPDX-License-Identifier: Apache-2.0 */
/* Connectionist temporal classification on the scalar unit, in f64: a block for each member of the
 * batch. Labels are the targets with blanks around them: 2 targets + 1. */
#include "../device/element.h"
#include "ctc_args.h"

#include <math.h>

struct member {
    const struct op_ctc_args *a;
    int64_t number, steps, labels; /* labels = 2 targets + 1 */
    uint64_t targets;
    __gm__ double *alpha, *beta;
};

static struct member member_of(const struct op_ctc_args *a)
{
    const uint32_t k = get_block_idx();
    const int64_t number = a->first + k, rows = a->steps * a->width;
    return (struct member){
        a,
        number,
        a->inputs[k],
        2 * a->lengths[k] + 1,
        a->targets + (uint64_t)a->offsets[k] * op_bytes_of(a->target_type),
        (__gm__ double *)a->alpha + number * rows,
        (__gm__ double *)a->beta + number * rows,
    };
}

static int64_t label_of(const struct member *m, int64_t s)
{
    if (s % 2 == 0) {
        return m->a->blank;
    }
    const int64_t label = op_get_i(m->targets + (uint64_t)(s / 2) * op_bytes_of(m->a->target_type),
                                   m->a->target_type);
    if (label < 0 || label >= m->a->classes) {
        trap(); // a target that is no class
    }
    return label;
}

static double log_prob(const struct member *m, int64_t t, int64_t label)
{
    const uint64_t at = (uint64_t)((t * m->a->batch + m->number) * m->a->classes + label);
    return op_get_d(m->a->log_probs + at * op_bytes_of(m->a->type), m->a->type);
}

static double log_add(double x, double y)
{
    const double most = x > y ? x : y;
    return most == -INFINITY ? most : most + log(exp(x - most) + exp(y - most));
}

/* Whether a path may skip the blank between label s and label s + 2. */
static bool may_skip(const struct member *m, int64_t s)
{
    return s >= 0 && s + 2 < m->labels && s % 2 == 1 && label_of(m, s) != label_of(m, s + 2);
}

static void forward(const struct member *m)
{
    const int64_t width = m->a->width;
    for (int64_t t = 0; t < m->a->steps; t++) {
        for (int64_t s = 0; s < width; s++) {
            double sum = -INFINITY;
            if (t < m->steps && s < m->labels) {
                const __gm__ double *before = m->alpha + (t - 1) * width;
                if (t == 0) {
                    sum = s < 2 ? 0 : sum;
                } else {
                    sum = before[s];
                    sum = s >= 1 ? log_add(sum, before[s - 1]) : sum;
                    sum = may_skip(m, s - 2) ? log_add(sum, before[s - 2]) : sum;
                }
                sum += log_prob(m, t, label_of(m, s));
            }
            m->alpha[t * width + s] = sum;
        }
    }
}

static double loss_of(const struct member *m)
{
    if (m->steps == 0) {
        return m->labels == 1 ? 0 : INFINITY;
    }
    const __gm__ double *last = m->alpha + (m->steps - 1) * m->a->width;
    const double blank = last[m->labels - 1];
    return -(m->labels > 1 ? log_add(blank, last[m->labels - 2]) : blank);
}

__global__ __vector__ void ctc_forward(struct op_ctc_args args)
{
    const struct op_ctc_args a = args;
    const struct member m = member_of(&a);
    forward(&m);
    const double loss = loss_of(&m);
    // Each member's loss on a line of its own: blocks must share none.
    ((__gm__ double *)a.loss)[m.number * 8] = a.zero_infinity && loss == INFINITY ? 0 : loss;
    op_flush();
}

static void backward(const struct member *m)
{
    const int64_t width = m->a->width;
    for (int64_t t = m->steps - 1; t >= 0; t--) {
        const __gm__ double *after = m->beta + (t + 1) * width;
        for (int64_t s = 0; s < m->labels; s++) {
            double sum = -INFINITY;
            if (t == m->steps - 1) {
                sum = s >= m->labels - 2 ? 0 : sum;
            } else {
                sum = after[s];
                sum = s + 1 < m->labels ? log_add(sum, after[s + 1]) : sum;
                sum = may_skip(m, s) ? log_add(sum, after[s + 2]) : sum;
            }
            m->beta[t * width + s] = sum + log_prob(m, t, label_of(m, s));
        }
    }
}

/* grad[t, c] = (p - sum over labels c of alpha beta / (p likelihood)) grad_loss. */
__global__ __vector__ void ctc_backward(struct op_ctc_args args)
{
    const struct op_ctc_args a = args;
    const struct member m = member_of(&a);
    const double weight = op_get_d(a.grad_loss + (uint64_t)m.number * op_bytes_of(a.grad_loss_type),
                                   a.grad_loss_type);
    __gm__ double *grad = (__gm__ double *)a.grad + m.number * a.grad_pitch;
    forward(&m);
    const double loss = loss_of(&m);
    const bool nothing = a.zero_infinity && loss == INFINITY;
    backward(&m);
    for (int64_t t = 0; t < a.steps; t++) {
        __gm__ double *row = grad + t * a.classes;
        for (int64_t c = 0; c < a.classes; c++) {
            row[c] = -INFINITY;
        }
        for (int64_t s = 0; t < m.steps && s < m.labels; s++) {
            const int64_t label = label_of(&m, s);
            row[label] = log_add(row[label], m.alpha[t * a.width + s] + m.beta[t * a.width + s]);
        }
        for (int64_t c = 0; c < a.classes; c++) {
            const double p = t < m.steps ? log_prob(&m, t, c) : 0;
            row[c] = t < m.steps && !nothing ? (exp(p) - exp(row[c] + loss - p)) * weight : 0;
        }
    }
    op_flush();
}
