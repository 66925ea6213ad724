/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE // strtod_l
#include "config.h"

#include "core/caches.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <leo/soc.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_NAME, KIND_U32, KIND_U64, KIND_REAL };

struct key {
    const char *section, *name;
    size_t offset;
    enum kind kind;
    double min, max;
};

#define AT(field)  offsetof(struct sim_config, field)
#define PIPE(pipe) (AT(queue_depth_pipe) + sizeof(uint32_t) * (pipe))

/* Every key a SoC file has, besides the instructions. */
static const struct key keys[] = {
    {"soc", "name", AT(name), KIND_NAME, 1, sizeof(((struct sim_config *)0)->name) - 1},
    {"soc", "arch", AT(arch), KIND_U32, 1001, 2201},
    {"soc", "cube_cores", AT(cube_cores), KIND_U32, 1, 128},
    {"soc", "vector_cores", AT(vector_cores), KIND_U32, 0, 127},
    {"soc", "clock_khz", AT(clock_khz), KIND_U32, 1000, 10e6},
    {"memory", "l1_bytes", AT(l1_bytes), KIND_U32, 0, 0x1000000},
    {"memory", "l0a_bytes", AT(l0a_bytes), KIND_U32, 512, 0x1000000},
    {"memory", "l0b_bytes", AT(l0b_bytes), KIND_U32, 512, 0x1000000},
    {"memory", "l0c_bytes", AT(l0c_bytes), KIND_U32, 512, 0x1000000},
    {"memory", "ub_bytes", AT(ub_bytes), KIND_U32, 0, 0x1000000},
    {"memory", "bt_bytes", AT(bt_bytes), KIND_U32, 0, 0x1000000},
    {"memory", "fb_bytes", AT(fb_bytes), KIND_U32, 0, 0x1000000},
    {"memory", "l2_bytes", AT(l2_bytes), KIND_U32, 0, UINT32_MAX},
    {"memory", "hbm_bytes", AT(hbm_bytes), KIND_U64, 1 << 20, 0x1p40},
    {"scheduler", "queues", AT(queues), KIND_U32, 2, 4096},
    {"scheduler", "queue_depth", AT(queue_depth), KIND_U32, 2, 65536},
    {"scheduler", "dispatch_ns", AT(dispatch_ns), KIND_REAL, 0, 1e9},
    {"scheduler", "complete_ns", AT(complete_ns), KIND_REAL, 0, 1e9},
    {"scheduler", "block_spread_ns", AT(block_spread_ns), KIND_REAL, 0, 1e9},
    {"scheduler", "stream_gap_ns", AT(stream_gap_ns), KIND_REAL, 0, 1e9},
    {"scheduler", "default_limit_us", AT(default_limit_us), KIND_U32, 1, UINT32_MAX},
    {"copy", "host_latency_ns", AT(host_latency_ns), KIND_REAL, 0, 1e9},
    {"copy", "host_gb_per_s", AT(host_gb_per_s), KIND_REAL, 0.001, 1e6},
    {"copy", "device_latency_ns", AT(device_latency_ns), KIND_REAL, 0, 1e9},
    {"copy", "device_gb_per_s", AT(device_gb_per_s), KIND_REAL, 0.001, 1e6},
    {"link", "board_cards", AT(link_board_cards), KIND_U32, 1, 4096},
    {"link", "board_gb_per_s", AT(link_board_gb_per_s), KIND_REAL, 0.001, 1e6},
    {"link", "board_latency_ns", AT(link_board_latency_ns), KIND_REAL, 0, 1e9},
    {"link", "board_mesh", AT(link_board_mesh), KIND_U32, 0, 1},
    {"link", "collective_gb_per_s", AT(link_collective_gb_per_s), KIND_REAL, 0.001, 1e6},
    {"link", "net_gb_per_s", AT(link_net_gb_per_s), KIND_REAL, 0.001, 1e6},
    {"link", "net_latency_ns", AT(link_net_latency_ns), KIND_REAL, 0, 1e9},
    {"link", "start_ns", AT(link_start_ns), KIND_REAL, 0, 1e9},
    {"dvpp", "start_ns", AT(dvpp_start_ns), KIND_REAL, 0, 1e9},
    {"dvpp", "vpc_mpixel_per_s", AT(dvpp_vpc_mpixel_per_s), KIND_REAL, 0.001, 1e6},
    {"dvpp", "jpegd_mpixel_per_s", AT(dvpp_jpegd_mpixel_per_s), KIND_REAL, 0.001, 1e6},
    {"dvpp", "jpege_mpixel_per_s", AT(dvpp_jpege_mpixel_per_s), KIND_REAL, 0.001, 1e6},
    {"dvpp", "vdec_mpixel_per_s", AT(dvpp_vdec_mpixel_per_s), KIND_REAL, 0.001, 1e6},
    {"scalar", "start_cycles", AT(start_cycles), KIND_REAL, 0, 1e9},
    {"scalar", "scalar_alu", AT(scalar_alu), KIND_REAL, 0.01, 1e6},
    {"scalar", "scalar_mul", AT(scalar_mul), KIND_REAL, 0.01, 1e6},
    {"scalar", "scalar_div", AT(scalar_div), KIND_REAL, 0.01, 1e6},
    {"scalar", "scalar_branch", AT(scalar_branch), KIND_REAL, 0.01, 1e6},
    {"scalar", "scalar_float", AT(scalar_float), KIND_REAL, 0.01, 1e6},
    {"scalar", "scalar_float_div", AT(scalar_float_div), KIND_REAL, 0.01, 1e6},
    {"scalar", "scalar_load_ub", AT(scalar_load_ub), KIND_REAL, 0.01, 1e6},
    {"scalar", "scalar_store_ub", AT(scalar_store_ub), KIND_REAL, 0.01, 1e6},
    {"scalar", "scalar_load_gm", AT(scalar_load_gm), KIND_REAL, 0.01, 1e6},
    {"scalar", "scalar_store_gm", AT(scalar_store_gm), KIND_REAL, 0.01, 1e6},
    {"scalar", "scalar_load_private", AT(scalar_load_private), KIND_REAL, 0.01, 1e6},
    {"scalar", "icache_bytes", AT(icache_bytes), KIND_U32, 0, 131072},
    {"scalar", "icache_line_bytes", AT(icache_line_bytes), KIND_U32, 64, 65536},
    {"scalar", "dcache_bytes", AT(dcache_bytes), KIND_U32, 64, 65536},
    {"scalar", "dcache_line_bytes", AT(dcache_line_bytes), KIND_U32, 8, 4096},
    {"scalar", "scalar_issue", AT(scalar_issue), KIND_REAL, 0.01, 1e6},
    {"sync", "flag_set", AT(flag_set), KIND_REAL, 0, 1e6},
    {"sync", "flag_wait", AT(flag_wait), KIND_REAL, 0, 1e6},
    {"sync", "barrier", AT(barrier), KIND_REAL, 0, 1e6},
    {"sync", "cross_core_ns", AT(cross_core_ns), KIND_REAL, 0, 1e6},
    {"queue", "s", PIPE(LEO_PIPE_S), KIND_U32, 1, 64},
    {"queue", "v", PIPE(LEO_PIPE_V), KIND_U32, 1, 64},
    {"queue", "m", PIPE(LEO_PIPE_M), KIND_U32, 1, 64},
    {"queue", "mte1", PIPE(LEO_PIPE_MTE1), KIND_U32, 1, 64},
    {"queue", "mte2", PIPE(LEO_PIPE_MTE2), KIND_U32, 1, 64},
    {"queue", "mte3", PIPE(LEO_PIPE_MTE3), KIND_U32, 1, 64},
    {"queue", "fix", PIPE(LEO_PIPE_FIX), KIND_U32, 1, 64},
    {"gm", "gm_read_hit_ns", AT(gm_read_hit_ns), KIND_REAL, 0.01, 1e6},
    {"gm", "gm_read_miss_ns", AT(gm_read_miss_ns), KIND_REAL, 0.01, 1e6},
    {"gm", "gm_write_ns", AT(gm_write_ns), KIND_REAL, 0, 1e6},
    {"gm", "gm_read_requests", AT(gm_read_requests), KIND_REAL, 1, 1e6},
    {"gm", "gm_request_bytes", AT(gm_request_bytes), KIND_U32, 32, 512},
    {"gm", "gm_read_rate", AT(gm_read_rate), KIND_REAL, 0.01, 1e6},
    {"gm", "gm_write_rate", AT(gm_write_rate), KIND_REAL, 0.01, 1e6},
    {"gm", "gm_same_line_ns", AT(gm_same_line_ns), KIND_REAL, 0, 1e6},
    {"gm", "gm_small_interval", AT(gm_small_interval), KIND_REAL, 0, 1e6},
    {"gm", "nd2nz_row", AT(nd2nz_row), KIND_REAL, 0, 1e6},
    {"gm", "l2_gb_per_s", AT(l2_gb_per_s), KIND_REAL, 0.01, 1e6},
    {"gm", "l2_written_part", AT(l2_written_part), KIND_REAL, 0, 1},
    {"gm", "hbm_read_gb_per_s", AT(hbm_read_gb_per_s), KIND_REAL, 0.01, 1e6},
    {"gm", "hbm_write_gb_per_s", AT(hbm_write_gb_per_s), KIND_REAL, 0.01, 1e6},
    {"gm", "hbm_refresh_ns", AT(hbm_refresh_ns), KIND_REAL, 0, 1e6},
    {"gm", "hbm_refresh_every_ns", AT(hbm_refresh_every_ns), KIND_REAL, 1, 1e9},
    {"gm", "hbm_turn_bytes", AT(hbm_turn_bytes), KIND_REAL, 0, 1e6},
    {"gm", "hbm_run_bytes", AT(hbm_run_bytes), KIND_REAL, 0, 1e6},
    {"cube", "mmad_head", AT(mmad_head), KIND_REAL, 0, 1e6},
    {"cube", "mmad_gap", AT(mmad_gap), KIND_REAL, 0, 1e6},
    {"cube", "cube_m", AT(cube_m), KIND_U32, 1, 4096},
    {"cube", "cube_n", AT(cube_n), KIND_U32, 1, 4096},
    {"cube", "cube_k", AT(cube_k), KIND_U32, 4, 4096},
    {"vector", "ub_repeats", AT(ub_repeats), KIND_REAL, 0.01, 1e6},
    {"vector", "ub_bank_wait", AT(ub_bank_wait), KIND_REAL, 0, 1e6},
};

