/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE // memfd_create
/* The server: answers gdb while cores stand still, and lets them go on. */
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <leo/alloc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Line and state of a server whose process begins again. */
#define LINE_VARIABLE "LEO_GDB_LINE"

static void read_registers(struct gdb_server *server)
{
    char *at = server->answer;
    for (unsigned i = 0; i < gdb_register_count(); i++) {
        (void)gdb_register_read(server, i, at);
        at += strlen(at);
    }
}

/* maddr,length and Maddr,length:bytes */
static void access_memory(struct gdb_server *server, bool write)
{
    uint8_t data[GDB_PACKET_BYTES / 2];
    const char *at = server->packet + 1;
    const uint64_t addr = gdb_hex_take(&at);
    at += *at == ',';
    const uint64_t asked = gdb_hex_take(&at);
    const size_t bytes = asked < sizeof(data) - 16 ? (size_t)asked : sizeof(data) - 16;
    if (write && (*at != ':' || !gdb_hex_bytes(at + 1, data, bytes))) {
        strcpy(server->answer, "E01");
        return;
    }
    const size_t done =
        server->ops ? server->ops->memory(server->chip, server->thread, addr, data, bytes, write)
                    : 0;
    if (write ? done != bytes : done == 0 && bytes) {
        strcpy(server->answer, "E14");
    } else if (write) {
        strcpy(server->answer, "OK");
    } else {
        gdb_hex_put(server->answer, data, done);
    }
}

/* Z0,addr,kind and z0,addr,kind; 1, a breakpoint of hardware, is the same here. */
static void set_breakpoint(struct gdb_server *server)
{
    const char *at = server->packet + 3;
    if ((server->packet[1] != '0' && server->packet[1] != '1') || !server->ops) {
        server->answer[0] = '\0';
        return;
    }
    const bool good = server->ops->mark(server->chip, gdb_hex_take(&at), server->packet[0] == 'Z');
    strcpy(server->answer, good ? "OK" : "E0e");
}

/* Hg3, Hc-1 */
static void choose_thread(struct gdb_server *server)
{
    const char *at = server->packet + 2;
    const uint64_t thread = *at == '-' ? 0 : gdb_hex_take(&at);
    if (server->packet[1] == 'g') {
        server->thread = thread ? (uint32_t)thread : server->stop.thread;
    }
    strcpy(server->answer, "OK");
}

static void answer_alive(struct gdb_server *server)
{
    struct leo_debug_registers registers;
    const char *at = server->packet + 1;
    const bool is_alive = server->ops && server->ops->registers(
                                             server->chip, (uint32_t)gdb_hex_take(&at), &registers);
    strcpy(server->answer, is_alive ? "OK" : "E03");
}

static void register_packet(struct gdb_server *server)
{
    const char *at = server->packet + 1;
    const unsigned number = (unsigned)gdb_hex_take(&at);
    if (server->packet[0] == 'p') {
        if (!gdb_register_read(server, number, server->answer)) {
            strcpy(server->answer, "E01");
        }
    } else {
        const bool good = *at == '=' && gdb_register_write(server, number, at + 1);
        strcpy(server->answer, good ? "OK" : "E01");
    }
}

/* One action of vCont: "s:1", "c", "r100,108:2". */
static bool move_by(struct gdb_server *server, const char *action)
{
    uint64_t low = 0, high = 0;
    uint32_t thread = LEO_DEBUG_ALL;
    const char kind = *action++;
    if (kind == 'C' || kind == 'S') {
        (void)gdb_hex_take(&action); // the signal: kernels know none
    } else if (kind == 'r') {
        low = gdb_hex_take(&action);
        action += *action == ',';
        high = gdb_hex_take(&action);
    } else if (kind != 'c' && kind != 's') {
        return false;
    }
    if (*action == ':' && action[1] != '-') {
        action++;
        thread = (uint32_t)gdb_hex_take(&action);
    }
    server->ops->move(server->chip, thread,
                      kind == 'c' || kind == 'C' ? LEO_DEBUG_GO : LEO_DEBUG_RANGE, low, high);
    return true;
}

/* Of several actions the first that fits a thread counts: they are carried out from the last on. A
 * thread that none fits stands still. */
static bool move_all(struct gdb_server *server, char *actions)
{
    server->ops->move(server->chip, LEO_DEBUG_ALL, LEO_DEBUG_HOLD, 0, 0);
    for (char *last; (last = strrchr(actions, ';')); *last = '\0') {
        if (!move_by(server, last + 1)) {
            return false;
        }
    }
    return true;
}

static enum gdb_next resume(struct gdb_server *server)
{
    char *packet = server->packet;
    if (strcmp(packet, "vCont?") == 0) {
        strcpy(server->answer, "vCont;c;C;s;S;r");
        return GDB_ANSWERED;
    }
    if (!server->ops) {
        strcpy(server->answer, server->reason);
        return GDB_ANSWERED;
    }
    char actions[64];
    snprintf(actions, sizeof(actions), packet[0] == 's' ? ";s:%x;c" : ";c", server->stop.thread);
    const bool good = move_all(server, packet[0] == 'v' ? packet + 5 : actions);
    strcpy(server->answer, "E01");
    return good ? GDB_RESUME : GDB_ANSWERED;
}

