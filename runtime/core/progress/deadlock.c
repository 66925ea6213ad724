/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences for cores that wait for each other for ever: who waits where for which flag, and
 * who has not set it. */
#include "../fault/fault.h"

#include <leo/insn.h>
#include <string.h>

typedef unsigned long long ull; // for printf

static void append_line(struct rt_text *text, const struct rt_fault *fault, uint32_t pc,
                        uint32_t caller)
{
    struct rt_image *image = fault->kernel->module->image;
    rt_text_append(text, " at ");
    if (!rt_fault_place(text, image, pc, caller)) {
        rt_text_append(text, "address 0x%x", pc);
    }
}

static const char *kind_name(const struct rt_fault *fault, uint64_t core)
{
    return leo_core_kind_name(rt_core_kind(fault->kernel, &fault->device->caps, (unsigned)core));
}

const char *rt_fault_raiser(const struct rt_fault *fault, const struct leo_check_record *wait)
{
    bool vector = strcmp(kind_name(fault, wait->core), "vector") == 0;
    switch (wait->other_unit) {
    case LEO_CROSS_VECTORS:
        return "of the vector cores of its block";
    case LEO_CROSS_GROUP:
        return vector ? "of its cube core" : "of its vector cores";
    default:
        return vector ? "of all vector cores" : "of all cube cores";
    }
}

static void append_missing(struct rt_text *text, const struct rt_fault *fault,
                           const struct leo_check_record *wait)
{
    bool known = wait->addr < fault->device->caps.cube_cores + fault->device->caps.vector_cores;
    ull others = wait->bytes > 1 ? (ull)wait->bytes - 1 : 0;
    if (wait->bytes == 0) {
        rt_text_append(text, "nobody in this launch sets it");
        return;
    }
    if (known) {
        rt_text_append(text, "%s core %llu (block %u)", kind_name(fault, wait->addr),
                       (ull)wait->addr, wait->other_block);
    } else if (wait->kind == LEO_CHECK_KIND_NOT_STARTED) {
        rt_text_append(text, "block %u", wait->other_block);
    } else {
        rt_text_append(text, "a block");
    }
    if (others) {
        rt_text_append(text, " and %llu other%s", others, others == 1 ? "" : "s");
    }
    rt_text_append(text, others ? " have not set it" : " has not set it");
    switch (wait->kind) {
    case LEO_CHECK_KIND_WAITS:
        rt_text_append(text, ", waiting itself%s", others ? " (the first)" : "");
        append_line(text, fault, wait->other_pc, 0);
        break;
    case LEO_CHECK_KIND_RETURNED:
        rt_text_append(text, "%s before its end", others ? " (the first)" : "");
        break;
    case LEO_CHECK_KIND_NOT_STARTED:
        rt_text_append(text,
                       ": %s not started, all cores are taken; launch no more blocks than run at "
                       "one time",
                       others ? "they have" : "it has");
        break;
    default:
        break;
    }
}

/* A core whose loop reads memory until somebody changes it. */
static void append_poll(struct rt_text *text, const struct rt_fault *fault,
                        const struct leo_check_record *wait)
{
    const struct leo_fault_record at = {
        .addr = wait->addr, .bytes = wait->bytes, .space = LEO_MEM_SPACE_GM};
    struct rt_fault place = *fault;
    place.record = &at;
    rt_text_append(text, "\n  block %u (%s core %u): polls", wait->block,
                   kind_name(fault, wait->core), wait->core);
    append_line(text, fault, wait->pc, wait->caller);
    rt_text_append(text, ": %llu bytes at global address 0x%llx", (ull)wait->bytes,
                   (ull)wait->addr);
    rt_fault_argument(text, &place);
    if (wait->other_block) {
        rt_text_append(text, " (and %u other place%s)", wait->other_block,
                       wait->other_block == 1 ? "" : "s");
    }
    rt_text_append(text, "; nobody changes it any more");
}

void rt_deadlock_text(struct rt_text *text, const struct rt_fault *fault,
                      const struct leo_drv_completion *done)
{
    uint32_t all = done->check[0].rest + 1;
    rt_text_append(text,
                   "kernel %s: deadlock: %u core%s for what can never come:", fault->kernel->name,
                   all, all == 1 ? " waits" : "s wait");
    for (unsigned i = 0; i < done->checks; i++) {
        const struct leo_check_record *wait = &done->check[i];
        if (wait->kind == LEO_CHECK_KIND_POLLS) {
            append_poll(text, fault, wait);
            continue;
        }
        rt_text_append(text, "\n  block %u (%s core %u): wait_flag_dev", wait->block,
                       kind_name(fault, wait->core), wait->core);
        append_line(text, fault, wait->pc, wait->caller);
        rt_text_append(text, ": flag %u %s; ", wait->event, rt_fault_raiser(fault, wait));
        append_missing(text, fault, wait);
    }
    if (all > done->checks) {
        rt_text_append(text, "\n  and %u more", all - done->checks);
    }
}
