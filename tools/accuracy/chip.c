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

leo_status accuracy_chip_settle(struct accuracy_chip *chip)
{
    uint64_t addr = 0;
    leo_status status = LEO_OK;
    if (chip->others && chip->caps.l2_bytes) {
        status = leo_rt_memory_alloc(chip->device, chip->caps.l2_bytes, &addr);
        if (status == LEO_OK) {
            status = leo_rt_memset_async(chip->stream, addr, 0, chip->caps.l2_bytes);
        }
    }
    if (status == LEO_OK) {
        status = leo_rt_stream_synchronize(chip->stream, -1);
    }
    leo_status freed = addr ? leo_rt_memory_free(chip->device, addr) : LEO_OK;
    return leo_status_first(status, freed);
}

void accuracy_chip_close(struct accuracy_chip *chip)
{
    leo_op_context_destroy(chip->ops);
    leo_rt_stream_destroy(chip->stream);
    leo_rt_device_close(chip->device);
    leo_rt_destroy(chip->rt);
    memset(chip, 0, sizeof(*chip));
}
