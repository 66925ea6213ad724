/* SPDX-License-Identifier: Apache-2.0 */
#include <leo/alloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

// A writable global all the same: a test must reach allocations deep inside the libraries.
static atomic_int fail_after;

void leo_alloc_fail_after(int n)
{
    atomic_store(&fail_after, n > 0 ? n : 0);
}

int leo_alloc_fail_pending(void)
{
    return atomic_load(&fail_after);
}

static bool is_failing(void)
{
    int n = atomic_load_explicit(&fail_after, memory_order_relaxed);

    while (n > 0) {
        if (atomic_compare_exchange_weak(&fail_after, &n, n - 1)) {
            return n == 1;
        }
    }
    return false;
}

void *leo_alloc(size_t bytes)
{
    return is_failing() ? NULL : malloc(bytes ? bytes : 1);
}

void *leo_calloc(size_t count, size_t bytes)
{
    if (count == 0 || bytes == 0) {
        count = bytes = 1;
    }
    return is_failing() ? NULL : calloc(count, bytes);
}

void *leo_realloc(void *ptr, size_t bytes)
{
    return is_failing() ? NULL : realloc(ptr, bytes ? bytes : 1);
}

void *leo_aligned_alloc(size_t align, size_t bytes)
{
    void *ptr = NULL;

    if (is_failing() || posix_memalign(&ptr, align, bytes ? bytes : 1) != 0) {
        return NULL;
    }
    return ptr;
}

void leo_free(void *ptr)
{
    free(ptr);
}
