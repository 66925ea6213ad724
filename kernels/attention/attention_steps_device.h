/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks and steps of fused attention: the cube core of a group and its vector cores find the same
 * ones. */
#pragma once

#include "../device/inline.h"
#include "attention_args.h"

/** Up to OP_ATTENTION_ROWS queries of a head. */
struct task {
    uint32_t number;
    uint32_t batch, head; /* of queries */
    uint32_t q0, rows;
    uint32_t begin, end; /* keys that any of them sees */
};

/** Up to `block` keys of a task. */
struct step {
    struct task task;
    uint32_t k0, n;
    uint32_t slot; /* of the workspace */
    uint32_t home; /* of what the vector cores keep of a task */
    bool first, last;
};

OP_INLINE uint32_t tasks_of_head(const struct op_attention_args *t)
{
    return (t->queries + OP_ATTENTION_ROWS - 1) / OP_ATTENTION_ROWS;
}

OP_INLINE uint32_t tasks_of(const struct op_attention_args *t)
{
    return t->batch * t->heads * t->groups * tasks_of_head(t);
}

/* A query that sees nothing has the mean of all values: then none is left out. */
OP_INLINE void find_keys(const struct op_attention_args *t, struct task *task)
{
    const int64_t first = task->q0, last = first + task->rows - 1, low = first + t->low,
                  high = last + t->high + 1;
    task->begin = 0;
    task->end = t->keys;
    if (first + t->high < 0 || last + t->low > (int64_t)t->keys - 1) {
        return;
    }
    if (low > 0) {
        task->begin = (uint32_t)low / 16 * 16;
    }
    if (high < t->keys) {
        task->end = (uint32_t)high;
    }
}

OP_INLINE struct task task_of(const struct op_attention_args *t, uint32_t number)
{
    const uint32_t of_head = tasks_of_head(t), plane = number / of_head,
                   heads = t->heads * t->groups;
    struct task task = {.number = number};
    task.batch = plane / heads;
    task.head = plane - task.batch * heads;
    task.q0 = (number - plane * of_head) * OP_ATTENTION_ROWS;
    task.rows = op_min(OP_ATTENTION_ROWS, t->queries - task.q0);
    find_keys(t, &task);
    return task;
}

OP_INLINE void size_step(const struct op_attention_args *t, struct step *step)
{
    step->n = op_min(t->block, step->task.end - step->k0);
    step->last = step->k0 + step->n == step->task.end;
}

OP_INLINE struct step first_step(const struct op_attention_args *t)
{
    struct step step = {.task = task_of(t, (uint32_t)get_block_idx()), .first = true};
    step.k0 = step.task.begin;
    size_step(t, &step);
    return step;
}

/* The step after this one; false: there is none. */
OP_INLINE bool next_step(const struct op_attention_args *t, struct step *step)
{
    step->slot = step->slot + 1 < OP_ATTENTION_SLOTS ? step->slot + 1 : 0;
    step->first = step->last;
    if (step->last) {
        const uint32_t number = step->task.number + (uint32_t)get_block_num();
        if (number >= tasks_of(t)) {
            return false;
        }
        step->task = task_of(t, number);
        step->home = step->home + 1 < OP_ATTENTION_SLOTS ? step->home + 1 : 0;
        step->k0 = step->task.begin;
    } else {
        step->k0 += step->n;
    }
    size_step(t, step);
    return true;
}

/* Bytes to the rows of a head. */
OP_INLINE uint64_t place(const struct op_attention_tensor *at, uint32_t batch, uint32_t head)
{
    return batch * at->batch + head * at->head;
}

/* Where a step's scores (f32 rows of `block`), weights (NZ fractals) and products (f32 rows) are.
 */
OP_INLINE uint64_t scores_at(const struct op_attention_args *t, const struct step *step)
{
    return t->work + (uint64_t)get_block_idx() * op_attention_group_bytes(t->block) +
           step->slot * op_attention_slot_bytes(t->block);
}

OP_INLINE uint64_t weights_at(const struct op_attention_args *t, const struct step *step)
{
    return scores_at(t, step) + (uint64_t)OP_ATTENTION_ROWS * t->block * 4;
}

OP_INLINE uint64_t products_at(const struct op_attention_args *t, const struct step *step)
{
    return scores_at(t, step) + (uint64_t)OP_ATTENTION_ROWS * t->block * 6;
}
