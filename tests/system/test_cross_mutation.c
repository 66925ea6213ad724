/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes each synchronisation of correct kernels whose cores work together away, one at a time:
 * flags and barriers of a core, flags between cores, both ends of such a flag, and the pipe it is
 * set on. The checker (or the chip) must tell each.
 */
#include "harness.h"
#include "mutants.h"

#include <leo/insn.h>
#include <leo/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) CU_ASSERT_EQUAL_FATAL(call, LEO_OK)

enum { MAX_SITES = 64, BUFFERS = 4, BUFFER_BYTES = 1 << 16 };

extern const unsigned char cross_elf[], mutant_elf[];
extern const size_t cross_elf_bytes, mutant_elf_bytes;

/** A synchronisation in the kernel. */
struct site {
    size_t offset; /**< in the file */
    enum leo_insn insn;
    uint16_t imm;
};

/** Kernels, their blocks, and their arguments: buffers, then a number if it is not 0. */
static const struct subject {
    const char *name;
    uint32_t blocks;
    unsigned buffers;
    int32_t number;
    bool mutant; /**< of the other file */
    bool waits;  /**< all pipes have done their work before it sets a flag of other cores */
} subjects[] = {
    {"sum_all", 4, 2, 0, false, false}, {"fused", 2, 4, 0, false, false},
    {"handed", 1, 3, 5, false, false},  {"layernorm", 1, 2, 0, true, false},
    {"softmax", 1, 2, 0, true, false},  {"convolution", 1, 3, 0, true, false},
    {"told", 2, 2, 0, true, true},
};

static const uint8_t *file_of(const struct subject *subject, size_t *bytes)
{
    *bytes = subject->mutant ? mutant_elf_bytes : cross_elf_bytes;
    return subject->mutant ? mutant_elf : cross_elf;
}

static struct leo_rt *rt;
static struct leo_rt_device *device;
static uint64_t buffer[BUFFERS];

static bool is_sync(enum leo_insn insn)
{
    return insn == LEO_INSN_SET_FLAG || insn == LEO_INSN_WAIT_FLAG ||
           insn == LEO_INSN_PIPE_BARRIER || insn == LEO_INSN_FFTS_CROSS_CORE_SYNC ||
           insn == LEO_INSN_WAIT_FLAG_DEV || insn == LEO_INSN_DCCI || insn == LEO_INSN_DSB;
}

static unsigned find_sites(const uint8_t *elf, const char *name, struct site *sites)
{
    unsigned count = 0;
    size_t bytes, first = mutants_find_code(elf, name, &bytes);
    for (size_t at = 0; at < bytes; at += 4) {
        uint32_t word;
        struct leo_insn_word insn;
        memcpy(&word, elf + first + at, sizeof(word));
        if (leo_insn_decode(word, &insn) && is_sync(insn.insn) && count < MAX_SITES) {
            sites[count++] = (struct site){first + at, insn.insn, insn.imm};
        }
    }
    return count;
}

/* Runs the kernel of this file; whether it was good. */
static bool is_good(const uint8_t *elf, const struct subject *subject)
{
    struct leo_rt_module *module;
    struct leo_rt_kernel *kernel;
    struct leo_rt_stream *stream;
    const void *args[BUFFERS + 1];
    size_t bytes;
    (void)file_of(subject, &bytes);
    for (unsigned i = 0; i < subject->buffers; i++) {
        args[i] = &buffer[i];
    }
    args[subject->buffers] = &subject->number;
    OK(leo_rt_module_load(device, elf, bytes, "mutant", &module));
    OK(leo_rt_stream_create(device, &stream));
    OK(leo_rt_module_find(module, subject->name, &kernel));
    OK(leo_rt_launch(kernel, subject->blocks, stream, args,
                     subject->buffers + (subject->number != 0), NULL));
    leo_status status = leo_rt_stream_synchronize(stream, -1);
    CU_ASSERT(status == LEO_OK || status == LEO_ERR_FAULT);
    leo_rt_stream_destroy(stream);
    leo_rt_module_unload(module);
    return status == LEO_OK;
}

