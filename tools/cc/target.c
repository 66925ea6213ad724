/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include "text.h"
#include <ini.h>
#include <leo/alloc.h>
#include <leo/soc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *key, *section, *name;
} buffers[CC_BUFFER_COUNT] = {
    [CC_UB] = {"ub_bytes", ".npu.ub", "UB"},     [CC_L1] = {"l1_bytes", ".npu.l1", "L1"},
    [CC_L0A] = {"l0a_bytes", ".npu.l0a", "L0A"}, [CC_L0B] = {"l0b_bytes", ".npu.l0b", "L0B"},
    [CC_L0C] = {"l0c_bytes", ".npu.l0c", "L0C"}, [CC_BT] = {"bt_bytes", ".npu.bt", "BT"},
    [CC_FB] = {"fb_bytes", ".npu.fb", "FB"},
};

static int take_field(void *user, const char *section, const char *name, const char *value)
{
    struct cc_target *target = user;
    if (strcmp(section, "soc") == 0 && strcmp(name, "arch") == 0) {
        target->arch = (unsigned)strtoul(value, NULL, 0);
    }
    if (strcmp(section, "card") == 0 && strcmp(name, "sram_bytes") == 0) {
        target->sram_bytes = strtoull(value, NULL, 0);
    }
    for (size_t i = 0; i < CC_BUFFER_COUNT && strcmp(section, "memory") == 0; i++) {
        if (strcmp(name, buffers[i].key) == 0) {
            target->bytes[i] = strtoull(value, NULL, 0);
        }
    }
    return 1;
}

leo_status cc_target_get(const char *soc, struct cc_target *target, const struct cc_fail *fail)
{
    *target = (struct cc_target){0};
    if (!soc || !*soc) {
        soc = getenv("LEO_SOC");
    }
    if (!soc || !*soc) {
        soc = "ascend910a";
    }
    const char *text = leo_isa_soc_text(soc);
    if (text) {
        ini_parse_string(text, take_field, target);
    } else if (!strchr(soc, '/') && !strchr(soc, '.')) {
        struct cc_text names = {0};
        for (size_t i = 0; leo_isa_soc_name(i); i++) {
            cc_text_add(&names, "%s%s", i ? ", " : "", leo_isa_soc_name(i));
        }
        leo_status status =
            cc_fail(fail, LEO_ERR_NOT_FOUND,
                    "no chip is called '%s'; there are: %s (or the path of a SoC file)", soc,
                    names.data ? names.data : "");
        cc_text_finish(&names);
        return status;
    } else {
        char *whole, why[1024];
        if (leo_isa_soc_read(soc, &whole, why, sizeof(why)) != LEO_OK) {
            return cc_fail(fail, LEO_ERR_IO, "cannot read the SoC file %s: %s", soc, why);
        }
        ini_parse_string(whole, take_field, target);
        leo_free(whole);
    }
    if (target->arch != 1001 && target->arch != 2201) {
        return cc_fail(fail, LEO_ERR_UNSUPPORTED, "%s: arch must be 1001 or 2201, not %u", soc,
                       target->arch);
    }
    return LEO_OK;
}

leo_status cc_target_check_section(const struct cc_target *target, const char *section,
                                   uint64_t bytes, const struct cc_fail *fail)
{
    for (size_t i = 0; i < CC_BUFFER_COUNT; i++) {
        if (strcmp(section, buffers[i].section) == 0 && bytes > target->bytes[i]) {
            // Where BANG C has the arrays of a cluster.
            const char *name = target->tells_tasks && i == CC_BT ? "SRAM" : buffers[i].name;
            return cc_fail(fail, LEO_ERR_RANGE,
                           "the arrays in %s take %llu bytes; this chip's %s has %llu", name,
                           (unsigned long long)bytes, name, (unsigned long long)target->bytes[i]);
        }
    }
    return LEO_OK;
}

static bool has_script(const char *root)
{
    char path[CC_PATH_BYTES + 16];
    snprintf(path, sizeof(path), "%s/leo.ld", root);
    return access(path, R_OK) == 0;
}

static bool beside_executable(char root[CC_PATH_BYTES])
{
    char exe[CC_PATH_BYTES];
    ssize_t bytes = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    if (bytes <= 0) {
        return false;
    }
    exe[bytes] = '\0';
    char *slash = strrchr(exe, '/');
    if (!slash) {
        return false;
    }
    *slash = '\0';
    int need = snprintf(root, CC_PATH_BYTES, "%s/../share/leo/device", exe);
    return need < CC_PATH_BYTES && has_script(root);
}

leo_status cc_target_root(const char *given, char root[CC_PATH_BYTES], const struct cc_fail *fail)
{
    if (!given || !*given) {
        given = getenv("LEO_DEVICE_ROOT");
    }
    if (!given || !*given) {
        if (beside_executable(root)) {
            return LEO_OK;
        }
        given = LEO_BUILD_DEVICE_ROOT;
    }
    if ((size_t)snprintf(root, CC_PATH_BYTES, "%s", given) >= CC_PATH_BYTES || !has_script(root)) {
        return cc_fail(fail, LEO_ERR_NOT_FOUND,
                       "no device files (leo.ld, include/, lib/) in %s: set LEO_DEVICE_ROOT to the "
                       "folder that has them",
                       given);
    }
    return LEO_OK;
}