/* Keys that may be left out, and what they are then: all chips so far have a Cube of 16 x 16 x 16
 * of f16 a cycle and a buffer that serves 256 bytes of each operand a cycle. [P] */
static const struct {
    size_t offset;
    double number;
} left_out[] = {
    {AT(cube_m), 16},
    {AT(cube_n), 16},
    {AT(cube_k), 16},
    {AT(ub_repeats), 1},
};

#define KEY_COUNT      (sizeof(keys) / sizeof(keys[0]))
#define LINE_MAX_BYTES 190
#define HEAD_MAX       1e6
#define RATE_MIN       0.01
#define RATE_MAX       1e6

struct parser {
    const char *text, *next;
    const char *text_name;
    unsigned line, failed_line;
    locale_t c_locale;
    struct sim_config *config;
    bool seen[KEY_COUNT];
    bool seen_told_as;
    bool seen_insn[LEO_INSN_COUNT];
    bool failed, long_line;
    char *error;
    size_t error_bytes;
};

/* File and line of a line of the text, which may go on with a file's base (leo/soc.h). */
static void write_place(const struct parser *parser, char *out, size_t bytes)
{
    const size_t mark = strlen(LEO_SOC_BASE_COMMENT);
    const char *name = parser->text_name, *at = parser->text;
    size_t length = strlen(name);
    unsigned number = 1;
    for (unsigned line = 1; line < parser->line; line++, number++) {
        const size_t whole = strcspn(at, "\n");
        if (strncmp(at, LEO_SOC_BASE_COMMENT, mark) == 0) {
            name = at + mark;
            length = whole - mark;
            number = 0;
        }
        at += whole + (at[whole] == '\n');
    }
    snprintf(out, bytes, "%.*s:%u: ", (int)length, name, number);
}

