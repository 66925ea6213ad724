/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a stop: a sentence on gdb's console, and the answer gdb itself reads. */
#include "parts.h"

#include <leo/faults.h>
#include <leo/isa_enums.h>
#include <leo/map.h>
#include <string.h>

typedef unsigned long long ull; // for printf

/* Numbers of signals as gdb's protocol has them. */
enum { SIGNAL_INT = 2, SIGNAL_ILL = 4, SIGNAL_TRAP = 5, SIGNAL_SEGV = 11 };

static int signal_of(const struct gdb_server *server)
{
    switch (server->stop.why) {
    case LEO_DEBUG_ENTRY:
    case LEO_DEBUG_BREAK:
    case LEO_DEBUG_STEP:
    case LEO_DEBUG_FINDING:
        break;
    case LEO_DEBUG_FAULT:
        return server->stop.code == LEO_FAULT_ILLEGAL_INSTRUCTION ? SIGNAL_ILL : SIGNAL_SEGV;
    }
    return server->was_pressed ? SIGNAL_INT : SIGNAL_TRAP;
}

/* "kernel.cpp:30 in Add, called at .." */
static void add_line(struct gdb_server *server, struct rt_text *text, uint64_t pc)
{
    char line[1024];
    struct rt_text where = {.out = line, .bytes = sizeof(line)};
    rt_text_append(text, "0x%llx", (ull)pc);
    if (server->lines.elf && rt_fault_place(&where, &server->lines, pc - LEO_MAP_IMAGE, 0)) {
        rt_text_append(text, " (%s)", line);
    }
}

static void say(struct gdb_server *server, const char *sentence)
{
    char packet[4096] = "O";
    const size_t most = sizeof(packet) / 2 - 2, bytes = strlen(sentence);
    gdb_hex_put(packet + 1, sentence, bytes < most ? bytes : most);
    gdb_link_put(&server->link, packet);
}

static void say_what(struct gdb_server *server)
{
    char sentence[2048];
    struct rt_text text = {sentence, sizeof(sentence), 0};
    const struct leo_debug_stop *stop = &server->stop;
    const enum leo_fault code = (enum leo_fault)stop->code;
    rt_text_append(&text, "%s: %s (%s)",
                   stop->why == LEO_DEBUG_FAULT ? "Fault" : "The checker found",
                   leo_fault_name(code), leo_fault_text(code));
    rt_text_append(&text, "\n  at ");
    add_line(server, &text, stop->pc);
    if (stop->bytes && (stop->space != LEO_MEM_SPACE_PRIVATE || code == LEO_FAULT_STACK_OVERFLOW)) {
        rt_text_append(&text, "\n  %llu bytes of %s at 0x%llx", (ull)stop->bytes,
                       leo_mem_space_name((enum leo_mem_space)stop->space), (ull)stop->addr);
    }
    if (stop->other_pc) {
        rt_text_append(&text, "\n  %s touched them at ",
                       leo_pipe_name((enum leo_pipe)stop->other_unit));
        add_line(server, &text, stop->other_pc);
    }
    rt_text_append(&text, "\n");
    say(server, sentence);
}

void gdb_tell_stop(struct gdb_server *server)
{
    struct rt_text reason = {server->reason, sizeof(server->reason), 0};
    const bool is_found =
        server->stop.why == LEO_DEBUG_FAULT || server->stop.why == LEO_DEBUG_FINDING;
    if (is_found && !server->is_awaited) {
        say_what(server);
    }
    rt_text_append(&reason, "T%02xthread:%x;", (unsigned)signal_of(server), server->stop.thread);
}
