/* SPDX-License-Identifier: Apache-2.0 */
/* CNDev: what cards a machine has. */
#include "cnrt_internal.h"

#include <stdatomic.h>
#include <string.h>

static atomic_bool is_initialized;
static _Thread_local cndevRet_t last_error;

// Notes a failure for cndevGetLastError.
static cndevRet_t note(cndevRet_t ret)
{
    last_error = ret != CNDEV_SUCCESS ? ret : last_error;
    return ret;
}

cndevRet_t cndevGetLastError(void)
{
    const cndevRet_t ret = last_error;
    last_error = CNDEV_SUCCESS;
    return ret;
}

cndevRet_t cndevInit(int reserved)
{
    uint32_t count;
    if (reserved) {
        return note(CNDEV_ERROR_INVALID_ARGUMENT);
    }
    if (api_device_count(&count) != LEO_OK) {
        return note(CNDEV_ERROR_NO_DEVICES);
    }
    atomic_store(&is_initialized, true);
    return CNDEV_SUCCESS;
}

cndevRet_t cndevRelease(void)
{
    return note(atomic_exchange(&is_initialized, false) ? CNDEV_SUCCESS
                                                        : CNDEV_ERROR_UNINITIALIZED);
}

// What all calls check; every struct begins with its version.
static cndevRet_t check(const int *version)
{
    return note(!atomic_load(&is_initialized) ? CNDEV_ERROR_UNINITIALIZED
                : !version                    ? CNDEV_ERROR_INVALID_ARGUMENT
                : *version != CNDEV_VERSION_5 ? CNDEV_ERROR_UNSUPPORTED_API_VERSION
                                              : CNDEV_SUCCESS);
}

static cndevRet_t code_of(leo_status status)
{
    return note(status == LEO_OK              ? CNDEV_SUCCESS
                : status == LEO_ERR_NO_DEVICE ? CNDEV_ERROR_INVALID_DEVICE_ID
                : status == LEO_ERR_NOT_FOUND ? CNDEV_ERROR_NOT_SUPPORTED
                                              : CNDEV_ERROR_UNKNOWN);
}

cndevRet_t cndevGetDeviceCount(cndevCardInfo_t *info)
{
    uint32_t count;
    cndevRet_t ret = check(info ? &info->version : NULL);
    if (ret == CNDEV_SUCCESS) {
        ret = code_of(api_device_count(&count));
    }
    if (ret == CNDEV_SUCCESS) {
        info->number = count;
    }
    return ret;
}

cndevRet_t cndevGetCardName(cndevCardName_t *name, int device)
{
    static const struct {
        const char *text;
        cndevNameEnum_t id;
    } names[] = {{"MLU100", MLU100},
                 {"MLU270", MLU270},
                 {"MLU290", MLU290},
                 {"MLU370", MLU370},
                 {"MLU590", MLU590}};
    char text[64];
    cndevRet_t ret = check(name ? &name->version : NULL);
    if (ret == CNDEV_SUCCESS) {
        ret = code_of(cnrt_device_name(device, text, sizeof(text)));
    }
    if (ret != CNDEV_SUCCESS) {
        return ret;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(text, names[i].text, strlen(names[i].text)) == 0) {
            name->id = names[i].id;
            return CNDEV_SUCCESS;
        }
    }
    return note(CNDEV_ERROR_NOT_SUPPORTED);
}

const char *cndevGetCardNameStringByDevId(int device)
{
    static _Thread_local char text[64];
    return cnrt_device_name(device, text, sizeof(text)) == LEO_OK ? text : NULL;
}

cndevRet_t cndevGetFrequencyInfo(cndevFrequencyInfo_t *info, int device)
{
    enum { KHZ_PER_MHZ = 1000 };
    int clock, memory;
    cndevRet_t ret = check(info ? &info->version : NULL);
    if (ret == CNDEV_SUCCESS) {
        ret = code_of(cnrt_attribute(cnrtAttrClockRate, device, &clock));
    }
    if (ret == CNDEV_SUCCESS) {
        ret = code_of(cnrt_attribute(cnrtAttrMemClockRate, device, &memory));
    }
    if (ret == CNDEV_SUCCESS) {
        info->boardFreq = clock / KHZ_PER_MHZ;
        info->ddrFreq = memory / KHZ_PER_MHZ;
    }
    return ret;
}

