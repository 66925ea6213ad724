/* SPDX-License-Identifier: Apache-2.0 */
#include "null_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_text(const char *part)
{
    bool found = strstr(leo_rt_last_error(), part) != NULL;
    if (!found) {
        printf("\n    wanted \"%s\" in: %s\n", part, leo_rt_last_error());
    }
    CU_ASSERT(found);
}

static void environment_sets_what_options_leave_open(void)
{
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_caps caps;
    setenv("LEO_SOC", "ascend910b1", 1);
    setenv("LEO_DEVICES", "3", 1);
    OK(leo_rt_create(NULL, &rt));
    CU_ASSERT_EQUAL(leo_rt_device_count(rt), 3);
    OK(leo_rt_device_open(rt, 2, &device));
    leo_rt_device_get_caps(device, &caps);
    CU_ASSERT_STRING_EQUAL(caps.soc_name, "ascend910b1");
    leo_rt_device_close(device);
    leo_rt_destroy(rt);
    const struct leo_rt_opts opts = {.size = sizeof(opts), .soc = "ascend910a", .devices = 2};
    OK(leo_rt_create(&opts, &rt));
    CU_ASSERT_EQUAL(leo_rt_device_count(rt), 2);
    leo_rt_destroy(rt);
    unsetenv("LEO_SOC");
    unsetenv("LEO_DEVICES");
}

static void bad_values_are_refused_by_name(void)
{
    const struct {
        const char *name, *value;
        leo_status status;
    } bad[] = {
        {"LEO_DEVICES", "0", LEO_ERR_RANGE},
        {"LEO_DEVICES", "9", LEO_ERR_RANGE},
        {"LEO_DEVICES", "two", LEO_ERR_RANGE},
        {"LEO_DEVICES", "-1", LEO_ERR_RANGE},
        {"LEO_THREADS", "0", LEO_ERR_RANGE},
        {"LEO_THREADS", "3x", LEO_ERR_RANGE},
        {"LEO_SIMD", "sse9", LEO_ERR_INVALID_ARG},
        {"LEO_KERNEL_LIMIT_US", "-5", LEO_ERR_RANGE},
        {"LEO_SOC", "no/such/chip", LEO_ERR_NOT_FOUND},
        {"LEO_KERNEL_LIMIT_US", "9999999999999", LEO_ERR_RANGE},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct leo_rt *rt;
        setenv(bad[i].name, bad[i].value, 1);
        CU_ASSERT_EQUAL(leo_rt_create(NULL, &rt), bad[i].status);
        CU_ASSERT_PTR_NULL(rt);
        expect_text(bad[i].name);
        expect_text(bad[i].value);
        unsetenv(bad[i].name);
    }
}

static void empty_variables_mean_the_default(void)
{
    const char *names[] = {"LEO_SOC", "LEO_DEVICES", "LEO_THREADS", "LEO_SIMD",
                           "LEO_KERNEL_LIMIT_US"};
    struct leo_rt *rt;
    for (int i = 0; i < 5; i++) {
        setenv(names[i], "", 1);
    }
    OK(leo_rt_create(NULL, &rt));
    CU_ASSERT_EQUAL(leo_rt_device_count(rt), 1);
    leo_rt_destroy(rt);
    for (int i = 0; i < 5; i++) {
        unsetenv(names[i]);
    }
}

static void soc_can_be_a_file(void)
{
    char path[] = "/tmp/leo_soc_XXXXXX";
    int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    FILE *out = fdopen(file, "w");
    fputs("[soc]\nname = nonsense\nclock = many\n", out);
    fclose(out);
    struct leo_rt *rt;
    struct leo_rt_device *device;
    const struct leo_rt_opts opts = {.size = sizeof(opts), .soc = path};
    OK(leo_rt_create(&opts, &rt));
    CU_ASSERT(leo_rt_device_open(rt, 0, &device) != LEO_OK);
    CU_ASSERT_PTR_NULL(device);
    expect_text(path);
    leo_rt_destroy(rt);
    remove(path);
}

static void wrong_device_index_is_refused(void)
{
    struct null_runtime null;
    struct leo_rt_device *device;
    null_runtime_open(&null, true);
    CU_ASSERT_EQUAL(leo_rt_device_open(null.rt, 1, &device), LEO_ERR_NO_DEVICE);
    CU_ASSERT_PTR_NULL(device);
    expect_text("no device 1: this process has 1");
    CU_ASSERT_EQUAL(leo_rt_device_open(null.rt, -1, &device), LEO_ERR_NO_DEVICE);
    null_runtime_close(&null);
}

static void device_is_shared_until_the_last_close(void)
{
    struct null_runtime null;
    struct leo_rt_device *again;
    struct leo_rt_stream *stream;
    null_runtime_open(&null, true);
    OK(leo_rt_device_open(null.rt, 0, &again));
    CU_ASSERT_PTR_EQUAL(again, null.device);
    leo_rt_device_close(again);
    OK(leo_rt_stream_create(null.device, &stream));
    null_runtime_close(&null);
}

static void options_of_a_wrong_size_are_refused(void)
{
    struct leo_rt *rt;
    const struct leo_rt_opts opts = {.size = 3};
    CU_ASSERT_EQUAL(leo_rt_create(&opts, &rt), LEO_ERR_INVALID_ARG);
    expect_text("size");
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"environment_sets_what_options_leave_open", environment_sets_what_options_leave_open},
        {"bad_values_are_refused_by_name", bad_values_are_refused_by_name},
        {"empty_variables_mean_the_default", empty_variables_mean_the_default},
        {"soc_can_be_a_file", soc_can_be_a_file},
        {"wrong_device_index_is_refused", wrong_device_index_is_refused},
        {"device_is_shared_until_the_last_close", device_is_shared_until_the_last_close},
        {"options_of_a_wrong_size_are_refused", options_of_a_wrong_size_are_refused},
    };
    return leo_test_main("options", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
