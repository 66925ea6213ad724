/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence a user gets when a kernel faults: what, where in the source, where on the chip,
 * which instruction and memory. */
#include "fault.h"

#include <leo/csr.h>
#include <leo/insn.h>

typedef unsigned long long ull; // for printf

// No allocation lies here: an address this small comes from a null pointer.
enum { NULL_PAGE = 4096 };

static bool has_address(enum leo_fault code)
{
    return code == LEO_FAULT_GM_OUT_OF_RANGE || code == LEO_FAULT_GM_READ_ONLY ||
           code == LEO_FAULT_LOCAL_OUT_OF_RANGE || code == LEO_FAULT_MISALIGNED_LOCAL ||
           code == LEO_FAULT_MISALIGNED_SCALAR || code == LEO_FAULT_BAD_FETCH ||
           code == LEO_FAULT_STACK_OVERFLOW || code == LEO_FAULT_DMA_OUT_OF_RANGE;
}

static void append_nearest(struct rt_text *text, struct leo_rt_device *device, uint64_t addr,
                           uint64_t bytes)
{
    uint64_t base, size;
    if (addr < NULL_PAGE) {
        rt_text_append(text, ", a null pointer or a bare offset of an on-chip buffer");
        return;
    }
    if (leo_drv_memory_nearest(device->drv, addr, &base, &size)) {
        rt_text_append(text, "; there are no allocations");
        return;
    }
    uint64_t end = base + size;
    if (addr < base) {
        rt_text_append(text, ", %llu bytes before", (ull)(base - addr));
    } else if (addr >= end) {
        rt_text_append(text, ", %llu bytes past the end of", (ull)(addr - end));
    } else if (bytes > end - addr) {
        rt_text_append(text, ", %llu bytes past the end of", (ull)(addr + bytes - end));
    } else {
        rt_text_append(text, ", inside");
    }
    rt_text_append(text, " the %llu-byte allocation at 0x%llx", (ull)size, (ull)base);
}

// A pointer that is of another memory than the one it is used for.
static bool append_other_memory(struct rt_text *text, const struct rt_fault *fault)
{
    const struct leo_fault_record *record = fault->record;
    bool local = record->addr >= LEO_MAP_WINDOWS && record->addr < LEO_MAP_WINDOWS_END;
    if (record->space == LEO_MEM_SPACE_GM && local) {
        enum leo_mem_space space =
            (enum leo_mem_space)(LEO_MEM_SPACE_UB + ((record->addr - LEO_MAP_WINDOWS) >> 24));
        rt_text_append(text, ", which is an address in %s", leo_mem_space_name(space));
        rt_fault_array(text, fault, space);
        rt_text_append(text, ", not in global memory");
        return true;
    }
    if (record->space == LEO_MEM_SPACE_GM && record->addr >= NULL_PAGE &&
        record->addr < fault->device->caps.ub_bytes) {
        rt_text_append(text, ", which is a bare offset in UB");
        rt_fault_array(text, fault, LEO_MEM_SPACE_UB);
        rt_text_append(text, ", not an address in global memory");
        return true;
    }
    if (record->space != LEO_MEM_SPACE_GM && record->addr >= LEO_MAP_GM) {
        rt_text_append(text, ", which is an address in global memory");
        rt_fault_argument(text, fault);
        return true;
    }
    return false;
}

static void append_address(struct rt_text *text, const struct rt_fault *fault)
{
    const struct leo_fault_record *record = fault->record;
    bool known = record->space < LEO_MEM_SPACE_COUNT;
    enum leo_mem_space space = (enum leo_mem_space)record->space;
    rt_text_append(text, ": %llu bytes at %s address 0x%llx", (ull)record->bytes,
                   known ? leo_mem_space_name(space) : "?", (ull)record->addr);
    if (append_other_memory(text, fault)) {
        return;
    }
    if (space == LEO_MEM_SPACE_GM) {
        append_nearest(text, fault->device, record->addr, record->bytes);
        rt_fault_argument(text, fault);
    } else if (known && space != LEO_MEM_SPACE_PRIVATE) {
        rt_fault_array(text, fault, space);
    }
    if (fault->code == LEO_FAULT_MISALIGNED_LOCAL && record->align) {
        rt_text_append(text, "; it must be a multiple of %u", record->align);
    } else if (fault->code == LEO_FAULT_LOCAL_OUT_OF_RANGE) {
        rt_fault_limit(text, fault, space);
    }
}

static void append_place(struct rt_text *text, const struct rt_fault *fault)
{
    char file[256];
    int line;
    const struct leo_fault_record *record = fault->record;
    struct rt_image *image = fault->kernel->module->image;
    if (rt_image_line(image, record->pc, file, sizeof(file), &line)) {
        rt_text_append(text, " at %s:%d", file, line);
        rt_fault_inlines(text, image, record->pc);
        rt_fault_caller(text, image, record->pc, record->caller);
    } else {
        rt_text_append(text, " at address 0x%llx of %s", (ull)record->pc,
                       fault->kernel->module->name);
    }
    rt_text_append(text, " (core %u, block %u, unit %s)", record->core, record->block,
                   record->unit < LEO_PIPE_COUNT ? leo_pipe_name((enum leo_pipe)record->unit)
                                                 : "?");
}

static void append_csr(struct rt_text *text, unsigned number)
{
    const char *name = leo_csr_name(number);
    rt_text_append(text, ": CSR 0x%x%s%s%s", number, name ? " (" : "", name ? name : "",
                   name ? ")" : "");
}

void rt_fault_text(struct leo_rt_device *device, const struct leo_rt_stream *stream,
                   const struct rt_task *task, const struct leo_drv_completion *done, char *out,
                   size_t bytes)
{
    struct rt_text text = {.out = out, .bytes = bytes};
    const struct rt_fault fault = {
        .device = device,
        .kernel = task->kernel,
        .args = task->args_end ? stream->args + task->args_at : NULL,
        .code = (enum leo_fault)done->status,
        .record = &done->record,
    };
    out[0] = '\0';
    device->rt->has_failed = true;
    if (done->checks && task->kernel && fault.code == LEO_FAULT_CORE_DEADLOCK) {
        rt_deadlock_text(&text, &fault, done);
        return;
    }
    if (done->checks && task->kernel) {
        rt_check_text(&text, &fault, done);
        return;
    }
    rt_text_append(&text, "%s%s faulted", task->kernel ? "kernel " : "",
                   task->kernel ? task->kernel->name : task->what);
    bool explained = done->has_record && task->kernel && fault.code != LEO_FAULT_SKIPPED;
    if (explained) {
        append_place(&text, &fault);
    }
    rt_text_append(&text, ": %s",
                   fault.code < LEO_FAULT_COUNT ? leo_fault_text(fault.code) : "unknown fault");
    if (explained && has_address(fault.code)) {
        append_address(&text, &fault);
    } else if (done->has_record && has_address(fault.code)) {
        rt_text_append(&text, ": %llu bytes at 0x%llx", (ull)done->record.bytes,
                       (ull)done->record.addr);
        append_nearest(&text, device, done->record.addr, done->record.bytes);
    } else if (done->has_record && fault.code == LEO_FAULT_BAD_CSR) {
        append_csr(&text, (unsigned)done->record.addr);
    } else if (fault.code == LEO_FAULT_WATCHDOG) {
        rt_text_append(&text, " (LEO_KERNEL_LIMIT_US sets another)");
    }
    if (explained) {
        rt_fault_instruction(&text, &fault);
    }
}
