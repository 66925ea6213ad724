/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the rings of a module that prints, and empties them: cores in their order, on each the
 * order of the program. */
#include "print.h"

#include "../program/image.h"
#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull; // for printf

enum { TEXT_BYTES = 16384, PRINT_BYTES_DEFAULT = 64 * 1024 };

static uint64_t ring_addr(const struct rt_print *print, uint32_t core)
{
    return print->addr + print->rings * sizeof(struct leo_print_head) + core * print->ring_bytes;
}

static void *device_ptr(uint64_t addr)
{
    return (void *)(uintptr_t)addr;
}

leo_status rt_print_prepare(struct leo_rt_module *module)
{
    struct leo_rt_device *device = module->device;
    struct rt_image *image = module->image;
    uint64_t symbol;
    if (!rt_image_symbol(image, LEO_PRINT_AREA_SYMBOL, &symbol)) {
        return LEO_OK; // it prints nothing
    }
    if (symbol > image->desc.bytes || image->desc.bytes - symbol < sizeof(struct leo_print_area)) {
        return rt_fail(LEO_ERR_BAD_ELF, "%s: %s stands outside the image", module->name,
                       LEO_PRINT_AREA_SYMBOL);
    }
    uint32_t rings = device->caps.cube_cores + device->caps.vector_cores;
    uint64_t ring_bytes =
        device->rt->opts.print_bytes ? device->rt->opts.print_bytes : PRINT_BYTES_DEFAULT;
    struct rt_print *print = leo_calloc(1, sizeof(*print) + rings * sizeof(print->ring[0]));
    if (!print) {
        return rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", module->name);
    }
    module->print = print;
    print->rings = rings;
    print->ring_bytes = ring_bytes;
    uint64_t bytes = rings * (sizeof(struct leo_print_head) + ring_bytes);
    leo_status status = leo_drv_memory_alloc(device->drv, bytes, false, &print->addr);
    if (status) {
        return rt_fail(status, "%s: no device memory for its output (%u rings of %llu bytes): %s",
                       module->name, rings, (ull)ring_bytes, leo_status_text(status));
    }
    struct leo_print_area area = {print->addr, rings, ring_bytes};
    memcpy(image->flat + sizeof(image->desc) + symbol, &area, sizeof(area));
    struct leo_print_head *heads = leo_calloc(rings, sizeof(*heads));
    if (!heads) {
        return rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", module->name);
    }
    status = leo_rt_memcpy(device, device_ptr(print->addr), heads, rings * sizeof(*heads));
    leo_free(heads);
    return status;
}

void rt_print_release(struct leo_rt_module *module)
{
    struct rt_print *print = module->print;
    if (print && print->addr) {
        leo_status status = leo_drv_memory_free(module->device->drv, print->addr);
        if (status) {
            rt_log(module->device->rt, 2, "%s: the memory of its output is not freed: %s",
                   module->name, leo_status_text(status));
        }
    }
    leo_free(print);
    module->print = NULL;
}

void rt_print_launched(struct leo_rt_module *module)
{
    if (module->print) {
        module->print->pending = true;
        module->device->prints_pending = true;
    }
}

// An assertion's text belongs to the fault it caused: the trap carries the record's address.
static void tell_assertion(struct leo_rt_device *device, uint64_t addr, const char *text)
{
    pthread_mutex_lock(&device->lock);
    for (struct leo_rt_stream *stream = device->streams; stream; stream = stream->next) {
        if (stream->fault == LEO_FAULT_KERNEL_TRAP && stream->failure.has_record &&
            stream->failure.record.addr == addr) {
            size_t used = strlen(stream->fault_text);
            snprintf(stream->fault_text + used, sizeof(stream->fault_text) - used, ": %.*s",
                     (int)strcspn(text, "\n"), text);
        }
    }
    pthread_mutex_unlock(&device->lock);
}

static void write_text(const struct leo_rt_device *device, struct rt_print_ring *ring,
                       uint32_t core, uint32_t block, const char *text)
{
    for (const char *line = text; *line;) {
        size_t bytes = strcspn(line, "\n");
        bytes += line[bytes] == '\n';
        if (device->rt->opts.print_prefix && !ring->mid_line) {
            printf("[core %u block %u] ", core, block);
        }
        fwrite(line, 1, bytes, stdout);
        ring->mid_line = line[bytes - 1] != '\n';
        line += bytes;
    }
}

static bool is_whole(const struct leo_print_record *record, uint64_t left)
{
    return left >= sizeof(*record) && record->bytes <= left && record->bytes % 8 == 0 &&
           record->bytes >= sizeof(*record) + record->args * 8u + 8 &&
           ((const char *)record)[record->bytes - 1] == '\0';
}

