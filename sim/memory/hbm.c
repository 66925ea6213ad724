/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE // mremap
#include "hbm.h"

#include "../host/pages.h"
#include <leo/alloc.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, SMALL_BYTES = 1 << 16 };

leo_status sim_hbm_create(struct sim_hbm *hbm, uint64_t base, uint64_t bytes)
{
    *hbm = (struct sim_hbm){.base = base, .data = sim_pages_reserve(bytes)};
    hbm->bytes = hbm->data ? bytes : 0;
    if (hbm->data) {
        // Tiles stride over many pages: small ones would cost a miss of the host's TLB a row.
        // Refused is as good.
        (void)madvise(hbm->data, bytes, MADV_HUGEPAGE);
        // A forked child has no business with the chip, and fork need not look at its pages.
        (void)madvise(hbm->data, bytes, MADV_DONTFORK);
    }
    return hbm->data ? LEO_OK : LEO_ERR_NO_MEMORY;
}

void sim_hbm_destroy(struct sim_hbm *hbm)
{
    sim_pages_release(hbm->data, hbm->bytes);
    leo_free(hbm->adopted);
    *hbm = (struct sim_hbm){0};
}

static bool is_zero(const uint8_t *page)
{
    return page[0] == 0 && memcmp(page, page + 1, PAGE_BYTES - 1) == 0;
}

leo_status sim_hbm_adopt(struct sim_hbm *hbm, uint64_t addr, uint64_t bytes, void *host, bool keep)
{
    uint64_t begin = addr - hbm->base;
    if (addr % PAGE_BYTES || bytes % PAGE_BYTES || bytes == 0) {
        return LEO_ERR_INVALID_ARG;
    }
    if (hbm->adopted_count == hbm->adopted_capacity) {
        size_t capacity = hbm->adopted_capacity ? hbm->adopted_capacity * 2 : 8;
        struct sim_adopted *adopted = leo_realloc(hbm->adopted, capacity * sizeof(*adopted));
        if (!adopted) {
            return LEO_ERR_NO_MEMORY;
        }
        hbm->adopted = adopted;
        hbm->adopted_capacity = capacity;
    }
    for (uint64_t at = 0; keep && at < bytes; at += PAGE_BYTES) {
        // The caller's pages are zero: those never touched stay as they are, and cost nothing.
        if (!is_zero(hbm->data + begin + at)) {
            memcpy((uint8_t *)host + at, hbm->data + begin + at, PAGE_BYTES);
        }
    }
    // Past the C library: UCX puts a function of four arguments in mremap's place, which loses the
    // address.
    if (syscall(SYS_mremap, host, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, hbm->data + begin) ==
        -1) {
        return LEO_ERR_NO_MEMORY;
    }
    (void)madvise(hbm->data + begin, bytes, MADV_DONTFORK);
    hbm->adopted[hbm->adopted_count++] = (struct sim_adopted){begin, begin + bytes};
    return LEO_OK;
}

/* Puts memory of our own, all zero, where adopted pages begin in a range. These end with the
 * mapping they belong to, so a range holds all of them or none. */
static void give_up_adopted(struct sim_hbm *hbm, uint64_t begin, uint64_t end)
{
    for (size_t i = 0; i < hbm->adopted_count;) {
        struct sim_adopted *adopted = &hbm->adopted[i];
        if (adopted->begin < begin || adopted->begin >= end) {
            i++;
            continue;
        }
        uint8_t *data = hbm->data + adopted->begin;
        size_t bytes = adopted->end - adopted->begin;
        if (mmap(data, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == data) {
            (void)madvise(data, bytes, MADV_HUGEPAGE);
            (void)madvise(data, bytes, MADV_DONTFORK);
        }
        *adopted = hbm->adopted[--hbm->adopted_count];
    }
}

void sim_hbm_zero(struct sim_hbm *hbm, uint64_t addr, uint64_t bytes)
{
    uint64_t begin = addr - hbm->base;
    uint64_t end = begin + bytes;
    give_up_adopted(hbm, begin, end);
    uint64_t page_begin = (begin + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
    uint64_t page_end = end & ~(uint64_t)(PAGE_BYTES - 1);
    if (bytes < SMALL_BYTES || page_begin >= page_end) {
        memset(hbm->data + begin, 0, bytes);
        return;
    }
    memset(hbm->data + begin, 0, page_begin - begin);
    memset(hbm->data + page_end, 0, end - page_end);
    sim_pages_forget(hbm->data + page_begin, page_end - page_begin);
}
