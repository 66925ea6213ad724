/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel arguments from the command line: buffers, numbers, structures. */
#pragma once

#include "file.h"
#include <leo/runtime.h>

#define RUN_ARGS_MAX 64

/** One --arg: what the user wrote, and what came of it. */
struct run_arg {
    const char *spec;
    const char *output;        /**< File that receives the buffer, or NULL. */
    struct file_bytes content; /**< A buffer's or structure's bytes on the host. */
    uint64_t addr;             /**< A buffer's device address. */
    unsigned char value[16];   /**< A number's bytes. */
    bool is_buffer;
};

/** The forms of --arg, for the help text. */
extern const char run_arg_help[];

/** Reads what the specs say, by the kernel's note. Tells mistakes on stderr; the result is the exit
 * code. */
int run_args_parse(struct run_arg *args, unsigned count, const struct leo_rt_kernel *kernel);
/** Makes the device buffers and fills them. */
leo_status run_args_upload(struct run_arg *args, unsigned count, struct leo_rt_device *device);
/** Fills the buffers again as upload did. */
leo_status run_args_refill(struct run_arg *args, unsigned count, struct leo_rt_device *device);
/** Tells which bytes of `out:` buffers the kernel did not write, where the chip keeps track of it.
 */
leo_status run_args_tell_unwritten(const struct run_arg *args, unsigned count,
                                   struct leo_rt_device *device);
/** Reads the buffers back. */
leo_status run_args_download(struct run_arg *args, unsigned count, struct leo_rt_device *device);
/** Writes the output files. Returns false, with a message, if one cannot be written. */
bool run_args_write(const struct run_arg *args, unsigned count);
/** Pointers to the values, as leo_rt_launch takes them. */
void run_args_values(struct run_arg *args, unsigned count, const void **values);
void run_args_finish(struct run_arg *args, unsigned count);
