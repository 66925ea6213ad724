/* SPDX-License-Identifier: Apache-2.0 */
/* Packs arguments and submits kernels. */
#include "../rt.h"

#include <string.h>

// Room a piece of data takes behind the argument block.
static uint32_t data_space(const struct leo_rt_arg_data *data)
{
    return ((uint32_t)data->bytes + RT_ARGS_ALIGN - 1) / RT_ARGS_ALIGN * RT_ARGS_ALIGN;
}

static leo_status check_launch(const struct leo_rt_kernel *kernel, uint32_t block_num,
                               const struct leo_rt_stream *stream)
{
    if (block_num == 0 || block_num > LEO_MAX_BLOCKS) {
        return rt_fail(LEO_ERR_RANGE, "kernel %s: %u blocks: launch 1 to %u", kernel->name,
                       block_num, LEO_MAX_BLOCKS);
    }
    if (kernel->module->device != stream->device) {
        return rt_fail(LEO_ERR_INVALID_ARG,
                       "kernel %s is loaded on device %d, the stream is of device %d", kernel->name,
                       kernel->module->device->index, stream->device->index);
    }
    return LEO_OK;
}

static void fill_entry(const struct leo_rt_kernel *kernel, uint32_t block_num,
                       const struct leo_rt_launch_opts *opts, struct leo_sqe_kernel *body)
{
    struct leo_rt_device *device = kernel->module->device;
    *body = (struct leo_sqe_kernel){
        .image_addr = kernel->module->image_addr,
        .entry = kernel->entry,
        .block_num = block_num,
        .args_bytes = kernel->block_bytes,
        .slots = (uint16_t)kernel->slots,
        .reloc = kernel->reloc,
        .limit_us = opts->limit_us ? opts->limit_us
                                   : __atomic_load_n(&device->rt->opts.limit_us, __ATOMIC_RELAXED),
        .tag = device->profile || device->rt->tape
                   ? rt_tag(device, opts->tag ? opts->tag : kernel->name)
                   : 0,
    };
}

// Submits with the argument block at `place` (ptr NULL: nothing to hold) and gives it back on
// failure.
static leo_status submit_kernel(struct leo_rt_stream *stream, const struct leo_rt_kernel *kernel,
                                const struct leo_sqe_kernel *body, const struct rt_place *place,
                                enum leo_float_mode mode)
{
    mode = mode == LEO_FLOAT_MODE_OWN ? stream->float_mode : mode;
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_KERNEL,
                            .core_kind = (uint8_t)kernel->kind,
                            .flags = (uint8_t)leo_sqe_set_float_mode(0, mode)};
    memcpy(entry.body, body, sizeof(*body));
    const struct rt_task task = {
        .what = kernel->name,
        .kernel = kernel,
        .args_at = place->args_at,
        .args_end = place->args_end,
    };
    uint32_t head = stream->args_head;
    if (place->args_end) {
        stream->args_head = place->args_end;
        stream->args_tasks++;
    }
    leo_status status = rt_stream_submit(stream, &entry, &task);
    rt_print_launched(kernel->module);
    if (status && place->args_end) {
        stream->args_tasks--;
        stream->args_head = head;
    }
    return status;
}

static void pack_slot(const struct rt_arg *arg, const void *value, char *slot)
{
    uint32_t bytes = arg->info.bytes;
    uint64_t wide = 0;
    memcpy(&wide, value, bytes);
    // As RV64 passes them: 32-bit integers are sign-extended whatever their type, narrower ones by
    // their type.
    if (bytes < 8 && (arg->info.kind == 's' || (arg->info.kind == 'u' && bytes == 4))) {
        unsigned shift = 64 - 8 * bytes;
        wide = (uint64_t)((int64_t)(wide << shift) >> shift);
    }
    memcpy(slot, &wide, sizeof(wide));
}

static void pack_args(const struct leo_rt_kernel *kernel, const void *const *values, char *block)
{
    memset(block, 0, kernel->block_bytes);
    for (unsigned i = 0; i < kernel->arg_count; i++) {
        const struct rt_arg *arg = &kernel->args[i];
        char *slot = block + arg->slot * 8;
        if (!values[i]) {
            continue; // comes as data
        }
        if (arg->info.bytes <= 8) {
            pack_slot(arg, values[i], slot);
        } else if (arg->info.bytes <= 16) {
            memcpy(slot, values[i], arg->info.bytes);
        } else {
            uint64_t offset = arg->offset;
            memcpy(slot, &offset, sizeof(offset));
            memcpy(block + offset, values[i], arg->info.bytes);
        }
    }
}

