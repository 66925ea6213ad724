/* SPDX-License-Identifier: Apache-2.0 */
#include "tape.h"

#include <leo/alloc.h>
#include <stdlib.h>

enum { MAX_TAGS = 1 << 20, MAX_MEMBERS = 256 };

/* Walks over the chunks; false at the end or where the file is wrong (then `at` is not its end). */
struct walk {
    const uint8_t *data;
    size_t bytes, at;
    struct sim_tape_chunk chunk;
    const uint8_t *body;
};

static bool next_chunk(struct walk *walk)
{
    if (walk->bytes - walk->at < sizeof(walk->chunk)) {
        return false;
    }
    memcpy(&walk->chunk, walk->data + walk->at, sizeof(walk->chunk));
    size_t left = walk->bytes - walk->at - sizeof(walk->chunk);
    if (walk->chunk.bytes > left || walk->chunk.bytes % 8) {
        return false;
    }
    walk->body = walk->data + walk->at + sizeof(walk->chunk);
    walk->at += sizeof(walk->chunk) + walk->chunk.bytes;
    return true;
}

static struct walk walk_over(const void *data, size_t bytes)
{
    const struct sim_tape_head *head = data;
    return (struct walk){.data = data, .bytes = bytes, .at = sizeof(*head) + head->soc_bytes};
}

/* How many of each there are. False: the file is damaged or not complete. */
static bool count(const void *data, size_t bytes, struct sim_tape_file *file)
{
    struct walk walk = walk_over(data, bytes);
    bool ended = false;
    while (next_chunk(&walk)) {
        ended = false;
        switch ((enum sim_tape_kind)walk.chunk.kind) {
        case SIM_TAPE_TASK: {
            const struct sim_tape_task *task = (const void *)walk.body;
            if (walk.chunk.bytes != sizeof(*task) || task->queue == 0 ||
                task->queue == UINT32_MAX) {
                return false;
            }
            file->queues = task->queue >= file->queues ? task->queue + 1 : file->queues;
            file->entries++;
            break;
        }
        case SIM_TAPE_BLOCK: {
            const struct sim_tape_block *block = (const void *)walk.body;
            if (walk.chunk.bytes < sizeof(*block) || block->task >= file->entries ||
                block->member >= MAX_MEMBERS) {
                return false;
            }
            file->owners++;
            break;
        }
        case SIM_TAPE_DONE: {
            const struct sim_tape_done *done = (const void *)walk.body;
            if (walk.chunk.bytes != sizeof(*done) || done->task >= file->entries) {
                return false;
            }
            file->orders++;
            break;
        }
        case SIM_TAPE_NAME: {
            uint64_t tag;
            if (walk.chunk.bytes < 2 * sizeof(tag) || walk.body[walk.chunk.bytes - 1]) {
                return false;
            }
            memcpy(&tag, walk.body, sizeof(tag));
            if (tag >= MAX_TAGS) {
                return false;
            }
            file->names = tag >= file->names ? (uint32_t)tag + 1 : file->names;
            break;
        }
        case SIM_TAPE_LINK: {
            const struct leo_link_note *note = (const void *)walk.body;
            if (walk.chunk.bytes != sizeof(*note) || note->kind >= LEO_LINK_KINDS ||
                note->name[sizeof(note->name) - 1] || note->group[sizeof(note->group) - 1]) {
                return false;
            }
            file->links++;
            break;
        }
        case SIM_TAPE_END:
            ended = true;
            break;
        default:
            return false;
        }
    }
    // A process that ended without closing its devices left a whole file if every task is there.
    return walk.at == bytes && (ended || file->orders == file->entries);
}