cndevRet_t cndevGetDDRInfo(cndevDDRInfo_t *info, int device)
{
    int width;
    double gb_per_s;
    cndevRet_t ret = check(info ? &info->version : NULL);
    if (ret == CNDEV_SUCCESS) {
        ret = code_of(cnrt_attribute(cnrtAttrGmemBusWidth, device, &width));
    }
    if (ret == CNDEV_SUCCESS) {
        ret = code_of(api_device_number(device, "gm", "hbm_read_gb_per_s", &gb_per_s));
    }
    if (ret == CNDEV_SUCCESS) {
        unsigned hundredths = (unsigned)(gb_per_s * 100 + 0.5);
        info->dataWidth = (unsigned)width;
        info->bandWidth = hundredths / 100;
        info->bandWidthDecimal = hundredths % 100;
    }
    return ret;
}

cndevRet_t cndevGetDeviceMaxPerformance(cndevDeviceMaxPerformance_t *performance, int device)
{
    double operations;
    cndevRet_t ret = check(performance ? &performance->version : NULL);
    if (ret == CNDEV_SUCCESS) {
        ret = code_of(api_device_number(device, "card", "fp32_vector_ops", &operations));
    }
    if (ret == CNDEV_SUCCESS) {
        performance->fp32Vector = (uint64_t)operations;
    }
    return ret;
}

cndevRet_t cndevGetClusterCount(cndevCardClusterCount_t *count, int device)
{
    cndevRet_t ret = check(count ? &count->version : NULL);
    return ret == CNDEV_SUCCESS
               ? code_of(cnrt_attribute(cnrtAttrClusterCount, device, &count->count))
               : ret;
}

cndevRet_t cndevGetCoreCount(cndevCardCoreCount_t *count, int device)
{
    struct leo_caps caps;
    cndevRet_t ret = check(count ? &count->version : NULL);
    if (ret == CNDEV_SUCCESS) {
        ret = code_of(api_device_caps(device, &caps));
    }
    if (ret == CNDEV_SUCCESS) {
        count->count = (int)caps.cube_cores;
    }
    return ret;
}

cndevRet_t cndevGetDeviceHandleByUUID(const char *uuid, cndevDevice_t *device)
{
    enum { UUID_TEXT = 40 };
    const int version = CNDEV_VERSION_5;
    char text[UUID_TEXT];
    cndevRet_t ret = check(uuid && device ? &version : NULL);
    uint32_t count = 0;
    if (ret == CNDEV_SUCCESS) {
        ret = code_of(api_device_count(&count));
    }
    for (int i = 0; ret == CNDEV_SUCCESS && i < (int)count; i++) {
        if (cnDeviceGetUuidStr(text, UUID_TEXT, (CNdev)i) == CN_SUCCESS && !strcmp(text, uuid)) {
            *device = i;
            return CNDEV_SUCCESS;
        }
    }
    return ret == CNDEV_SUCCESS ? note(CNDEV_ERROR_INVALID_DEVICE_ID) : ret;
}

cndevRet_t cndevDeviceGetConfigs(unsigned long long *value, cndevDeviceConfigs_t config,
                                 cndevDevice_t device)
{
    const int version = CNDEV_VERSION_5;
    struct leo_caps caps;
    cndevRet_t ret = check(value && config == CNDEV_DEVICE_CONFIGS_LINEAR_MEM ? &version : NULL);
    if (ret == CNDEV_SUCCESS) {
        ret = code_of(api_device_caps(device, &caps));
    }
    if (ret == CNDEV_SUCCESS) {
        *value = 1;
    }
    return ret;
}

const char *cndevGetErrorString(cndevRet_t ret)
{
    switch (ret) {
    case CNDEV_SUCCESS:
        return "no error";
    case CNDEV_ERROR_NO_DRIVER:
        return "no driver";
    case CNDEV_ERROR_UNSUPPORTED_API_VERSION:
        return "the struct's version is not supported";
    case CNDEV_ERROR_UNINITIALIZED:
        return "cndevInit was not called";
    case CNDEV_ERROR_INVALID_ARGUMENT:
        return "an argument is invalid";
    case CNDEV_ERROR_INVALID_DEVICE_ID:
        return "there is no device of this number";
    case CNDEV_ERROR_UNKNOWN:
        return "unknown error";
    case CNDEV_ERROR_NOT_SUPPORTED:
        return "the card does not tell this";
    case CNDEV_ERROR_NO_DEVICES:
        return "there is no device";
    }
    return "unknown error";
}
