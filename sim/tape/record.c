/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include "../config.h"
#include "../host/host_pool.h"
#include "../memory/hbm.h"
#include "format.h"
#include "pack.h"
#include <fcntl.h>
#include <leo/alloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 16 };

struct sim_tape_track {
    struct sim_tape *tape;
    uint8_t *item;
    size_t bytes, capacity;
    struct sim_tape_state state; /**< as far as it is in the items */
    uint64_t first_store;        /**< of the present block */
    size_t marked_bytes;         /**< at the last mark */
    struct sim_tape_state marked_state;
};

struct sim_tape {
    FILE *file;
    _Atomic bool failed;
    unsigned cores;
    uint32_t queues;
    _Atomic uint64_t complete; /**< tasks */
    _Atomic uint64_t *rung;    /**< by queue: tasks that were complete when the host rang last */
    uint32_t *present;         /**< by queue: number of the task */
    uint32_t tasks;
    struct sim_host_lock *name_lock; /**< protects what follows: names come from any thread */
    uint8_t *names;                  /**< chunks to be written before the next task */
    size_t name_bytes, name_capacity;
    struct sim_tape_track track[];
};

static void write_bytes(struct sim_tape *tape, const void *data, size_t bytes)
{
    if (!tape->failed && bytes && fwrite(data, 1, bytes, tape->file) != bytes) {
        tape->failed = true;
    }
}

static void write_chunk(struct sim_tape *tape, enum sim_tape_kind kind, const void *data,
                        size_t bytes, size_t more)
{
    const struct sim_tape_chunk chunk = {.kind = kind, .bytes = bytes + more};
    write_bytes(tape, &chunk, sizeof(chunk));
    write_bytes(tape, data, bytes);
}

/* What the tape is of: its head and the text of the chip. */
static bool write_head(int file, const struct sim_config *config, const char *soc_text,
                       const struct sim_hbm *hbm)
{
    static const char zeros[8];
    const size_t length = strlen(soc_text), padding = sizeof(zeros) - length % sizeof(zeros);
    struct sim_tape_head head = {.arch = config->arch,
                                 .soc_bytes = (uint32_t)(length + padding),
                                 .gm_base = hbm->base,
                                 .gm_bytes = hbm->bytes};
    memcpy(head.magic, SIM_TAPE_MAGIC, sizeof(head.magic));
    memcpy(head.soc, config->name, sizeof(head.soc));
    return write(file, &head, sizeof(head)) == (ssize_t)sizeof(head) &&
           write(file, soc_text, length) == (ssize_t)length &&
           write(file, zeros, padding) == (ssize_t)padding;
}

static leo_status open_file(struct sim_tape *tape, const char *path,
                            const struct sim_config *config, const char *soc_text,
                            const struct sim_hbm *hbm)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
        return LEO_ERR_IO;
    }
    tape->failed = !write_head(file, config, soc_text, hbm);
    tape->file = sim_tape_pack(file);
    return tape->file ? LEO_OK : LEO_ERR_NO_MEMORY;
}

leo_status sim_tape_create(const char *path, const struct sim_config *config, const char *soc_text,
                           const struct sim_hbm *hbm, struct sim_tape **tape_out)
{
    *tape_out = NULL;
    const unsigned cores = config->cube_cores + config->vector_cores;
    struct sim_tape *tape = leo_calloc(1, sizeof(*tape) + cores * sizeof(tape->track[0]));
    if (!tape) {
        return LEO_ERR_NO_MEMORY;
    }
    tape->cores = cores;
    tape->queues = config->queues;
    tape->rung = leo_calloc(config->queues, sizeof(*tape->rung));
    tape->present = leo_calloc(config->queues, sizeof(*tape->present));
    for (unsigned id = 0; id < cores; id++) {
        tape->track[id].tape = tape;
    }
    leo_status status = tape->rung && tape->present ? LEO_OK : LEO_ERR_NO_MEMORY;
    if (status == LEO_OK) {
        status = sim_host_lock_create(&tape->name_lock);
    }
    if (status == LEO_OK) {
        status = open_file(tape, path, config, soc_text, hbm);
    }
    if (status != LEO_OK) {
        (void)sim_tape_destroy(tape);
        return status;
    }
    *tape_out = tape;
    return LEO_OK;
}

