/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_mark.h"

#include <stdio.h>
#include <string.h>

static void take(void *user, const struct chip_difference *difference)
{
    struct replay_mark *mark = user;
    const bool is_link = mark->prices_links && strcmp(difference->section, "link") == 0;
    const enum chip_effect effect = is_link ? CHIP_EFFECT_TIMES : difference->effect;
    mark->links |= is_link;
    mark->effect = effect > mark->effect ? effect : mark->effect;
    if (effect < CHIP_EFFECT_PLANS) {
        return;
    }
    char word[264];
    const size_t used = strlen(mark->keys);
    snprintf(word, sizeof(word), "%s%s.%s", used ? ", " : "", difference->section, difference->key);
    const bool fits = used + strlen(word) + sizeof("..") <= sizeof(mark->keys);
    if (fits) {
        strcpy(mark->keys + used, word);
    } else if (used < 2 || strcmp(mark->keys + used - 2, "..") != 0) {
        strcpy(mark->keys + used, "..");
    }
}

bool replay_mark_compare(const char *recorded_text, const char *priced_text, bool prices_links,
                         struct replay_mark *mark)
{
    *mark = (struct replay_mark){.effect = CHIP_EFFECT_NONE, .prices_links = prices_links};
    return chip_texts_compare(recorded_text, priced_text, take, mark);
}

const char *replay_mark_text(const struct replay_mark *mark)
{
    return mark->effect >= CHIP_EFFECT_PLANS || mark->looks ? "estimate" : "exact";
}
