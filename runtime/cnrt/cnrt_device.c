/* SPDX-License-Identifier: Apache-2.0 */
/* What CNRT is to the common API; devices and what they tell of themselves. */
#include "cnrt_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const struct api_face api_face = {
    .visible = "MLU_VISIBLE_DEVICES",
    .set_device = "cnrtSetDevice",
    .default_soc = "mlu370",
    .default_device = 0,
    .streams_of_any_context = true,
    .log = cnrt_log,
};

/** Where an attribute comes from: a number of the SoC file over a divisor, or a constant. */
struct attribute {
    int id;
    const char *section, *key;
    double unit;
    int constant;
};

enum {
    MIB = 1 << 20,
    DIM_MAX = 65535, /**< a launch's number of tasks */
    UNION_MAX = 16,  /**< clusters of the largest kernel class that has a name */
    EVENTS = 65536
};

static const struct attribute attributes[] = {
    {cnrtAttrComputeCapabilityMajor, "card", "compute_major", 1, 0},
    {cnrtAttrComputeCapabilityMinor, "card", "compute_minor", 1, 0},
    {cnrtAttrFP16ComputingSupported, NULL, NULL, 1, 1},
    {cnrtAttrINT8ComputingSupported, NULL, NULL, 1, 1},
    {cnrtAttrBF16ComputingSupported, NULL, NULL, 1, 0}, // the chips of this architecture have none
    {cnrtAttrMaxQueueCount, "scheduler", "queues", 1, 0},
    {cnrtAttrMaxNotifierCount, NULL, NULL, 1, EVENTS},
    {cnrtAttrMaxDimX, NULL, NULL, 1, DIM_MAX},
    {cnrtAttrMaxDimY, NULL, NULL, 1, DIM_MAX},
    {cnrtAttrMaxDimZ, NULL, NULL, 1, DIM_MAX},
    {cnrtAttrMaxClusterCountPerUnionTask, NULL, NULL, 1, UNION_MAX},
    {cnrtAttrMcorePerCluster, "card", "cores_per_cluster", 1, 0},
    {cnrtAttrIsaVersion, "card", "isa_version", 1, 0},
    {cnrtAttrMaxL2CacheSize, "memory", "l2_bytes", 1, 0},
    {cnrtAttrNramSizePerMcore, "memory", "ub_bytes", 1, 0},
    {cnrtAttrWramSizePerMcore, "memory", "l1_bytes", 1, 0},
    {cnrtAttrSramSizePerMcore, "card", "sram_bytes", 1, 0},
    {CN_DEVICE_ATTRIBUTE_LINEAR_MAPPING_SUPPORTED, NULL, NULL, 1, 0},
    {cnrtAttrEccEnabled, NULL, NULL, 1, 0},
    {cnrtAttrClockRate, "soc", "clock_khz", 1, 0},
    {cnrtAttrMemClockRate, "card", "memory_clock_khz", 1, 0},
    {cnrtAttrGmemBusWidth, "card", "bus_width_bits", 1, 0},
    {cnrtAttrTotalMemSize, "memory", "hbm_bytes", MIB, 0},
    {cnrtAttrPciDeviceID, NULL, NULL, 1, 0},
    {cnrtAttrPciDomainID, NULL, NULL, 1, 0},
};

static leo_status ask(int64_t device, const char *section, const char *key, double unit, int *value)
{
    double number;
    leo_status status = api_device_number(device, section, key, &number);
    if (status == LEO_OK) {
        *value = (int)(number / unit);
    }
    return status;
}

leo_status cnrt_attribute(int id, int64_t device, int *value)
{
    struct leo_caps caps;
    int cores;
    leo_status status = api_device_caps(device, &caps);
    if (status != LEO_OK) {
        return status;
    }
    if (id == cnrtAttrPciBusID) {
        *value = (int)device + 1; // as the bus ids that cnrtDeviceGetPCIBusId gives
        return LEO_OK;
    }
    if (id == cnrtAttrClusterCount) {
        status = ask(device, "card", "cores_per_cluster", 1, &cores);
        *value = status == LEO_OK ? (int)caps.cube_cores / cores : 0;
        return status;
    }
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
        const struct attribute *one = &attributes[i];
        if (one->id == id && !one->key) {
            *value = one->constant;
            return LEO_OK;
        }
        if (one->id == id) {
            return ask(device, one->section, one->key, one->unit, value);
        }
    }
    return leo_rt_fail(LEO_ERR_NOT_FOUND, "attribute 0x%x is not known here", (unsigned)id);
}

leo_status cnrt_device_name(int64_t device, char *name, size_t bytes)
{
    char told[LEO_RT_NAME_BYTES];
    leo_status status = api_device_told_as(device, told);
    if (status == LEO_OK) {
        snprintf(name, bytes, "%s", told);
        for (char *c = name; *c; c++) {
            *c = (char)toupper((unsigned char)*c);
        }
    }
    return status;
}

static cnrtRet_t null(const char *func)
{
    return cnrt_fail(cnrtErrorArgsInvalid, func, "an argument is NULL");
}

cnrtRet_t cnrtGetDeviceCount(unsigned int *pCount)
{
    uint32_t count;
    if (!pCount) {
        return null(__func__);
    }
    cnrtRet_t ret = cnrt_result(__func__, api_device_count(&count));
    if (ret == cnrtSuccess) {
        *pCount = count;
    }
    return ret;
}

cnrtRet_t cnrtGetDevice(int *pOrdinal)
{
    int32_t device;
    if (!pOrdinal) {
        return null(__func__);
    }
    cnrtRet_t ret = cnrt_result(__func__, api_device_current(&device));
    if (ret == cnrtSuccess) {
        *pOrdinal = device;
    }
    return ret;
}