bool sim_tape_destroy(struct sim_tape *tape)
{
    if (!tape) {
        return true;
    }
    bool good = tape->file && !tape->failed;
    if (tape->file) {
        write_chunk(tape, SIM_TAPE_END, NULL, 0, 0);
        good = fclose(tape->file) == 0 && good && !tape->failed;
    }
    for (unsigned id = 0; id < tape->cores; id++) {
        leo_free(tape->track[id].item);
    }
    if (tape->name_lock) {
        sim_host_lock_destroy(tape->name_lock);
    }
    leo_free(tape->names);
    leo_free(tape->rung);
    leo_free(tape->present);
    leo_free(tape);
    return good;
}

struct sim_tape_track *sim_tape_track(struct sim_tape *tape, unsigned core)
{
    return &tape->track[core];
}

/* ---- tasks ---- */

void sim_tape_rung(struct sim_tape *tape, unsigned queue)
{
    atomic_store(&tape->rung[queue], atomic_load(&tape->complete));
}

static void write_names(struct sim_tape *tape)
{
    sim_host_lock_take(tape->name_lock);
    write_bytes(tape, tape->names, tape->name_bytes);
    tape->name_bytes = 0;
    sim_host_lock_give(tape->name_lock);
}

void sim_tape_task(struct sim_tape *tape, unsigned queue, bool is_first, uint64_t now_ps,
                   const struct leo_sqe *entry)
{
    const struct sim_tape_task task = {.queue = queue,
                                       .is_first = is_first,
                                       .seen = atomic_load(&tape->rung[queue]),
                                       .fetched_ps = now_ps,
                                       .entry = *entry};
    write_names(tape);
    tape->present[queue] = tape->tasks++;
    write_chunk(tape, SIM_TAPE_TASK, &task, sizeof(task), 0);
}

uint32_t sim_tape_present(const struct sim_tape *tape, unsigned queue)
{
    return tape->present[queue];
}

void sim_tape_done(struct sim_tape *tape, unsigned queue, const struct sim_tape_done *how)
{
    struct sim_tape_done done = *how;
    done.task = tape->present[queue];
    write_chunk(tape, SIM_TAPE_DONE, &done, sizeof(done), 0);
    atomic_fetch_add(&tape->complete, 1);
}

/* Takes a chunk that is written before the next task. */
static void keep_chunk(struct sim_tape *tape, const struct sim_tape_chunk *chunk, const void *head,
                       size_t head_bytes, const void *data, size_t data_bytes)
{
    const size_t bytes = sizeof(*chunk) + (size_t)chunk->bytes;
    sim_host_lock_take(tape->name_lock);
    if (tape->name_bytes + bytes > tape->name_capacity) {
        const size_t capacity = tape->name_bytes + bytes + FIRST_BYTES;
        uint8_t *names = leo_realloc(tape->names, capacity);
        tape->names = names ? names : tape->names;
        tape->name_capacity = names ? capacity : tape->name_capacity;
        tape->failed = tape->failed || !names;
    }
    if (tape->name_bytes + bytes <= tape->name_capacity) {
        uint8_t *to = tape->names + tape->name_bytes;
        memset(to, 0, bytes);
        memcpy(to, chunk, sizeof(*chunk));
        memcpy(to + sizeof(*chunk), head, head_bytes);
        memcpy(to + sizeof(*chunk) + head_bytes, data, data_bytes);
        tape->name_bytes += bytes;
    }
    sim_host_lock_give(tape->name_lock);
}

void sim_tape_name(struct sim_tape *tape, uint32_t tag, const char *name)
{
    const uint64_t number = tag;
    const size_t length = strlen(name), padding = 8 - length % 8; // at least one zero
    const struct sim_tape_chunk chunk = {.kind = SIM_TAPE_NAME,
                                         .bytes = sizeof(number) + length + padding};
    keep_chunk(tape, &chunk, &number, sizeof(number), name, length);
}

void sim_tape_link(struct sim_tape *tape, const struct leo_link_note *note)
{
    const struct sim_tape_chunk chunk = {.kind = SIM_TAPE_LINK, .bytes = sizeof(*note)};
    keep_chunk(tape, &chunk, note, sizeof(*note), "", 0);
}

