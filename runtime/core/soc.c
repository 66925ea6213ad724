/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE // strtod_l
/* Numbers of the SoC file that the runtime itself needs (links between cards). */
#include "rt.h"

#include <ini.h>
#include <leo/soc.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
    const char *section, *key;
    double value;
    bool found;
};

// The chip has read the file already: it is well-formed, and its numbers are in range.
static int take_number(void *user, const char *section, const char *key, const char *value)
{
    struct search *search = user;
    if (strcmp(section, search->section) == 0 && strcmp(key, search->key) == 0) {
        search->value = rt_number(value);
        search->found = true;
    }
    return 1;
}

double rt_number(const char *text)
{
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    double value = plain ? strtod_l(text, NULL, plain) : strtod(text, NULL);
    if (plain) {
        freelocale(plain);
    }
    return value;
}

static const char *text_of(const struct leo_rt *rt)
{
    return rt->soc_text ? rt->soc_text : leo_isa_soc_text(rt->soc_name);
}

static int take_told_as(void *user, const char *section, const char *key, const char *value)
{
    if (strcmp(section, "soc") == 0 && strcmp(key, "told_as") == 0) {
        snprintf(user, LEO_RT_NAME_BYTES, "%s", value);
    }
    return 1;
}

void rt_soc_read_name(struct leo_rt *rt)
{
    // A file that is malformed is refused when a chip is made of it.
    (void)ini_parse_string(text_of(rt), take_told_as, rt->told_as);
}

void leo_rt_device_told_as(const struct leo_rt_device *device, char name[LEO_RT_NAME_BYTES])
{
    const char *told_as = device->rt->told_as;
    snprintf(name, LEO_RT_NAME_BYTES, "%s", *told_as ? told_as : device->caps.soc_name);
}

const char *leo_rt_soc_text(const struct leo_rt_device *device)
{
    return text_of(device->rt);
}

leo_status leo_rt_soc_number(const struct leo_rt_device *device, const char *section,
                             const char *key, double *value)
{
    const struct leo_rt *rt = device->rt;
    const char *text = leo_rt_soc_text(device);
    struct search search = {.section = section, .key = key};
    *value = 0;
    if (!text || ini_parse_string(text, take_number, &search) < 0 || !search.found) {
        return rt_fail(LEO_ERR_NOT_FOUND, "the SoC file %s has no %s in [%s]", rt->soc_name, key,
                       section);
    }
    *value = search.value;
    return LEO_OK;
}

leo_status leo_rt_hbm_gb_per_s(const struct leo_rt_device *device, double *value)
{
    double rate = 0, pause = 0, every = 1;
    leo_status status = leo_rt_soc_number(device, "gm", "hbm_read_gb_per_s", &rate);
    if (status == LEO_OK) {
        status = leo_rt_soc_number(device, "gm", "hbm_refresh_ns", &pause);
    }
    if (status == LEO_OK) {
        status = leo_rt_soc_number(device, "gm", "hbm_refresh_every_ns", &every);
    }
    *value = rate * (1 - pause / every);
    return status;
}
