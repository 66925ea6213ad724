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

uint64_t op_chip_read_once(const struct leo_caps *caps, uint64_t addr, uint64_t bytes)
{
    const struct op_chip *chip = op_chip_find(caps);
    const uint64_t past = UINT64_C(1) << LEO_GM_BIT_NO_L2; // no bit of a plan's addresses either
    return chip && bytes >= chip->l2_bytes ? addr | past : addr;
}
