/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a chip: one list of parts, which reset, snapshot and dump walk. A snapshot is of a
 * chip that has nothing to do; rings and registers of the function are not in it, they belong to
 * the host that set them up.
 */
#include "chip.h"

#include "../core/state.h"
#include "../host/host_pool.h"
#include "../section.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SECTION(what, member) SIM_SECTION(struct leo_sim_chip, what, member)
static const struct sim_section chip_list[] = {
    SECTION(WIRED, config),
    SECTION(WIRED, run_lock),
    // Parts of their own.
    SECTION(WIRED, memory),
    SECTION(WIRED, cores),
    SECTION(WIRED, log_pool),
    SECTION(WIRED, arena),
    SECTION(WIRED, arena_bytes),
    SECTION(WIRED, function),
    SECTION(WIRED, scheduler),
    SECTION(WIRED, tape),
    SECTION(WIRED, log),
    SECTION(WIRED, log_user),
};
#undef SECTION

#define SECTION(what, member) SIM_SECTION(struct sim_memory, what, member)
static const struct sim_section memory_list[] = {
    // Parts of their own.
    SECTION(WIRED, hbm),     SECTION(WIRED, space),   SECTION(STATE, overflow), SECTION(WIRED, l2),
    SECTION(WIRED, written), SECTION(WIRED, unknown), SECTION(WIRED, windowed),
};
#undef SECTION

#define SECTION(what, member) SIM_SECTION(struct sim_cores, what, member)
static const struct sim_section cores_list[] = {
    SECTION(WIRED, count),       SECTION(WIRED, core),   // parts of their own
    SECTION(WIRED, trace),       SECTION(WIRED, engine), // begins anew when the first core does
    SECTION(WIRED, pool),        SECTION(WIRED, simd),   SECTION(WIRED, scratch),
    SECTION(WIRED, check_which), SECTION(WIRED, check),
};
#undef SECTION

#define SECTION(what, member) SIM_SECTION(struct sim_trace, what, member)
static const struct sim_section trace_list[] = {
    SECTION(WIRED, record),
    SECTION(HOST, count),
    SECTION(WIRED, capacity),
    SECTION(HOST, lost),
};
#undef SECTION

static const struct sim_sections chip_sections = SIM_SECTIONS(struct leo_sim_chip, chip_list);
static const struct sim_sections memory_sections = SIM_SECTIONS(struct sim_memory, memory_list);
static const struct sim_sections cores_sections = SIM_SECTIONS(struct sim_cores, cores_list);
static const struct sim_sections trace_sections = SIM_SECTIONS(struct sim_trace, trace_list);

/* ---- parts ---- */

static bool walk_chip(struct leo_sim_chip *chip, sim_stretch_fn fn, void *user)
{
    return sim_sections_walk(&chip_sections, 0, chip, fn, user) &&
           sim_sections_walk(&memory_sections, 0, &chip->memory, fn, user) &&
           sim_sections_walk(&cores_sections, 0, &chip->cores, fn, user);
}

static bool walk_cores(struct leo_sim_chip *chip, sim_stretch_fn fn, void *user)
{
    bool on = true;
    for (unsigned id = 0; on && id < chip->cores.count; id++) {
        on = sim_core_walk(&chip->cores.core[id], fn, user) &&
             sim_sections_walk(&trace_sections, id, &chip->cores.trace[id], fn, user);
    }
    return on;
}

static bool walk_spaces(struct leo_sim_chip *chip, sim_stretch_fn fn, void *user)
{
    bool on = true;
    for (unsigned i = 0; on && i < LEO_SPACES; i++) {
        on = sim_space_walk(&chip->memory.space[i], i, fn, user);
    }
    return on;
}

static void reset_spaces(struct leo_sim_chip *chip)
{
    for (unsigned i = 0; i < LEO_SPACES; i++) {
        sim_space_finish(&chip->memory.space[i]);
    }
}

static bool settle_spaces(struct leo_sim_chip *chip)
{
    bool legal = true;
    for (unsigned i = 0; legal && i < LEO_SPACES; i++) {
        legal = sim_space_is_legal(&chip->memory.space[i], chip->memory.hbm.base,
                                   chip->memory.hbm.bytes);
    }
    return legal;
}