// `data`: the bytes from ring->read to `written`, in consecutive memory.
static void write_records(struct leo_rt_device *device, struct rt_print *print, uint32_t core,
                          const char *data, uint64_t written)
{
    struct rt_print_ring *ring = &print->ring[core];
    char *text = leo_alloc(TEXT_BYTES);
    for (uint64_t at = ring->read; text && at < written;) {
        const struct leo_print_record *record = (const void *)(data + (at - ring->read));
        if (!is_whole(record, written - at)) {
            fprintf(stderr,
                    "leo: the printed text of core %u is damaged: did the kernel write there?\n",
                    core);
            break;
        }
        rt_print_format(record, text, TEXT_BYTES);
        if (record->kind == LEO_PRINT_ASSERT) {
            tell_assertion(device, ring_addr(print, core) + (at & (print->ring_bytes - 1)), text);
        }
        write_text(device, ring, core, record->block, text);
        at += record->bytes;
    }
    leo_free(text);
}

static leo_status drain_ring(struct leo_rt_device *device, struct rt_print *print, uint32_t core,
                             const struct leo_print_head *head)
{
    struct rt_print_ring *ring = &print->ring[core];
    uint64_t count = head->written - ring->read, mask = print->ring_bytes - 1;
    if (count > print->ring_bytes) {
        fprintf(stderr,
                "leo: the printed text of core %u is damaged: did the kernel write there?\n", core);
        return LEO_OK;
    }
    if (count) {
        char *data = leo_alloc(count);
        if (!data) {
            return LEO_ERR_NO_MEMORY;
        }
        uint64_t from = ring->read & mask, straight = print->ring_bytes - from;
        uint64_t first = count < straight ? count : straight;
        leo_status status =
            leo_rt_memcpy(device, data, device_ptr(ring_addr(print, core) + from), first);
        if (!status && count > first) {
            status = leo_rt_memcpy(device, data + first, device_ptr(ring_addr(print, core)),
                                   count - first);
        }
        if (!status) {
            write_records(device, print, core, data, head->written);
            ring->read = head->written;
            uint64_t place =
                print->addr + core * sizeof(*head) + offsetof(struct leo_print_head, read);
            status = leo_rt_memcpy(device, device_ptr(place), &ring->read, sizeof(ring->read));
        }
        leo_free(data);
        if (status) {
            return status;
        }
    }
    if (head->lost != ring->lost) {
        fflush(stdout);
        fprintf(stderr,
                "leo: %llu outputs of core %u were lost: its ring of %llu bytes was full "
                "(LEO_PRINT_BYTES sets "
                "another size; synchronise more often)\n",
                (ull)(head->lost - ring->lost), core, (ull)print->ring_bytes);
        ring->lost = head->lost;
    }
    return LEO_OK;
}

static void drain_module(struct leo_rt_module *module)
{
    struct rt_print *print = module->print;
    size_t bytes = print->rings * sizeof(struct leo_print_head);
    struct leo_print_head *heads = leo_alloc(bytes);
    leo_status status = heads ? leo_rt_memcpy(module->device, heads, device_ptr(print->addr), bytes)
                              : LEO_ERR_NO_MEMORY;
    for (uint32_t core = 0; core < print->rings && !status; core++) {
        status = drain_ring(module->device, print, core, &heads[core]);
    }
    leo_free(heads);
    fflush(stdout);
    if (status) {
        rt_log(module->device->rt, 2, "%s: the output of its kernels cannot be read: %s",
               module->name, leo_status_text(status));
    }
}

// The next module behind `last` (NULL: the first) with something to read. Modules stay while
// print_lock is held.
static struct leo_rt_module *take_pending(struct leo_rt_device *device,
                                          const struct leo_rt_module *last)
{
    pthread_mutex_lock(&device->lock);
    struct leo_rt_module *module = last ? last->next : device->modules;
    while (module && !(module->print && module->print->pending)) {
        module = module->next;
    }
    if (module) {
        // What still runs prints later: its synchronise has to look again.
        module->print->pending = rt_device_is_busy(device);
        device->prints_pending |= module->print->pending;
    }
    pthread_mutex_unlock(&device->lock);
    return module;
}

void rt_print_drain(struct leo_rt_device *device)
{
    if (!atomic_exchange(&device->prints_pending, false)) {
        return;
    }
    pthread_mutex_lock(&device->print_lock);
    for (struct leo_rt_module *module = NULL; (module = take_pending(device, module));) {
        drain_module(module);
    }
    pthread_mutex_unlock(&device->print_lock);
}
