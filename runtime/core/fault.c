/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence a user gets when a kernel faults: what, where in the source, where on the chip,
 * which memory. */
#include "image.h"

#include <leo/insn.h>
#include <stdarg.h>
#include <stdio.h>

typedef unsigned long long ull; // for printf

struct text {
    char *out;
    size_t bytes, used;
};

static void append(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int count = vsnprintf(text->out + text->used, text->bytes - text->used, format, args);
    va_end(args);
    text->used += count > 0 ? (size_t)count : 0;
    text->used = text->used < text->bytes ? text->used : text->bytes - 1;
}

// No allocation lies here: an address this small comes from a null pointer.
enum { NULL_PAGE = 4096 };

static bool has_address(enum leo_fault code)
{
    return code == LEO_FAULT_GM_OUT_OF_RANGE || code == LEO_FAULT_GM_READ_ONLY ||
           code == LEO_FAULT_LOCAL_OUT_OF_RANGE || code == LEO_FAULT_MISALIGNED_LOCAL ||
           code == LEO_FAULT_MISALIGNED_SCALAR || code == LEO_FAULT_BAD_FETCH ||
           code == LEO_FAULT_STACK_OVERFLOW || code == LEO_FAULT_DMA_OUT_OF_RANGE;
}

static void append_nearest(struct text *text, struct leo_rt_device *device, uint64_t addr,
                           uint64_t bytes)
{
    uint64_t base, size;
    if (addr < NULL_PAGE) {
        append(text, ", a null pointer");
        return;
    }
    if (leo_drv_memory_nearest(device->drv, addr, &base, &size)) {
        append(text, "; there are no allocations");
        return;
    }
    uint64_t end = base + size;
    if (addr < base) {
        append(text, ", %llu bytes before", (ull)(base - addr));
    } else if (addr >= end) {
        append(text, ", %llu bytes past the end of", (ull)(addr - end));
    } else if (bytes > end - addr) {
        append(text, ", %llu bytes past the end of", (ull)(addr + bytes - end));
    } else {
        append(text, ", inside");
    }
    append(text, " the %llu-byte allocation at 0x%llx", (ull)size, (ull)base);
}

static void append_address(struct text *text, struct leo_rt_device *device,
                           const struct leo_fault_record *record)
{
    append(text, ": %llu bytes at %s address 0x%llx", (ull)record->bytes,
           record->space < LEO_MEM_SPACE_COUNT
               ? leo_mem_space_name((enum leo_mem_space)record->space)
               : "?",
           (ull)record->addr);
    if (record->space == LEO_MEM_SPACE_GM) {
        append_nearest(text, device, record->addr, record->bytes);
    }
}

void rt_fault_text(struct leo_rt_device *device, const struct rt_task *task,
                   const struct leo_drv_completion *done, char *out, size_t bytes)
{
    struct text text = {.out = out, .bytes = bytes};
    enum leo_fault code = (enum leo_fault)done->status;
    const struct leo_fault_record *record = &done->record;
    out[0] = '\0';
    append(&text, "%s%s faulted", task->kernel ? "kernel " : "",
           task->kernel ? task->kernel->name : task->what);
    char file[256];
    int line;
    if (done->has_record && task->kernel) {
        if (rt_image_line(task->kernel->module->image, record->pc, file, sizeof(file), &line)) {
            append(&text, " at %s:%d", file, line);
        } else {
            append(&text, " at address 0x%llx of %s", (ull)record->pc, task->kernel->module->name);
        }
        append(&text, " (core %u, block %u, unit %s)", record->core, record->block,
               record->unit < LEO_PIPE_COUNT ? leo_pipe_name((enum leo_pipe)record->unit) : "?");
    }
    append(&text, ": %s", code < LEO_FAULT_COUNT ? leo_fault_text(code) : "unknown fault");
    if (done->has_record && has_address(code)) {
        append_address(&text, device, record);
    } else if (done->has_record && code == LEO_FAULT_ILLEGAL_INSTRUCTION) {
        struct leo_insn_word word;
        append(&text, ": word 0x%08x", record->insn);
        if (leo_insn_decode(record->insn, &word)) {
            append(&text, ", %s", leo_insn_name(word.insn));
        }
    } else if (code == LEO_FAULT_WATCHDOG) {
        append(&text, " (LEO_KERNEL_LIMIT_US sets another)");
    }
}