/* What is mapped. */
static bool walk_memory(struct leo_sim_chip *chip, sim_stretch_fn fn, void *user)
{
    bool on = true;
    for (unsigned i = 0; on && i < LEO_SPACES; i++) {
        const struct sim_space *space = &chip->memory.space[i];
        for (size_t at = 0; on && at < space->count; at++) {
            const struct sim_extent *extent = &space->extent[at];
            const struct sim_stretch stretch = {
                .owner = "global memory",
                .name = "mapping",
                .index = i,
                .data = chip->memory.hbm.data + (extent->base - chip->memory.hbm.base),
                .bytes = extent->bytes,
                .unit = 1,
                .kind = SIM_SECTION_STATE,
            };
            on = fn(user, &stretch);
        }
    }
    return on;
}

static void reset_memory(struct leo_sim_chip *chip)
{
    sim_hbm_zero(&chip->memory.hbm, chip->memory.hbm.base, chip->memory.hbm.bytes);
}

static bool walk_l2(struct leo_sim_chip *chip, sim_stretch_fn fn, void *user)
{
    return sim_l2_walk(&chip->memory.l2, fn, user);
}

static void reset_l2(struct leo_sim_chip *chip)
{
    sim_l2_clear(&chip->memory.l2);
}

static bool settle_l2(struct leo_sim_chip *chip)
{
    return sim_l2_settle(&chip->memory.l2);
}

static bool settle_chip(struct leo_sim_chip *chip)
{
    atomic_store(&chip->function.sim_time_ns, chip->scheduler.now_ps / 1000);
    atomic_store(&chip->memory.windowed, true); // what is unwritten is not known
    sim_cores_forget(&chip->scheduler);
    return true;
}

static bool walk_scheduler(struct leo_sim_chip *chip, sim_stretch_fn fn, void *user)
{
    return sim_scheduler_walk(&chip->scheduler, fn, user);
}

static void reset_scheduler(struct leo_sim_chip *chip)
{
    sim_scheduler_reset(&chip->scheduler);
}

static bool walk_function(struct leo_sim_chip *chip, sim_stretch_fn fn, void *user)
{
    return sim_function_walk(&chip->function, fn, user);
}

static const struct part {
    bool (*walk)(struct leo_sim_chip *chip, sim_stretch_fn fn, void *user);
    void (*reset)(struct leo_sim_chip *chip);  /**< before its state is zeroed; may be NULL */
    bool (*settle)(struct leo_sim_chip *chip); /**< after its state was restored: what follows from
                                                  it; may be NULL */
} parts[] = {
    {walk_scheduler, reset_scheduler, NULL}, // first: it stops the cores
    {walk_function, NULL, NULL},
    {walk_chip, NULL, settle_chip},
    {walk_cores, NULL, NULL},
    {walk_l2, reset_l2, settle_l2},
    {walk_spaces, reset_spaces, settle_spaces},
    {walk_memory, reset_memory, NULL}, // what is mapped
};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

/* ---- reset ---- */

static bool zero(void *user, const struct sim_stretch *stretch)
{
    const unsigned *kinds = user;
    if (stretch->kind & *kinds) {
        sim_stretch_zero(stretch);
    }
    return true;
}

static void reset(struct leo_sim_chip *chip, unsigned kinds)
{
    for (unsigned i = 0; i < PARTS; i++) {
        if (parts[i].reset) {
            parts[i].reset(chip);
        }
        (void)parts[i].walk(chip, zero, &kinds);
    }
    sim_cores_forget(&chip->scheduler);
}

void sim_chip_reset(struct leo_sim_chip *chip)
{
    reset(chip, SIM_SECTION_BLOCK | SIM_SECTION_STATE | SIM_SECTION_HOST);
}

/* ---- snapshot ---- */

/* A snapshot: a head, then for each stretch that is saved its bytes, and runs of pages that are not
 * zero, an empty one last. */
struct head {
    char magic[8];
    char soc[32];
    uint64_t gm_base, gm_bytes;
    uint64_t bytes; /**< behind the head */
    uint64_t hash;  /**< of them */
};
struct run {
    uint64_t at, bytes;
};