/* ---- blocks ---- */

static void *add_item(struct sim_tape_track *track, size_t bytes)
{
    if (track->bytes + bytes > track->capacity) {
        size_t capacity = track->capacity ? track->capacity * 2 : FIRST_BYTES;
        uint8_t *item = leo_realloc(track->item, capacity);
        if (!item) {
            track->tape->failed = true;
            return NULL;
        }
        track->item = item;
        track->capacity = capacity;
    }
    void *item = track->item + track->bytes;
    track->bytes += bytes;
    return item;
}

static void add_changes(struct sim_tape_track *track, const struct sim_core *core)
{
    struct sim_tape_state now;
    sim_tape_state_take(&now, core);
    if (memcmp(&now, &track->state, sizeof(now)) == 0) {
        return;
    }
    for (uint16_t i = 0; i < SIM_TAPE_WORDS; i++) {
        struct sim_tape_change *change =
            now.word[i] != track->state.word[i] ? add_item(track, sizeof(*change)) : NULL;
        if (change) {
            *change =
                (struct sim_tape_change){.kind = SIM_TAPE_STATE, .index = i, .value = now.word[i]};
        }
    }
    track->state = now;
}

void sim_tape_begin(struct sim_tape_track *track, const struct sim_core *core)
{
    track->bytes = 0;
    track->first_store = core->stored;
    memset(&track->state, 0, sizeof(track->state));
    add_changes(track, core);
}

void sim_tape_op(struct sim_tape_track *track, const struct sim_core *core, const struct sim_op *op,
                 double scalar)
{
    add_changes(track, core);
    struct sim_tape_op *item = add_item(track, sizeof(*item));
    if (item) {
        *item = (struct sim_tape_op){.kind = SIM_TIME_OP,
                                     .sub = op->sub,
                                     .insn = (uint16_t)op->insn,
                                     .imm = op->imm,
                                     .pc = (uint32_t)(op->pc - LEO_MAP_IMAGE),
                                     .scalar = scalar,
                                     .a = op->a,
                                     .b = op->b,
                                     .c = op->c,
                                     .d = op->d};
    }
}

static void add_store(struct sim_tape_track *track, const struct sim_time_record *record)
{
    struct sim_tape_store *item = add_item(track, sizeof(*item));
    if (item) {
        *item = (struct sim_tape_store){.kind = record->kind,
                                        .pipe = record->pipe,
                                        .dst = record->dst,
                                        .id = record->id,
                                        .pc = record->pc,
                                        .scalar = record->scalar,
                                        .number = record->work};
    }
}

void sim_tape_plain(struct sim_tape_track *track, const struct sim_time_record *record)
{
    if (record->kind == SIM_TIME_STORE || record->kind == SIM_TIME_POLL) {
        add_store(track, record);
        return;
    }
    struct sim_tape_plain *item = add_item(track, sizeof(*item));
    if (item) {
        // Who plays it finds out by itself whether it has to wait for others.
        const bool park = record->kind == SIM_TIME_PARK;
        *item = (struct sim_tape_plain){.kind = park ? SIM_TIME_SCALAR : record->kind,
                                        .pipe = record->pipe,
                                        .dst = record->dst,
                                        .id = record->id,
                                        .pc = record->pc,
                                        .scalar = record->scalar};
    }
}

void sim_tape_mark(struct sim_tape_track *track)
{
    track->marked_bytes = track->bytes;
    track->marked_state = track->state;
}

void sim_tape_rewind(struct sim_tape_track *track)
{
    track->bytes = track->marked_bytes;
    track->state = track->marked_state;
}

void sim_tape_end(struct sim_tape *tape, unsigned core, unsigned queue, uint32_t block,
                  unsigned member)
{
    struct sim_tape_track *track = &tape->track[core];
    const struct sim_tape_block head = {.task = tape->present[queue],
                                        .block = block,
                                        .member = member,
                                        .core = core,
                                        .first_store = track->first_store};
    write_chunk(tape, SIM_TAPE_BLOCK, &head, sizeof(head), track->bytes);
    write_bytes(tape, track->item, track->bytes);
    track->bytes = 0;
}
