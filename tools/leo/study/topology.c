/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies from files, and the [link] of a chip as one. */
#include "topology.h"

#include <errno.h>
#include <ini.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a chip's ---- */

struct chip_links {
    double board_cards, board_gb_per_s, board_latency_ns, board_mesh, collective_gb_per_s;
    double net_gb_per_s, net_latency_ns, start_ns;
};

struct number {
    const char *key;
    size_t at;
};

static const struct number chip_numbers[] = {
    {"board_cards", offsetof(struct chip_links, board_cards)},
    {"board_gb_per_s", offsetof(struct chip_links, board_gb_per_s)},
    {"board_latency_ns", offsetof(struct chip_links, board_latency_ns)},
    {"board_mesh", offsetof(struct chip_links, board_mesh)},
    {"collective_gb_per_s", offsetof(struct chip_links, collective_gb_per_s)},
    {"net_gb_per_s", offsetof(struct chip_links, net_gb_per_s)},
    {"net_latency_ns", offsetof(struct chip_links, net_latency_ns)},
    {"start_ns", offsetof(struct chip_links, start_ns)},
};
enum { CHIP_NUMBERS = sizeof(chip_numbers) / sizeof(chip_numbers[0]) };

static double *number_at(void *of, size_t at)
{
    return (double *)(void *)((char *)of + at);
}

static int take_chip(void *user, const char *section, const char *key, const char *value)
{
    for (size_t i = 0; i < CHIP_NUMBERS && strcmp(section, "link") == 0; i++) {
        if (strcmp(chip_numbers[i].key, key) == 0) {
            *number_at(user, chip_numbers[i].at) = strtod(value, NULL);
        }
    }
    return 1;
}

bool study_topology_of_chip(const char *soc_text, struct study_topology *topology)
{
    struct chip_links link = {0};
    if (ini_parse_string(soc_text, take_chip, &link) < 0 || link.board_cards < 1 ||
        link.net_gb_per_s <= 0) {
        return false;
    }
    *topology = (struct study_topology){
        .name = "the chip's [link]",
        .start_ns = link.start_ns,
        .levels = 2,
        .level = {{.name = "board",
                   .links = link.board_mesh != 0 ? STUDY_LINKS_MESH : STUDY_LINKS_RING,
                   .units = link.board_cards,
                   .gb_per_s = link.collective_gb_per_s,
                   .message_gb_per_s = link.board_gb_per_s,
                   .latency_ns = link.board_latency_ns,
                   .at_once = 1},
                  {.name = "net",
                   .links = STUDY_LINKS_RING,
                   .gb_per_s = link.net_gb_per_s,
                   .message_gb_per_s = link.net_gb_per_s,
                   .latency_ns = link.net_latency_ns,
                   .at_once = 1}}};
    return true;
}

/* ---- a file's ---- */

/* What a level's section says besides its numbers. */
struct section {
    bool is_torus;
    double x, y;
};

struct reading {
    struct study_topology *topology;
    struct section section[STUDY_LEVELS_MAX];
    const char *path;
    bool failed;
};

static int wrong(struct reading *reading, const char *section, const char *key, const char *text)
{
    if (!reading->failed) {
        fprintf(stderr, "leo: topology %s: [%s] %s%s%s\n", reading->path, section, key,
                *key ? ": " : "", text);
    }
    reading->failed = true;
    return 0;
}

static const struct number level_numbers[] = {
    {"units", offsetof(struct study_level, units)},
    {"gb_per_s", offsetof(struct study_level, gb_per_s)},
    {"message_gb_per_s", offsetof(struct study_level, message_gb_per_s)},
    {"latency_ns", offsetof(struct study_level, latency_ns)},
    {"ports", offsetof(struct study_level, ports)},
    {"leaf", offsetof(struct study_level, leaf)},
    {"oversubscription", offsetof(struct study_level, oversubscription)},
};

static bool read_number(const char *value, double *out)
{
    char *end;
    *out = strtod(value, &end);
    return end != value && !*end && isfinite(*out) && *out >= 0;
}

/* The place of a word in a list that ends with NULL; -1: it is not there. */
static int find_word(const char *const *words, const char *word)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], word) == 0) {
            return i;
        }
    }
    return -1;
}

static const char *const link_words[] = {"mesh", "ring", "switch", "torus", NULL};
static const char *const algorithm_words[] = {"auto", "ring", "tree", "mesh", NULL};

static int take_whole(struct reading *reading, const char *key, const char *value)
{
    static const char *const words[] = {"hierarchical", "ring", "tree", NULL};
    struct study_topology *topology = reading->topology;
    const int word = strcmp(key, "algorithm") == 0 ? find_word(words, value) : -1;
    if (strcmp(key, "name") == 0) {
        snprintf(topology->name, sizeof(topology->name), "%s", value);
        return 1;
    }
    if (strcmp(key, "start_ns") == 0) {
        return read_number(value, &topology->start_ns)
                   ? 1
                   : wrong(reading, "topology", key, "a number is wanted");
    }
    if (word >= 0) {
        topology->is_flat = word > 0;
        topology->flat = word == 1 ? STUDY_ALGORITHM_RING : STUDY_ALGORITHM_TREE;
        return 1;
    }
    return wrong(reading, "topology", key,
                 "not known: name, start_ns, algorithm (hierarchical, ring, tree)");
}

