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
struct front_family {
    struct front_handle *first;
    size_t count;
};

/** First member of every object with a handle. */
struct front_handle {
    /** From the top: kind (0: free, or not added yet), 1 bit: one thread ends it, calls that use
     * it. */
    _Atomic uint64_t state;
    uint64_t serial; /**< tells it from a later one at the same address */
    struct front_family *family;
    struct front_handle *previous, *next; /**< in its family; next free slot */
};

/** Slots of one size. */
struct front_slots {
    _Atomic uintptr_t base; /**< 0: nothing reserved yet */
    _Atomic size_t used;    /**< slots that ever were in use, from base */
    size_t capacity;
    struct front_handle *free_first, *free_last;
};

enum { FRONT_SLOT_SIZES = 2 };

/** All handles of a face. Zero but for the two initialisers. */
struct front_table {
    pthread_mutex_t lock; /**< protects families, free slots, and all of a handle but its state */
    pthread_cond_t unpinned;
    uint64_t next_serial;
    struct front_slots slots[FRONT_SLOT_SIZES];
};

#define FRONT_TABLE_INITIALIZER                                                                    \
    {.lock = PTHREAD_MUTEX_INITIALIZER, .unpinned = PTHREAD_COND_INITIALIZER}

/** Room for an object, zeroed: nobody finds it before it is added. NULL: there is none. */
void *front_handle_alloc(struct front_table *table, size_t bytes);
/** Gives back the room of one that was not added. Accepts NULL. */
void front_handle_drop(struct front_table *table, struct front_handle *handle);
/** From here on it is found. `kind` is 1 to 255; `family` may be NULL. */
void front_handle_add(struct front_table *table, struct front_handle *handle, unsigned kind,
                      struct front_family *family);
/** Pins it; NULL for anything that is not a live handle of this kind. */
void *front_handle_find(struct front_table *table, const void *ptr, unsigned kind);
/** Another pin on one that the caller has pinned. */
void front_handle_pin(struct front_handle *handle);
void front_handle_unpin(struct front_table *table, struct front_handle *handle);
/** Gives up the caller's pin and makes the handle the caller's to end; false if it is another
 * thread's already. */
bool front_handle_claim(struct front_table *table, struct front_handle *handle);
/** Any handle of a family, made the caller's to end. NULL: none is left, and none is being ended.
 */
void *front_family_take(struct front_table *table, struct front_family *family);
/** Ends a handle that is the caller's, and gives back its room. */
void front_handle_free(struct front_table *table, struct front_handle *handle);
/** Some handle of a family for which `match` is true, pinned; NULL: none. */
void *front_family_find(struct front_table *table, struct front_family *family,
                        bool (*match)(const void *handle, const void *user), const void *user);
size_t front_family_count(struct front_table *table, const struct front_family *family);
/** Writes up to `capacity` of a family's handles to `found`, pinned. Returns how many. */
size_t front_family_pin(struct front_table *table, const struct front_family *family, void **found,
                        size_t capacity);
