/* SPDX-License-Identifier: Apache-2.0 */
#include "accuracy.h"

#include <string.h>

leo_status accuracy_chip_open(struct accuracy_chip *chip, const char *soc)
{
    memset(chip, 0, sizeof(*chip));
    snprintf(chip->soc, sizeof(chip->soc), "%s", soc);
    struct leo_rt_opts opts = {.size = sizeof(opts), .soc = chip->soc, .devices = 1};
    leo_status status = leo_rt_create(&opts, &chip->rt);
    if (status == LEO_OK) {
        status = leo_rt_device_open(chip->rt, 0, &chip->device);
    }
    if (status == LEO_OK) {
        status = leo_rt_stream_create(chip->device, &chip->stream);
    }
    if (status == LEO_OK) {
        status = leo_op_context_create(chip->device, chip->stream, &chip->ops);
    }
    if (status == LEO_OK) {
        leo_rt_device_get_caps(chip->device, &chip->caps);
    } else {
        accuracy_chip_close(chip);
    }
    return status;
}

void accuracy_chip_close(struct accuracy_chip *chip)
{
    leo_op_context_destroy(chip->ops);
    leo_rt_stream_destroy(chip->stream);
    leo_rt_device_close(chip->device);
    leo_rt_destroy(chip->rt);
    memset(chip, 0, sizeof(*chip));
}