static int take_of_level(struct reading *reading, unsigned at, const char *section, const char *key,
                         const char *value)
{
    struct study_level *level = &reading->topology->level[at];
    struct section *own = &reading->section[at];
    const int links = strcmp(key, "links") == 0 ? find_word(link_words, value) : -1;
    const int algorithm = strcmp(key, "algorithm") == 0 ? find_word(algorithm_words, value) : -1;
    if (links >= 0) {
        own->is_torus = links == 3;
        level->links = own->is_torus ? STUDY_LINKS_RING : (enum study_wiring)links;
        return 1;
    }
    if (algorithm >= 0) {
        level->algorithm = (enum study_algorithm)algorithm;
        return 1;
    }
    if (strcmp(key, "size") == 0) {
        char extra;
        return sscanf(value, "%lf x %lf%c", &own->x, &own->y, &extra) == 2 && own->x >= 2 &&
                       own->y >= 2
                   ? 1
                   : wrong(reading, section, key, "X x Y is wanted, as 4 x 8");
    }
    for (size_t i = 0; i < sizeof(level_numbers) / sizeof(level_numbers[0]); i++) {
        if (strcmp(level_numbers[i].key, key) == 0) {
            return read_number(value, number_at(level, level_numbers[i].at))
                       ? 1
                       : wrong(reading, section, key, "a number is wanted");
        }
    }
    return wrong(reading, section, key,
                 "not known: links (mesh, ring, switch, torus), units, size, gb_per_s, "
                 "message_gb_per_s, latency_ns, algorithm (auto, ring, tree, mesh), ports, leaf, "
                 "oversubscription");
}

static int take(void *user, const char *section, const char *key, const char *value)
{
    struct reading *reading = user;
    struct study_topology *topology = reading->topology;
    if (strcmp(section, "topology") == 0) {
        return take_whole(reading, key, value);
    }
    if (strncmp(section, "level.", 6) != 0 || strlen(section + 6) >= STUDY_LEVEL_NAME_BYTES) {
        return wrong(reading, section, "", "not known: [topology] and [level.NAME] are");
    }
    if (topology->levels == 0 ||
        strcmp(topology->level[topology->levels - 1].name, section + 6) != 0) {
        if (topology->levels == STUDY_LEVELS_MAX) {
            return wrong(reading, section, "", "there are too many levels");
        }
        struct study_level *level = &topology->level[topology->levels++];
        level->at_once = level->oversubscription = 1;
        snprintf(level->name, sizeof(level->name), "%s", section + 6);
    }
    return take_of_level(reading, topology->levels - 1, section, key, value);
}

/* A torus is two levels of rings whose links work in both directions. */
static bool spread_torus(struct reading *reading)
{
    struct study_topology *topology = reading->topology;
    for (unsigned i = 0; i < topology->levels; i++) {
        const struct section own = reading->section[i];
        if (!own.is_torus) {
            continue;
        }
        if (own.x < 2 || topology->levels == STUDY_LEVELS_MAX) {
            return wrong(reading, topology->level[i].name, "size",
                         "a torus needs one, and counts as two levels");
        }
        const unsigned behind = topology->levels - i - 1;
        memmove(&topology->level[i + 2], &topology->level[i + 1],
                behind * sizeof(topology->level[0]));
        memmove(&reading->section[i + 2], &reading->section[i + 1],
                behind * sizeof(reading->section[0]));
        topology->level[i].units = own.x;
        topology->level[i].at_once = 2;
        topology->level[i].algorithm = STUDY_ALGORITHM_RING;
        topology->level[i + 1] = topology->level[i];
        topology->level[i + 1].units = own.y;
        topology->levels++;
        i++;
    }
    return true;
}

static bool check(struct reading *reading)
{
    struct study_topology *topology = reading->topology;
    if (topology->levels == 0) {
        return wrong(reading, "topology", "", "there is no [level.NAME]");
    }
    for (unsigned i = 0; i < topology->levels; i++) {
        struct study_level *level = &topology->level[i];
        if (level->gb_per_s <= 0 || level->oversubscription < 1) {
            return wrong(reading, level->name, "",
                         "gb_per_s must be more than 0, oversubscription at least 1");
        }
        if (level->units == 0 && i + 1 < topology->levels) {
            return wrong(reading, level->name, "units", "only the last level may leave it out");
        }
        level->message_gb_per_s =
            level->message_gb_per_s > 0 ? level->message_gb_per_s : level->gb_per_s;
    }
    return true;
}

bool study_topology_read(const char *path, struct study_topology *topology)
{
    struct reading reading = {.topology = topology, .path = path};
    memset(topology, 0, sizeof(*topology)); // its bytes tell whether a result is of it
    topology->is_shared = true;
    snprintf(topology->name, sizeof(topology->name), "%s", path);
    const int line = ini_parse(path, take, &reading);
    if (line < 0) {
        fprintf(stderr, "leo: topology %s cannot be read: %s\n", path, strerror(errno));
    } else if (line > 0 && !reading.failed) {
        fprintf(stderr, "leo: topology %s:%d: a line 'key = value' is wanted\n", path, line);
    }
    return line == 0 && !reading.failed && spread_torus(&reading) && check(&reading);
}

bool study_topology_holds(const struct study_topology *topology, double cards)
{
    double holds = 1;
    for (unsigned i = 0; i < topology->levels; i++) {
        holds *= topology->level[i].units > 0 ? topology->level[i].units : INFINITY;
    }
    if (cards > holds) {
        fprintf(stderr, "leo: topology %s has %.0f cards, not %.0f\n", topology->name, holds,
                cards);
    }
    return cards <= holds;
}
