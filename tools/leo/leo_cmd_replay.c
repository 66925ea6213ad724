/* SPDX-License-Identifier: Apache-2.0 */
/* leo replay: a recorded run priced for another chip. */
#define _GNU_SOURCE
#include "leo_cmd.h"

#include "replay_mark.h"
#include "replay_tape.h"
#include "sweep_table.h"
#include <inttypes.h>
#include <jansson.h>
#include <leo/alloc.h>
#include <leo/isa_enums.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: leo replay TAPE [--soc NAME|FILE] [--set SECTION.KEY=NUMBER].. [--tasks] [--json]\n"
    "Tells how long a recorded run would take on another chip, without computing its values.\n"
    "A run is recorded by LEO_TAPE=FILE in its environment; the chip must have the architecture "
    "of\n"
    "the recorded one. Kernels do what they did: tile sizes and numbers of blocks stay, and so do\n"
    "the cycles of the scalar unit. The answer is marked: \"exact\" if the chips differ in times "
    "alone,\n"
    "\"estimate\" if in numbers by which programs choose what they do, or that a record lacks.\n"
    "\n"
    "  --soc NAME|FILE   the chip (default: that of the recorded run)\n"
    "  --set KEY=NUMBER  a number of the chip's file that differs: --set soc.clock_khz=925000;\n"
    "                    one that a record does not hold (scalar.scalar_alu, link.*) is refused\n"
    "  --tasks           every task, not the sum alone\n"
    "  --json            the same for programs\n"
    "Exit code: 0 good, 1 failed, 2 wrong use.\n";

struct options {
    const char *tape, *soc;
    struct sweep_table set; /**< of one row */
    struct sweep_row row;
    bool tasks, json;
};

static bool read_set(struct options *options, char *text)
{
    struct sweep_table *set = &options->set;
    char *equals = strchr(text, '='), *dot = NULL;
    if (equals) {
        *equals = '\0';
        dot = strrchr(text, '.');
    }
    if (!dot || set->keys == SWEEP_KEYS_MAX) {
        fprintf(stderr, "leo replay: --set wants section.key=number, at most %d times\n",
                SWEEP_KEYS_MAX);
        return false;
    }
    *dot = '\0';
    if (chip_key_effect(text, dot + 1) == CHIP_EFFECT_UNPRICED) {
        fprintf(stderr,
                "leo replay: --set %s.%s: a record does not hold what this number changes; run the "
                "command anew with it (leo sweep)\n",
                text, dot + 1);
        return false;
    }
    set->section[set->keys] = text;
    set->key[set->keys] = dot + 1;
    options->row.value[set->keys++] = equals + 1;
    return true;
}

/* 0 good, else the exit code, -1 = help. */
static int read_options(int argc, char **argv, struct options *options)
{
    *options = (struct options){.set.rows = 1};
    for (int i = 1; i < argc; i++) {
        const bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return -1;
        }
        if (strcmp(argv[i], "--soc") == 0 && has_value) {
            options->soc = argv[++i];
        } else if (strcmp(argv[i], "--set") == 0 && has_value) {
            if (!read_set(options, argv[++i])) {
                return 2;
            }
        } else if (strcmp(argv[i], "--tasks") == 0) {
            options->tasks = true;
        } else if (strcmp(argv[i], "--json") == 0) {
            options->json = true;
        } else if (argv[i][0] != '-' && !options->tape) {
            options->tape = argv[i];
        } else {
            fprintf(stderr, "leo replay: cannot use '%s'\n\n%s", argv[i], help);
            return 2;
        }
    }
    if (!options->tape) {
        fprintf(stderr, "leo replay: name a tape\n\n%s", help);
        return 2;
    }
    options->set.row = &options->row;
    return 0;
}

static void print_task(void *user, const struct leo_sim_replayed *task)
{
    struct options *options = user;
    if (options->tasks) {
        printf("%14.3f %12.3f %12.3f %6" PRIu32 "  %s\n", (double)task->start_ps / 1e6,
               (double)(task->end_ps - task->start_ps) / 1e6, (double)task->recorded_ps / 1e6,
               task->record->block_num, replay_task_name(task));
    }
}

/* Busy cycles by pipe, over all cores. */
static json_t *busy_of(const struct leo_task_record *record)
{
    json_t *busy = json_object();
    for (int pipe = 0; pipe < LEO_PIPE_COUNT; pipe++) {
        json_object_set_new(busy, leo_pipe_name((enum leo_pipe)pipe),
                            json_integer((json_int_t)record->busy[pipe]));
    }
    return busy;
}