static unsigned expect_told(const uint8_t *elf, const struct subject *subject,
                            const struct site *site, const char *how)
{
    if (!is_good(elf, subject)) {
        return 0;
    }
    printf("\n  %s: %s (0x%x) at 0x%zx %s, and nothing is told", subject->name,
           leo_insn_name(site->insn), site->imm, site->offset, how);
    return 1;
}

/* The set waits for another pipe than the one that does the work. */
static unsigned move_set(uint8_t *elf, const struct subject *subject, const struct site *site)
{
    uint32_t word;
    memcpy(&word, elf + site->offset, sizeof(word));
    const uint32_t moved = (word & 0xfffffu) | (uint32_t)LEO_PIPE_MTE1 << 20;
    mutants_set_word(elf, site->offset, moved);
    unsigned silent = expect_told(elf, subject, site, "waits for a pipe that has no work");
    mutants_set_word(elf, site->offset, word);
    return silent;
}

static unsigned mutate(const struct subject *subject, unsigned *removals)
{
    struct site sites[MAX_SITES];
    size_t bytes;
    const uint8_t *original = file_of(subject, &bytes);
    uint8_t *elf = malloc(bytes);
    unsigned silent = 0;
    CU_ASSERT_FATAL(elf != NULL);
    memcpy(elf, original, bytes);
    const unsigned count = find_sites(elf, subject->name, sites);
    CU_ASSERT(count > 0 && count < MAX_SITES);
    bool good = is_good(elf, subject);
    if (!good) {
        printf("\n  %s as it is: %s", subject->name, leo_rt_last_error());
    }
    CU_ASSERT(good);
    for (unsigned i = 0; i < count; i++) {
        mutants_set_word(elf, sites[i].offset, MUTANTS_NOP);
        silent += expect_told(elf, subject, &sites[i], "is taken away");
        ++*removals;
        memcpy(elf, original, bytes);
        if (sites[i].insn == LEO_INSN_FFTS_CROSS_CORE_SYNC && !subject->waits) {
            silent += move_set(elf, subject, &sites[i]);
            ++*removals;
        }
    }
    // All flags between cores, or between two pipes, at once: nothing hangs, but nothing is
    // ordered.
    for (unsigned i = 0; i < count; i++) {
        bool cross = sites[i].insn == LEO_INSN_FFTS_CROSS_CORE_SYNC;
        if (!cross && sites[i].insn != LEO_INSN_SET_FLAG) {
            continue;
        }
        for (unsigned j = 0; j < count; j++) {
            bool both = cross ? sites[j].insn == LEO_INSN_FFTS_CROSS_CORE_SYNC ||
                                    sites[j].insn == LEO_INSN_WAIT_FLAG_DEV
                              : (sites[j].insn == LEO_INSN_SET_FLAG ||
                                 sites[j].insn == LEO_INSN_WAIT_FLAG) &&
                                    (sites[j].imm & 0xff) == (sites[i].imm & 0xff);
            if (both) {
                mutants_set_word(elf, sites[j].offset, MUTANTS_NOP);
            }
        }
        silent += expect_told(elf, subject, &sites[i], "is taken away with its like");
        ++*removals;
        memcpy(elf, original, bytes);
    }
    free(elf);
    return silent;
}

static void every_removal_is_told(void)
{
    const struct leo_rt_opts opts = {
        .size = sizeof(opts), .soc = "ascend910b1", .check = "hazard,race,bounds", .limit_us = 500};
    unsigned removals = 0, silent = 0;
    OK(leo_rt_create(&opts, &rt));
    OK(leo_rt_device_open(rt, 0, &device));
    for (unsigned i = 0; i < BUFFERS; i++) {
        OK(leo_rt_memory_alloc(device, BUFFER_BYTES, &buffer[i]));
    }
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        silent += mutate(&subjects[i], &removals);
    }
    leo_rt_device_close(device);
    leo_rt_destroy(rt);
    printf("%u removals, %u not told ", removals, silent);
    CU_ASSERT(removals > 60);
    CU_ASSERT_EQUAL(silent, 0);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"every_removal_is_told", every_removal_is_told},
    };
    return leo_test_main("cross_mutation", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