static bool begins(const char *packet, const char *head)
{
    return strncmp(packet, head, strlen(head)) == 0;
}

static enum gdb_next answer_v(struct gdb_server *server)
{
    const char *packet = server->packet;
    if (begins(packet, "vCont")) {
        return resume(server);
    }
    if (begins(packet, "vRun")) {
        return GDB_RESTART;
    }
    if (begins(packet, "vKill")) {
        strcpy(server->answer, "OK");
        return GDB_KILL;
    }
    server->answer[0] = '\0';
    return GDB_ANSWERED;
}

static void answer_q(struct gdb_server *server)
{
    if (strcmp(server->packet, "QStartNoAckMode") == 0) {
        strcpy(server->answer, "OK");
        server->wants_quiet = true; // this answer is acknowledged yet
    }
}

static enum gdb_next carry_out(struct gdb_server *server)
{
    char *answer = server->answer;
    strcpy(answer, "");
    switch (server->packet[0]) {
    case '?':
        strcpy(answer, server->reason);
        return GDB_ANSWERED;
    case '!':
        server->is_extended = true;
        strcpy(answer, "OK");
        return GDB_ANSWERED;
    case 'g':
        read_registers(server);
        return GDB_ANSWERED;
    case 'p':
    case 'P':
        register_packet(server);
        return GDB_ANSWERED;
    case 'm':
    case 'M':
        access_memory(server, server->packet[0] == 'M');
        return GDB_ANSWERED;
    case 'Z':
    case 'z':
        set_breakpoint(server);
        return GDB_ANSWERED;
    case 'H':
        choose_thread(server);
        return GDB_ANSWERED;
    case 'T':
        answer_alive(server);
        return GDB_ANSWERED;
    case 'Q':
        answer_q(server);
        return GDB_ANSWERED;
    case 'q':
        gdb_query(server);
        return GDB_ANSWERED;
    case 'v':
        return answer_v(server);
    case 'c':
    case 's':
        return resume(server);
    case 'k':
        return GDB_KILL;
    case 'D':
        strcpy(answer, "OK");
        return GDB_DETACH;
    case 'R':
        return GDB_RESTART;
    default:
        return GDB_ANSWERED;
    }
}

/* gdb is gone, or does not want to know more: cores go on without it. */
static void let_go(struct gdb_server *server, bool was_asked)
{
    if (server->is_killed) {
        _exit(1);
    }
    if (!was_asked && !server->is_ended) {
        fprintf(stderr, "gdb server: the connection has ended; the kernel runs on without gdb\n");
    }
    gdb_link_hang_up(&server->link);
    server->wants_quiet = false;
    if (server->ops) {
        server->ops->forget(server->chip);
    }
}

/* The same program from its beginning, with the same gdb: what it does is the same again. */
static void restart(const struct gdb_server *server)
{
    char words[65536], state[128], *argv[1024] = {NULL};
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const ssize_t bytes = fd >= 0 ? read(fd, words, sizeof(words) - 1) : -1;
    size_t count = 0;
    if (bytes > 0 && bytes < (ssize_t)sizeof(words) - 1) { // else some are missing
        words[bytes] = '\0';
        for (char *word = words; word < words + bytes && count < 1023; word += strlen(word) + 1) {
            argv[count++] = word;
        }
        const struct gdb_link *link = &server->link;
        snprintf(state, sizeof(state), "%d,%d,%d,%d,%d,%d", link->listener, link->in, link->out,
                 link->port, link->is_quiet, server->is_extended);
        setenv(LINE_VARIABLE, state, 1);
        gdb_link_keep(link);
        fflush(stdout);
        execv("/proc/self/exe", argv);
    }
    fprintf(stderr, "gdb server: cannot start the program again: %s\n", strerror(errno));
    _exit(1);
}

/* The run is given up; an extended connection may want another one. */
static void kill_program(struct gdb_server *server)
{
    if (!server->is_extended) {
        fprintf(stderr, "gdb server: the program was killed by gdb\n");
        fflush(stdout);
        _exit(1);
    }
    server->ops = NULL;
    server->is_killed = true;
    strcpy(server->reason, "X09");
}

/* Answers packets until cores are to go on. */
static void serve(struct gdb_server *server)
{
    for (;;) {
        if (gdb_link_take(&server->link, server->packet) < 0) {
            let_go(server, false);
            return;
        }
        const enum gdb_next next = carry_out(server);
        if (next == GDB_RESUME) {
            return;
        }
        if (next == GDB_RESTART) {
            restart(server);
        }
        gdb_link_put(&server->link, server->answer);
        server->link.is_quiet = server->link.is_quiet || server->wants_quiet;
        if (next == GDB_DETACH || (next == GDB_KILL && server->is_ended)) {
            let_go(server, true);
            return;
        }
        if (next == GDB_KILL) {
            kill_program(server);
        }
    }
}

