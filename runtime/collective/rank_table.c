/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of a rank table: the file names all ranks, so rank 0's place is known to everybody and no
 * root information goes round. Read is the documented form with "server_list".
 */
#include "communicator_internal.h"

#include <errno.h>
#include <jansson.h>
#include <leo/alloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ADDRESS_BYTES = 64,
    BASE_PORT = 60000, /* documented default */
    RANKS_MAX = 32768, /* documented */
};

struct table {
    uint32_t ranks;
    char address[ADDRESS_BYTES]; /* where rank 0 listens */
    uint16_t port;
    char *text; /* all ranks read the same: the seed of the group's token */
    size_t text_bytes;
};

struct reader {
    const char *path, *port_variable;
    struct table *table;
    uint8_t *seen; /* by rank */
    uint32_t servers;
};

__attribute__((format(printf, 2, 3))) static leo_status refuse(const struct reader *reader,
                                                               const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return leo_rt_fail(LEO_ERR_INVALID_ARG, "rank table %.200s: %s", reader->path, text);
}

/* A number, which the tables write as text. */
static bool get_number(const json_t *object, const char *key, uint32_t limit, uint32_t *out)
{
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    json_int_t number = json_integer_value(value);
    if (text) {
        char *end;
        errno = 0;
        number = strtoll(text, &end, 10);
        number = errno || end == text || *end ? -1 : number;
    } else if (!json_is_integer(value)) {
        return false;
    }
    *out = (uint32_t)number;
    return number >= 0 && number < limit;
}

/* Rank 0's place: its server's host address, and a port of its own. */
static leo_status take_place(struct reader *reader, const json_t *server, const json_t *device)
{
    static const char *const keys[] = {"host_ip", "server_ip", "server_id"};
    const char *base = getenv(reader->port_variable);
    uint32_t port = base ? (uint32_t)strtoul(base, NULL, 10) : BASE_PORT, index = 0;
    if (!get_number(device, "host_port", UINT16_MAX + 1u, &port)) {
        if (!get_number(device, "device_id", 1024, &index)) {
            return refuse(reader, "rank 0 has no device_id");
        }
        port += index;
    }
    if (port == 0 || port > UINT16_MAX) {
        return refuse(reader, "port %u of rank 0 (%s, or host_port)", port, reader->port_variable);
    }
    reader->table->port = (uint16_t)port;
    struct coll_root probe;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *text = json_string_value(json_object_get(server, keys[i]));
        if (text && coll_root_at(text, 1, "", 0, &probe) == LEO_OK) {
            snprintf(reader->table->address, ADDRESS_BYTES, "%s", text);
            return LEO_OK;
        }
    }
    return LEO_OK;
}

static leo_status read_server(struct reader *reader, const json_t *server)
{
    const json_t *devices = json_object_get(server, "device"), *device;
    size_t i;
    if (!json_is_array(devices)) {
        return refuse(reader, "a server has no \"device\" list");
    }
    json_array_foreach(devices, i, device)
    {
        uint32_t rank;
        if (!get_number(device, "rank_id", reader->table->ranks, &rank)) {
            return refuse(reader, "a rank_id is missing or not below %u, the number of ranks",
                          reader->table->ranks);
        }
        if (reader->seen[rank]++) {
            return refuse(reader, "rank_id %u stands there twice", rank);
        }
        leo_status result = rank == 0 ? take_place(reader, server, device) : LEO_OK;
        if (result != LEO_OK) {
            return result;
        }
    }
    return LEO_OK;
}

