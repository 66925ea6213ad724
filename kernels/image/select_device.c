/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes chosen by score, on the scalar unit. */
#include "boxes_device.h"
#include "select_args.h"

/* One core: each choice depends on those before. */
__global__ __vector__ void select_mask(struct op_mask_args args)
{
    const struct op_mask_args t = args;
    const struct candidates c = {t.boxes, t.scores, t.taken, t.count, t.type, t.type};
    for (uint64_t best; (best = find_best(&c, -INFINITY)) < c.count;) {
        op_put_i(t.mask + best, OP_TYPE_U8, 1);
        take_overlapping(&c, best, t.limit);
    }
    op_flush();
}

static void pick_class(const struct op_classes_args *t, uint64_t batch, uint64_t class)
{
    const uint32_t unit = op_bytes_of(t->type);
    const uint64_t boxes = batch * t->box_classes + (t->box_classes > 1 ? class : 0),
                   first = batch * t->picked_pad + class * t->each;
    const struct candidates c = {t->boxes + boxes * t->count * 4 * unit,
                                 t->scores + (batch * t->classes + class) * t->count * unit,
                                 t->taken + batch * t->taken_pad,
                                 t->count,
                                 t->type,
                                 t->type};
    for (uint64_t i = 0; i < t->count; i++) {
        op_put_i(c.taken + i, OP_TYPE_U8, 0);
    }
    for (uint64_t k = 0; k < t->each; k++) {
        const uint64_t best = find_best(&c, t->least);
        op_put_i(t->picked + (first + k) * 4, OP_TYPE_I32, best < c.count ? (int64_t)best : -1);
        if (best < c.count) {
            op_put_f(t->picked_score + (first + k) * 4, OP_TYPE_F32,
                     op_get_f(c.scores + best * unit, t->type));
            take_overlapping(&c, best, t->limit);
        }
    }
}

/* The first of the best of what the classes picked; classes * each if none is left. */
static uint64_t best_of_all(const struct op_classes_args *t, uint64_t batch)
{
    const uint64_t all = t->classes * t->each, first = batch * t->picked_pad;
    uint64_t best = all;
    float score = 0;
    for (uint64_t i = 0; i < all; i++) {
        const float s = op_get_f(t->picked_score + (first + i) * 4, OP_TYPE_F32);
        if (op_get_i(t->picked + (first + i) * 4, OP_TYPE_I32) >= 0 && (best == all || s > score)) {
            best = i;
            score = s;
        }
    }
    return best;
}

static void give(const struct op_classes_args *t, uint64_t batch, uint64_t k, uint64_t picked)
{
    const uint32_t unit = op_bytes_of(t->type);
    const uint64_t at = batch * t->picked_pad + picked, class = picked / t->each,
                   boxes = batch * t->box_classes + (t->box_classes > 1 ? class : 0),
                   index = (uint64_t)op_get_i(t->picked + at * 4, OP_TYPE_I32);
    for (uint64_t n = 0; n < 4; n++) {
        const uint64_t from = t->boxes + ((boxes * t->count + index) * 4 + n) * unit;
        op_put_f(t->out_boxes + (batch * t->box_pad + k * 4 + n) * unit, t->type,
                 op_get_f(from, t->type));
    }
    op_put_f(t->out_scores + (batch * t->pad + k) * unit, t->type,
             op_get_f(t->picked_score + at * 4, OP_TYPE_F32));
    op_put_f(t->out_classes + (batch * t->pad + k) * unit, t->type, (float)class);
    op_put_i(t->picked + at * 4, OP_TYPE_I32, -1);
}

/* Batches are shared out; each has lines of its own. */
__global__ __vector__ void select_classes(struct op_classes_args args)
{
    const struct op_classes_args t = args;
    for (uint64_t batch = get_block_idx(); batch < t.batch; batch += get_block_num()) {
        uint64_t found = 0;
        for (uint64_t class = 0; class < t.classes; class ++) {
            pick_class(&t, batch, class);
        }
        for (; found < t.most; found++) {
            const uint64_t best = best_of_all(&t, batch);
            if (best == t.classes * t.each) {
                break;
            }
            give(&t, batch, found, best);
        }
        op_put_i(t.found + batch * t.found_pad * 4, OP_TYPE_I32, (int64_t)found);
    }
    op_flush();
}