__attribute__((format(printf, 2, 3))) static int fail(struct parser *parser, const char *format,
                                                      ...)
{
    if (parser->failed) {
        return 0;
    }
    parser->failed = true;
    parser->failed_line = parser->line;
    if (parser->error && parser->error_bytes) {
        write_place(parser, parser->error, parser->error_bytes);
        const size_t used = strlen(parser->error);
        va_list args;
        va_start(args, format);
        vsnprintf(parser->error + used, parser->error_bytes - used, format, args);
        va_end(args);
    }
    return 0;
}

static char *read_line(char *line, int bytes, void *stream)
{
    struct parser *parser = stream;
    if (parser->next[0] == '\0') {
        return NULL;
    }
    size_t length = strcspn(parser->next, "\n");
    parser->line++;
    if (length > LINE_MAX_BYTES || length + 2 > (size_t)bytes) {
        fail(parser, "the line is longer than %d bytes", LINE_MAX_BYTES);
        return NULL;
    }
    memcpy(line, parser->next, length);
    line[length] = '\n';
    line[length + 1] = '\0';
    parser->next += length + (parser->next[length] == '\n');
    return line;
}

/* The program may have set a locale with a decimal comma: files do not follow it. */
static bool read_number(const struct parser *parser, const char **text, double *value)
{
    char *end = NULL;
    if (!isdigit((unsigned char)(*text)[0])) {
        return false;
    }
    errno = 0;
    *value = strtod_l(*text, &end, parser->c_locale);
    if (end == *text || errno == ERANGE || !isfinite(*value)) {
        return false;
    }
    *text = end;
    return true;
}