static const char magic[8] = {'L', 'E', 'O', 'S', 'N', 'A', 'P', '1'};
enum { PAGE = 4096 };

static uint64_t hash_more(uint64_t hash, const void *data, uint64_t bytes)
{
    const uint8_t *byte = data;
    for (uint64_t i = 0; i < bytes; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3); // FNV-1a
    }
    return hash;
}

struct saver {
    void (*write)(void *user, const void *data, size_t bytes); /**< NULL: only counts */
    void *user;
    uint64_t bytes, hash;
};

static void put(struct saver *saver, const void *data, uint64_t bytes)
{
    saver->bytes += bytes;
    if (saver->write) {
        saver->write(saver->user, data, bytes);
    } else {
        saver->hash = hash_more(saver->hash, data, bytes);
    }
}

static bool is_zero(const uint8_t *data, uint64_t bytes)
{
    return bytes == 0 || (data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0);
}

static uint64_t page_at(const struct sim_stretch *stretch, uint64_t at)
{
    return stretch->bytes - at < PAGE ? stretch->bytes - at : PAGE;
}

static bool save(void *user, const struct sim_stretch *stretch)
{
    struct saver *saver = user;
    if (!(stretch->kind & SIM_SECTION_SAVED)) {
        return true;
    }
    const uint8_t *data = stretch->data;
    put(saver, &stretch->bytes, sizeof(stretch->bytes));
    for (uint64_t at = 0; at < stretch->bytes;) {
        struct run run = {at, 0};
        while (at < stretch->bytes && !is_zero(data + at, page_at(stretch, at))) {
            run.bytes += page_at(stretch, at);
            at += page_at(stretch, at);
        }
        if (run.bytes) {
            put(saver, &run, sizeof(run));
            put(saver, data + run.at, run.bytes);
        } else {
            at += page_at(stretch, at);
        }
    }
    const struct run end = {0};
    put(saver, &end, sizeof(end));
    return true;
}

static void save_all(struct leo_sim_chip *chip, struct saver *saver)
{
    for (unsigned i = 0; i < PARTS; i++) {
        (void)parts[i].walk(chip, save, saver);
    }
}

static struct head head_of(const struct leo_sim_chip *chip)
{
    struct head head = {.gm_base = chip->memory.hbm.base, .gm_bytes = chip->memory.hbm.bytes};
    memcpy(head.magic, magic, sizeof(magic));
    memcpy(head.soc, chip->config.name, sizeof(head.soc));
    return head;
}

leo_status leo_sim_chip_save(struct leo_sim_chip *chip,
                             void (*write_fn)(void *user, const void *data, size_t bytes),
                             void *user)
{
    if (!chip || !write_fn) {
        return LEO_ERR_INVALID_ARG;
    }
    sim_host_lock_take(chip->run_lock);
    const bool idle = sim_scheduler_is_idle(&chip->scheduler);
    if (idle) {
        struct saver count = {0};
        save_all(chip, &count);
        struct head head = head_of(chip);
        head.bytes = count.bytes;
        head.hash = count.hash;
        write_fn(user, &head, sizeof(head));
        struct saver saver = {.write = write_fn, .user = user};
        save_all(chip, &saver);
    }
    sim_host_lock_give(chip->run_lock);
    return idle ? LEO_OK : LEO_ERR_BUSY;
}

struct loader {
    const uint8_t *at, *end;
};

static bool take(struct loader *loader, void *data, uint64_t bytes)
{
    if (bytes > (uint64_t)(loader->end - loader->at)) {
        return false;
    }
    memcpy(data, loader->at, bytes);
    loader->at += bytes;
    return true;
}