static bool wait_for_gdb(struct gdb_server *server)
{
    if (!gdb_link_is_called(&server->link)) {
        fprintf(stderr, "gdb server: waiting for gdb on port %d (leo gdb --port %d)\n",
                server->link.port, server->link.port);
    }
    return gdb_link_accept(&server->link);
}

static void take_stop(void *user, const struct leo_debug_ops *ops, struct leo_debug_chip *chip,
                      const struct leo_debug_stop *stop)
{
    struct gdb_server *server = user;
    if (server->link.in < 0 && (!server->is_awaited || !wait_for_gdb(server))) {
        return;
    }
    server->ops = ops;
    server->chip = chip;
    server->stop = *stop;
    server->thread = stop->thread;
    gdb_tell_stop(server);
    if (!server->is_awaited) {
        gdb_link_put(&server->link, server->reason);
    }
    server->is_awaited = server->was_pressed = false; // a new gdb asks for the reason
    server->has_begun = true;
    serve(server);
    server->ops = NULL;
}

static bool wants_image(void *user, uint64_t image_addr)
{
    const struct gdb_server *server = user;
    return server->image_addr == image_addr;
}

static bool look_for_interrupt(void *user)
{
    struct gdb_server *server = user;
    if (server->link.in >= 0) {
        server->was_pressed = gdb_link_is_pressed(&server->link);
        return server->was_pressed;
    }
    // After a detach another one may connect.
    server->is_awaited = !server->has_begun || gdb_link_is_called(&server->link);
    return server->has_begun && server->is_awaited;
}

/* Of a program that begins again. */
static bool adopt_line(struct gdb_server *server)
{
    const char *state = getenv(LINE_VARIABLE);
    int quiet, extended;
    struct gdb_link *link = &server->link;
    if (!state || sscanf(state, "%d,%d,%d,%d,%d,%d", &link->listener, &link->in, &link->out,
                         &link->port, &quiet, &extended) != 6) {
        return false;
    }
    unsetenv(LINE_VARIABLE);
    link->is_quiet = quiet;
    server->is_extended = extended;
    server->is_awaited = false; // its run has asked
    return true;
}

leo_status gdb_server_create(const char *where, struct gdb_server **out, char *error,
                             size_t error_bytes)
{
    struct gdb_server *server = leo_calloc(1, sizeof(*server));
    *out = server;
    if (!server) {
        snprintf(error, error_bytes, "out of host memory");
        return LEO_ERR_NO_MEMORY;
    }
    server->debugger = (struct leo_debugger){
        .user = server,
        .stopped = take_stop,
        .wants = wants_image,
        .interrupted = look_for_interrupt,
    };
    server->is_awaited = true;
    if (adopt_line(server)) {
        return LEO_OK;
    }
    if (!gdb_link_open(&server->link, where, error, error_bytes)) {
        leo_free(server);
        *out = NULL;
        return LEO_ERR_INVALID_ARG;
    }
    return LEO_OK;
}

const struct leo_debugger *gdb_server_debugger(const struct gdb_server *server)
{
    return &server->debugger;
}

/* A file that has no name: gdb finds it as one of this process. */
static int copy_file(const void *elf, size_t bytes, char path[PATH_MAX])
{
    const int fd = memfd_create("kernel.elf", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, elf, bytes) != (ssize_t)bytes) {
        close(fd);
        return -1;
    }
    snprintf(path, PATH_MAX, "/proc/%d/fd/%d", (int)getpid(), fd);
    return fd;
}

void gdb_server_offer(struct gdb_server *server, const char *path, const void *elf, size_t bytes,
                      uint64_t image_addr)
{
    char full[PATH_MAX];
    if (server->image_addr) {
        return;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fd = copy_file(elf, bytes, full);
    } else if (!realpath(path, full)) {
        full[0] = '\0';
    }
    server->image_addr = image_addr;
    if (fd < 0 || strlen(full) >= sizeof(server->file)) {
        return; // without the file gdb shows no source
    }
    server->lines.elf = elf_begin(fd, ELF_C_READ, NULL);
    strcpy(server->file, full);
    server->file_fd = fd;
}

void gdb_server_destroy(struct gdb_server *server, bool good)
{
    if (!server) {
        return;
    }
    if (server->link.in >= 0 && server->has_begun) {
        server->is_ended = true;
        snprintf(server->reason, sizeof(server->reason), "W%02x", good ? 0u : 1u);
        gdb_link_put(&server->link, server->reason);
        if (server->is_extended) {
            serve(server);
        }
    }
    gdb_link_close(&server->link);
    if (server->file[0]) {
        dwarf_end(server->lines.dwarf);
        elf_end(server->lines.elf);
        close(server->file_fd);
    }
    leo_free(server);
}
