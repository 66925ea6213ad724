/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator costs the host of a framework whose libraries the process has loaded. A script
 * of PyTorch on real cards gives an operator every 16 to 18 us, whatever its size (docs/env.md);
 * how that divides among the three costs is assumed, and matters with TASK_QUEUE_ENABLE 0 and 2
 * alone. */
#define _GNU_SOURCE // dl_iterate_phdr
#include "../rt.h"

#include <leo/host_model.h>
#include <link.h>
#include <string.h>

static const struct framework_row {
    const char *library; /**< in the path of one of its libraries */
    struct rt_framework framework;
} table[] = {
    {"/libtorch_npu.so", {"torch_npu", 12000, 5000, 5000, "published: 16 to 18 us"}},
    {"/libmindspore_ascend.so",
     {"mindspore", 12000, 5000, 5000, "no published figure: that of torch_npu"}},
    {"/torch_mlu/_C.", {"torch_mlu", 12000, 5000, 5000, "no published figure: that of torch_npu"}},
};

enum { ROWS = sizeof(table) / sizeof(table[0]) };

static int look(struct dl_phdr_info *info, size_t bytes, void *found)
{
    (void)bytes;
    for (size_t i = 0; info->dlpi_name && i < ROWS; i++) {
        if (strstr(info->dlpi_name, table[i].library)) {
            *(const struct rt_framework **)found = &table[i].framework;
            return 1;
        }
    }
    return 0;
}

const struct rt_framework *rt_framework_loaded(void)
{
    const struct rt_framework *found = NULL;
    dl_iterate_phdr(look, &found);
    return found;
}

const struct rt_framework *rt_framework_named(const char *name)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(name, table[i].framework.name) == 0) {
            return &table[i].framework;
        }
    }
    return NULL;
}

uint64_t leo_rt_framework_operator_ns(const char *name)
{
    const struct rt_framework *framework = rt_framework_named(name);
    return framework ? framework->script_ns + framework->prepare_ns : 0;
}
