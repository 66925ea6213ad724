/* SPDX-License-Identifier: Apache-2.0 */
#include "chip_keys.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 128 };

/* A section's rule has no key; the rule of a key comes before that of its section. Plans are what
 * the operators compute from the chip (kernels/chip) and what programs ask the runtime for. What a
 * record holds of the scalar unit is its cycles (sim/tape), so its costs are unpriced. */
static const struct rule {
    const char *section, *key;
    enum chip_effect effect;
} rules[] = {
    {"soc", "name", CHIP_EFFECT_NONE},
    {"soc", "told_as", CHIP_EFFECT_PLANS},
    {"soc", "cube_cores", CHIP_EFFECT_PLANS},
    {"soc", "vector_cores", CHIP_EFFECT_PLANS},
    {"soc", "clock_khz", CHIP_EFFECT_PLANS},
    {"memory", NULL, CHIP_EFFECT_PLANS},
    {"card", NULL, CHIP_EFFECT_NONE},
    {"energy", NULL, CHIP_EFFECT_NONE},
    {"area", NULL, CHIP_EFFECT_NONE},
    {"scheduler", "dispatch_ns", CHIP_EFFECT_TIMES},
    {"scheduler", "complete_ns", CHIP_EFFECT_TIMES},
    {"scheduler", "stream_gap_ns", CHIP_EFFECT_TIMES},
    {"scheduler", "block_spread_ns", CHIP_EFFECT_PLANS},
    {"copy", NULL, CHIP_EFFECT_TIMES},
    {"scalar", "start_cycles", CHIP_EFFECT_TIMES},
    {"sync", NULL, CHIP_EFFECT_TIMES},
    {"queue", "s", CHIP_EFFECT_NONE},
    {"queue", NULL, CHIP_EFFECT_TIMES},
    {"gm", "gm_read_requests", CHIP_EFFECT_PLANS},
    {"gm", "gm_request_bytes", CHIP_EFFECT_PLANS},
    {"gm", "gm_read_hit_ns", CHIP_EFFECT_PLANS},
    {"gm", "gm_read_miss_ns", CHIP_EFFECT_PLANS},
    {"gm", "gm_same_line_ns", CHIP_EFFECT_PLANS},
    {"gm", "gm_read_rate", CHIP_EFFECT_PLANS},
    {"gm", "l2_gb_per_s", CHIP_EFFECT_PLANS},
    {"gm", NULL, CHIP_EFFECT_TIMES},
    {"cube", "mmad_head", CHIP_EFFECT_TIMES},
    {"cube", "mmad_gap", CHIP_EFFECT_TIMES},
    {"cube", NULL, CHIP_EFFECT_PLANS},
    {"vector", NULL, CHIP_EFFECT_TIMES},
    {"insn", NULL, CHIP_EFFECT_TIMES},
};

/* The sections of instructions are one: any that begins so. */
static bool is_insn(const char *section)
{
    return strncmp(section, "insn", 4) == 0;
}

enum chip_effect chip_key_effect(const char *section, const char *key)
{
    const char *of = is_insn(section) ? "insn" : section;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (strcmp(rules[i].section, of) == 0 &&
            (!rules[i].key || strcmp(rules[i].key, key) == 0)) {
            return rules[i].effect;
        }
    }
    return CHIP_EFFECT_UNPRICED;
}

/* ---- two texts ---- */

struct number {
    char section[WORD_BYTES], key[WORD_BYTES], value[WORD_BYTES];
};

struct numbers {
    struct number *of;
    size_t count;
};

static void copy_trimmed(char *out, const char *at, const char *end)
{
    while (at < end && strchr(" \t\r", *at)) {
        at++;
    }
    while (end > at && strchr(" \t\r", end[-1])) {
        end--;
    }
    snprintf(out, WORD_BYTES, "%.*s", (int)(end - at), at);
}

/* A line's number, or its section for those that follow. True: it is a number. */
static bool read_line(const char *at, const char *end, char *section, struct number *number)
{
    const char *comment = memchr(at, ';', (size_t)(end - at));
    end = comment ? comment : end;
    const char *equals = memchr(at, '=', (size_t)(end - at));
    const char *close = memchr(at, ']', (size_t)(end - at));
    if (*at == '[' && close) {
        copy_trimmed(section, at + 1, close);
        return false;
    }
    if (*at == '#' || !equals) {
        return false;
    }
    snprintf(number->section, WORD_BYTES, "%s", is_insn(section) ? "insn" : section);
    copy_trimmed(number->key, at, equals);
    copy_trimmed(number->value, equals + 1, end);
    return true;
}

static bool read_numbers(const char *text, struct numbers *out)
{
    char section[WORD_BYTES] = "";
    size_t lines = 1;
    for (const char *at = text; (at = strchr(at, '\n')); at++) {
        lines++;
    }
    *out = (struct numbers){.of = leo_calloc(lines, sizeof(*out->of))};
    if (!out->of) {
        return false;
    }
    for (const char *at = text; *at;) {
        const char *end = at + strcspn(at, "\n");
        out->count += read_line(at, end, section, &out->of[out->count]);
        at = end + (*end == '\n');
    }
    return true;
}

static const struct number *find(const struct numbers *in, const struct number *wanted)
{
    for (size_t i = 0; i < in->count; i++) {
        if (strcmp(in->of[i].key, wanted->key) == 0 &&
            strcmp(in->of[i].section, wanted->section) == 0) {
            return &in->of[i];
        }
    }
    return NULL;
}

/* 5 and 5.0 are the same number; texts of several numbers must be the same text. */
static bool same_value(const char *left, const char *right)
{
    char *left_end, *right_end;
    const double a = strtod(left, &left_end), b = strtod(right, &right_end);
    return strcmp(left, right) == 0 || (left_end != left && right_end != right && !*left_end &&
                                        !*right_end && !(a < b) && !(a > b));
}

static void tell(const struct number *old, const struct number *now, chip_difference_fn each,
                 void *user)
{
    const struct number *any = old ? old : now;
    const struct chip_difference difference = {
        .section = any->section,
        .key = any->key,
        .old_value = old ? old->value : "",
        .new_value = now ? now->value : "",
        .effect = chip_key_effect(any->section, any->key),
    };
    if (!same_value(difference.old_value, difference.new_value)) {
        each(user, &difference);
    }
}

bool chip_texts_compare(const char *old_text, const char *new_text, chip_difference_fn each,
                        void *user)
{
    struct numbers old = {0}, now = {0};
    const bool good = read_numbers(old_text, &old) && read_numbers(new_text, &now);
    for (size_t i = 0; good && i < old.count; i++) {
        tell(&old.of[i], find(&now, &old.of[i]), each, user);
    }
    for (size_t i = 0; good && i < now.count; i++) {
        if (!find(&old, &now.of[i])) {
            tell(NULL, &now.of[i], each, user);
        }
    }
    leo_free(old.of);
    leo_free(now.of);
    return good;
}
