/* SPDX-License-Identifier: Apache-2.0 */
/* The line to gdb: a socket or a pipe, and packets on it as gdb's remote protocol frames them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Most bytes of a packet, without its frame. */
enum { GDB_PACKET_BYTES = 0x4000 };

struct gdb_link {
    int listener; /**< -1: a pipe */
    int in, out;  /**< -1: no debugger is connected */
    int port;
    bool is_quiet; /**< packets are not acknowledged */
    char buffer[4096];
    size_t at, have;
};

/** Opens the line: "-" is standard input and output (what the program prints goes to standard
 * error then), "fd:N" a socket that listens already, else a port of this host, 0 for a free one.
 * False: `error` says what is wrong. */
bool gdb_link_open(struct gdb_link *link, const char *where, char *error, size_t error_bytes);
/** Waits until a gdb connects. */
bool gdb_link_accept(struct gdb_link *link);
/** The program that this one becomes has the line too. */
void gdb_link_keep(const struct gdb_link *link);
/** Hangs up; the listener stays. */
void gdb_link_hang_up(struct gdb_link *link);
void gdb_link_close(struct gdb_link *link);

/** Takes the next packet; -1: gdb is gone; else its bytes, a zero behind them. */
int gdb_link_take(struct gdb_link *link, char packet[GDB_PACKET_BYTES + 1]);
/** Sends a packet; `text` needs no escapes. */
void gdb_link_put(struct gdb_link *link, const char *text);
/** Whether somebody wants to connect; does not wait. */
bool gdb_link_is_called(const struct gdb_link *link);
/** Whether gdb asks to stop, or is gone; does not wait. */
bool gdb_link_is_pressed(struct gdb_link *link);