static leo_status check_values(const struct leo_rt_kernel *kernel, const void *const *args,
                               unsigned arg_count, const struct leo_rt_arg_data *data,
                               unsigned data_count)
{
    if (arg_count != kernel->arg_count) {
        return rt_fail(LEO_ERR_INVALID_ARG, "kernel %s takes %u arguments, %u were given",
                       kernel->name, kernel->arg_count, arg_count);
    }
    uint64_t from_data = 0, bytes = kernel->block_bytes + RT_ARGS_ALIGN;
    for (unsigned i = 0; i < data_count; i++) {
        if (data[i].index >= arg_count || kernel->args[data[i].index].info.kind != 'p' ||
            !data[i].data) {
            return rt_fail(LEO_ERR_INVALID_ARG,
                           "kernel %s: data for argument %u, which is no pointer argument",
                           kernel->name, data[i].index);
        }
        from_data |= 1ull << data[i].index;
        bytes += data_space(&data[i]);
        if (data[i].bytes > LEO_MAX_ARGS_BYTES || bytes > LEO_MAX_ARGS_BYTES) {
            return rt_fail(LEO_ERR_RANGE, "kernel %s: arguments of more than %u bytes",
                           kernel->name, LEO_MAX_ARGS_BYTES);
        }
    }
    for (unsigned i = 0; i < arg_count; i++) {
        if (!args[i] && !(from_data >> i & 1)) {
            return rt_fail(LEO_ERR_INVALID_ARG,
                           "kernel %s: the pointer to argument %u (%s) is NULL", kernel->name, i,
                           kernel->args[i].info.name);
        }
    }
    return LEO_OK;
}

static uint32_t block_end(const struct leo_rt_kernel *kernel, uint32_t bytes)
{
    return kernel->takes_task ? (bytes + 15) / 16 * 16 + (uint32_t)sizeof(struct rt_task_words)
                              : bytes;
}

// The language of such kernels (BANG C) has infinities and NaN, whatever the chip starts with.
static enum leo_float_mode float_mode_of(const struct leo_rt_kernel *kernel,
                                         const struct leo_rt_launch_opts *opts)
{
    return kernel->takes_task && opts->float_mode == LEO_FLOAT_MODE_OWN ? LEO_FLOAT_MODE_INFINITE
                                                                        : opts->float_mode;
}

// Puts data behind the block; its arguments' slots get offsets. Returns the slots to relocate.
static uint64_t pack_data(const struct leo_rt_kernel *kernel, const struct leo_rt_arg_data *data,
                          unsigned data_count, char *block)
{
    uint64_t reloc = 0, offset = kernel->block_bytes;
    for (unsigned i = 0; i < data_count; i++) {
        uint32_t slot = kernel->args[data[i].index].slot;
        offset = (offset + RT_ARGS_ALIGN - 1) / RT_ARGS_ALIGN * RT_ARGS_ALIGN;
        memcpy(block + slot * 8, &offset, sizeof(offset));
        memcpy(block + offset, data[i].data, data[i].bytes);
        offset += data_space(&data[i]);
        reloc |= 1ull << slot;
    }
    return reloc;
}

leo_status leo_rt_launch_with_options(struct leo_rt_kernel *kernel, uint32_t block_num,
                                      struct leo_rt_stream *stream, const void *const *args,
                                      unsigned arg_count, const struct leo_rt_arg_data *data,
                                      unsigned data_count, const struct leo_rt_launch_opts *opts)
{
    leo_status status = check_launch(kernel, block_num, stream);
    if (!status) {
        status = check_values(kernel, args, arg_count, data, data_count);
    }
    if (!status) {
        status = rt_cluster_check(kernel, block_num, opts);
    }
    if (status) {
        return status;
    }
    uint32_t bytes = kernel->block_bytes;
    for (unsigned i = 0; i < data_count; i++) {
        bytes = (bytes + RT_ARGS_ALIGN - 1) / RT_ARGS_ALIGN * RT_ARGS_ALIGN + data_space(&data[i]);
    }
    bytes = block_end(kernel, bytes);
    struct leo_sqe_kernel body;
    struct rt_place place = {0};
    struct rt_task_words task;
    pthread_mutex_lock(&stream->device->lock);
    if (kernel->takes_task) {
        status = rt_cluster_prepare(kernel, block_num, stream, opts, &task);
    }
    if (!status && bytes) {
        status = stream->sink->place(stream, bytes, &place);
    }
    if (!status) {
        fill_entry(kernel, block_num, opts, &body);
        body.args_addr = place.addr;
        body.args_bytes = bytes;
        if (place.ptr) {
            pack_args(kernel, args, place.ptr);
            body.reloc |= pack_data(kernel, data, data_count, place.ptr);
        }
        if (kernel->takes_task) {
            memcpy(place.ptr + bytes - sizeof(task), &task, sizeof(task));
        }
        status = submit_kernel(stream, kernel, &body, &place, float_mode_of(kernel, opts));
    }
    pthread_mutex_unlock(&stream->device->lock);
    return status;
}

