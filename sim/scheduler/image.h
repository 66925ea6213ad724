/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel images in device memory, checked and decoded once. */
#pragma once

#include <leo/faults.h>
#include <leo/layout.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_scheduler;
struct sim_decoded;

struct sim_image {
    uint64_t addr;
    uint16_t space;
    struct leo_image_desc desc;
    struct sim_decoded *decoded;
    struct leo_image_array *array; /**< copies; NULL = none */
    size_t arrays;
    unsigned users;   /**< tasks that run it */
    bool stale;       /**< its memory changed: not given out again */
    uint64_t used_at; /**< for choosing which to drop */
};

struct sim_image_cache {
    struct sim_image **image;
    size_t count, capacity;
    struct sim_image *last;
    uint64_t uses;
};

/** The image at `addr`, decoded; to be released. NULL: `fault` says why. */
struct sim_image *sim_image_take(struct sim_scheduler *scheduler, uint16_t space, uint64_t addr,
                                 enum leo_fault *fault);
void sim_image_release(struct sim_image *image);
/** The bytes changed or went away. */
void sim_image_drop(struct sim_scheduler *scheduler, uint64_t addr, uint64_t bytes);
void sim_image_finish(struct sim_scheduler *scheduler);
