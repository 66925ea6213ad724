/* SPDX-License-Identifier: Apache-2.0 */
#include "range.h"

#include <leo/driver.h>
#include <stddef.h>
#include <sys/mman.h>

enum { RESERVE_FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

// The least a chip can be made with.
#define LEAST_BYTES (UINT64_C(1) << 28)

// Whether the address space left holds this range, memory behind it, and as much again for the
// program.
static bool has_room(uint64_t bytes)
{
    void *probe = mmap(NULL, bytes * 3, PROT_NONE, RESERVE_FLAGS, -1, 0);
    if (probe == MAP_FAILED) {
        return false;
    }
    munmap(probe, bytes * 3);
    return true;
}

void drv_range_take(struct drv_range *range, unsigned index)
{
    uint64_t bytes = LEO_DRV_GM_BYTES;
    while (bytes > LEAST_BYTES && !has_room(bytes)) {
        bytes /= 2;
    }
    for (unsigned i = 0; i < DRV_RANGES; i++) {
        uint64_t base = DRV_RANGE_FIRST + (uint64_t)((index + i) % DRV_RANGES) * LEO_DRV_GM_BYTES;
        void *want = (void *)(uintptr_t)base;
        // Only a wish, not MAP_FIXED_NOREPLACE: a sanitizer that keeps these addresses from
        // everybody then gives others, and does not take 0 for what was asked.
        void *got = mmap(want, bytes, PROT_NONE, RESERVE_FLAGS, -1, 0);
        if (got == want) {
            *range = (struct drv_range){base, bytes, true};
            return;
        }
        if (got == MAP_FAILED) {
            break;
        }
        munmap(got, bytes);
    }
    *range = (struct drv_range){
        .base = DRV_RANGE_FIRST + index % DRV_RANGES * LEO_DRV_GM_BYTES,
        .bytes = bytes,
    };
}

void drv_range_release(struct drv_range *range)
{
    if (range->reserved) {
        munmap((void *)(uintptr_t)range->base, range->bytes);
        range->reserved = false;
    }
}