static void store_number(struct sim_config *config, const struct key *key, double number)
{
    char *field = (char *)config + key->offset;
    if (key->kind == KIND_U32) {
        uint32_t whole = (uint32_t)number;
        memcpy(field, &whole, sizeof(whole));
    } else if (key->kind == KIND_U64) {
        uint64_t whole = (uint64_t)number;
        memcpy(field, &whole, sizeof(whole));
    } else {
        memcpy(field, &number, sizeof(number));
    }
}

static int set_key(struct parser *parser, size_t index, const char *value)
{
    const struct key *key = &keys[index];
    char *field = (char *)parser->config + key->offset;
    if (parser->seen[index]) {
        return fail(parser, "%s is given twice", key->name);
    }
    parser->seen[index] = true;
    if (key->kind == KIND_NAME) {
        size_t length = strlen(value);
        if (length < 1 || length > (size_t)key->max) {
            return fail(parser, "%s must have 1 to %.0f characters", key->name, key->max);
        }
        memcpy(field, value, length + 1);
        return 1;
    }
    double number = 0;
    if (!read_number(parser, &value, &number) || value[0] != '\0') {
        return fail(parser, "%s must be a number", key->name);
    }
    if (key->kind != KIND_REAL && number != floor(number)) {
        return fail(parser, "%s must be a whole number", key->name);
    }
    if (number < key->min || number > key->max) {
        return fail(parser, "%s must be between %.12g and %.12g", key->name, key->min, key->max);
    }
    store_number(parser->config, key, number);
    return 1;
}

static int set_insn(struct parser *parser, const char *name, const char *value)
{
    unsigned insn = LEO_INSN_COUNT;
    for (unsigned i = 1; i < LEO_INSN_COUNT; i++) {
        const struct leo_insn_info *info = leo_insn_info((enum leo_insn)i);
        if (info && strcmp(info->name, name) == 0) {
            insn = i;
        }
    }
    if (insn == LEO_INSN_COUNT) {
        return fail(parser, "there is no instruction '%s'", name);
    }
    if (parser->seen_insn[insn]) {
        return fail(parser, "%s is given twice", name);
    }
    parser->seen_insn[insn] = true;
    double number[3] = {0, 0, 0};
    size_t count = 0;
    while (value[0] != '\0' && count < 3 && read_number(parser, &value, &number[count])) {
        count++;
        value += strspn(value, " \t,");
    }
    if (value[0] != '\0' || count < 2) {
        return fail(parser, "%s must be 'head rate16 [rate32]'", name);
    }
    if (number[0] > HEAD_MAX || number[1] < RATE_MIN || number[1] > RATE_MAX ||
        (count == 3 && (number[2] < RATE_MIN || number[2] > RATE_MAX))) {
        return fail(parser, "%s: head must be at most %.12g, rates between %.12g and %.12g", name,
                    HEAD_MAX, RATE_MIN, RATE_MAX);
    }
    parser->config->insn[insn] = (struct sim_insn_time){number[0], number[1], number[2]};
    return 1;
}

