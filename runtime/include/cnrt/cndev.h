/* SPDX-License-Identifier: Apache-2.0 */
/* CNDev names over the simulated cards: what a machine has. Written from documented names, values
 * and behaviour. The caller sets `version` of each struct to CNDEV_VERSION_5. */
#pragma once

#include "cnrt.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CNDEV_VERSION_5 5

typedef enum {
    CNDEV_SUCCESS = 0,
    CNDEV_ERROR_NO_DRIVER = 1,
    CNDEV_ERROR_UNSUPPORTED_API_VERSION = 3,
    CNDEV_ERROR_UNINITIALIZED = 4,
    CNDEV_ERROR_INVALID_ARGUMENT = 5,
    CNDEV_ERROR_INVALID_DEVICE_ID = 6,
    CNDEV_ERROR_UNKNOWN = 7,
    CNDEV_ERROR_NOT_SUPPORTED = 10,
    CNDEV_ERROR_NO_DEVICES = 12
} cndevRet_t;

typedef int cndevDevice_t; /**< a card, by its number */
typedef enum { CNDEV_DEVICE_CONFIGS_LINEAR_MEM = 0 } cndevDeviceConfigs_t;

typedef enum { MLU100 = 0, MLU270 = 1, MLU290 = 20, MLU370 = 23, MLU590 = 26 } cndevNameEnum_t;

typedef struct {
    int version;
    unsigned int number;
} cndevCardInfo_t;
typedef struct {
    int version;
    cndevNameEnum_t id;
} cndevCardName_t;
typedef struct {
    int version;
    int boardFreq; /**< MHz */
    int ddrFreq;   /**< MHz */
} cndevFrequencyInfo_t;
typedef struct {
    int version;
    unsigned int dataWidth;                   /**< bits */
    unsigned int bandWidth, bandWidthDecimal; /**< GB/s, and hundredths */
} cndevDDRInfo_t;
typedef struct {
    int version;
    int count;
} cndevCardClusterCount_t;
typedef struct {
    int version;
    int count;
} cndevCardCoreCount_t;
/** Operations a cycle of a core: a product and a sum are two. */
typedef struct {
    int version;
    uint64_t fp32Vector;
} cndevDeviceMaxPerformance_t;

CNRT_FUNC_VISIBILITY cndevRet_t cndevInit(int reserved);
CNRT_FUNC_VISIBILITY cndevRet_t cndevRelease(void);
CNRT_FUNC_VISIBILITY cndevRet_t cndevGetDeviceCount(cndevCardInfo_t *info);
CNRT_FUNC_VISIBILITY cndevRet_t cndevGetCardName(cndevCardName_t *name, int device);
/** NULL if there is no such card; valid until the thread's next call. */
CNRT_FUNC_VISIBILITY const char *cndevGetCardNameStringByDevId(int device);
CNRT_FUNC_VISIBILITY cndevRet_t cndevGetFrequencyInfo(cndevFrequencyInfo_t *info, int device);
CNRT_FUNC_VISIBILITY cndevRet_t cndevGetDDRInfo(cndevDDRInfo_t *info, int device);
CNRT_FUNC_VISIBILITY cndevRet_t
cndevGetDeviceMaxPerformance(cndevDeviceMaxPerformance_t *performance, int device);
CNRT_FUNC_VISIBILITY cndevRet_t cndevGetClusterCount(cndevCardClusterCount_t *count, int device);
CNRT_FUNC_VISIBILITY cndevRet_t cndevGetCoreCount(cndevCardCoreCount_t *count, int device);
/** The card whose cnDeviceGetUuidStr is `uuid`. */
CNRT_FUNC_VISIBILITY cndevRet_t cndevGetDeviceHandleByUUID(const char *uuid, cndevDevice_t *device);
/** CNDEV_DEVICE_CONFIGS_LINEAR_MEM: 1, memory is not mapped linearly. */
CNRT_FUNC_VISIBILITY cndevRet_t cndevDeviceGetConfigs(unsigned long long *value,
                                                      cndevDeviceConfigs_t config,
                                                      cndevDevice_t device);
/** What the thread's last call that failed returned, CNDEV_SUCCESS from then on. */
CNRT_FUNC_VISIBILITY cndevRet_t cndevGetLastError(void);
CNRT_FUNC_VISIBILITY const char *cndevGetErrorString(cndevRet_t ret);

#ifdef __cplusplus
}
#endif
