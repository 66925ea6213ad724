/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

// Appends the names that are "off" of {"name": "on" | "off"}, and of objects in it.
static bool take_names(json_t *object, char *names, size_t room)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        const char *word = json_string_value(value);
        const size_t used = strlen(names);
        if (json_is_object(value)
                ? !take_names(value, names, room)
                : !word || (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)) {
            return false;
        }
        if (word && strcmp(word, "off") == 0) {
            if (used + strlen(name) + 2 > room) {
                return false;
            }
            snprintf(names + used, room - used, "%s%s", used ? ";" : "", name);
        }
    }
    return true;
}

int atc_read_switches(struct atc_options *options, char error[ATC_ERROR])
{
    json_error_t text;
    json_t *root = json_load_file(options->fusion_switch_file, 0, &text),
           *all = json_object_get(root, "Switch");
    options->switched_off[0] = '\0';
    const bool good = json_is_object(all) &&
                      take_names(all, options->switched_off, sizeof(options->switched_off));
    json_decref(root);
    if (!good) {
        snprintf(error, ATC_ERROR,
                 "E10001: --fusion_switch_file: %.300s must be {\"Switch\": {\"GraphFusion\": "
                 "{\"ALL\": \"off\"}}} or name fusions, each on or off.%s%.100s",
                 options->fusion_switch_file, root ? "" : " ", root ? "" : text.text);
    }
    return good ? 0 : -1;
}