/* What a file may say for reports: numbers without an effect on times. */
static const struct told_key {
    const char *section, *name;
} told_keys[] = {{"energy", "cube_pj_per_op"}, {"energy", "vector_pj_per_op"},
                 {"energy", "l2_pj_per_byte"}, {"energy", "hbm_pj_per_byte"},
                 {"energy", "idle_w"},         {"area", "sram_mm2_per_mb"},
                 {"area", "cube_um2_per_mac"}, {"area", "vector_um2_per_lane"},
                 {"area", "core_mm2"},         {"area", "hbm_mm2_per_gb_per_s"},
                 {"area", "other_mm2"}};

static int check_told(struct parser *parser, const char *section, const char *name,
                      const char *value)
{
    enum { MOST = 1000000 }; // of any of their units: far beyond all that is built
    double number;
    for (size_t i = 0; i < sizeof(told_keys) / sizeof(told_keys[0]); i++) {
        if (strcmp(told_keys[i].section, section) == 0 && strcmp(told_keys[i].name, name) == 0) {
            return read_number(parser, &value, &number) && !*value && number >= 0 && number <= MOST
                       ? 1
                       : fail(parser, "[%s] %s must be a number from 0 to %d", section, name, MOST);
        }
    }
    return fail(parser, "unknown key '%s' in section [%s]", name, section);
}

/* What a file may say of the card around the chip, in whole numbers: for programs that ask. It has
 * no effect here. */
static const char *const card_keys[] = {
    "cores_per_cluster", "isa_version", "compute_major", "compute_minor",   "memory_clock_khz",
    "bus_width_bits",    "sram_bytes",  "pci_device_id", "fp32_vector_ops",
};

static int check_card(struct parser *parser, const char *name, const char *value)
{
    size_t i = 0;
    while (i < sizeof(card_keys) / sizeof(card_keys[0]) && strcmp(card_keys[i], name) != 0) {
        i++;
    }
    if (i == sizeof(card_keys) / sizeof(card_keys[0])) {
        return fail(parser, "unknown key '%s' in section [card]", name);
    }
    return !*value || value[strspn(value, "0123456789")] || strlen(value) > 9
               ? fail(parser, "[card] %s: '%s' is no whole number below 10^9", name, value)
               : 1;
}

/* What programs are told that the chip is called, if that is not its name; no effect here. */
static int check_told_as(struct parser *parser, const char *value)
{
    const size_t most = sizeof(parser->config->name) - 1;
    if (parser->seen_told_as) {
        return fail(parser, "told_as is given twice");
    }
    parser->seen_told_as = true;
    return *value && strlen(value) <= most
               ? 1
               : fail(parser, "told_as must have 1 to %zu characters", most);
}

static int handle(void *user, const char *section, const char *name, const char *value)
{
    struct parser *parser = user;
    if (strcmp(section, "energy") == 0 || strcmp(section, "area") == 0) {
        return check_told(parser, section, name, value);
    }
    if (strcmp(section, "card") == 0) {
        return check_card(parser, name, value);
    }
    if (strcmp(section, "soc") == 0 && strcmp(name, "told_as") == 0) {
        return check_told_as(parser, value);
    }
    if (strncmp(section, "insn", 4) == 0) {
        return set_insn(parser, name, value);
    }
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].section, section) == 0 && strcmp(keys[i].name, name) == 0) {
            return set_key(parser, i, value);
        }
    }
    return fail(parser, "unknown key '%s' in section [%s]", name, section);
}

/* An instruction of a unit that the chip executes must have its time, its own or that of another
 * (time= of its line in isa/insn): without, it would be free. */
