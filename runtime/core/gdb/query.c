/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that ask: what the server can do, threads, files, commands of "monitor". */
#include "parts.h"

#include <leo/isa_enums.h>
#include <leo/map.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull; // for printf

enum { MAX_THREADS = 256 };

/* The text behind `head`, if the packet begins with it. */
static const char *behind(const char *packet, const char *head)
{
    const size_t bytes = strlen(head);
    return strncmp(packet, head, bytes) == 0 ? packet + bytes : NULL;
}

static size_t get_threads(const struct gdb_server *server, struct leo_debug_thread *list)
{
    const size_t count = server->ops ? server->ops->threads(server->chip, list, MAX_THREADS) : 0;
    return count < MAX_THREADS ? count : MAX_THREADS;
}

/* "block 3 vector 1" */
static void name_thread(const struct leo_debug_thread *thread, struct rt_text *text)
{
    rt_text_append(text, "block %u", thread->block);
    if (thread->is_in_group) {
        rt_text_append(text, " %s", leo_core_kind_name((enum leo_core_kind)thread->kind));
        if (thread->kind == LEO_CORE_KIND_VECTOR) {
            rt_text_append(text, " %u", thread->sub_block);
        }
    }
}

void gdb_tell_cores(const struct gdb_server *server, struct rt_text *text)
{
    struct leo_debug_thread list[MAX_THREADS];
    const size_t count = get_threads(server, list);
    rt_text_append(text, "  Thread  CoreId  Type    Block  PC          State\n");
    for (size_t i = 0; i < count; i++) {
        struct leo_debug_registers registers = {0};
        (void)server->ops->registers(server->chip, list[i].id, &registers);
        rt_text_append(text, "%c %6u  %6u  %-6s  %5u  0x%08llx  %s\n",
                       list[i].id == server->stop.thread ? '*' : ' ', list[i].id, list[i].core,
                       leo_core_kind_name((enum leo_core_kind)list[i].kind), list[i].block,
                       registers.pc ? (ull)*registers.pc : 0,
                       list[i].waits ? "waits for another core" : "");
    }
}

static void tell_map(struct rt_text *text)
{
    static const struct {
        const char *name;
        ull first;
    } windows[] = {
        {"UB", LEO_MAP_WINDOWS},
        {"L1", LEO_MAP_WINDOWS + LEO_MAP_WINDOW_BYTES},
        {"L0A", LEO_MAP_WINDOWS + 2 * LEO_MAP_WINDOW_BYTES},
        {"L0B", LEO_MAP_WINDOWS + 3 * LEO_MAP_WINDOW_BYTES},
        {"L0C", LEO_MAP_WINDOWS + 4 * LEO_MAP_WINDOW_BYTES},
    };
    rt_text_append(text, "UB      0x0 too, as kernels name it\n");
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        rt_text_append(text, "%-7s 0x%llx\n", windows[i].name, windows[i].first);
    }
    rt_text_append(text,
                   "code    0x%llx: address in the kernel file + this\n"
                   "stack   below 0x%llx\n"
                   "global  0x%llx and up: addresses of the device\n",
                   (ull)LEO_MAP_IMAGE, (ull)LEO_MAP_PRIVATE_END, (ull)LEO_MAP_GM);
}

static void run_command(struct gdb_server *server, const char *hex)
{
    char command[64] = "", told[GDB_PACKET_BYTES / 2];
    struct rt_text text = {told, sizeof(told), 0};
    const size_t bytes = strlen(hex) / 2;
    if (bytes < sizeof(command)) {
        (void)gdb_hex_bytes(hex, command, bytes);
        command[bytes] = '\0';
    }
    if (strcmp(command, "cores") == 0) {
        gdb_tell_cores(server, &text);
    } else if (strcmp(command, "memory") == 0) {
        tell_map(&text);
    } else {
        rt_text_append(&text,
                       "%smonitor cores   which cores run which blocks\n"
                       "monitor memory  where the memories are\n",
                       strcmp(command, "help") == 0 ? "" : "No such command.\n");
    }
    gdb_hex_put(server->answer, told, text.used);
}

