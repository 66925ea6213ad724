/* SPDX-License-Identifier: Apache-2.0 */
#include "classes.h"

#include "../memory/hbm.h"
#include "tape.h"
#include <leo/alloc.h>

size_t sim_tape_item_bytes(const uint8_t *item, const uint8_t *end)
{
    const size_t bytes = *item == SIM_TIME_OP      ? sizeof(struct sim_tape_op)
                         : *item == SIM_TAPE_STATE ? sizeof(struct sim_tape_change)
                         : *item == SIM_TIME_STORE || *item == SIM_TIME_POLL
                             ? sizeof(struct sim_tape_store)
                             : sizeof(struct sim_tape_plain);
    return (size_t)(end - item) < bytes ? 0 : bytes;
}

const uint64_t *sim_tape_address(const struct sim_tape_op *op)
{
    const uint64_t *const value[] = {&op->a, &op->b, &op->c, &op->d};
    const struct leo_insn_info *info = leo_insn_info(op->insn);
    for (unsigned i = 0; info && i < 4; i++) {
        if (info->operand[i] == LEO_INSN_OPERAND_GM) {
            return value[i];
        }
    }
    return NULL;
}

/* What blocks of a class have in common of an address. */
static uint64_t common(uint64_t address)
{
    return address & (SIM_GM_NO_L2 | (SIM_TAPE_ALIGN - 1));
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_words(uint64_t hash, const uint8_t *data, size_t bytes)
{
    uint64_t word;
    for (size_t at = 0; at + sizeof(word) <= bytes; at += sizeof(word)) {
        memcpy(&word, data + at, sizeof(word));
        hash = mix(hash, word);
    }
    return hash;
}

/* A block's items with the addresses taken out. False: what it does depends on other blocks, or the
 * tape is damaged. */
static bool hash_part(const struct sim_tape_part *part, struct sim_tape_class *class)
{
    const uint8_t *item = part->item, *const end = part->item + part->bytes;
    *class = (struct sim_tape_class){.hash = part->bytes};
    while (item < end) {
        const size_t bytes = sim_tape_item_bytes(item, end);
        if (bytes == 0 || *item == SIM_TIME_STORE || *item == SIM_TIME_POLL) {
            return false;
        }
        if (*item == SIM_TIME_OP) {
            struct sim_tape_op op;
            memcpy(&op, item, sizeof(op));
            uint64_t *address = (uint64_t *)(uintptr_t)sim_tape_address(&op);
            if (address) {
                *address = common(*address);
                class->addresses++;
            }
            class->operations++;
            class->hash = hash_words(class->hash, (const uint8_t *)&op, sizeof(op));
        } else {
            class->hash = hash_words(class->hash, item, bytes);
        }
        item += bytes;
    }
    return true;
}

static bool same_op(const uint8_t *one, const uint8_t *other)
{
    struct sim_tape_op left, right;
    memcpy(&left, one, sizeof(left));
    memcpy(&right, other, sizeof(right));
    uint64_t *a = (uint64_t *)(uintptr_t)sim_tape_address(&left),
             *b = (uint64_t *)(uintptr_t)sim_tape_address(&right);
    if (!a || !b) {
        return false; // they differed, and not in an address
    }
    *a = common(*a);
    *b = common(*b);
    return memcmp(&left, &right, sizeof(left)) == 0;
}

static bool same_items(const struct sim_tape_part *one, const struct sim_tape_part *other)
{
    size_t bytes;
    if (one->bytes != other->bytes) {
        return false;
    }
    for (size_t at = 0; at < one->bytes; at += bytes) {
        const uint8_t *left = one->item + at, *right = other->item + at;
        bytes = sim_tape_item_bytes(left, one->item + one->bytes);
        if (memcmp(left, right, bytes) != 0 &&
            (*left != SIM_TIME_OP || *right != SIM_TIME_OP || !same_op(left, right))) {
            return false;
        }
    }
    return true;
}

/* ---- sets of what is the same ---- */

/* Numbers by hash. */
struct table {
    uint32_t *number; /**< + 1; 0 = free */
    uint64_t places;  /**< a power of two */
};

static bool make_table(struct table *table, uint64_t most)
{
    table->places = 64;
    while (table->places < 2 * most) {
        table->places *= 2;
    }
    table->number = leo_calloc(table->places, sizeof(*table->number));
    return table->number != NULL;
}

static uint32_t class_of(struct sim_tape_file *file, const struct table *table,
                         const struct sim_tape_class *class)
{
    uint64_t at = class->hash & (table->places - 1);
    for (; table->number[at]; at = (at + 1) & (table->places - 1)) {
        const struct sim_tape_class *other = &file->class[table->number[at] - 1];
        if (other->hash == class->hash &&
            same_items(&file->part[other->part], &file->part[class->part])) {
            return table->number[at] - 1;
        }
    }
    table->number[at] = (uint32_t)file->classes + 1;
    file->class[file->classes] = *class;
    return (uint32_t)file->classes++;
}

static bool classify_parts(struct sim_tape_file *file)
{
    struct table table;
    uint64_t addresses = 0;
    if (!make_table(&table, file->parts)) {
        return false;
    }
    for (uint64_t i = 0; i < file->parts; i++) {
        struct sim_tape_part *part = &file->part[i];
        struct sim_tape_class class;
        part->class = SIM_TAPE_NO_CLASS;
        if (part->item && hash_part(part, &class)) {
            class.part = i;
            part->class = class_of(file, &table, &class);
            file->class[part->class].uses++;
            part->first_address = addresses;
            addresses += class.addresses;
        }
    }
    leo_free(table.number);
    file->address = leo_calloc(addresses + 1, sizeof(*file->address));
    return file->address != NULL;
}

static void take_addresses(struct sim_tape_file *file)
{
    for (uint64_t i = 0; i < file->parts; i++) {
        const struct sim_tape_part *part = &file->part[i];
        const uint8_t *const end = part->item + part->bytes;
        uint64_t *to = file->address + part->first_address;
        if (part->class == SIM_TAPE_NO_CLASS) {
            continue;
        }
        for (const uint8_t *item = part->item; item < end; item += sim_tape_item_bytes(item, end)) {
            const uint64_t *address =
                *item == SIM_TIME_OP ? sim_tape_address((const struct sim_tape_op *)item) : NULL;
            if (address) {
                *to++ = *address;
            }
        }
    }
}

/* ---- launches ---- */

uint32_t sim_tape_blocks(const struct sim_tape_task *task)
{
    struct leo_sqe_kernel body;
    memcpy(&body, task->entry.body, sizeof(body));
    return body.block_num;
}

uint64_t sim_tape_parts(const struct sim_tape_entry *entry)
{
    return entry->members ? (uint64_t)entry->members * sim_tape_blocks(entry->task) : 0;
}

static bool same_launch(const struct sim_tape_file *file, const struct sim_tape_entry *one,
                        const struct sim_tape_entry *other)
{
    const uint64_t parts = sim_tape_parts(one);
    bool same = parts == sim_tape_parts(other) && one->members == other->members &&
                one->task->entry.core_kind == other->task->entry.core_kind;
    for (uint64_t i = 0; i < parts && same; i++) {
        same = file->part[one->first_part + i].class == file->part[other->first_part + i].class;
    }
    return same;
}

static bool hash_launch(const struct sim_tape_file *file, struct sim_tape_entry *entry,
                        uint64_t *hash)
{
    const uint64_t parts = sim_tape_parts(entry);
    *hash = mix(parts, entry->task->entry.core_kind);
    for (uint64_t i = 0; i < parts; i++) {
        const uint32_t class = file->part[entry->first_part + i].class;
        if (class == SIM_TAPE_NO_CLASS) {
            return false;
        }
        *hash = mix(*hash, class);
        entry->operations += file->class[class].operations;
    }
    return parts != 0;
}

static bool classify_launches(struct sim_tape_file *file)
{
    struct table table;
    if (!make_table(&table, file->entries)) {
        return false;
    }
    for (uint64_t i = 0; i < file->entries; i++) {
        struct sim_tape_entry *entry = &file->entry[i];
        uint64_t hash;
        entry->launch = SIM_TAPE_NO_CLASS;
        if (!hash_launch(file, entry, &hash)) {
            continue;
        }
        uint64_t at = hash & (table.places - 1);
        while (table.number[at] && !same_launch(file, &file->entry[table.number[at] - 1], entry)) {
            at = (at + 1) & (table.places - 1);
        }
        if (!table.number[at]) {
            table.number[at] = (uint32_t)i + 1;
            entry->launch = file->launches++;
        } else {
            entry->launch = file->entry[table.number[at] - 1].launch;
            entry->is_again = file->entry[table.number[at] - 1].is_again = true;
        }
    }
    leo_free(table.number);
    return true;
}

leo_status sim_tape_classify(struct sim_tape_file *file)
{
    file->class = leo_calloc(file->parts + 1, sizeof(*file->class));
    if (!file->class || !classify_parts(file) || !classify_launches(file)) {
        return LEO_ERR_NO_MEMORY;
    }
    take_addresses(file);
    return LEO_OK;
}
