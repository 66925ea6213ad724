/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the SoC file as text. */
#include "acl_internal.h"

#include <acl/acl_platform.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *section, *key;
    double per; /**< of the file's unit in one that is reported */
} numbers[] = {
    [ACL_PLATFORM_AICORE_CNT] = {"soc", "cube_cores", 1},
    [ACL_PLATFORM_AICORE_UB_SIZE] = {"memory", "ub_bytes", 1},
    [ACL_PLATFORM_CUBE_CORE_CNT] = {"soc", "cube_cores", 1},
    [ACL_PLATFORM_VECTOR_CORE_CNT] = {"soc", "vector_cores", 1},
    [ACL_PLATFORM_L2_SIZE] = {"memory", "l2_bytes", 1},
    [ACL_PLATFORM_MEMORY_SIZE] = {"memory", "hbm_bytes", 1},
    [ACL_PLATFORM_CUBE_FREQ] = {"soc", "clock_khz", 1000},
    [ACL_PLATFORM_VEC_FREQ] = {"soc", "clock_khz", 1000},
    [ACL_PLATFORM_BT_SIZE] = {"memory", "bt_bytes", 1},
    [ACL_PLATFORM_L0_A_SIZE] = {"memory", "l0a_bytes", 1},
    [ACL_PLATFORM_L0_B_SIZE] = {"memory", "l0b_bytes", 1},
    [ACL_PLATFORM_L0_C_SIZE] = {"memory", "l0c_bytes", 1},
    [ACL_PLATFORM_L1_SIZE] = {"memory", "l1_bytes", 1},
    [ACL_PLATFORM_SOC_VERSION] = {NULL, NULL, 1},
    [ACL_PLATFORM_AIC_VERSION] = {NULL, NULL, 1},
    [ACL_PLATFORM_NPU_ARCH] = {"soc", "arch", 1},
    [ACL_PLATFORM_MEMORY_TYPE] = {NULL, NULL, 1},
};

aclError aclplatformGetDeviceInfo(aclplatformDevInfo infoType, char *value, uint32_t maxLen)
{
    int32_t device = 0;
    double number = 0;
    char text[64] = "";
    if (!value || (unsigned)infoType >= sizeof(numbers) / sizeof(numbers[0])) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "value is NULL or info %d is unknown",
                        (int)infoType);
    }
    if (infoType == ACL_PLATFORM_SOC_VERSION) {
        const char *name = aclrtGetSocName();
        snprintf(text, sizeof(text), "%s", name ? name : "");
    } else if (!numbers[infoType].key) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                        "info %d is not in the SoC file", (int)infoType);
    } else {
        aclError error = acl_result(__func__, api_device_current(&device));
        if (!error) {
            error = acl_result(__func__, api_device_number(device, numbers[infoType].section,
                                                           numbers[infoType].key, &number));
        }
        if (error) {
            return error;
        }
        snprintf(text, sizeof(text), "%.0f", number / numbers[infoType].per);
    }
    if (strlen(text) >= maxLen) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%u bytes are too few for \"%s\"",
                        maxLen, text);
    }
    strcpy(value, text);
    return ACL_SUCCESS;
}
