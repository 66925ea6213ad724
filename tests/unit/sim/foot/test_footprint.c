/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The footprint of an instruction is what it touches, no byte less and no byte more: for every
 * instruction of the units, over random legal operands, on every arithmetic path of the host.
 *
 * - bytes outside what it writes stay as they were, and bits of what is marked as written in part;
 * - other contents of all bytes outside what it reads change neither what it writes nor the
 *   registers it leaves; since those it writes are among them, it writes all of them;
 * - each byte it reads (sampled) matters for some contents, unless its span is marked as having
 *   padding.
 */
#include "harness.h"
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CASES = 10,     /* of an instruction on a chip and path */
    READ_CASES = 4, /* of those looked at byte by byte */
    TRIES = 6000,   /* operands drawn to find them */
    LEAST = 3,      /* cases that must be found */
    SAMPLES = 3,    /* read bytes looked at, of each span */
    CONTENTS = 2000 /* tried to see a byte's effect */
};

/* The registers an instruction starts from. */
struct state {
    uint64_t vmask[2], ctrl, cmpmask[2], selmask_addr;
    struct sim_csrs csr;
    uint16_t va[8][8];
};

struct bench {
    struct machine *machine;
    struct state state;
    uint8_t *before, *after, *other, *touch;
    struct sim_op op;
};

static struct state state_of(const struct sim_core *core)
{
    struct state state = {.ctrl = core->ctrl, .selmask_addr = core->selmask_addr, .csr = core->csr};
    memcpy(state.vmask, core->vmask, sizeof(state.vmask));
    memcpy(state.cmpmask, core->cmpmask, sizeof(state.cmpmask));
    memcpy(state.va, core->va, sizeof(state.va));
    return state;
}

/* Executes from `contents`; the result is in the machine's memory. */
static bool run(struct bench *bench, const uint8_t *contents)
{
    struct sim_core *core = &bench->machine->core;
    const struct state *state = &bench->state;
    memcpy(bench->machine->memory, contents, MACHINE_BYTES);
    core->ctrl = state->ctrl;
    core->selmask_addr = state->selmask_addr;
    core->csr = state->csr;
    memcpy(core->vmask, state->vmask, sizeof(core->vmask));
    memcpy(core->cmpmask, state->cmpmask, sizeof(core->cmpmask));
    memcpy(core->va, state->va, sizeof(core->va));
    core->scalar.fault = (struct sim_fault){.code = LEO_FAULT_NONE};
    struct sim_op op = bench->op;
    return sim_core_execute(core, &op);
}

struct marking {
    uint8_t *map;
    uint8_t touch;
};

static void mark(void *context, uint64_t at, uint64_t bytes)
{
    const struct marking *marking = context;
    for (uint64_t i = 0; i < bytes; i++) {
        marking->map[at + i] |= marking->touch;
    }
}

static void mark_span(const struct machine *machine, const struct sim_span *span, uint8_t *map)
{
    const size_t offset = machine->offset[span->space];
    struct marking marking = {map + offset, span->touch};
    if (span->space == LEO_MEM_SPACE_GM) {
        marking.map -= MACHINE_GM;
    }
    sim_span_each(&machine->core.foot, span, mark, &marking);
}

/* SIM_TOUCH_* bits of every byte. */
static void map_touches(const struct bench *bench)
{
    const struct sim_footprint *foot = &bench->machine->core.foot;
    memset(bench->touch, 0, MACHINE_BYTES);
    for (unsigned i = 0; !foot->empty && i < foot->count; i++) {
        if (foot->span[i].touch) {
            mark_span(bench->machine, &foot->span[i], bench->touch);
        }
    }
}

static bool is_read(uint8_t touch)
{
    return touch & (SIM_TOUCH_READ | SIM_TOUCH_ATOMIC);
}

static void tell(const struct bench *bench, const char *what, size_t at)
{
    const struct machine *machine = bench->machine;
    unsigned space = 0;
    while (space + 1 < LEO_MEM_SPACE_COUNT &&
           (at < machine->offset[space] || at >= machine->offset[space] + machine->bytes[space])) {
        space++;
    }
    printf("\n    %s on %u: %s: byte %zx of %s (touch %x); a=%llx b=%llx c=%llx d=%llx ctrl=%llx "
           "vmask=%llx",
           leo_insn_name(bench->op.insn), machine->config.arch, what, at - machine->offset[space],
           leo_mem_space_name((enum leo_mem_space)space), bench->touch[at],
           (unsigned long long)bench->op.a, (unsigned long long)bench->op.b,
           (unsigned long long)bench->op.c, (unsigned long long)bench->op.d,
           (unsigned long long)bench->state.ctrl, (unsigned long long)bench->state.vmask[0]);
    CU_FAIL("footprint");
}

/* Only what it writes changes. */
static bool keeps_the_rest(const struct bench *bench, const uint8_t *before, const uint8_t *after)
{
    for (size_t i = 0; i < MACHINE_BYTES; i++) {
        if (before[i] != after[i] && !(bench->touch[i] & SIM_TOUCH_WRITE)) {
            tell(bench, "writes beside its footprint", i);
            return false;
        }
    }
    return true;
}