/* First the tasks with the members of their blocks, so that each part has a place. */
static bool take_tasks(const void *data, size_t bytes, struct sim_tape_file *file)
{
    struct walk walk = walk_over(data, bytes);
    uint64_t tasks = 0, orders = 0, links = 0;
    while (next_chunk(&walk)) {
        if (walk.chunk.kind == SIM_TAPE_TASK) {
            file->entry[tasks++].task = (const void *)walk.body;
        } else if (walk.chunk.kind == SIM_TAPE_DONE) {
            const struct sim_tape_done *done = (const void *)walk.body;
            file->entry[done->task].done = done;
            file->order[orders++] = done->task;
        } else if (walk.chunk.kind == SIM_TAPE_LINK) {
            file->link[links++] = (const void *)walk.body;
        } else if (walk.chunk.kind == SIM_TAPE_NAME) {
            uint64_t tag;
            memcpy(&tag, walk.body, sizeof(tag));
            file->name[tag] = (const char *)walk.body + sizeof(tag);
        } else if (walk.chunk.kind == SIM_TAPE_BLOCK) {
            const struct sim_tape_block *block = (const void *)walk.body;
            struct sim_tape_entry *entry = &file->entry[block->task];
            if (entry->task->entry.opcode != LEO_SQE_OP_KERNEL ||
                block->block >= sim_tape_blocks(entry->task)) {
                return false;
            }
            entry->members = block->member >= entry->members ? block->member + 1 : entry->members;
        }
    }
    for (uint64_t i = 0; i < file->entries; i++) {
        struct sim_tape_entry *entry = &file->entry[i];
        entry->first_part = file->parts;
        file->parts += sim_tape_parts(entry);
    }
    return true;
}

/* By core and number; blocks without stores share the number of the next, which comes behind. */
static int compare_owners(const void *left, const void *right)
{
    const struct sim_tape_owner *one = left, *other = right;
    if (one->core != other->core) {
        return one->core < other->core ? -1 : 1;
    }
    if (one->first_store != other->first_store) {
        return one->first_store < other->first_store ? -1 : 1;
    }
    return one->part->item < other->part->item ? -1 : one->part->item > other->part->item;
}

static void take_parts(const void *data, size_t bytes, struct sim_tape_file *file)
{
    struct walk walk = walk_over(data, bytes);
    uint64_t owners = 0;
    while (next_chunk(&walk)) {
        if (walk.chunk.kind == SIM_TAPE_BLOCK) {
            const struct sim_tape_block *block = (const void *)walk.body;
            const struct sim_tape_entry *entry = &file->entry[block->task];
            struct sim_tape_part *part =
                &file->part[entry->first_part + (uint64_t)block->block * entry->members +
                            block->member];
            *part = (struct sim_tape_part){.item = walk.body + sizeof(*block),
                                           .bytes = walk.chunk.bytes - sizeof(*block),
                                           .first_store = block->first_store};
            file->owner[owners++] = (struct sim_tape_owner){block->core, block->first_store, part};
        }
    }
    qsort(file->owner, owners, sizeof(*file->owner), compare_owners);
}

/* ---- links ---- */

/* A record of an event: slot and sequence are of no other. */
struct event {
    uint32_t slot;
    uint64_t sequence, task;
};

static int compare_events(const void *left, const void *right)
{
    const struct event *one = left, *other = right;
    if (one->slot != other->slot) {
        return one->slot < other->slot ? -1 : 1;
    }
    return one->sequence < other->sequence ? -1 : one->sequence > other->sequence;
}

static uint64_t list_events(const struct sim_tape_file *file, struct event *event)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < file->entries; i++) {
        struct leo_sqe_event body;
        const struct leo_sqe *entry = &file->entry[i].task->entry;
        memcpy(&body, entry->body, sizeof(body));
        if (entry->opcode == LEO_SQE_OP_EVENT_RECORD) {
            event[count++] = (struct event){body.event, body.sequence, i};
        }
    }
    qsort(event, count, sizeof(*event), compare_events);
    return count;
}

static const struct event *find_event(const struct event *event, uint64_t count, uint32_t slot,
                                      uint64_t sequence)
{
    const struct event wanted = {slot, sequence, 0};
    return count ? bsearch(&wanted, event, count, sizeof(wanted), compare_events) : NULL;
}

