/* SPDX-License-Identifier: Apache-2.0 */
/* What the library says it is: versions and capabilities that programs choose their paths by. */
#include "acl_internal.h"

#include <stdio.h>
#include <string.h>

/* The toolkit whose names and behaviour these libraries follow, as facts programs test with ">=":
 * from 8.3 on the device is set when it is first used, from 9.0 on grouped point-to-point calls. */
#define CANN_VERSION "9.0.0"
/* From 25.5 on pointer attributes are asked of the library. */
#define DRIVER_VERSION "25.5.0"

static void copy_part(char *out, const char *version, unsigned part)
{
    for (; part; part--) {
        version = strchr(version, '.');
        if (!version) {
            return;
        }
        version++;
    }
    size_t length = strcspn(version, ".");
    memcpy(out, version, length);
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version)
{
    if (!version || (int)name < ACL_PKG_NAME_CANN || name > ACL_PKG_NAME_DRIVER) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclsysGetCANNVersion",
                        "version is NULL or package %d is unknown", (int)name);
    }
    const char *text = name == ACL_PKG_NAME_DRIVER ? DRIVER_VERSION : CANN_VERSION;
    memset(version, 0, sizeof(*version));
    memcpy(version->version, text, strlen(text));
    copy_part(version->majorVersion, text, 0);
    copy_part(version->minorVersion, text, 1);
    copy_part(version->releaseVersion, text, 2);
    return ACL_SUCCESS;
}

aclError aclsysGetVersionStr(char *pkgName, char *versionStr)
{
    if (!pkgName || !versionStr) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionStr", "an argument is NULL");
    }
    // All packages are of one release here.
    strcpy(versionStr, strcmp(pkgName, "driver") == 0 ? DRIVER_VERSION : CANN_VERSION);
    return ACL_SUCCESS;
}

aclError aclsysGetVersionNum(char *pkgName, int32_t *versionNum)
{
    unsigned major, minor, patch;
    char text[ACL_PKG_VERSION_MAX_SIZE];
    if (!versionNum) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionNum", "versionNum is NULL");
    }
    aclError error = aclsysGetVersionStr(pkgName, text);
    if (!error && sscanf(text, "%u.%u.%u", &major, &minor, &patch) == 3) {
        *versionNum = (int32_t)(major * 10000000 + minor * 100000 + patch * 1000);
    }
    return error;
}

aclError aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
    if (!majorVersion || !minorVersion || !patchVersion) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion", "an argument is NULL");
    }
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return ACL_SUCCESS;
}

static const aclCannAttr attributes[] = {
    ACL_CANN_ATTR_INF_NAN,
    ACL_CANN_ATTR_BF16,
    ACL_CANN_ATTR_JIT_COMPILE,
};

aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num)
{
    if (!cannAttrList || !num) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclGetCannAttributeList", "an argument is NULL");
    }
    *cannAttrList = attributes;
    *num = sizeof(attributes) / sizeof(attributes[0]);
    return ACL_SUCCESS;
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value)
{
    const char *func = "aclGetCannAttribute";
    int64_t arch;
    if (!value) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "value is NULL");
    }
    if ((int)cannAttr < ACL_CANN_ATTR_INF_NAN || cannAttr > ACL_CANN_ATTR_JIT_COMPILE) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "attribute %d is unknown", (int)cannAttr);
    }
    aclError error = aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, &arch);
    if (!error) {
        // The coupled chip saturates and has no bfloat16; neither generation compiles operators at
        // run time here.
        *value = cannAttr != ACL_CANN_ATTR_JIT_COMPILE && arch != ACL_ARCH_COUPLED;
    }
    return error;
}