/* What it does not read has no effect, and it writes all that it says. */
static bool ignores_the_rest(struct bench *bench)
{
    const struct machine_results results = machine_results(bench->machine);
    memcpy(bench->after, bench->machine->memory, MACHINE_BYTES);
    for (size_t i = 0; i < MACHINE_BYTES; i++) {
        const bool free = !is_read(bench->touch[i]);
        bench->other[i] =
            free ? (uint8_t)(bench->before[i] ^ (1 + machine_below(bench->machine, 255)))
                 : bench->before[i];
    }
    if (!run(bench, bench->other)) {
        tell(bench, "faults for what it does not read", 0);
        return false;
    }
    const uint8_t *now = bench->machine->memory;
    const struct machine_results other = machine_results(bench->machine);
    if (memcmp(&results, &other, sizeof(results)) != 0) {
        tell(bench, "registers depend on what it does not read", 0);
        return false;
    }
    for (size_t i = 0; i < MACHINE_BYTES; i++) {
        const uint8_t differs = now[i] ^ bench->after[i];
        // What may stay is, bit by bit, as it was in both runs.
        const uint8_t kept =
            (uint8_t)~((now[i] ^ bench->other[i]) | (bench->after[i] ^ bench->before[i]));
        const bool partly = bench->touch[i] & SIM_TOUCH_PARTLY;
        if (bench->touch[i] & SIM_TOUCH_WRITE && differs & (partly ? ~kept : 0xff)) {
            tell(bench, now[i] == bench->other[i] ? "does not write" : "depends on other bytes", i);
            return false;
        }
    }
    return keeps_the_rest(bench, bench->other, now);
}

/* Whether some contents make the byte's value show in what is written. */
static bool has_effect(struct bench *bench, size_t at)
{
    struct machine *machine = bench->machine;
    for (unsigned i = 0; i < CONTENTS; i++) {
        machine_fill(machine, bench->op.insn, bench->before);
        uint32_t word;
        memcpy(&word, bench->before + at / 4 * 4, sizeof(word));
        machine_rescale(machine, &bench->op, word);
        bench->state.csr.quant_pre = machine->core.csr.quant_pre;
        bench->state.csr.deqscale = machine->core.csr.deqscale;
        memcpy(bench->state.cmpmask, machine->core.cmpmask, sizeof(bench->state.cmpmask));
        if (!run(bench, bench->before)) {
            continue;
        }
        map_touches(bench);
        if (!is_read(bench->touch[at])) {
            return true; // where the operands lie depends on the contents
        }
        const struct machine_results results = machine_results(machine);
        memcpy(bench->after, machine->memory, MACHINE_BYTES);
        const uint8_t flip = i % 2 ? (uint8_t)(1u << machine_below(machine, 8))
                                   : (uint8_t)(1 + machine_below(machine, 255));
        bench->before[at] ^= flip;
        if (!run(bench, bench->before)) {
            return true;
        }
        bench->after[at] ^= bench->touch[at] & SIM_TOUCH_WRITE ? 0 : flip;
        const struct machine_results other = machine_results(machine);
        if (memcmp(&results, &other, sizeof(results)) != 0 ||
            memcmp(bench->after, machine->memory, MACHINE_BYTES) != 0) {
            return true;
        }
    }
    return false;
}

/* A byte that only one span names, and only to read. */
static bool pick_read_byte(struct bench *bench, const struct sim_span *span, size_t *at)
{
    uint8_t *map = bench->after; // free here
    size_t count = 0;
    memset(map, 0, MACHINE_BYTES);
    mark_span(bench->machine, span, map);
    for (size_t i = 0; i < MACHINE_BYTES; i++) {
        if (map[i] && !(bench->touch[i] & (SIM_TOUCH_PADDED | SIM_TOUCH_MOVED)) &&
            machine_below(bench->machine, (uint32_t)++count) == 0) {
            *at = i;
        }
    }
    return count > 0;
}

/* Calls of sim_span_each: bytes, those named twice counted twice. */
static void count_bytes(void *context, uint64_t at, uint64_t bytes)
{
    (void)at;
    *(uint64_t *)context += bytes;
}

/* Operands that overlap others or themselves hide bytes: those written before they are read, and
 * results that others take the place of. */
static bool overlaps(const struct bench *bench)
{
    const struct sim_footprint *foot = &bench->machine->core.foot;
    uint64_t sum = 0, bytes = 0;
    for (unsigned i = 0; i < foot->count; i++) {
        if (foot->span[i].touch) {
            sim_span_each(foot, &foot->span[i], count_bytes, &sum);
        }
    }
    for (size_t k = 0; k < MACHINE_BYTES; k++) {
        bytes += bench->touch[k] != 0;
    }
    return sum != bytes;
}

