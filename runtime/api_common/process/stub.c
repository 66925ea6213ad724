/* SPDX-License-Identifier: Apache-2.0 */
#include "stub.h"

#include "../context/context.h"
#include "code.h"

#include <elf.h>
#include <leo/alloc.h>
#include <search.h>
#include <string.h>

/** Where a file is loaded on a device: a handle, told apart from a later one by its serial. */
struct loaded {
    struct api_module *module;
    uint64_t serial;
};

struct api_image {
    const void *elf;
    size_t bytes;
    struct api_stub *stubs;
    struct loaded loaded[API_DEVICES];
};

struct api_stub {
    const void *address; /**< first: what the tree is ordered by */
    struct api_image *image;
    struct api_stub *next; /**< of the image */
    char name[];
};

size_t api_elf_bytes(const void *elf)
{
    Elf64_Ehdr head;
    memcpy(&head, elf, SELFMAG);
    if (memcmp(&head, ELFMAG, SELFMAG) != 0) {
        return 0;
    }
    memcpy(&head, elf, sizeof(head));
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(Elf64_Shdr)) {
        return 0;
    }
    // The table of sections comes last, or a section's contents do.
    size_t end = head.e_shoff + (size_t)head.e_shnum * head.e_shentsize;
    for (unsigned i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, (const char *)elf + head.e_shoff + (size_t)i * sizeof(section),
               sizeof(section));
        size_t section_end = section.sh_offset + section.sh_size;
        if (section.sh_type != SHT_NOBITS && section_end > end) {
            end = section_end;
        }
    }
    return end;
}

leo_status api_module_load_image(const void *elf, void **module)
{
    size_t bytes = api_elf_bytes(elf);
    return bytes ? api_module_load(elf, bytes, module)
                 : leo_rt_fail(LEO_ERR_BAD_ELF, "%p is no ELF file in memory", elf);
}

static int compare(const void *left, const void *right)
{
    const struct api_stub *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

struct api_image *api_image_register(const void *elf)
{
    size_t bytes = elf ? api_elf_bytes(elf) : 0;
    struct api_image *image = bytes ? leo_calloc(1, sizeof(*image)) : NULL;
    if (image) {
        image->elf = elf;
        image->bytes = bytes;
    }
    return image;
}

void api_image_unregister(struct api_image *image)
{
    struct api_stubs *stubs = &api_process()->stubs;
    if (!image) {
        return;
    }
    // Modules stay loaded until their context ends: kernels of them may be under way.
    pthread_mutex_lock(&stubs->lock);
    for (struct api_stub *stub = image->stubs, *next; stub; stub = next) {
        next = stub->next;
        tdelete(stub, &stubs->tree, compare);
        leo_free(stub);
    }
    pthread_mutex_unlock(&stubs->lock);
    leo_free(image);
}

leo_status api_stub_register(struct api_image *image, const void *address, const char *name)
{
    struct api_stubs *stubs = &api_process()->stubs;
    struct api_stub *stub = leo_calloc(1, sizeof(*stub) + strlen(name) + 1);
    if (!stub) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for kernel %s", name);
    }
    stub->address = address;
    stub->image = image;
    strcpy(stub->name, name);
    pthread_mutex_lock(&stubs->lock);
    struct api_stub **node = tsearch(stub, &stubs->tree, compare);
    bool added = node && *node == stub;
    if (added) {
        stub->next = image->stubs;
        image->stubs = stub;
    }
    pthread_mutex_unlock(&stubs->lock);
    if (!added) {
        leo_free(stub);
        return node ? leo_rt_fail(LEO_ERR_EXISTS, "%p stands for another kernel than %s", address,
                                  name)
                    : leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for kernel %s", name);
    }
    return LEO_OK;
}

// The module of a file on a device, loaded if it is not there. Caller holds the lock of stubs.
static leo_status load(struct api_image *image, int32_t device, struct api_module **module)
{
    struct loaded *loaded = &image->loaded[device];
    API_PINNED struct api_module *found = api_find(loaded->module, API_KIND_MODULE);
    if (found && found->handle.serial == loaded->serial) {
        *module = found;
        return LEO_OK;
    }
    void *made;
    leo_status status = api_module_load(image->elf, image->bytes, &made);
    if (status == LEO_OK) {
        *module = made;
        *loaded = (struct loaded){made, (*module)->handle.serial};
    }
    return status;
}

leo_status api_stub_find(const void *address, const void **func)
{
    struct api_stubs *stubs = &api_process()->stubs;
    API_PINNED struct api_func *own = api_func_find(address);
    if (own) {
        *func = address;
        return LEO_OK;
    }
    int32_t device;
    leo_status status = api_device_current(&device);
    if (status != LEO_OK) {
        return status;
    }
    const struct api_stub key = {.address = address};
    struct api_module *module;
    void *found;
    pthread_mutex_lock(&stubs->lock);
    void *node = tfind(&key, &stubs->tree, compare);
    if (node) {
        struct api_stub *stub = *(struct api_stub **)node;
        status = load(stub->image, device, &module);
        if (status == LEO_OK) {
            status = api_module_find(module, stub->name, &found);
        }
        if (status == LEO_OK) {
            *func = found;
        }
    } else {
        status = leo_rt_fail(API_BAD_HANDLE, "%p is no kernel", address);
    }
    pthread_mutex_unlock(&stubs->lock);
    return status;
}

enum { CALLS_MAX = 16 };
static _Thread_local struct {
    struct api_call call[CALLS_MAX];
    unsigned count;
} calls;

leo_status api_call_push(const struct api_call *call)
{
    if (calls.count == CALLS_MAX) {
        return leo_rt_fail(LEO_ERR_STATE, "more than %d launches within each other", CALLS_MAX);
    }
    calls.call[calls.count++] = *call;
    return LEO_OK;
}

leo_status api_call_pop(struct api_call *call)
{
    if (calls.count == 0) {
        return leo_rt_fail(LEO_ERR_STATE, "no launch was configured");
    }
    *call = calls.call[--calls.count];
    return LEO_OK;
}