/* Links know the events around them; one whose end was not recorded any more has none. */
static bool take_links(struct sim_tape_file *file)
{
    struct event *event = file->links ? leo_calloc(file->entries + 1, sizeof(*event)) : NULL;
    const uint64_t count = event ? list_events(file, event) : 0;
    for (uint64_t i = 0; i < file->links && event; i++) {
        const struct leo_link_note *note = file->link[i];
        const struct event *reached = find_event(event, count, note->reached_event,
                                                 note->reached_sequence),
                           *done = find_event(event, count, note->done_event, note->done_sequence);
        if (reached && done) {
            file->entry[done->task].link = note;
            file->entry[done->task].reached = reached->task;
        }
    }
    leo_free(event);
    return event || !file->links;
}

const struct sim_tape_part *sim_tape_owner(const struct sim_tape_file *file, uint32_t core,
                                           uint64_t number)
{
    uint64_t low = 0, high = file->owners; // the last one that is not behind the number
    while (low < high) {
        const uint64_t at = low + (high - low) / 2;
        const struct sim_tape_owner *owner = &file->owner[at];
        if (owner->core < core || (owner->core == core && owner->first_store <= number)) {
            low = at + 1;
        } else {
            high = at;
        }
    }
    return low > 0 && file->owner[low - 1].core == core ? file->owner[low - 1].part : NULL;
}

bool sim_tape_has_head(const void *data, size_t bytes)
{
    const struct sim_tape_head *head = data;
    if (bytes < sizeof(*head) || memcmp(head->magic, SIM_TAPE_MAGIC, sizeof(head->magic)) != 0 ||
        !memchr(head->soc, '\0', sizeof(head->soc))) {
        return false;
    }
    const uint8_t *text = (const uint8_t *)data + sizeof(*head);
    return head->soc_bytes && head->soc_bytes % 8 == 0 &&
           head->soc_bytes <= bytes - sizeof(*head) && text[head->soc_bytes - 1] == '\0';
}

const char *sim_tape_soc_text(const void *data)
{
    return (const char *)data + sizeof(struct sim_tape_head);
}

leo_status sim_tape_read(const void *data, size_t bytes, struct sim_tape_file *file)
{
    memset(file, 0, sizeof(*file));
    file->head = data;
    if (!count(data, bytes, file)) {
        return LEO_ERR_INVALID_ARG;
    }
    file->entry = leo_calloc(file->entries + 1, sizeof(*file->entry));
    file->order = leo_calloc(file->orders + 1, sizeof(*file->order));
    file->name = leo_calloc(file->names + 1, sizeof(*file->name));
    file->owner = leo_calloc(file->owners + 1, sizeof(*file->owner));
    file->link = leo_calloc(file->links + 1, sizeof(*file->link));
    if (!file->entry || !file->order || !file->name || !file->owner || !file->link) {
        return LEO_ERR_NO_MEMORY;
    }
    if (!take_tasks(data, bytes, file)) {
        return LEO_ERR_INVALID_ARG;
    }
    file->part = leo_calloc(file->parts + 1, sizeof(*file->part));
    if (!file->part || !take_links(file)) {
        return LEO_ERR_NO_MEMORY;
    }
    take_parts(data, bytes, file);
    return sim_tape_classify(file);
}

void sim_tape_file_finish(struct sim_tape_file *file)
{
    leo_free(file->entry);
    leo_free(file->order);
    leo_free((void *)file->name);
    leo_free((void *)file->link);
    leo_free(file->part);
    leo_free(file->owner);
    leo_free(file->class);
    leo_free(file->address);
    memset(file, 0, sizeof(*file));
}

const struct sim_tape_part *sim_tape_part(const struct sim_tape_file *file, uint64_t task,
                                          uint32_t block, uint32_t member)
{
    const struct sim_tape_entry *entry = &file->entry[task];
    if (member >= entry->members) {
        return NULL;
    }
    const struct sim_tape_part *part =
        &file->part[entry->first_part + (uint64_t)block * entry->members + member];
    return part->item ? part : NULL;
}