static leo_status read_servers(struct reader *reader, const json_t *root)
{
    const char *state = json_string_value(json_object_get(root, "status"));
    const json_t *servers = json_object_get(root, "server_list"), *server;
    struct table *table = reader->table;
    size_t i;
    if (!state || strcmp(state, "completed") != 0) {
        return refuse(reader, "\"status\" is not \"completed\"");
    }
    if (!json_is_array(servers)) {
        return refuse(reader, "no \"server_list\"; the older form with \"group_list\" is not read");
    }
    uint32_t count;
    if (get_number(root, "server_count", UINT32_MAX, &count) && count != json_array_size(servers)) {
        return refuse(reader, "server_count is %u, the list has %zu", count,
                      json_array_size(servers));
    }
    json_array_foreach(servers, i, server)
    {
        table->ranks += (uint32_t)json_array_size(json_object_get(server, "device"));
    }
    if (table->ranks == 0 || table->ranks > RANKS_MAX) {
        return refuse(reader, "%u ranks; 1 to %d can be", table->ranks, RANKS_MAX);
    }
    reader->servers = (uint32_t)json_array_size(servers);
    reader->seen = leo_calloc(table->ranks, 1);
    leo_status result =
        reader->seen ? LEO_OK : leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    json_array_foreach(servers, i, server)
    {
        if (result == LEO_OK) {
            result = read_server(reader, server);
        }
    }
    leo_free(reader->seen);
    if (result == LEO_OK && reader->servers == 1) {
        snprintf(table->address, sizeof(table->address), "127.0.0.1"); // all ranks are here
    }
    if (result == LEO_OK && !table->address[0]) {
        result = refuse(reader, "the server of rank 0 has no address: give it a \"host_ip\"");
    }
    return result;
}

/* On success table->text is the caller's to free. */
static leo_status read_table(const char *path, const char *port_variable, struct table *table)
{
    json_error_t error;
    struct reader reader = {.path = path, .port_variable = port_variable, .table = table};
    FILE *file = fopen(path, "r");
    if (!file) {
        return leo_rt_fail(COMM_NO_FILE, "cannot open rank table %.200s: %s", path,
                           strerror(errno));
    }
    json_t *root = json_loadf(file, 0, &error);
    fclose(file);
    if (!root) {
        return refuse(&reader, "line %d: %.150s", error.line, error.text);
    }
    leo_status result = read_servers(&reader, root);
    // Sorted: copies of a table that differ in layout are one table.
    char *text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(root);
    if (result == LEO_OK && !text) {
        result = leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    if (result != LEO_OK) {
        free(text);
        return result;
    }
    table->text = text;
    table->text_bytes = strlen(text);
    return LEO_OK;
}

static leo_status join(const struct table *table, const char *port_variable, uint32_t rank,
                       const struct comm_opts *opts, void **out)
{
    struct coll_root root;
    struct coll_bootstrap *bootstrap = NULL;
    char place[64];
    leo_status status =
        coll_root_at(table->address, table->port, table->text, table->text_bytes, &root);
    if (status == LEO_OK && rank == 0 && table->ranks > 1) {
        status = coll_bootstrap_open(&root, &bootstrap);
    }
    if (status != LEO_OK) {
        return leo_rt_fail(COMM_BAD_NETWORK,
                           "rank 0 cannot listen on %s port %u (%s chooses another): %s",
                           table->address, table->port, port_variable, leo_status_text(status));
    }
    coll_root_text(&root, place, sizeof(place));
    const struct comm_group group = {.root = root,
                                     .bootstrap = bootstrap,
                                     .is_known = true,
                                     .ranks = table->ranks,
                                     .rank = rank,
                                     .name = opts->name ? opts->name : place,
                                     .execute_s = opts->execute_s,
                                     .user_device = COMM_NO_DEVICE};
    return comm_make(&group, out);
}

leo_status comm_create_listed(const char *path, const char *port_variable, uint32_t rank,
                              const struct comm_opts *opts, void **out)
{
    struct table table = {0};
    leo_status status = read_table(path, port_variable, &table);
    if (status != LEO_OK) {
        return status;
    }
    status = rank < table.ranks
                 ? join(&table, port_variable, rank, opts, out)
                 : leo_rt_fail(LEO_ERR_INVALID_ARG, "rank %u, and rank table %.200s has %u", rank,
                               path, table.ranks);
    free(table.text);
    return status;
}
