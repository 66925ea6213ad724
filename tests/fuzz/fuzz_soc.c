/* SPDX-License-Identifier: Apache-2.0 */
/* SoC texts: the parser, and a chip made of what it lets through. */
#include "fuzz.h"

#include "config.h"
#include <leo/sim.h>
#include <stdlib.h>
#include <string.h>

static void make_chip(const char *text)
{
    struct leo_sim_opts opts = {.size = sizeof(opts), .soc_text = text, .host_threads = 1};
    struct leo_sim_chip *chip;
    char error[200] = "";
    leo_status status = leo_sim_chip_create(&opts, &chip, error, sizeof(error));
    fuzz_check((status == LEO_OK) == (chip != NULL), "chip and status differ");
    // A chip too large for this host is refused with a text.
    fuzz_check(status == LEO_OK || error[0], "no reason given");
    if (chip) {
        leo_sim_reg_write(chip, 0x2c, 4, 1);
        (void)leo_sim_chip_run(chip, 1000);
    }
    leo_sim_chip_destroy(chip);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char error[120];
    char *text = malloc(bytes + 1);
    struct sim_config *config = malloc(sizeof(*config));
    fuzz_check(text && config, "out of memory");
    if (bytes) {
        memcpy(text, data, bytes);
    }
    text[bytes] = '\0';
    memset(error, 'x', sizeof(error));
    leo_status status = sim_config_parse(text, "fuzz", config, error, sizeof(error));
    fuzz_check(memchr(error, 0, sizeof(error)) != NULL, "message does not end");
    fuzz_check(status == LEO_OK || error[0], "no reason given");
    (void)sim_config_parse(text, NULL, config, error, bytes % 16);
    if (status == LEO_OK) {
        make_chip(text);
    }
    free(config);
    free(text);
    return 0;
}

size_t fuzz_seed(unsigned index, uint8_t *data)
{
    char text[FUZZ_SOC_BYTES];
    if (index == 2) {
        memcpy(data, "[soc]\narch = 2201\nvector_cores = 2\n", 35);
        return 35;
    }
    if (index > 2) {
        return 0;
    }
    fuzz_soc_text(index ? "ascend910b1" : "ascend910a", text);
    size_t bytes = strlen(text);
    memcpy(data, text, bytes);
    return bytes;
}