leo_status leo_rt_launch_with_data(struct leo_rt_kernel *kernel, uint32_t block_num,
                                   struct leo_rt_stream *stream, const void *const *args,
                                   unsigned arg_count, const struct leo_rt_arg_data *data,
                                   unsigned data_count, const char *tag)
{
    const struct leo_rt_launch_opts opts = {.tag = tag};
    return leo_rt_launch_with_options(kernel, block_num, stream, args, arg_count, data, data_count,
                                      &opts);
}

leo_status leo_rt_launch(struct leo_rt_kernel *kernel, uint32_t block_num,
                         struct leo_rt_stream *stream, const void *const *args, unsigned arg_count,
                         const char *tag)
{
    return leo_rt_launch_with_data(kernel, block_num, stream, args, arg_count, NULL, 0, tag);
}

// A ready block must hold all slots, and the structs its slots point to.
static leo_status check_block(const struct leo_rt_kernel *kernel, const void *block, size_t bytes,
                              bool on_device)
{
    if (kernel->takes_task) {
        return rt_fail(LEO_ERR_UNSUPPORTED,
                       "kernel %s asks how its blocks lie, which a ready argument block does not "
                       "tell: pass the arguments as an array of pointers",
                       kernel->name);
    }
    if (bytes % 8 || bytes < kernel->slots * 8u || bytes > LEO_MAX_ARGS_BYTES) {
        return rt_fail(LEO_ERR_INVALID_ARG,
                       "kernel %s: an argument block of %zu bytes: it takes %u slots of 8 bytes",
                       kernel->name, bytes, kernel->slots);
    }
    if (bytes && !block) {
        return rt_fail(LEO_ERR_INVALID_ARG, "kernel %s: the argument block is NULL", kernel->name);
    }
    for (unsigned i = 0; i < kernel->arg_count && !on_device; i++) {
        const struct rt_arg *arg = &kernel->args[i];
        uint64_t offset;
        memcpy(&offset, (const char *)block + arg->slot * 8, sizeof(offset));
        if (arg->info.bytes > 16 && (offset > bytes || bytes - offset < arg->info.bytes)) {
            return rt_fail(
                LEO_ERR_RANGE,
                "kernel %s: argument %u (%s) of %u bytes at offset %llu leaves the block of %zu "
                "bytes",
                kernel->name, i, arg->info.name, arg->info.bytes, (unsigned long long)offset,
                bytes);
        }
    }
    return LEO_OK;
}

leo_status leo_rt_launch_packed_with_options(struct leo_rt_kernel *kernel, uint32_t block_num,
                                             struct leo_rt_stream *stream, const void *block,
                                             size_t bytes, bool on_device,
                                             const struct leo_rt_launch_opts *opts)
{
    leo_status status = check_launch(kernel, block_num, stream);
    if (!status) {
        status = check_block(kernel, block, bytes, on_device);
    }
    if (status) {
        return status;
    }
    struct leo_rt_device *device = stream->device;
    struct leo_sqe_kernel body;
    struct rt_place place = {0};
    pthread_mutex_lock(&device->lock);
    if (on_device && bytes) {
        struct leo_rt_device *owner;
        status = rt_memory_side(device, (uintptr_t)block, bytes, "argument block", &owner);
        if (!status && owner != device) {
            status = rt_fail(LEO_ERR_BAD_POINTER,
                             "kernel %s: the argument block at %p is not memory of device %d",
                             kernel->name, block, device->index);
        }
        place.addr = (uintptr_t)block;
    } else if (bytes) {
        status = stream->sink->place(stream, (uint32_t)bytes, &place);
    }
    if (!status) {
        if (place.ptr) {
            memcpy(place.ptr, block, bytes);
        }
        fill_entry(kernel, block_num, opts, &body);
        body.args_addr = place.addr;
        body.args_bytes = (uint32_t)bytes;
        body.args_flags = (uint16_t)leo_sqe_kernel_set_in_device(0, on_device);
        if (!kernel->arg_count) {
            body.slots = (uint16_t)(bytes / 8 < LEO_MAX_SLOTS ? bytes / 8 : LEO_MAX_SLOTS);
        }
        status = submit_kernel(stream, kernel, &body, &place, opts->float_mode);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

leo_status leo_rt_launch_packed(struct leo_rt_kernel *kernel, uint32_t block_num,
                                struct leo_rt_stream *stream, const void *block, size_t bytes,
                                bool on_device, const char *tag)
{
    const struct leo_rt_launch_opts opts = {.tag = tag};
    return leo_rt_launch_packed_with_options(kernel, block_num, stream, block, bytes, on_device,
                                             &opts);
}
