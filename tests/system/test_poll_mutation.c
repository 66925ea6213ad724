/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes what orders a kernel whose cores meet through words of global memory away: each flag, each
 * loop that waits, each store that others wait for, and all barriers or cache clearings at once.
 * The checker, or the deadlock, must tell each; the kernel as it is gives no report.
 */
#include "harness.h"
#include "mutants.h"

#include <leo/insn.h>
#include <leo/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) CU_ASSERT_EQUAL_FATAL(call, LEO_OK)

enum { MAX_SITES = 64, BUFFERS = 3, BUFFER_BYTES = 1 << 16, BLOCKS = 4 };
enum { BRANCH = 0x63, STORE = 0x23, OPCODE = 0x7f };

extern const unsigned char poll_1001_elf[], poll_2201_elf[];
extern const size_t poll_1001_elf_bytes, poll_2201_elf_bytes;

enum kind { FLAG, LOOP, TELL, BARRIER, CLEAN };
static const char *const kinds[] = {"a flag", "a loop that waits", "a store that is waited for",
                                    "all barriers", "all cache clearings"};

struct site {
    size_t offset;
    enum kind kind;
};

static struct leo_rt *rt;
static struct leo_rt_device *device;
static uint64_t buffer[BUFFERS];

static enum leo_insn insn_at(const uint8_t *code, size_t at)
{
    uint32_t word;
    struct leo_insn_word insn;
    memcpy(&word, code + at, sizeof(word));
    return leo_insn_decode(word, &insn) ? insn.insn : LEO_INSN_NONE;
}

static bool has_insn(const uint8_t *code, size_t from, size_t to, enum leo_insn insn)
{
    while (from < to && insn_at(code, from) != insn) {
        from += 4;
    }
    return from < to;
}

/* Bytes back that a branch goes; 0: it is none, or goes on. */
static size_t back_of(uint32_t word)
{
    const uint32_t distance =
        (word >> 7 & 1) << 11 | (word >> 25 & 63) << 5 | (word >> 8 & 15) << 1;
    return (word & OPCODE) == BRANCH && word >> 31 ? 4096 - distance : 0;
}

/* Loops that poll clear a line of the cache each time round, and what they wait for is cleared
 * behind its store (device_poll.h). */
static unsigned find_sites(const uint8_t *elf, const char *name, struct site *sites)
{
    size_t bytes, first = mutants_find_code(elf, name, &bytes);
    const uint8_t *code = elf + first;
    unsigned count = 0;
    for (size_t at = 0; at < bytes && count < MAX_SITES; at += 4) {
        uint32_t word;
        memcpy(&word, code + at, sizeof(word));
        const enum leo_insn insn = insn_at(code, at);
        const size_t back = back_of(word);
        if (insn == LEO_INSN_SET_FLAG || insn == LEO_INSN_WAIT_FLAG) {
            sites[count++] = (struct site){first + at, FLAG};
        } else if (insn == LEO_INSN_PIPE_BARRIER) {
            sites[count++] = (struct site){first + at, BARRIER};
        } else if (insn == LEO_INSN_DCCI) {
            sites[count++] = (struct site){first + at, CLEAN};
        } else if (back && back <= at && has_insn(code, at - back, at, LEO_INSN_DCCI)) {
            sites[count++] = (struct site){first + at, LOOP};
        } else if ((word & OPCODE) == STORE && at + 12 < bytes &&
                   has_insn(code, at + 4, at + 12, LEO_INSN_DCCI)) {
            sites[count++] = (struct site){first + at, TELL};
        }
    }
    return count;
}

static bool is_good(const uint8_t *elf, size_t bytes, const char *name)
{
    struct leo_rt_module *module;
    struct leo_rt_kernel *kernel;
    struct leo_rt_stream *stream;
    const void *args[BUFFERS] = {&buffer[0], &buffer[1], &buffer[2]};
    OK(leo_rt_module_load(device, elf, bytes, "mutant", &module));
    OK(leo_rt_stream_create(device, &stream));
    OK(leo_rt_memset_async(stream, buffer[0], 0, BUFFER_BYTES));
    OK(leo_rt_module_find(module, name, &kernel));
    OK(leo_rt_launch(kernel, BLOCKS, stream, args, BUFFERS, NULL));
    leo_status status = leo_rt_stream_synchronize(stream, -1);
    CU_ASSERT(status == LEO_OK || status == LEO_ERR_FAULT);
    leo_rt_stream_destroy(stream);
    leo_rt_module_unload(module);
    return status == LEO_OK;
}

static unsigned mutate(const unsigned char *original, size_t bytes, const char *name, bool caches)
{
    struct site sites[MAX_SITES];
    unsigned found[CLEAN + 1] = {0}, silent = 0;
    uint8_t *elf = malloc(bytes);
    CU_ASSERT_FATAL(elf != NULL);
    const unsigned count = find_sites(original, name, sites);
    CU_ASSERT(count < MAX_SITES);
    CU_ASSERT(is_good(original, bytes, name));
    for (unsigned i = 0; i < count; i++) {
        const enum kind kind = sites[i].kind;
        // Barriers and cache clearings: once for all of them, for some order nothing new.
        if (found[kind]++ && kind >= BARRIER) {
            continue;
        }
        if (kind == CLEAN && !caches) {
            continue; // the first generation's caches keep nothing back
        }
        memcpy(elf, original, bytes);
        for (unsigned j = kind >= BARRIER ? 0 : i; j < (kind >= BARRIER ? count : i + 1); j++) {
            if (sites[j].kind == kind) {
                mutants_set_word(elf, sites[j].offset, MUTANTS_NOP);
            }
        }
        if (is_good(elf, bytes, name)) {
            printf("\n  %s: %s at 0x%zx is taken away, and nothing is told", name, kinds[kind],
                   sites[i].offset);
            silent++;
        }
    }
    for (enum kind kind = FLAG; kind <= CLEAN; kind++) {
        CU_ASSERT(found[kind] > 0);
    }
    free(elf);
    return silent;
}

static void every_removal_is_told(void)
{
    static const char *const socs[] = {"ascend910a", "ascend910b1"};
    unsigned silent = 0;
    for (unsigned soc = 0; soc < 2; soc++) {
        const struct leo_rt_opts opts = {
            .size = sizeof(opts), .soc = socs[soc], .check = "hazard,race,bounds", .limit_us = 500};
        OK(leo_rt_create(&opts, &rt));
        OK(leo_rt_device_open(rt, 0, &device));
        for (unsigned i = 0; i < BUFFERS; i++) {
            OK(leo_rt_memory_alloc(device, BUFFER_BYTES, &buffer[i]));
        }
        silent += mutate(soc ? poll_2201_elf : poll_1001_elf,
                         soc ? poll_2201_elf_bytes : poll_1001_elf_bytes, "meet_once", soc == 1);
        leo_rt_device_close(device);
        leo_rt_destroy(rt);
    }
    CU_ASSERT_EQUAL(silent, 0);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {{"every_removal_is_told", every_removal_is_told}};
    return leo_test_main("poll_mutation", tests, 1, argc, argv);
}
