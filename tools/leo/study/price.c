/* SPDX-License-Identifier: Apache-2.0 */
#include "study.h"

#include <leo/isa_enums.h>
#include <string.h>

struct sum {
    const struct study_tape *tape;
    json_t *operators;                     /**< by name: us, count, bound */
    uint64_t first_ps, last_ps, before_ps; /**< before_ps: end of the step before */
    uint64_t kernels_ps, tasks;
    uint64_t bound_ps[LEO_PIPE_COUNT], busy[LEO_PIPE_COUNT], cycles;
    uint64_t hbm_read, hbm_write, gm_read, gm_write, l2_hits;
};

static enum leo_pipe busiest(const struct leo_task_record *record)
{
    enum leo_pipe most = 0;
    for (int pipe = 1; pipe < LEO_PIPE_COUNT; pipe++) {
        most = record->busy[pipe] > record->busy[most] ? (enum leo_pipe)pipe : most;
    }
    return most;
}

static void add_operator(struct sum *sum, const struct leo_sim_replayed *task, uint64_t ps)
{
    const char *name = replay_task_name(task);
    json_t *operator= json_object_get(sum->operators, name);
    if (!operator) {
        operator= json_pack("{s:I, s:I}", "ps", (json_int_t)0, "count", (json_int_t)0);
        json_object_set_new(sum->operators, name, operator);
    }
    const json_int_t was_ps = json_integer_value(json_object_get(operator, "ps"));
    const json_int_t count = json_integer_value(json_object_get(operator, "count"));
    json_object_set_new(operator, "ps", json_integer(was_ps + (json_int_t)ps));
    json_object_set_new(operator, "count", json_integer(count + 1));
    json_object_set_new(operator, "unit", json_string(leo_pipe_name(busiest(task->record))));
}

static void add_kernel(struct sum *sum, const struct leo_sim_replayed *task)
{
    const struct leo_task_record *record = task->record;
    const uint64_t ps = task->end_ps - task->start_ps;
    sum->kernels_ps += ps;
    sum->bound_ps[busiest(record)] += ps;
    sum->cycles += record->core_cycles;
    sum->gm_read += record->gm_read;
    sum->gm_write += record->gm_write;
    sum->l2_hits += record->l2_hits;
    sum->hbm_read += record->hbm_read;
    sum->hbm_write += record->hbm_write;
    for (int pipe = 0; pipe < LEO_PIPE_COUNT; pipe++) {
        sum->busy[pipe] += record->busy[pipe];
    }
    add_operator(sum, task, ps);
}

static void take(void *user, const struct leo_sim_replayed *task)
{
    struct sum *sum = user;
    if (task->number >= sum->tape->before && task->number < sum->tape->first) {
        sum->before_ps = task->end_ps > sum->before_ps ? task->end_ps : sum->before_ps;
    }
    if (task->number < sum->tape->first || task->number >= sum->tape->last) {
        return;
    }
    sum->first_ps =
        sum->tasks == 0 || task->start_ps < sum->first_ps ? task->start_ps : sum->first_ps;
    sum->last_ps = task->end_ps > sum->last_ps ? task->end_ps : sum->last_ps;
    sum->tasks++;
    if (task->record->opcode == LEO_SQE_OP_KERNEL) {
        add_kernel(sum, task);
    }
}

static json_t *pipes(const uint64_t *value)
{
    json_t *all = json_object();
    for (int pipe = 0; pipe < LEO_PIPE_COUNT; pipe++) {
        json_object_set_new(all, leo_pipe_name((enum leo_pipe)pipe),
                            json_integer((json_int_t)value[pipe]));
    }
    return all;
}

/* From the end of the step before, where there is one: steady steps add up to the run. */
static uint64_t span(const struct sum *sum)
{
    const uint64_t from = sum->before_ps ? sum->before_ps : sum->first_ps;
    return sum->last_ps > from ? sum->last_ps - from : 0;
}

static json_t *result_of(const struct sum *sum)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:O}", "ps",
                     (json_int_t)span(sum), "kernels_ps", (json_int_t)sum->kernels_ps, "tasks",
                     (json_int_t)sum->tasks, "core_cycles", (json_int_t)sum->cycles, "busy_cycles",
                     pipes(sum->busy), "bound_ps", pipes(sum->bound_ps), "gm_read",
                     (json_int_t)sum->gm_read, "gm_write", (json_int_t)sum->gm_write, "l2_hits",
                     (json_int_t)sum->l2_hits, "hbm_read", (json_int_t)sum->hbm_read, "hbm_write",
                     (json_int_t)sum->hbm_write, "operators", sum->operators);
}

static json_t *price_tape(const struct study_tape *tape, const char *soc_text, const char *name)
{
    struct sum sum = {.tape = tape, .operators = json_object()};
    struct leo_sim_replay_result result;
    json_t *out =
        sum.operators && replay_tape_run("study", &tape->tape, soc_text, name, take, &sum, &result)
            ? result_of(&sum)
            : NULL;
    json_decref(sum.operators);
    return out;
}

json_t *study_price(const struct study_tapes *tapes, const char *soc_text, const char *name)
{
    json_t *slowest = NULL, *ranks = json_array();
    bool good = ranks != NULL;
    for (size_t i = 0; i < tapes->count && good; i++) {
        json_t *one = price_tape(&tapes->of[i], soc_text, name);
        good = one != NULL;
        json_t *ps = json_object_get(one, "ps");
        json_array_append(ranks, ps);
        if (good && json_integer_value(ps) >
                        (slowest ? json_integer_value(json_object_get(slowest, "ps")) : -1)) {
            json_decref(slowest);
            slowest = json_incref(one);
        }
        json_decref(one);
    }
    if (good) {
        json_object_set(slowest, "ranks_ps", ranks); // `slowest` is that of the last to end
    } else {
        json_decref(slowest);
        slowest = NULL;
    }
    json_decref(ranks);
    return slowest;
}
