/* SPDX-License-Identifier: Apache-2.0 */
#include "accuracy.h"

#include <stdlib.h>
#include <string.h>

static void complain(struct accuracy_params *params, const char *what, const char *key,
                     const char *value)
{
    if (!params->error[0]) {
        snprintf(params->error, sizeof(params->error), "parameter %s%s%s: %s", key,
                 value ? "=" : "", value ? value : "", what);
    }
}

void accuracy_params_parse(const char *text, struct accuracy_params *params)
{
    memset(params, 0, sizeof(*params));
    snprintf(params->text, sizeof(params->text), "%s", text);
    char *save = NULL;
    for (char *word = strtok_r(params->text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');
        if (!equals || params->count == ACCURACY_MAX_PARAMS) {
            complain(params, equals ? "too many parameters" : "expected key=value", word, NULL);
            return;
        }
        *equals = '\0';
        params->key[params->count] = word;
        params->value[params->count++] = equals + 1;
    }
}

static const char *find(struct accuracy_params *params, const char *key)
{
    for (unsigned i = 0; i < params->count; i++) {
        if (strcmp(params->key[i], key) == 0) {
            params->used[i] = true;
            return params->value[i];
        }
    }
    return NULL;
}

bool accuracy_params_has(const struct accuracy_params *params, const char *key)
{
    for (unsigned i = 0; i < params->count; i++) {
        if (strcmp(params->key[i], key) == 0) {
            return true;
        }
    }
    return false;
}

uint64_t accuracy_params_number(struct accuracy_params *params, const char *key, uint64_t missing,
                                uint64_t least, uint64_t most)
{
    const char *value = find(params, key);
    char *end;
    if (!value) {
        return missing;
    }
    uint64_t number = strtoull(value, &end, 0);
    if (end == value || *end || number < least || number > most) {
        char what[96];
        snprintf(what, sizeof(what), "expected a whole number from %llu to %llu",
                 (unsigned long long)least, (unsigned long long)most);
        complain(params, what, key, value);
        return missing;
    }
    return number;
}

void accuracy_params_shape(struct accuracy_params *params, const char *key, uint32_t *out,
                           unsigned count)
{
    const char *value = find(params, key);
    const char *at = value;
    memset(out, 0, count * sizeof(*out));
    for (unsigned i = 0; value && i < count; i++) {
        char *end;
        unsigned long number = strtoul(at, &end, 10);
        bool last = i + 1 == count;
        if (end == at || number == 0 || number > 65535 || *end != (last ? '\0' : 'x')) {
            complain(params, "expected numbers joined by x, as 128x256x64", key, value);
            memset(out, 0, count * sizeof(*out));
            return;
        }
        out[i] = (uint32_t)number;
        at = end + 1;
    }
    if (!value) {
        complain(params, "missing", key, NULL);
    }
}

const char *accuracy_params_word(struct accuracy_params *params, const char *key,
                                 const char *const *words)
{
    const char *value = find(params, key);
    for (unsigned i = 0; value && words[i]; i++) {
        if (strcmp(words[i], value) == 0) {
            return words[i];
        }
    }
    complain(params, value ? "not modelled" : "missing", key, value);
    return NULL;
}

const char *accuracy_params_text(struct accuracy_params *params, const char *key)
{
    return find(params, key);
}

void accuracy_params_refuse(struct accuracy_params *params, const char *key, const char *what)
{
    complain(params, what, key, find(params, key));
}

bool accuracy_params_end(struct accuracy_params *params)
{
    for (unsigned i = 0; i < params->count; i++) {
        if (!params->used[i]) {
            complain(params, "this workload has no such parameter", params->key[i],
                     params->value[i]);
        }
    }
    return params->error[0] == '\0';
}