static bool load(void *user, const struct sim_stretch *stretch)
{
    struct loader *loader = user;
    if (!(stretch->kind & SIM_SECTION_SAVED)) {
        return true;
    }
    uint64_t bytes;
    if (!take(loader, &bytes, sizeof(bytes)) || bytes != stretch->bytes) {
        return false;
    }
    // All is zero since the reset but the clocks.
    if (stretch->kind == SIM_SECTION_CLOCK) {
        memset(stretch->data, 0, stretch->bytes);
    }
    struct run run;
    while (take(loader, &run, sizeof(run))) {
        if (run.bytes == 0) {
            return true;
        }
        if (run.at > stretch->bytes || run.bytes > stretch->bytes - run.at ||
            !take(loader, (uint8_t *)stretch->data + run.at, run.bytes)) {
            return false;
        }
    }
    return false;
}

/* The head fits this chip, and what follows is what was saved. */
static bool is_legal(const struct leo_sim_chip *chip, const struct head *head, const uint8_t *body,
                     uint64_t bytes)
{
    const struct head own = head_of(chip);
    return memcmp(head, &own, offsetof(struct head, bytes)) == 0 && head->bytes == bytes &&
           head->hash == hash_more(0, body, bytes);
}

static bool load_all(struct leo_sim_chip *chip, struct loader *loader)
{
    for (unsigned i = 0; i < PARTS; i++) {
        if (!parts[i].walk(chip, load, loader) || (parts[i].settle && !parts[i].settle(chip))) {
            return false;
        }
    }
    return loader->at == loader->end;
}

leo_status leo_sim_chip_restore(struct leo_sim_chip *chip, const void *data, size_t bytes)
{
    struct head head;
    if (!chip || !data || bytes < sizeof(head)) {
        return LEO_ERR_INVALID_ARG;
    }
    memcpy(&head, data, sizeof(head));
    const uint8_t *body = (const uint8_t *)data + sizeof(head);
    struct loader loader = {body, body + (bytes - sizeof(head))};
    if (!is_legal(chip, &head, body, bytes - sizeof(head))) {
        return LEO_ERR_INVALID_ARG;
    }
    sim_host_lock_take(chip->run_lock);
    leo_status status = LEO_ERR_BUSY;
    if (sim_scheduler_is_idle(&chip->scheduler)) {
        reset(chip, SIM_SECTION_BLOCK | SIM_SECTION_STATE);
        status = load_all(chip, &loader) ? LEO_OK : LEO_ERR_INVALID_ARG;
        if (status != LEO_OK) {
            sim_chip_reset(chip); // never half of one
        }
    }
    sim_host_lock_give(chip->run_lock);
    return status;
}

/* ---- dump ---- */

enum { MAX_SHOWN = 512 }; /* bytes of a stretch whose elements are shown */

struct printer {
    void (*line)(void *user, const char *text);
    void *user;
};

static bool print(void *user, const struct sim_stretch *stretch)
{
    const struct printer *printer = user;
    char text[64 + 3 * MAX_SHOWN];
    if (!(stretch->kind & (SIM_SECTION_SAVED | SIM_SECTION_HOST)) ||
        is_zero(stretch->data, stretch->bytes)) {
        return true;
    }
    int length =
        snprintf(text, sizeof(text), "%s %u %s:", stretch->owner, stretch->index, stretch->name);
    if (stretch->bytes > MAX_SHOWN || stretch->unit > sizeof(uint64_t)) {
        snprintf(text + length, sizeof(text) - (size_t)length,
                 " %" PRIu64 " bytes, FNV-1a %016" PRIx64, stretch->bytes,
                 hash_more(0, stretch->data, stretch->bytes));
    }
    for (uint64_t at = 0; stretch->bytes <= MAX_SHOWN && at < stretch->bytes; at += stretch->unit) {
        uint64_t value = 0;
        memcpy(&value, (const uint8_t *)stretch->data + at, stretch->unit);
        length += snprintf(text + length, sizeof(text) - (size_t)length, " %0*" PRIx64,
                           2 * stretch->unit, value);
    }
    printer->line(printer->user, text);
    return true;
}

void leo_sim_chip_dump(struct leo_sim_chip *chip, void (*line_fn)(void *user, const char *text),
                       void *user)
{
    struct printer printer = {line_fn, user};
    sim_host_lock_take(chip->run_lock);
    for (unsigned i = 0; i < PARTS; i++) {
        (void)parts[i].walk(chip, print, &printer);
    }
    sim_host_lock_give(chip->run_lock);
}