static void check_reads(struct bench *bench)
{
    size_t found[SIM_SPANS * SAMPLES];
    unsigned count = 0;
    const struct sim_footprint *foot = &bench->machine->core.foot;
    // Of several repeats vcmp leaves the bits of the last one.
    if (overlaps(bench) || (bench->op.insn == LEO_INSN_VCMP && foot->lanes.repeats > 1)) {
        return;
    }
    for (unsigned i = 0; i < foot->count; i++) {
        const bool scales = foot->span[i].space == LEO_MEM_SPACE_FB ||
                            (bench->op.insn == LEO_INSN_VCONV_VDEQS162B8 && i >= SIM_OPERAND_C);
        if (scales) { // words with bits that do not count (HW-NUM-30)
            continue;
        }
        for (unsigned k = 0; foot->span[i].touch & SIM_TOUCH_READ && k < SAMPLES; k++) {
            count += pick_read_byte(bench, &foot->span[i], &found[count]);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (!has_effect(bench, found[i])) {
            tell(bench, "is said to read what has no effect", found[i]);
            return;
        }
    }
}

/* One legal instruction; false: none was drawn. */
static bool draw(struct bench *bench, enum leo_insn insn)
{
    struct machine *machine = bench->machine;
    for (unsigned i = 0; i < TRIES; i++) {
        bench->op = machine_operands(machine, insn);
        if (i % 8 == 0) {
            machine_fill_csrs(machine);
            machine_fill(machine, insn, bench->before);
            bench->state = state_of(&machine->core);
        }
        if (run(bench, bench->before) && (!machine->core.foot.empty || i % 64 == 0)) {
            return true;
        }
    }
    return false;
}

/* FNV-1a of the memories after a case: the same on every path. */
static uint64_t digest_of(uint64_t digest, const uint8_t *bytes)
{
    for (size_t i = 0; i < MACHINE_BYTES; i++) {
        digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return digest;
}

static uint64_t check_writes(struct bench *bench, enum leo_insn insn)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    unsigned found = 0;
    bench->machine->seed = insn;
    for (unsigned i = 0; i < CASES && draw(bench, insn); i++) {
        found++;
        map_touches(bench);
        if (!keeps_the_rest(bench, bench->before, bench->machine->memory) ||
            !ignores_the_rest(bench)) {
            return 0;
        }
        digest = digest_of(digest, bench->after);
    }
    if (found < LEAST) {
        printf("\n    %s on %u: %u legal operands found", leo_insn_name(insn),
               bench->machine->config.arch, found);
    }
    CU_ASSERT(found >= LEAST);
    return digest;
}

static void check_reads_of(struct bench *bench, enum leo_insn insn)
{
    for (unsigned i = 0; i < READ_CASES && draw(bench, insn); i++) {
        if (!bench->machine->core.foot.empty) {
            map_touches(bench);
            check_reads(bench);
        }
    }
}

static bool begin_bench(struct bench *bench, uint32_t arch, const char *path)
{
    *bench = (struct bench){.machine = machine_create(arch, path)};
    if (!bench->machine) {
        printf("\n%s: not on this host", path);
        return false;
    }
    bench->before = malloc(MACHINE_BYTES);
    bench->after = malloc(MACHINE_BYTES);
    bench->other = malloc(MACHINE_BYTES);
    bench->touch = malloc(MACHINE_BYTES);
    return true;
}

static void finish_bench(struct bench *bench)
{
    free(bench->before);
    free(bench->after);
    free(bench->other);
    free(bench->touch);
    machine_destroy(bench->machine);
}

static void check_path(uint32_t arch, const char *path, uint64_t *digest)
{
    const bool first = strcmp(path, "generic") == 0;
    struct bench bench;
    if (!begin_bench(&bench, arch, path)) {
        return;
    }
    for (unsigned insn = 1; insn < LEO_INSN_COUNT; insn++) {
        // The sparse words: their operands are hardly ever legal by chance.
        if (insn == LEO_INSN_MMAD_SP || insn == LEO_INSN_LOAD_CBUF_TO_CB_SP ||
            !sim_insns[insn].cost || !sim_insns[insn].cores[leo_arch_index(arch)]) {
            continue;
        }
        const uint64_t found = check_writes(&bench, (enum leo_insn)insn);
        if (first) {
            digest[insn] = found;
            check_reads_of(&bench, (enum leo_insn)insn);
        } else if (digest[insn] != found) {
            printf("\n    %s on %u: not the same on path %s", leo_insn_name((enum leo_insn)insn),
                   arch, path);
            CU_FAIL("paths differ");
        }
    }
    finish_bench(&bench);
}

static void check_chip(uint32_t arch)
{
    uint64_t digest[LEO_INSN_COUNT];
    check_path(arch, "generic", digest);
    check_path(arch, "avx2", digest);
    check_path(arch, "avx512", digest);
}

static void footprints_are_exact_on_the_coupled_chip(void)
{
    check_chip(1001);
}

static void footprints_are_exact_on_the_split_chip(void)
{
    check_chip(2201);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"footprints_are_exact_on_the_coupled_chip", footprints_are_exact_on_the_coupled_chip},
        {"footprints_are_exact_on_the_split_chip", footprints_are_exact_on_the_split_chip},
    };
    return leo_test_main("sim/footprint", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
