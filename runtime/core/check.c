/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences a user gets for what the checker finds: both instructions, the bytes, what is
 * missing between them. */
#include "fault/fault.h"

#include <leo/insn.h>
#include <string.h>

typedef unsigned long long ull; // for printf

/** One side of a finding. */
struct side {
    uint64_t pc;
    uint32_t caller;
    enum leo_pipe unit;
};

/* "vadd (PIPE_V) at add.c:12" */
static void append_side(struct rt_text *text, const struct rt_fault *fault, struct side side)
{
    struct rt_image *image = fault->kernel->module->image;
    struct leo_insn_word insn;
    uint32_t word;
    bool known = side.pc && rt_image_word(image, side.pc, &word) && leo_insn_decode(word, &insn);
    rt_text_append(text, "%s (%s)",
                   known                     ? leo_insn_name(insn.insn)
                   : side.unit == LEO_PIPE_S ? "the scalar unit"
                                             : "an instruction",
                   rt_fault_pipe(side.unit));
    if (!side.pc) {
        return;
    }
    rt_text_append(text, " at ");
    if (!rt_fault_place(text, image, side.pc, side.caller)) {
        rt_text_append(text, "address 0x%llx", (ull)side.pc);
    }
}

static void append_bytes(struct rt_text *text, const struct rt_fault *fault,
                         const struct leo_check_record *check)
{
    const struct leo_fault_record record = {.addr = check->addr, .bytes = check->bytes};
    struct rt_fault place = *fault;
    enum leo_mem_space space = (enum leo_mem_space)check->space;
    place.record = &record;
    rt_text_append(text, "%llu bytes of %s at 0x%llx", (ull)check->bytes,
                   check->space == LEO_MEM_SPACE_GM     ? "global memory"
                   : check->space < LEO_MEM_SPACE_COUNT ? leo_mem_space_name(space)
                                                        : "?",
                   (ull)check->addr);
    if (space == LEO_MEM_SPACE_GM) {
        rt_fault_argument(text, &place);
    } else {
        rt_fault_array(text, &place, space);
    }
}

static void append_missing(struct rt_text *text, const struct leo_check_record *check)
{
    if (check->unit == check->other_unit) {
        rt_text_append(text, "missing between them: pipe_barrier(%s)", rt_fault_pipe(check->unit));
        return;
    }
    rt_text_append(text, "missing between them: set_flag(%s, %s, ..) and wait_flag",
                   rt_fault_pipe(check->other_unit), rt_fault_pipe(check->unit));
}

/* What each side does, by kind. */
static void append_pair(struct rt_text *text, const struct rt_fault *fault,
                        const struct leo_check_record *check)
{
    const struct side now = {check->pc, check->caller, (enum leo_pipe)check->unit};
    const struct side then = {check->other_pc, 0, (enum leo_pipe)check->other_unit};
    const bool reads =
        check->kind == LEO_CHECK_KIND_READ_AFTER_WRITE || check->kind == LEO_CHECK_KIND_NOT_CLEANED;
    const bool was_read = check->kind == LEO_CHECK_KIND_WRITE_AFTER_READ;
    append_side(text, fault, now);
    rt_text_append(text, " %s ", reads ? "reads" : "writes");
    append_bytes(text, fault, check);
    rt_text_append(text, check->kind == LEO_CHECK_KIND_SAME_LINE ? ", next to what " : ", which ");
    append_side(text, fault, then);
    rt_text_append(text, was_read ? " reads before" : " writes before");
}

static void append_flag(struct rt_text *text, const struct rt_fault *fault,
                        const struct leo_check_record *check)
{
    const struct side at = {check->pc, check->caller, LEO_PIPE_S};
    append_side(text, fault, at);
    if (check->kind == LEO_CHECK_KIND_RAISED) {
        rt_text_append(text,
                       ": flag %u %s was raised %llu time%s more than it was waited for with "
                       "leo_cross_wait (wait_flag_dev)",
                       check->event, rt_fault_raiser(fault, check), (ull)check->bytes,
                       check->bytes == 1 ? "" : "s");
        return;
    }
    rt_text_append(text, ": flag (%s, %s, %llu)", rt_fault_pipe(check->unit),
                   rt_fault_pipe(check->other_unit), (ull)check->addr);
}