static void check_insns(struct parser *parser)
{
    for (unsigned i = 1; i < LEO_INSN_COUNT; i++) {
        const struct leo_insn_info *info = leo_insn_info((enum leo_insn)i);
        if (parser->seen_insn[i] || !leo_insn_has_arch((enum leo_insn)i, parser->config->arch) ||
            info->pipe == LEO_PIPE_S) {
            continue;
        }
        if (parser->seen_insn[info->time_of]) {
            parser->config->insn[i] = parser->config->insn[info->time_of];
        } else {
            fail(parser, "instruction '%s' is missing from the [insn] sections", info->name);
        }
    }
}

/* 0: the key must be there. */
static double left_out_number(const struct key *key)
{
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        if (left_out[i].offset == key->offset) {
            return left_out[i].number;
        }
    }
    return 0;
}

/* What no single key can say. */
static void check_whole(struct parser *parser)
{
    struct sim_config *config = parser->config;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const double number = parser->seen[i] ? 0 : left_out_number(&keys[i]);
        if (number != 0) {
            store_number(config, &keys[i], number);
        } else if (!parser->seen[i]) {
            fail(parser, "key '%s' is missing from section [%s]", keys[i].name, keys[i].section);
        }
    }
    if (parser->failed) {
        return;
    }
    if (config->arch != 1001 && config->arch != 2201) {
        fail(parser, "arch must be 1001 or 2201");
    } else if (config->arch == 1001 && config->vector_cores != 0) {
        fail(parser, "vector_cores must be 0 on a coupled chip");
    } else if (config->arch == 2201 &&
               (config->vector_cores == 0 || config->vector_cores % config->cube_cores)) {
        fail(parser, "vector_cores must be a multiple of cube_cores on a split chip");
    } else if (config->cube_cores + config->vector_cores > 255) {
        fail(parser, "cube_cores and vector_cores must be at most 255 together");
    } else if (config->queue_depth & (config->queue_depth - 1)) {
        fail(parser, "queue_depth must be a power of two");
    } else if ((config->l1_bytes | config->l0a_bytes | config->l0b_bytes | config->l0c_bytes |
                config->ub_bytes | config->bt_bytes | config->fb_bytes) %
               32) {
        fail(parser, "the sizes of on-chip buffers must be multiples of 32");
    } else if ((config->icache_line_bytes & (config->icache_line_bytes - 1)) |
               (config->dcache_line_bytes & (config->dcache_line_bytes - 1))) {
        fail(parser, "icache_line_bytes and dcache_line_bytes must be powers of two");
    } else if (config->icache_bytes / config->icache_line_bytes > SIM_TEXT_LINES ||
               config->dcache_bytes / config->dcache_line_bytes > SIM_DATA_LINES) {
        fail(parser, "the instruction cache has at most %d lines, the data cache %d",
             SIM_TEXT_LINES, SIM_DATA_LINES);
    } else if (config->hbm_refresh_ns >= config->hbm_refresh_every_ns) {
        fail(parser, "hbm_refresh_ns must be less than hbm_refresh_every_ns");
    } else if (config->hbm_bytes % 4096) {
        fail(parser, "hbm_bytes must be a multiple of 4096");
    } else {
        check_insns(parser);
    }
}

leo_status sim_config_parse(const char *text, const char *text_name, struct sim_config *config,
                            char *error, size_t error_bytes)
{
    struct parser parser = {
        .text = text,
        .next = text,
        .text_name = text_name ? text_name : "soc",
        .config = config,
        .error = error,
        .error_bytes = error_bytes,
    };
    if (error && error_bytes) {
        error[0] = '\0';
    }
    if (!text || !config) {
        fail(&parser, "no text");
        return LEO_ERR_INVALID_ARG;
    }
    parser.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!parser.c_locale) {
        fail(&parser, "out of host memory");
        return LEO_ERR_NO_MEMORY;
    }
    memset(config, 0, sizeof(*config));
    int line = ini_parse_stream(read_line, &parser, handle, &parser);
    // The library goes on after a line it cannot read, so what it reports may come before what we
    // found.
    if (line > 0 && (!parser.failed || (unsigned)line < parser.failed_line)) {
        parser.failed = false;
        parser.line = (unsigned)line;
        fail(&parser, "expected '[section]' or 'name = value'");
    }
    if (!parser.failed) {
        check_whole(&parser);
    }
    freelocale(parser.c_locale);
    return parser.failed ? LEO_ERR_PARSE : LEO_OK;
}
