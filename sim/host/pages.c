/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE // madvise
#include "pages.h"

#include <leo/alloc.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

uint8_t *sim_pages_reserve(uint64_t bytes)
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

void sim_pages_release(uint8_t *data, uint64_t bytes)
{
    if (data) {
        munmap(data, bytes);
    }
}

void sim_pages_forget(uint8_t *data, uint64_t bytes)
{
    if (madvise(data, bytes, MADV_DONTNEED) != 0) {
        memset(data, 0, bytes);
    }
}