/* Nothing wrote the bytes, or an instruction made them of such. */
static void append_origin(struct rt_text *text, const struct rt_fault *fault,
                          const struct leo_check_record *check)
{
    const struct side then = {check->other_pc, 0, (enum leo_pipe)check->other_unit};
    if (!check->other_pc) {
        rt_text_append(text, ", which nothing wrote");
        return;
    }
    rt_text_append(text, ", which ");
    append_side(text, fault, then);
    rt_text_append(text, " made of bytes that nothing wrote");
}

/* Where the other access was, and what could order them. */
static void append_race(struct rt_text *text, const struct rt_fault *fault,
                        const struct leo_check_record *check)
{
    if (check->kind == LEO_CHECK_KIND_NOT_CLEANED) {
        rt_text_append(text,
                       " on core %u and keeps in its data cache; missing behind the store: "
                       "dcci(address, SINGLE_CACHE_LINE)",
                       check->event);
        return;
    }
    if (check->other_block == check->block) {
        rt_text_append(text, " on core %u; nothing orders the cores", check->event);
    } else {
        rt_text_append(text, " in block %u; nothing orders the blocks", check->other_block);
    }
    if (check->kind == LEO_CHECK_KIND_SAME_LINE) {
        rt_text_append(text, ", and a scalar unit's cache writes whole lines of 64 bytes");
    } else if (fault->device->caps.vector_cores && check->other_unit != LEO_PIPE_S) {
        rt_text_append(text,
                       " (flags between cores can: leo_cross_set(.., %s, ..) and leo_cross_wait)",
                       rt_fault_pipe(check->other_unit));
    }
}

static void append_finding(struct rt_text *text, const struct rt_fault *fault,
                           const struct leo_check_record *check)
{
    const struct side now = {check->pc, check->caller, (enum leo_pipe)check->unit};
    rt_text_append(text, "\n  %s: block %u (core %u): ",
                   check->code < LEO_FAULT_COUNT ? leo_fault_name((enum leo_fault)check->code)
                                                 : "?",
                   check->block, check->core);
    switch ((int)check->code) {
    case LEO_FAULT_HAZARD:
        append_pair(text, fault, check);
        rt_text_append(text, "; ");
        append_missing(text, check);
        break;
    case LEO_FAULT_RACE:
        append_pair(text, fault, check);
        append_race(text, fault, check);
        break;
    case LEO_FAULT_FLAG_LEFT:
        append_flag(text, fault, check);
        break;
    case LEO_FAULT_NOT_WRITTEN:
        append_side(text, fault, now);
        rt_text_append(text, " reads ");
        append_bytes(text, fault, check);
        append_origin(text, fault, check);
        break;
    case LEO_FAULT_ARRAY_BOUNDS:
        append_side(text, fault, now);
        rt_text_append(text, " touches ");
        append_bytes(text, fault, check);
        rt_text_append(text, ", which leave the array");
        break;
    default:
        append_side(text, fault, now);
        rt_text_append(text, ": %s", leo_fault_text((enum leo_fault)check->code));
        break;
    }
}

void rt_check_text(struct rt_text *text, const struct rt_fault *fault,
                   const struct leo_drv_completion *done)
{
    uint32_t all = done->check[0].rest + 1;
    rt_text_append(text, "kernel %s: the checker found %u mistake%s:", fault->kernel->name, all,
                   all == 1 ? "" : "s");
    for (unsigned i = 0; i < done->checks; i++) {
        append_finding(text, fault, &done->check[i]);
    }
    if (all > done->checks) {
        rt_text_append(text, "\n  and %u more", all - done->checks);
    }
}
