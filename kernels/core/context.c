/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include "program.h"
#include <leo/alloc.h>
#include <string.h>

leo_status leo_op_context_create(struct leo_rt_device *device, struct leo_op_context **out)
{
    if (!device || !out) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "op_context_create: %s is NULL",
                           device ? "the result's place" : "device");
    }
    struct leo_op_context *context = leo_calloc(1, sizeof(*context));
    if (!context) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "op_context_create: out of host memory");
    }
    leo_status status = LEO_OK;
    context->device = device;
    leo_rt_device_get_caps(device, &context->caps);
    context->chip = op_chip_find(&context->caps);
    context->modules = leo_calloc(op_program_count(), sizeof(*context->modules));
    if (!context->modules) {
        status = leo_rt_fail(LEO_ERR_NO_MEMORY, "op_context_create: out of host memory");
    } else if (!context->chip) {
        status = leo_rt_fail(LEO_ERR_UNSUPPORTED,
                             "op_context_create: no operators for chip %s (architecture %u)",
                             context->caps.soc_name, context->caps.arch);
    }
    if (status != LEO_OK) {
        leo_op_context_destroy(context);
        return status;
    }
    *out = context;
    return LEO_OK;
}

void leo_op_context_destroy(struct leo_op_context *context)
{
    if (!context) {
        return;
    }
    for (unsigned i = 0; context->modules && i < op_program_count(); i++) {
        leo_rt_module_unload(context->modules[i]);
    }
    leo_free(context->modules);
    leo_free(context);
}

uint32_t op_context_vector_cores(const struct leo_op_context *context)
{
    return context->caps.vector_cores ? context->caps.vector_cores : context->caps.cube_cores;
}

static leo_status load_kernel(struct leo_op_context *context, enum op_kernel kernel)
{
    unsigned program = 0;
    struct op_image image;
    const char *symbol = op_program_find(kernel, context->chip->arch, &program, &image);
    if (!context->modules[program]) {
        leo_status status = leo_rt_module_load(context->device, image.elf, image.bytes, image.name,
                                               &context->modules[program]);
        if (status != LEO_OK) {
            return status;
        }
    }
    return leo_rt_module_find(context->modules[program], symbol, &context->kernels[kernel]);
}

leo_status op_context_launch(struct leo_op_context *context, struct leo_rt_stream *stream,
                             enum op_kernel kernel, uint32_t blocks, const void *args,
                             const char *tag)
{
    if (!context->kernels[kernel]) {
        leo_status status = load_kernel(context, kernel);
        if (status != LEO_OK) {
            return status;
        }
    }
    return leo_rt_launch(context->kernels[kernel], blocks, stream, &args, 1, tag);
}

struct op_split op_split_make(uint64_t count, uint64_t granule, uint64_t least, uint32_t cores)
{
    struct op_split split;
    split.per_block = (count + cores - 1) / cores;
    split.per_block = split.per_block < least ? least : split.per_block;
    split.per_block = (split.per_block + granule - 1) / granule * granule;
    split.blocks = (uint32_t)((count + split.per_block - 1) / split.per_block);
    return split;
}