static void add_task(void *user, const struct leo_sim_replayed *task)
{
    json_array_append_new(
        user, json_pack("{s:s, s:f, s:f, s:f, s:f, s:i, s:i, s:i, s:o}", "name",
                        replay_task_name(task), "start_us", (double)task->start_ps / 1e6, "us",
                        (double)(task->end_ps - task->start_ps) / 1e6, "recorded_us",
                        (double)task->recorded_ps / 1e6, "recorded_start_us",
                        (double)task->recorded_start_ps / 1e6, "blocks",
                        (int)task->record->block_num, "queue", (int)task->record->queue, "cores",
                        (int)task->record->cores, "busy", busy_of(task->record)));
}

/* An operation with other cards as it was recorded. */
static void add_link(void *user, const struct leo_link_note *note)
{
    const bool sends = note->peers > 0 && note->peer[0].is_send;
    json_array_append_new(
        user, json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:I, s:I, s:f, s:f, s:f}", "name",
                        note->name, "group", note->group, "kind", replay_link_kind_name(note->kind),
                        "rank", (json_int_t)note->rank, "ranks", (json_int_t)note->ranks, "bytes",
                        (json_int_t)note->bytes, "sends", sends, "source",
                        (json_int_t)(sends ? note->rank : note->peer[0].rank), "target",
                        (json_int_t)(sends ? note->peer[0].rank : note->rank), "begin_us",
                        (double)note->begin_ns / 1e3, "ready_us", (double)note->ready_ns / 1e3,
                        "end_us", (double)note->end_ns / 1e3));
}

static void print_json(const struct leo_sim_replay_result *result, const struct replay_tape *tape,
                       const char *soc, const struct replay_mark *mark, json_t *tasks,
                       json_t *links)
{
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:s, s:f, s:f, s:I, s:I, s:I, s:I, s:O, s:O}", "soc", soc, "mark",
        replay_mark_text(mark), "estimated_by", mark->keys, "recorded_soc", tape->soc, "us",
        (double)result->ps / 1e6, "recorded_us", (double)result->recorded_ps / 1e6, "tasks",
        (json_int_t)result->tasks, "instructions", (json_int_t)result->instructions, "recalled",
        (json_int_t)result->recalled, "looks", (json_int_t)mark->looks, "task", tasks, "link",
        links);
    json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    putchar('\n');
    json_decref(root);
}

static void print_sum(const struct leo_sim_replay_result *result, const struct replay_tape *tape,
                      const char *soc, const struct replay_mark *mark)
{
    printf("%.3f us simulated on %s, %.3f recorded on %s: %" PRIu64 " tasks, %" PRIu64
           " instructions\n%s",
           (double)result->ps / 1e6, soc, (double)result->recorded_ps / 1e6, tape->soc,
           result->tasks, result->instructions, replay_mark_text(mark));
    if (mark->keys[0]) {
        printf(": another run may differ by %s", mark->keys);
    }
    if (mark->looks) {
        printf(": recorded without values, which %" PRIu64 " tasks read", mark->looks);
    }
    putchar('\n');
}

static bool compare(const struct replay_tape *tape, const char *text, struct replay_mark *mark)
{
    const bool good = replay_mark_compare(tape->soc_text, text, false, mark);
    mark->looks = tape->looks;
    return good;
}

static int replay(struct options *options, const struct replay_tape *tape)
{
    struct leo_sim_replay_result result;
    struct replay_mark mark;
    const char *soc = options->soc ? options->soc : tape->soc;
    char *other = options->soc ? replay_soc_text("replay", soc) : NULL;
    const char *base = options->soc ? other : tape->soc_text;
    char *text = base ? sweep_table_apply(&options->set, 0, base) : NULL;
    json_t *tasks = json_array(), *links = json_array();
    if (!options->json && options->tasks) {
        printf("%14s %12s %12s %6s\n", "start us", "us", "recorded", "blocks");
    }
    if (links) {
        replay_tape_links(tape, add_link, links);
    }
    bool good = text && tasks && links && compare(tape, text, &mark) &&
                replay_tape_run("replay", tape, text, soc, options->json ? add_task : print_task,
                                options->json ? (void *)tasks : (void *)options, &result);
    if (good && options->json) {
        print_json(&result, tape, soc, &mark, tasks, links);
    } else if (good) {
        print_sum(&result, tape, soc, &mark);
    }
    json_decref(tasks);
    json_decref(links);
    free(text);
    leo_free(other);
    return good ? 0 : 1;
}

int leo_cmd_replay(int argc, char **argv)
{
    struct options options;
    struct replay_tape tape;
    int code = read_options(argc, argv, &options);
    if (code != 0) {
        return code < 0 ? 0 : code;
    }
    if (!replay_tape_open("replay", options.tape, &tape)) {
        return 1;
    }
    code = replay(&options, &tape);
    replay_tape_close(&tape);
    return code;
}
