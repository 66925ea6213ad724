/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_tape.h"

#include "study/study.h"

#include <errno.h>
#include <fcntl.h>
#include <leo/alloc.h>
#include <leo/isa_enums.h>
#include <leo/soc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file, mapped; NULL with errno. */
static void *map(const char *path, size_t *bytes)
{
    struct stat stat;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    void *data = MAP_FAILED;
    if (file >= 0 && fstat(file, &stat) == 0) {
        *bytes = (size_t)stat.st_size;
        data = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, file, 0);
    }
    if (file >= 0) {
        close(file);
    }
    return data == MAP_FAILED ? NULL : data;
}

static bool say(const char *command, const char *path, const char *what)
{
    fprintf(stderr, "leo %s: %s: %s\n", command, path, what);
    return false;
}

static bool read_file(const char *command, const char *path, struct replay_tape *tape)
{
    size_t bytes;
    void *file = map(path, &bytes);
    if (!file) {
        fprintf(stderr, "leo %s: cannot read %s: %s\n", command, path, strerror(errno));
        return false;
    }
    const leo_status status = leo_sim_tape_open(file, bytes, &tape->data);
    tape->hash = study_hash(STUDY_HASH, file, bytes);
    munmap(file, bytes);
    return status == LEO_OK ||
           say(command, path,
               status == LEO_ERR_PARSE ? "not a tape, or one of another version of the simulator"
               : status == LEO_ERR_NO_MEMORY
                   ? "there is no memory to read it"
                   : "the tape is damaged, or the program that wrote it did not end in order");
}

bool replay_tape_open(const char *command, const char *path, struct replay_tape *tape)
{
    memset(tape, 0, sizeof(*tape));
    if (!read_file(command, path, tape)) {
        return false;
    }
    tape->looks = leo_sim_tape_looks(tape->data);
    tape->soc = leo_sim_tape_soc(tape->data);
    tape->soc_text = leo_sim_tape_soc_text(tape->data);
    return true;
}

bool replay_is_tape(const char *path)
{
    struct stat info;
    char magic[6] = "";
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        return true;
    }
    FILE *file = fopen(path, "rb");
    const bool is = file && fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
                    memcmp(magic, "LEOTAPE", sizeof(magic)) == 0;
    if (file) {
        fclose(file);
    }
    return is;
}

bool replay_tape_keep(const char *command, struct replay_tape *tape, uint64_t bytes)
{
    return leo_sim_known_create(tape->data, bytes, &tape->known) == LEO_OK ||
           say(command, tape->soc, "there is no memory to price its tape");
}

void replay_tape_close(struct replay_tape *tape)
{
    leo_sim_known_destroy(tape->known);
    leo_sim_tape_close(tape->data);
    memset(tape, 0, sizeof(*tape));
}

char *replay_soc_text(const char *command, const char *name)
{
    char *text, why[1024];
    if (leo_isa_soc_read(name, &text, why, sizeof(why)) != LEO_OK) {
        fprintf(stderr, "leo %s: chip %s: %s\n", command, name, why);
        return NULL;
    }
    return text;
}

bool replay_tape_run(const char *command, const struct replay_tape *tape, const char *soc_text,
                     const char *soc_name, leo_sim_replayed_fn each, void *user,
                     struct leo_sim_replay_result *result)
{
    const struct replay_pricing pricing = {
        .soc_text = soc_text, .soc_name = soc_name, .each = each, .user = user};
    return replay_tape_price(command, tape, &pricing, result);
}

bool replay_tape_price(const char *command, const struct replay_tape *tape,
                       const struct replay_pricing *pricing, struct leo_sim_replay_result *result)
{
    char error[512] = "";
    const struct leo_sim_replay_opts opts = {.size = sizeof(opts),
                                             .tape = tape->data,
                                             .known = tape->known,
                                             .soc_text = pricing->soc_text,
                                             .soc_text_name = pricing->soc_name,
                                             .each = pricing->each,
                                             .meet = pricing->meet,
                                             .user = pricing->user};
    leo_status status = leo_sim_replay(&opts, result, error, sizeof(error));
    if (status != LEO_OK) {
        fprintf(stderr, "leo %s: %s\n", command, error[0] ? error : leo_status_text(status));
    }
    return status == LEO_OK;
}

void replay_tape_links(const struct replay_tape *tape,
                       void (*each)(void *user, const struct leo_link_note *note), void *user)
{
    leo_sim_tape_links(tape->data, each, user);
}

const char *replay_task_name(const struct leo_sim_replayed *task)
{
    if (task->name[0]) {
        return task->name;
    }
    switch (task->record->opcode) {
    case LEO_SQE_OP_COPY:
        return "copy";
    case LEO_SQE_OP_FILL:
        return "fill";
    default:
        return "kernel";
    }
}

const char *replay_link_kind_name(enum leo_link_kind kind)
{
    static const char *const names[LEO_LINK_KINDS] = {
        [LEO_LINK_ALL_REDUCE] = "all_reduce",         [LEO_LINK_REDUCE] = "reduce",
        [LEO_LINK_BROADCAST] = "broadcast",           [LEO_LINK_ALL_GATHER] = "all_gather",
        [LEO_LINK_REDUCE_SCATTER] = "reduce_scatter", [LEO_LINK_SCATTER] = "scatter",
        [LEO_LINK_ALL_TO_ALL] = "all_to_all",         [LEO_LINK_BARRIER] = "barrier",
        [LEO_LINK_POINT_TO_POINT] = "point_to_point",
    };
    return names[kind];
}
