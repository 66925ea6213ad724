/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live handles of a vendor face. A handle is an object whose address the user holds: a table of all
 * addresses makes a stale or foreign pointer an error and not a crash, pins keep an object while a
 * call uses it, and families say what ends with what. Every operation costs the same however many
 * handles are alive.
 *
 * Who uses a handle has it pinned; who ends one first makes it its own (claim or take), which waits
 * for the pins, and removes it last. A thread that waits for pins must hold none of its own on the
 * same handle.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRONT_FIRST_BUCKETS = 256 };

/** Handles that end with one owner: a context's streams, a module's functions. */
struct front_family {
    struct front_handle *first;
    size_t count;
};

/** First member of every object with a handle. */
struct front_handle {
    int kind;                   /**< the face's */
    _Atomic uint32_t state;     /**< calls that use it; top bit: one thread ends it */
    uint64_t serial;            /**< tells it from a later one at the same address */
    struct front_handle *chain; /**< next in its bucket */
    struct front_family *family;
    struct front_handle *previous, *next; /**< in its family */
};

/** All handles of a face. Zero but for the two initialisers. */
struct front_table {
    pthread_mutex_t lock; /**< protects the rest, families, and all of a handle but its state */
    pthread_cond_t unpinned;
    struct front_handle **bucket; /**< NULL: the first ones below */
    size_t bucket_count, count;
    uint64_t next_serial;
    struct front_handle *first_bucket[FRONT_FIRST_BUCKETS];
};

#define FRONT_TABLE_INITIALIZER                                                                    \
    {.lock = PTHREAD_MUTEX_INITIALIZER, .unpinned = PTHREAD_COND_INITIALIZER}

/** `family` may be NULL. */
void front_handle_add(struct front_table *table, struct front_handle *handle, int kind,
                      struct front_family *family);
/** Pins it; NULL for anything that is not a live handle of this kind. */
void *front_handle_find(struct front_table *table, const void *ptr, int kind);
/** Another pin on one that the caller has pinned. */
void front_handle_pin(struct front_handle *handle);
void front_handle_unpin(struct front_table *table, struct front_handle *handle);
/** Gives up the caller's pin and makes the handle the caller's to end; false if it is another
 * thread's already. */
bool front_handle_claim(struct front_table *table, struct front_handle *handle);
/** Any handle of a family, made the caller's to end. NULL: none is left, and none is being ended.
 */
void *front_family_take(struct front_table *table, struct front_family *family);
/** Takes out a handle that is the caller's. */
void front_handle_remove(struct front_table *table, struct front_handle *handle);
/** Some handle of a family for which `match` is true, pinned; NULL: none. */
void *front_family_find(struct front_table *table, struct front_family *family,
                        bool (*match)(const void *handle, const void *user), const void *user);
size_t front_family_count(struct front_table *table, const struct front_family *family);
/** Writes up to `capacity` of a family's handles to `found`, pinned. Returns how many. */
size_t front_family_pin(struct front_table *table, const struct front_family *family, void **found,
                        size_t capacity);
