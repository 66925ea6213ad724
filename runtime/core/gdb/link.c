/* SPDX-License-Identifier: Apache-2.0 */
#include "link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { INTERRUPT = 3, MAX_PORT = 65535 };

static bool refuse(char *error, size_t bytes, const char *where, const char *why)
{
    snprintf(error, bytes, "gdb's port %s: %s", where, why);
    return false;
}

/* Packets leave through standard output: what else is printed must not meet them. */
static bool open_pipe(struct gdb_link *link, char *error, size_t error_bytes)
{
    link->in = STDIN_FILENO;
    link->out = dup(STDOUT_FILENO);
    if (link->out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        return refuse(error, error_bytes, "-", strerror(errno));
    }
    return true;
}

/* Listens on a port of this host; -1: errno says why not. */
static int listen_on(unsigned long port)
{
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 4) == 0) {
        return fd;
    }
    const int why = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = why;
    return -1;
}

bool gdb_link_open(struct gdb_link *link, const char *where, char *error, size_t error_bytes)
{
    *link = (struct gdb_link){.listener = -1, .in = -1, .out = -1};
    if (strcmp(where, "-") == 0) {
        return open_pipe(link, error, error_bytes);
    }
    const bool is_open = strncmp(where, "fd:", 3) == 0;
    const char *digits = is_open ? where + 3 : where + (*where == ':');
    char *end;
    const unsigned long number = strtoul(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end || number > MAX_PORT) {
        return refuse(error, error_bytes, where,
                      "a number from 0 (a free port) to 65535 is wanted, or - for a pipe");
    }
    struct sockaddr_in at;
    socklen_t bytes = sizeof(at);
    link->listener = is_open ? (int)number : listen_on(number);
    if (link->listener < 0 || fcntl(link->listener, F_SETFD, FD_CLOEXEC) < 0 ||
        getsockname(link->listener, (struct sockaddr *)&at, &bytes) < 0) {
        return refuse(error, error_bytes, where,
                      errno == EADDRINUSE ? "somebody listens there already; take another number, "
                                            "or 0 for a free one"
                                          : strerror(errno));
    }
    link->port = ntohs(at.sin_port);
    return true;
}

void gdb_link_keep(const struct gdb_link *link)
{
    const int fds[] = {link->listener, link->in, link->out};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] >= 0) {
            (void)fcntl(fds[i], F_SETFD, 0);
        }
    }
}

bool gdb_link_accept(struct gdb_link *link)
{
    const int on = 1;
    while (link->in < 0 && link->listener >= 0) {
        link->in = accept(link->listener, NULL, NULL);
        if (link->in < 0 && errno != EINTR) {
            return false;
        }
    }
    if (link->listener >= 0) {
        link->out = link->in;
        (void)fcntl(link->in, F_SETFD, FD_CLOEXEC);
        (void)setsockopt(link->in, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    return link->in >= 0;
}

void gdb_link_hang_up(struct gdb_link *link)
{
    if (link->in >= 0) {
        close(link->in);
    }
    if (link->out >= 0 && link->out != link->in) {
        close(link->out);
    }
    link->in = link->out = -1;
    link->at = link->have = 0;
    link->is_quiet = false;
}

void gdb_link_close(struct gdb_link *link)
{
    gdb_link_hang_up(link);
    if (link->listener >= 0) {
        close(link->listener);
        link->listener = -1;
    }
}

/* One debugger at a time: another one is told so by the end of its connection. */
static void turn_away(const struct gdb_link *link)
{
    const int other = accept(link->listener, NULL, NULL);
    if (other >= 0) {
        fprintf(stderr, "gdb server: a second debugger was turned away: one is connected\n");
        close(other);
    }
}

/* Waits for bytes of gdb's; false: none within so many ms (-1: for ever). */
static bool wait_for_bytes(const struct gdb_link *link, int timeout_ms)
{
    struct pollfd fds[] = {{.fd = link->in, .events = POLLIN},
                           {.fd = link->listener, .events = POLLIN}};
    for (;;) {
        const int count = poll(fds, 2, timeout_ms);
        if (count == 0 || (count < 0 && errno != EINTR)) {
            return false;
        }
        if (count > 0 && fds[1].revents & POLLIN) {
            turn_away(link);
        }
        if (count > 0 && fds[0].revents) {
            return true;
        }
    }
}

static int take_byte(struct gdb_link *link)
{
    if (link->at == link->have) {
        ssize_t got = -1;
        while (link->in >= 0 && wait_for_bytes(link, -1) &&
               (got = read(link->in, link->buffer, sizeof(link->buffer))) < 0 && errno == EINTR) {
        }
        if (got <= 0) {
            return -1;
        }
        link->at = 0;
        link->have = (size_t)got;
    }
    return (unsigned char)link->buffer[link->at++];
}

static void send_bytes(struct gdb_link *link, const char *bytes, size_t count)
{
    while (count > 0 && link->out >= 0) {
        const ssize_t sent = link->listener >= 0 ? send(link->out, bytes, count, MSG_NOSIGNAL)
                                                 : write(link->out, bytes, count);
        if (sent < 0 && errno != EINTR) {
            return; // the next read finds the end
        }
        bytes += sent > 0 ? sent : 0;
        count -= sent > 0 ? (size_t)sent : 0;
    }
}

static int value_of(int digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

/* The bytes up to '#' and whether the sum behind it is theirs; -1: gdb is gone. */
static int take_frame(struct gdb_link *link, char *packet, bool *is_sound)
{
    unsigned sum = 0;
    int count = 0, byte;
    while ((byte = take_byte(link)) != '#') {
        if (byte < 0) {
            return -1;
        }
        sum += (unsigned)byte;
        if (count < GDB_PACKET_BYTES) {
            packet[count++] = (char)byte;
        }
    }
    const int high = value_of(take_byte(link)), low = value_of(take_byte(link));
    packet[count] = '\0';
    *is_sound = high >= 0 && low >= 0 && (unsigned)(high << 4 | low) == (sum & 0xff);
    return count;
}

int gdb_link_take(struct gdb_link *link, char packet[GDB_PACKET_BYTES + 1])
{
    for (;;) {
        const int byte = take_byte(link);
        if (byte < 0) {
            return -1;
        }
        if (byte != '$') {
            continue; // an acknowledgement, or a stop that came when all stood still
        }
        bool is_sound = false;
        const int count = take_frame(link, packet, &is_sound);
        if (count < 0) {
            return -1;
        }
        if (!link->is_quiet) {
            send_bytes(link, is_sound ? "+" : "-", 1);
        }
        if (is_sound || link->is_quiet) {
            return count;
        }
    }
}

void gdb_link_put(struct gdb_link *link, const char *text)
{
    unsigned sum = 0;
    for (const char *c = text; *c; c++) {
        sum += (unsigned char)*c;
    }
    char tail[4];
    snprintf(tail, sizeof(tail), "#%02x", sum & 0xff);
    send_bytes(link, "$", 1);
    send_bytes(link, text, strlen(text));
    send_bytes(link, tail, 3);
}

bool gdb_link_is_called(const struct gdb_link *link)
{
    struct pollfd fd = {.fd = link->listener, .events = POLLIN};
    return link->listener >= 0 && poll(&fd, 1, 0) > 0;
}

bool gdb_link_is_pressed(struct gdb_link *link)
{
    while (link->at < link->have || wait_for_bytes(link, 0)) {
        const int byte = take_byte(link);
        if (byte < 0 || byte == INTERRUPT) {
            return true;
        }
    }
    return false;
}
