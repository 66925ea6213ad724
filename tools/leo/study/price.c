/* SPDX-License-Identifier: Apache-2.0 */
#include "study.h"

#include <leo/alloc.h>
#include <leo/isa_enums.h>
#include <pthread.h>
#include <stdio.h>
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

static void add_to(json_t *object, const char *key, uint64_t more)
{
    const json_int_t was = json_integer_value(json_object_get(object, key));
    json_object_set_new(object, key, json_integer(was + (json_int_t)more));
}

static void add_operator(struct sum *sum, const struct leo_sim_replayed *task, uint64_t ps)
{
    const char *name = replay_task_name(task);
    const struct leo_task_record *record = task->record;
    json_t *operator= json_object_get(sum->operators, name);
    if (!operator) {
        operator= json_object();
        json_object_set_new(sum->operators, name, operator);
    }
    add_to(operator, "ps", ps);
    add_to(operator, "count", 1);
    add_to(operator, "gm", record->gm_read + record->gm_write);
    add_to(operator, "cube", record->busy[LEO_PIPE_M]);
    add_to(operator, "vector", record->busy[LEO_PIPE_V]);
    json_object_set_new(operator, "unit", json_string(leo_pipe_name(busiest(record))));
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

/* ---- ranks ---- */

/* A tape that is priced, in a thread of its own if it meets others. */
struct rank {
    const struct study_tape *tape;
    const char *soc_text, *name;
    struct study_meeting *meeting; /**< NULL: no rank is met */
    size_t number;
    struct sum sum;
    uint64_t links, links_ps; /**< operations with other cards in the step, their time */
    bool is_inside;           /**< the step has begun */
    json_t *result;
    pthread_t thread;
};

static void take_task(void *user, const struct leo_sim_replayed *task)
{
    struct rank *rank = user;
    take(&rank->sum, task);
    rank->is_inside = task->number + 1 >= rank->tape->first && task->number < rank->tape->last;
}

static uint64_t meet(void *user, const struct leo_link_note *note, uint64_t arrival_ns)
{
    struct rank *rank = user;
    const uint64_t end_ns = rank->meeting
                                ? study_meeting_end(rank->meeting, rank->number, note, arrival_ns)
                                : arrival_ns + (note->end_ns - note->begin_ns);
    if (end_ns != UINT64_MAX && rank->is_inside) {
        rank->links++;
        rank->links_ps += (end_ns - arrival_ns) * 1000;
    }
    return end_ns;
}

static void *price_rank(void *user)
{
    struct rank *rank = user;
    struct leo_sim_replay_result result;
    rank->sum = (struct sum){.tape = rank->tape, .operators = json_object()};
    rank->is_inside = rank->tape->first == 0;
    const struct replay_pricing pricing = {.soc_text = rank->soc_text,
                                           .soc_name = rank->name,
                                           .each = take_task,
                                           .meet = meet,
                                           .user = rank};
    if (rank->sum.operators && replay_tape_price("study", &rank->tape->tape, &pricing, &result)) {
        rank->result = result_of(&rank->sum);
        json_object_set_new(rank->result, "links", json_integer((json_int_t)rank->links));
        json_object_set_new(rank->result, "links_ps", json_integer((json_int_t)rank->links_ps));
    }
    json_decref(rank->sum.operators);
    if (rank->meeting) {
        study_meeting_leave(rank->meeting, rank->number);
    }
    return NULL;
}

/* Ranks that meet run at the same time; a rank that has no thread never comes, and the others are
 * told so. */
static void price_ranks(struct rank *rank, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!rank[i].meeting) {
            (void)price_rank(&rank[i]);
        } else if (pthread_create(&rank[i].thread, NULL, price_rank, &rank[i])) {
            fprintf(stderr, "leo study: the system gives no thread for rank %zu\n", i);
            rank[i].thread = 0;
            study_meeting_leave(rank[i].meeting, i);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (rank[i].meeting && rank[i].thread) {
            pthread_join(rank[i].thread, NULL);
        }
    }
}

/* That of the last to end, with the times of all. */
static json_t *slowest_of(const struct rank *rank, size_t count)
{
    json_t *slowest = NULL, *ranks = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *ps = json_object_get(rank[i].result, "ps");
        json_array_append(ranks, ps);
        if (!slowest ||
            json_integer_value(ps) > json_integer_value(json_object_get(slowest, "ps"))) {
            slowest = rank[i].result;
        }
    }
    json_object_set(slowest, "ranks_ps", ranks);
    json_decref(ranks);
    return json_incref(slowest);
}

json_t *study_price(const struct study_tapes *tapes, const char *soc_text, const char *name,
                    const struct study_cards *cards)
{
    struct study_meeting *meeting = NULL;
    struct rank *rank = leo_calloc(tapes->count + 1, sizeof(*rank));
    bool good = rank != NULL;
    if (good && study_links_count(tapes->links) > 0) {
        meeting = study_meeting_create(tapes->links, tapes->count, cards);
        good = meeting != NULL;
    }
    for (size_t i = 0; i < tapes->count && good; i++) {
        rank[i] = (struct rank){.tape = &tapes->of[i],
                                .soc_text = soc_text,
                                .name = name,
                                .meeting = meeting,
                                .number = i};
    }
    if (good) {
        price_ranks(rank, tapes->count);
    }
    for (size_t i = 0; i < tapes->count && good; i++) {
        good = rank[i].result != NULL;
    }
    json_t *result = good ? slowest_of(rank, tapes->count) : NULL;
    for (size_t i = 0; i < tapes->count && rank; i++) {
        json_decref(rank[i].result);
    }
    study_meeting_destroy(meeting);
    leo_free(rank);
    return result;
}
