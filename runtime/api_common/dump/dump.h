/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors of operators, written to files while the switch is on. A file is the length of a header
 * (8 bytes), the header (a protocol buffer, dump_file.c), then the bytes of the inputs and of the
 * outputs in its order.
 */
#pragma once

#include <leo/status.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { API_DUMP_RANK = 25, API_DUMP_PATH = 4096, API_DUMP_CHUNK = 1 << 20 };
enum { API_DUMP_INPUTS = 1, API_DUMP_OUTPUTS = 2, API_DUMP_OPERATORS = 4, API_DUMP_MODELS = 8 };

/** A tensor as its file describes it: numbers of types and formats are the file's. */
struct api_dump_tensor {
    uint64_t addr; /**< of the first element */
    bool on_host, is_output;
    uint32_t type, format, unit; /**< bytes of an element */
    unsigned rank;
    int64_t dim[API_DUMP_RANK], stride[API_DUMP_RANK]; /**< in elements */
};

/** Takes a piece of a file that is not written: `last` ends the file. Other than 0 is a failure. */
typedef int (*api_dump_fn)(void *user, const char *path, const void *bytes, uint32_t count,
                           int64_t offset, bool last);

/** The process's switch. `lock` protects the rest. */
struct api_dump_switch {
    pthread_mutex_t lock;
    atomic_uint what; /**< API_DUMP_*; 0: off */
    char root[API_DUMP_PATH];
    char begun[24]; /**< when it was switched on, the folder's name */
    uint64_t files;
    api_dump_fn take; /**< instead of files */
    void *user;
};

/** An operator call that is being dumped. */
struct api_dump;

/** Files go below `root`, which is there. */
leo_status api_dump_start(const char *root, unsigned what);
void api_dump_stop(void);
/** Pieces go to `take` from now on; NULL: to files again. */
void api_dump_redirect(api_dump_fn take, void *user);
/** Copies the folder's name; false: the switch is off. */
bool api_dump_root(char root[API_DUMP_PATH]);

/** What a file is called: <folder>/<type>.<node>... below the device's folder. */
struct api_dump_name {
    const char *type;
    const char *node;   /**< NULL: `type` again */
    const char *folder; /**< "" or NULL: none */
};

/**
 * Before an operator: waits for the stream and keeps the inputs. NULL if the switch is off or the
 * stream is being captured. `tensors` and texts are copied.
 */
leo_status api_dump_begin(const struct api_dump_name *name, const void *stream,
                          const struct api_dump_tensor *tensors, size_t count,
                          struct api_dump **dump);
/** After it: waits, keeps the outputs, and writes the file. NULL does nothing. */
leo_status api_dump_end(struct api_dump *dump);
/** Lets a call go that failed. */
void api_dump_drop(struct api_dump *dump);
/** Makes and names the folder of what a program writes of a failure, for the current device. */
leo_status api_dump_place(char *path, size_t room);
/** Writes tensors as they are, to a file of this name. */
leo_status api_dump_write(const char *path, const char *name, const struct api_dump_tensor *tensors,
                          size_t count);

/* dump_file.c */
/** One tensor's values, without gaps. */
struct api_dump_values {
    struct api_dump_tensor tensor;
    uint8_t *bytes; /**< owned; NULL: not dumped */
    uint64_t count;
};
/** Gives every piece of the file to `take`. */
leo_status api_dump_encode(const char *name, uint64_t time_us, const struct api_dump_values *values,
                           size_t count, const char *path, api_dump_fn take, void *user);
