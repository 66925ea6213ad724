/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the server share. */
#pragma once

#include "../fault/fault.h"
#include "gdb.h"
#include "link.h"

#include <stdint.h>

struct gdb_server {
    struct gdb_link link;
    struct leo_debugger debugger;
    char file[4096]; /**< of the kernel, absolute; empty: not known */
    bool is_extended;
    bool was_pressed; /**< gdb asked to stop */
    bool is_awaited;  /**< a gdb that has not connected yet: it asks why all stands still */
    bool has_begun;   /**< one has connected */
    bool is_killed;   /**< the run is given up; another one may be asked for */
    bool wants_quiet; /**< packets are not to be acknowledged from now on */
    bool is_ended;    /**< nothing will run */
    int file_fd;
    uint64_t image_addr; /**< of the file on the device; 0: no kernel is debugged yet */
    /* While everything stands still. */
    const struct leo_debug_ops *ops; /**< NULL: cores run */
    struct leo_debug_chip *chip;
    struct leo_debug_stop stop;
    uint32_t thread;       /**< whose registers and memory are asked for */
    struct rt_image lines; /**< of the file; elf NULL: none */
    char reason[512];      /**< the answer that reported the stop */
    char packet[GDB_PACKET_BYTES + 1], answer[GDB_PACKET_BYTES + 1];
};

/** What becomes of a packet. */
enum gdb_next {
    GDB_ANSWERED, /**< the answer is in server->answer */
    GDB_RESUME,   /**< cores go on; the next stop is the answer */
    GDB_KILL,
    GDB_DETACH,
    GDB_RESTART
};

/** Registers by gdb's numbers: 0 to 31 and pc, 33 to 64 the floats, then fcsr, then the special
 * ones of the NPU. */
enum { GDB_REG_PC = 32, GDB_REG_F = 33, GDB_REG_FCSR = 65, GDB_REG_SPECIAL = 66 };

/* registers.c */
/** The description gdb asks for. */
void gdb_target_xml(struct rt_text *text);
/** Appends the value as hexadecimal bytes, "xx.." if there is none. False: no such register. */
bool gdb_register_read(struct gdb_server *server, unsigned number, char *out);
bool gdb_register_write(struct gdb_server *server, unsigned number, const char *hex);
unsigned gdb_register_count(void);

/* query.c: packets that begin with q. */
void gdb_query(struct gdb_server *server);
/** Threads as a table, for monitor and messages. */
void gdb_tell_cores(const struct gdb_server *server, struct rt_text *text);

/* stop.c */
/** Says what happened on gdb's console, and leaves the answer that tells of it in reason. */
void gdb_tell_stop(struct gdb_server *server);

/* hex.c */
/** The value of hexadecimal digits, *text moved behind them. */
uint64_t gdb_hex_take(const char **text);
/** Appends bytes as hexadecimal digits and a zero; the end. */
char *gdb_hex_put(char *out, const void *bytes, size_t count);
/** Reads `count` bytes; false: there are fewer. */
bool gdb_hex_bytes(const char *text, void *bytes, size_t count);
