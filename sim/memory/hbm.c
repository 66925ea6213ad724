/* SPDX-License-Identifier: Apache-2.0 */
#include "hbm.h"

#include <leo/alloc.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, SMALL_BYTES = 1 << 16 };

uint8_t *sim_hbm_reserve(uint64_t bytes)
{
    // Goes through the allocator once so that tests can make it fail like any other allocation.
    void *probe = leo_alloc(1);
    if (!probe) {
        return NULL;
    }
    leo_free(probe);
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return data == MAP_FAILED ? NULL : data;
}

void sim_hbm_release(uint8_t *data, uint64_t bytes)
{
    if (data) {
        munmap(data, bytes);
    }
}

leo_status sim_hbm_create(struct sim_hbm *hbm, uint64_t base, uint64_t bytes)
{
    hbm->base = base;
    hbm->data = sim_hbm_reserve(bytes);
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
    sim_hbm_release(hbm->data, hbm->bytes);
    hbm->data = NULL;
}

void sim_hbm_zero(struct sim_hbm *hbm, uint64_t addr, uint64_t bytes)
{
    uint64_t begin = addr - hbm->base;
    uint64_t end = begin + bytes;
    uint64_t page_begin = (begin + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
    uint64_t page_end = end & ~(uint64_t)(PAGE_BYTES - 1);
    if (bytes < SMALL_BYTES || page_begin >= page_end) {
        memset(hbm->data + begin, 0, bytes);
        return;
    }
    memset(hbm->data + begin, 0, page_begin - begin);
    memset(hbm->data + page_end, 0, end - page_end);
    if (madvise(hbm->data + page_begin, page_end - page_begin, MADV_DONTNEED) != 0) {
        memset(hbm->data + page_begin, 0, page_end - page_begin);
    }
}
