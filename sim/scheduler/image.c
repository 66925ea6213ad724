/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include "../core/debug.h"
#include "scheduler.h"
#include <leo/alloc.h>
#include <string.h>

enum { MAX_IMAGES = 1024, MAX_ARRAYS = 4096 };

static void destroy(struct sim_image *image)
{
    sim_decoded_destroy(image->decoded);
    leo_free(image->array);
    leo_free(image);
}

/* The arrays that stand behind the writable part; without memory for them they are not checked. */
static void take_arrays(struct sim_image *image, const uint8_t *bytes)
{
    const struct leo_image_desc *desc = &image->desc;
    const uint64_t at = (desc->rw_offset + desc->rw_bytes + 7) & ~UINT64_C(7);
    const uint64_t room = desc->bytes > at ? desc->bytes - at : 0;
    const size_t count = (size_t)(room / sizeof(*image->array));
    if (count != 0 && count <= MAX_ARRAYS) {
        image->array = leo_alloc(count * sizeof(*image->array));
        image->arrays = image->array ? count : 0;
        if (image->array) {
            memcpy(image->array, bytes + at, count * sizeof(*image->array));
        }
    }
}

static void remove_at(struct sim_image_cache *cache, size_t index)
{
    if (cache->last == cache->image[index]) {
        cache->last = NULL;
    }
    cache->image[index] = cache->image[--cache->count];
}

/* Takes an image out of the cache; it lives on while tasks run it. */
static void retire(struct sim_image_cache *cache, size_t index)
{
    struct sim_image *image = cache->image[index];
    remove_at(cache, index);
    image->stale = true;
    if (image->users == 0) {
        destroy(image);
    }
}

void sim_image_finish(struct sim_scheduler *scheduler)
{
    struct sim_image_cache *cache = &scheduler->images;
    while (cache->count) {
        retire(cache, cache->count - 1);
    }
    leo_free(cache->image);
    memset(cache, 0, sizeof(*cache));
}

void sim_image_drop(struct sim_scheduler *scheduler, uint64_t addr, uint64_t bytes)
{
    struct sim_image_cache *cache = &scheduler->images;
    for (size_t i = cache->count; i-- > 0;) {
        const struct sim_image *image = cache->image[i];
        uint64_t end = image->addr + sizeof(image->desc) + image->desc.bytes;
        if (image->addr < addr + bytes && addr < end) {
            retire(cache, i);
        }
    }
}

void sim_image_release(struct sim_image *image)
{
    if (image && --image->users == 0 && image->stale) {
        destroy(image);
    }
}

static bool is_sound(const struct leo_image_desc *desc, uint32_t arch)
{
    return desc->magic == LEO_IMAGE_MAGIC && (desc->arch == 0 || desc->arch == arch) &&
           desc->bytes <= LEO_MAP_IMAGE_END - LEO_MAP_IMAGE && desc->rw_offset <= desc->bytes &&
           desc->rw_bytes <= desc->bytes - desc->rw_offset &&
           desc->rw_bytes <= SIM_PRIVATE_IMAGE_BYTES &&
           desc->bss_bytes <= SIM_PRIVATE_IMAGE_BYTES - desc->rw_bytes &&
           desc->rw_offset + desc->rw_bytes + desc->bss_bytes <=
               LEO_MAP_IMAGE_END - LEO_MAP_IMAGE &&
           desc->stack_bytes % 16 == 0 && desc->stack_bytes <= LEO_MAP_WINDOW_BYTES / 2 &&
           desc->text_bytes != 0 && desc->text_offset % 4 == 0 && desc->text_bytes % 4 == 0 &&
           desc->text_offset <= desc->rw_offset &&
           desc->text_bytes <= desc->rw_offset - desc->text_offset;
}

static bool make_room(struct sim_image_cache *cache)
{
    if (cache->count >= MAX_IMAGES) {
        size_t oldest = cache->count;
        for (size_t i = 0; i < cache->count; i++) {
            if (!cache->image[i]->users &&
                (oldest == cache->count ||
                 cache->image[i]->used_at < cache->image[oldest]->used_at)) {
                oldest = i;
            }
        }
        if (oldest < cache->count) {
            retire(cache, oldest);
        }
    }
    if (cache->count == cache->capacity) {
        size_t capacity = cache->capacity ? cache->capacity * 2 : 16;
        struct sim_image **grown = leo_realloc(cache->image, capacity * sizeof(struct sim_image *));
        if (!grown) {
            return false;
        }
        cache->image = grown;
        cache->capacity = capacity;
    }
    return true;
}

static struct sim_image *load(struct sim_scheduler *scheduler, uint16_t space, uint64_t addr,
                              enum leo_fault *fault)
{
    struct sim_image_cache *cache = &scheduler->images;
    struct leo_image_desc desc;
    if (addr % 64 || !sim_space_find(&scheduler->memory->space[space], addr, sizeof(desc))) {
        return NULL;
    }
    const uint8_t *host = scheduler->memory->hbm.data + (addr - scheduler->memory->hbm.base);
    memcpy(&desc, host, sizeof(desc));
    struct sim_extent *extent =
        is_sound(&desc, scheduler->config->arch)
            ? sim_space_find(&scheduler->memory->space[space], addr, sizeof(desc) + desc.bytes)
            : NULL;
    if (!extent) {
        return NULL;
    }
    *fault = LEO_FAULT_NO_MEMORY;
    struct sim_image *image = make_room(cache) ? leo_calloc(1, sizeof(*image)) : NULL;
    if (!image) {
        return NULL;
    }
    *image = (struct sim_image){.addr = addr, .space = space, .desc = desc};
    if (sim_decoded_create_image(&desc, host + sizeof(desc), &image->decoded) != LEO_OK) {
        leo_free(image);
        return NULL;
    }
    if (scheduler->counter || (scheduler->debug && sim_debug_wants(scheduler->debug, addr))) {
        sim_decoded_break(image->decoded);
    }
    take_arrays(image, host + sizeof(desc));
    cache->image[cache->count++] = image;
    if (!extent->has_text) {
        extent->has_text = true;
        // Writable regions handed out before would let stores pass unseen.
        sim_cores_forget(scheduler);
    }
    return image;
}

struct sim_image *sim_image_take(struct sim_scheduler *scheduler, uint16_t space, uint64_t addr,
                                 enum leo_fault *fault)
{
    struct sim_image_cache *cache = &scheduler->images;
    struct sim_image *image = cache->last;
    *fault = LEO_FAULT_BAD_IMAGE;
    if (!image || image->addr != addr || image->space != space) {
        image = NULL;
        for (size_t i = 0; i < cache->count && !image; i++) {
            if (cache->image[i]->addr == addr && cache->image[i]->space == space) {
                image = cache->image[i];
            }
        }
        if (!image) {
            image = load(scheduler, space, addr, fault);
        }
    }
    if (image) {
        *fault = LEO_FAULT_NONE;
        cache->last = image;
        image->users++;
        image->used_at = ++cache->uses;
    }
    return image;
}
