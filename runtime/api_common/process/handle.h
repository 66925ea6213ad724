/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live handles of a vendor face. A handle is an object whose address the user holds: all of them
 * lie in slots of two reserved ranges of addresses, which hold nothing else, so that a stale or
 * foreign pointer is an error and not a crash. Pins keep an object while a call uses it, and
 * families say what ends with what. Finding one takes no lock, and every operation costs the same
 * however many handles are alive.
 *
 * Who uses a handle has it pinned; who ends one first makes it its own (claim or take), which waits
 * for the pins, and frees it last. A thread that waits for pins must hold none of its own on the
 * same handle.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Handles that end with one owner: a context's streams, a module's functions. */
struct api_family {
    struct api_handle *first;
    size_t count;
};

/** First member of every object with a handle. */
struct api_handle {
    /** From the top: kind (0: free, or not added yet), 1 bit: one thread ends it, calls that use
     * it. */
    _Atomic uint64_t state;
    uint64_t serial; /**< tells it from a later one at the same address */
    struct api_family *family;
    void (*end)(void *object); /**< ends one that is the caller's; NULL: it has no family */
    struct api_handle *previous, *next; /**< in its family; next free slot */
};

/** Slots of one size. */
struct api_slots {
    _Atomic uintptr_t base; /**< 0: nothing reserved yet */
    _Atomic size_t used;    /**< slots that ever were in use, from base */
    size_t capacity;
    struct api_handle *free_first, *free_last;
};

enum { API_SLOT_SIZES = 2 };

/** All handles of a face. Zero but for the two initialisers. */
struct api_table {
    pthread_mutex_t lock; /**< protects families, free slots, and all of a handle but its state */
    pthread_cond_t unpinned;
    uint64_t next_serial;
    struct api_slots slots[API_SLOT_SIZES];
};

#define API_TABLE_INITIALIZER                                                                      \
    {.lock = PTHREAD_MUTEX_INITIALIZER, .unpinned = PTHREAD_COND_INITIALIZER}

/** Room for an object, zeroed: it is not found before it is added. NULL: there is none. */
void *api_handle_alloc(struct api_table *table, size_t bytes);
/** Gives back the room of one that was not added. Accepts NULL. */
void api_handle_drop(struct api_table *table, struct api_handle *handle);
/** From here on it is found. `kind` is 1 to 255; `family` may be NULL. */
void api_handle_add(struct api_table *table, struct api_handle *handle, unsigned kind,
                    struct api_family *family);
/** Pins it; NULL for anything that is not a live handle of this kind. */
void *api_handle_find(struct api_table *table, const void *ptr, unsigned kind);
/** Another pin on one that the caller has pinned. */
void api_handle_pin(struct api_handle *handle);
void api_handle_unpin(struct api_table *table, struct api_handle *handle);
/** Gives up the caller's pin and makes the handle the caller's to end; false if it is another
 * thread's already. */
bool api_handle_claim(struct api_table *table, struct api_handle *handle);
/** Any handle of a family, made the caller's to end. NULL: none is left, and none is being ended.
 */
void *api_family_take(struct api_table *table, struct api_family *family);
/** Ends a handle that is the caller's, and gives back its room. */
void api_handle_free(struct api_table *table, struct api_handle *handle);
/** Some handle of a family for which `match` is true, pinned; NULL: none. */
void *api_family_find(struct api_table *table, struct api_family *family,
                      bool (*match)(const void *handle, const void *user), const void *user);
size_t api_family_count(struct api_table *table, const struct api_family *family);
/** Writes up to `capacity` of a family's handles to `found`, pinned. Returns how many. */
size_t api_family_pin(struct api_table *table, const struct api_family *family, void **found,
                      size_t capacity);
