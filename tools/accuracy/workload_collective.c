/* SPDX-License-Identifier: Apache-2.0 */
/* A collective of several cards: what the chip's links give. Nothing runs. */
#include "accuracy.h"

#include <collective/cost.h>
#include <string.h>

static const char *const kinds[] = {
    [COLL_ALL_REDUCE] = "all_reduce",         [COLL_REDUCE] = "reduce",
    [COLL_BROADCAST] = "broadcast",           [COLL_ALL_GATHER] = "all_gather",
    [COLL_REDUCE_SCATTER] = "reduce_scatter", [COLL_SCATTER] = "scatter",
    [COLL_ALL_TO_ALL] = "all_to_all",         [COLL_BARRIER] = "barrier",
    [COLL_POINT_TO_POINT] = "point_to_point", NULL};

leo_status accuracy_run_collective(struct accuracy_chip *chip, struct accuracy_params *params,
                                   struct accuracy_result *result)
{
    const char *word = accuracy_params_word(params, "kind", kinds);
    const uint64_t ranks = accuracy_params_number(params, "ranks", 0, 1, 1 << 16),
                   bytes = accuracy_params_number(params, "bytes", 0, 0, UINT64_C(1) << 40);
    struct coll_links links;
    leo_status status = LEO_OK;
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    for (size_t i = 0; i < COLL_LINK_KEYS && status == LEO_OK; i++) {
        status = leo_rt_soc_number(chip->device, "link", coll_link_keys[i].key,
                                   coll_link_number(&links, i));
    }
    for (unsigned i = 0; status == LEO_OK && kinds[i]; i++) {
        if (strcmp(word, kinds[i]) == 0) {
            result->record.end_ns = coll_cost_ns(&links, (enum coll_kind)i, (uint32_t)ranks, bytes);
        }
    }
    return status;
}
