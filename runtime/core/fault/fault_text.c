/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that write parts of a fault's text share. */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>

void rt_text_append(struct rt_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int count = vsnprintf(text->out + text->used, text->bytes - text->used, format, args);
    va_end(args);
    text->used += count > 0 ? (size_t)count : 0;
    text->used = text->used < text->bytes ? text->used : text->bytes - 1;
}

enum leo_core_kind rt_core_kind(const struct leo_rt_kernel *kernel, const struct leo_caps *caps,
                                unsigned core)
{
    bool mixed = kernel->kind == LEO_CORE_KIND_MIX || kernel->kind == LEO_CORE_KIND_MIX_ONE;
    return !mixed                    ? kernel->kind
           : core < caps->cube_cores ? LEO_CORE_KIND_CUBE
                                     : LEO_CORE_KIND_VECTOR;
}

enum leo_core_kind rt_fault_kind(const struct rt_fault *fault)
{
    return rt_core_kind(fault->kernel, &fault->device->caps, fault->record->core);
}

const char *rt_fault_pipe(unsigned pipe)
{
    static const char *const names[] = {"PIPE_S",    "PIPE_V",    "PIPE_M",   "PIPE_MTE1",
                                        "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX", "PIPE_ALL"};
    return pipe < sizeof(names) / sizeof(names[0]) ? names[pipe] : "?";
}
