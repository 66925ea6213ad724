/* SPDX-License-Identifier: Apache-2.0 */
#include "chip.h"

#include <string.h>

static const struct op_chip *const chips[] = {&op_chip_ascend910a, &op_chip_ascend910b1};
enum { CHIPS = sizeof(chips) / sizeof(chips[0]) };

const struct op_chip *op_chip_find(const struct leo_caps *caps)
{
    for (unsigned i = 0; i < CHIPS; i++) {
        if (strcmp(chips[i]->soc, caps->soc_name) == 0) {
            return chips[i];
        }
    }
    for (unsigned i = 0; i < CHIPS; i++) {
        if (chips[i]->arch == caps->arch) {
            return chips[i];
        }
    }
    return NULL;
}