/* The part of `data` that "OFFSET,LENGTH" asks for. */
static void answer_part(struct gdb_server *server, const char *range, const char *data)
{
    const size_t all = strlen(data);
    const size_t from = (size_t)gdb_hex_take(&range);
    range += *range == ',';
    size_t count = (size_t)gdb_hex_take(&range);
    const size_t rest = from < all ? all - from : 0, most = GDB_PACKET_BYTES - 1;
    count = count < most ? count : most;
    const bool is_last = count >= rest;
    count = is_last ? rest : count;
    server->answer[0] = is_last ? 'l' : 'm';
    memcpy(server->answer + 1, data + all - rest, count);
    server->answer[1 + count] = '\0';
}

static void answer_target(struct gdb_server *server, const char *range)
{
    char xml[GDB_PACKET_BYTES];
    struct rt_text text = {xml, sizeof(xml), 0};
    gdb_target_xml(&text);
    answer_part(server, range, xml);
}

static void answer_threads(struct gdb_server *server)
{
    struct leo_debug_thread list[MAX_THREADS];
    const size_t count = get_threads(server, list);
    struct rt_text text = {server->answer, sizeof(server->answer), 0};
    for (size_t i = 0; i < count; i++) {
        rt_text_append(&text, "%c%x", i ? ',' : 'm', list[i].id);
    }
    if (!count) {
        rt_text_append(&text, "l");
    }
}

static void answer_thread_name(struct gdb_server *server, const char *number)
{
    struct leo_debug_thread list[MAX_THREADS];
    char name[128] = "";
    struct rt_text text = {name, sizeof(name), 0};
    const size_t count = get_threads(server, list);
    const uint64_t thread = gdb_hex_take(&number);
    for (size_t i = 0; i < count; i++) {
        if (list[i].id == thread) {
            name_thread(&list[i], &text);
            rt_text_append(&text, ", core %u", list[i].core);
        }
    }
    gdb_hex_put(server->answer, name, text.used);
}

static void answer_features(struct gdb_server *server)
{
    snprintf(server->answer, sizeof(server->answer),
             "PacketSize=%x;QStartNoAckMode+;qXfer:features:read+;vContSupported+%s",
             (unsigned)GDB_PACKET_BYTES - 16, server->file[0] ? ";qXfer:exec-file:read+" : "");
}

void gdb_query(struct gdb_server *server)
{
    const char *packet = server->packet, *rest;
    char *answer = server->answer;
    answer[0] = '\0';
    if (behind(packet, "qSupported")) {
        answer_features(server);
    } else if ((rest = behind(packet, "qXfer:features:read:target.xml:"))) {
        answer_target(server, rest);
    } else if (server->file[0] && (rest = behind(packet, "qXfer:exec-file:read:"))) {
        rest = strchr(rest, ':');
        answer_part(server, rest ? rest + 1 : "0,0", server->file);
    } else if (behind(packet, "qfThreadInfo")) {
        answer_threads(server);
    } else if (behind(packet, "qsThreadInfo")) {
        strcpy(answer, "l");
    } else if ((rest = behind(packet, "qThreadExtraInfo,"))) {
        answer_thread_name(server, rest);
    } else if ((rest = behind(packet, "qRcmd,"))) {
        run_command(server, rest);
    } else if (behind(packet, "qAttached")) {
        strcpy(answer, "0");
    } else if (behind(packet, "qOffsets")) {
        snprintf(answer, 64, "TextSeg=%llx", (ull)LEO_MAP_IMAGE);
    } else if (behind(packet, "qSymbol")) {
        strcpy(answer, "OK");
    } else if (strcmp(packet, "qC") == 0) {
        snprintf(answer, 64, "QC%x", server->stop.thread);
    }
}
