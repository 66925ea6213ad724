/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables of the runtime. A value given in the options wins over the environment.
 */
#include "rt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Reads a decimal number from the environment; leaves `value` alone if the variable is not set or
// empty.
static leo_status read_number(const char *name, unsigned long min, unsigned long max,
                              unsigned long *value)
{
    const char *text = getenv(name);
    if (!text || !*text) {
        return LEO_OK;
    }
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (*end || *text == '-' || errno || number < min || number > max) {
        return rt_fail(LEO_ERR_RANGE,
                       "environment variable %s is \"%s\": it must be a number from %lu to %lu",
                       name, text, min, max);
    }
    *value = number;
    return LEO_OK;
}

static leo_status resolve_simd(struct leo_rt_opts *opts)
{
    bool given = opts->simd != NULL;
    if (!given) {
        opts->simd = getenv("LEO_SIMD");
    }
    if (!opts->simd || !*opts->simd) {
        opts->simd = NULL;
        return LEO_OK;
    }
    if (strcmp(opts->simd, "generic") && strcmp(opts->simd, "avx2") &&
        strcmp(opts->simd, "avx512")) {
        return rt_fail(LEO_ERR_INVALID_ARG, "%s is \"%s\": it must be generic, avx2 or avx512",
                       given ? "option simd" : "environment variable LEO_SIMD", opts->simd);
    }
    return LEO_OK;
}

static leo_status resolve_print(struct leo_rt_opts *opts)
{
    unsigned long bytes = opts->print_bytes, prefix = 0;
    leo_status status = LEO_OK;
    if (bytes == 0) {
        status = read_number("LEO_PRINT_BYTES", 4096, 64 << 20, &bytes);
    }
    if (!status && !opts->print_prefix) {
        status = read_number("LEO_PRINT_PREFIX", 0, 1, &prefix);
        opts->print_prefix = prefix == 1;
    }
    if (!status && (bytes & (bytes - 1))) {
        status = rt_fail(LEO_ERR_RANGE, "LEO_PRINT_BYTES is %lu: it must be a power of two", bytes);
    }
    opts->print_bytes = (uint32_t)bytes;
    return status;
}

// The bits of one name; 0 = no such name.
static unsigned check_bit(const char *name, size_t bytes)
{
    static const struct {
        const char *name;
        unsigned bits;
    } checks[] = {
        {"hazard", LEO_DRV_CHECK_HAZARD}, {"init", LEO_DRV_CHECK_INIT},
        {"race", LEO_DRV_CHECK_RACE},     {"bounds", LEO_DRV_CHECK_BOUNDS},
        {"poison", LEO_DRV_CHECK_POISON}, {"all", LEO_DRV_CHECK_ALL},
    };
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (strlen(checks[i].name) == bytes && memcmp(checks[i].name, name, bytes) == 0) {
            return checks[i].bits;
        }
    }
    return 0;
}

leo_status rt_env_check(const char *option, unsigned *bits)
{
    const char *text = option ? option : getenv("LEO_CHECK");
    *bits = 0;
    if (!text || !*text || strcmp(text, "none") == 0) {
        return LEO_OK;
    }
    for (const char *name = text;; name++) {
        size_t bytes = strcspn(name, ",");
        unsigned bit = check_bit(name, bytes);
        if (!bit) {
            return rt_fail(LEO_ERR_INVALID_ARG,
                           "%s is \"%s\": it must be none, all, or some of "
                           "hazard,init,race,bounds,poison with commas between",
                           option ? "option check" : "environment variable LEO_CHECK", text);
        }
        *bits |= bit;
        name += bytes;
        if (!*name) {
            return LEO_OK;
        }
    }
}

leo_status rt_env_resolve(struct leo_rt_opts *opts)
{
    if (!opts->soc) {
        opts->soc = getenv("LEO_SOC");
    }
    if (!opts->soc || !*opts->soc) {
        opts->soc = "ascend910a";
    }
    unsigned long devices = 1, threads = 0, limit = 0;
    leo_status status = LEO_OK;
    if (opts->devices == 0) {
        status = read_number("LEO_DEVICES", 1, RT_DEVICES_MAX, &devices);
        opts->devices = (int)devices;
    } else if (opts->devices < 0 || opts->devices > RT_DEVICES_MAX) {
        status = rt_fail(LEO_ERR_RANGE, "option devices is %d: it must be 1 to %d", opts->devices,
                         RT_DEVICES_MAX);
    }
    if (!status && opts->host_threads == 0) {
        status = read_number("LEO_THREADS", 1, 1024, &threads);
        opts->host_threads = (unsigned)threads;
    }
    if (!status && opts->limit_us == 0) {
        status = read_number("LEO_KERNEL_LIMIT_US", 1, UINT32_MAX, &limit);
        opts->limit_us = (uint32_t)limit;
    }
    if (!status) {
        status = resolve_print(opts);
    }
    if (!opts->tape) {
        const char *tape = getenv("LEO_TAPE");
        opts->tape = tape && *tape ? tape : NULL;
    }
    bool values = !opts->no_values;
    if (!status && values) {
        status = rt_env_flag("LEO_TAPE_VALUES", &values);
    }
    opts->no_values = !values;
    if (!status && opts->no_values && !opts->tape) {
        status =
            rt_fail(LEO_ERR_INVALID_ARG, "LEO_TAPE_VALUES=0 is for a run that LEO_TAPE records");
    }
    return status ? status : resolve_simd(opts);
}

leo_status rt_env_flag(const char *name, bool *value)
{
    unsigned long number = *value;
    leo_status status = read_number(name, 0, 1, &number);
    *value = number == 1;
    return status;
}