cnrtRet_t cnrtSetDevice(int ordinal)
{
    return cnrt_result(__func__, api_device_set(ordinal));
}

cnrtRet_t cnrtSyncDevice(void)
{
    return cnrt_result(__func__, api_device_synchronize(API_FOREVER));
}

cnrtRet_t cnrtDeviceReset(void)
{
    int32_t device;
    leo_status status = api_device_current(&device);
    return cnrt_result(__func__, status != LEO_OK ? status : api_device_reset(device, true));
}

cnrtRet_t cnrtDeviceGetAttribute(int *pValue, cnrtDeviceAttr_t attr, int ordinal)
{
    if (!pValue) {
        return null(__func__);
    }
    leo_status status = cnrt_attribute((int)attr, ordinal, pValue);
    return status == LEO_ERR_NOT_FOUND
               ? cnrt_fail(cnrtErrorNoAttribute, __func__, leo_rt_last_error())
               : cnrt_result(__func__, status);
}

cnrtRet_t cnrtGetDeviceProperties(cnrtDeviceProp_t *prop, int ordinal)
{
    struct leo_caps caps;
    if (!prop) {
        return null(__func__);
    }
    memset(prop, 0, sizeof(*prop));
    const struct {
        int id, *value;
    } wanted[] = {
        {cnrtAttrTotalMemSize, &prop->totalMem},
        {cnrtAttrMaxDimX, &prop->maxDim[0]},
        {cnrtAttrMaxDimY, &prop->maxDim[1]},
        {cnrtAttrMaxDimZ, &prop->maxDim[2]},
        {cnrtAttrClockRate, &prop->clockRate},
        {cnrtAttrMemClockRate, &prop->memClockRate},
        {cnrtAttrComputeCapabilityMajor, &prop->computeCapabilityMajor},
        {cnrtAttrComputeCapabilityMinor, &prop->computeCapabilityMinor},
        {cnrtAttrClusterCount, &prop->clusterCount},
        {cnrtAttrMcorePerCluster, &prop->McorePerCluster},
        {cnrtAttrNramSizePerMcore, &prop->NramSizePerMcore},
        {cnrtAttrWramSizePerMcore, &prop->WramSizePerMcore},
        {cnrtAttrSramSizePerMcore, &prop->SramSizePerMcore},
    };
    leo_status status = cnrt_device_name(ordinal, prop->name, sizeof(prop->name));
    for (size_t i = 0; status == LEO_OK && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        status = cnrt_attribute(wanted[i].id, ordinal, wanted[i].value);
        // What the chip's file does not tell of stays 0.
        status = status == LEO_ERR_NOT_FOUND ? LEO_OK : status;
    }
    if (status == LEO_OK) {
        status = api_device_caps(ordinal, &caps);
        prop->totalGlobalMemSize = caps.hbm_bytes;
        // A simulated card has no serial number: its number, the same on every run.
        snprintf((char *)prop->uuid, sizeof(prop->uuid), "leonardo-mlu-%d", ordinal);
    }
    return cnrt_result(__func__, status);
}

cnrtRet_t cnrtDeviceGetPCIBusId(char *pciBusIdStr, int len, int ordinal)
{
    int bus;
    if (!pciBusIdStr || len < 1) {
        return null(__func__);
    }
    cnrtRet_t ret = cnrt_result(__func__, cnrt_attribute(cnrtAttrPciBusID, ordinal, &bus));
    if (ret == cnrtSuccess) {
        snprintf(pciBusIdStr, (size_t)len, "0000:%02x:00.0", (unsigned)bus);
    }
    return ret;
}

cnrtRet_t cnrtDeviceGetByPCIBusId(int *ordinal, const char *pciBusIdStr)
{
    unsigned domain, bus, device, function;
    if (!ordinal || !pciBusIdStr) {
        return null(__func__);
    }
    if (sscanf(pciBusIdStr, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4 || domain ||
        device || function) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__, "the id names no card here");
    }
    int index;
    cnrtRet_t ret = cnrt_result(__func__, api_device_index((int32_t)bus - 1, &index));
    if (ret == cnrtSuccess) {
        *ordinal = (int)bus - 1;
    }
    return ret;
}

cnrtRet_t cnrtDeviceGetQueuePriorityRange(int *leastPriority, int *greatestPriority)
{
    if (!leastPriority || !greatestPriority) {
        return null(__func__);
    }
    *leastPriority = API_PRIORITY_LEAST;
    *greatestPriority = API_PRIORITY_GREATEST;
    return cnrtSuccess;
}

cnrtRet_t cnrtGetPeerAccessibility(unsigned int *canPeer, int dev, int peer)
{
    bool can;
    if (!canPeer) {
        return null(__func__);
    }
    cnrtRet_t ret = cnrt_result(__func__, api_peer_can(dev, peer, &can));
    if (ret == cnrtSuccess) {
        *canPeer = can;
    }
    return ret;
}

cnrtRet_t cnrtGetLibVersion(int *major, int *minor, int *patch)
{
    if (!major || !minor || !patch) {
        return null(__func__);
    }
    *major = CNRT_MAJOR_VERSION;
    *minor = CNRT_MINOR_VERSION;
    *patch = CNRT_PATCH_VERSION;
    return cnrtSuccess;
}

cnrtRet_t cnrtDriverGetVersion(int *major, int *minor, int *patch)
{
    return cnrtGetLibVersion(major, minor, patch); // one library here
}
