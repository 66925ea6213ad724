/* SPDX-License-Identifier: Apache-2.0 */
/* A server of gdb's remote protocol for the kernels of a simulated device (docs/debugger.md). */
#pragma once

#include <leo/debug.h>
#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>

struct gdb_server;

/** Opens a server at `where` (gdb_link_open). Fails with a text in `error`. */
leo_status gdb_server_create(const char *where, struct gdb_server **server, char *error,
                             size_t error_bytes);
/** What the chip is to call. */
const struct leo_debugger *gdb_server_debugger(const struct gdb_server *server);
/** A kernel file that was loaded, with the device address of its image: the first one is debugged.
 * gdb gets it from `path`, or a copy if it does not lie there. */
void gdb_server_offer(struct gdb_server *server, const char *path, const void *elf, size_t bytes,
                      uint64_t image_addr);
/** All has ended, `good` or with a fault: tells gdb, which may ask for a new run. Frees the
 * server. */
void gdb_server_destroy(struct gdb_server *server, bool good);
