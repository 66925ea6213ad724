/* SPDX-License-Identifier: Apache-2.0 */
/* aclprof*: life cycle, what is written, wrong use. */
#include "harness.h"
#include <acl/acl.h>
#include <acl/acl_prof.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char place[] = "/tmp/leo_prof_XXXXXX";

static void begin(void)
{
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    CU_ASSERT_EQUAL_FATAL(aclInit(NULL), 0);
    CU_ASSERT_EQUAL_FATAL(aclrtSetDevice(0), 0);
}

static void end(void)
{
    CU_ASSERT_EQUAL(aclrtResetDevice(0), 0);
    CU_ASSERT_EQUAL(aclFinalize(), 0);
}

// Lines of a file of the one profile in `folder`; counts those that hold `what`.
static int count_lines(const char *folder, const char *name, const char *what)
{
    char pattern[512], line[1024];
    glob_t found;
    int count = 0;
    snprintf(pattern, sizeof(pattern), "%s/PROF_*/%s", folder, name);
    if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc != 1) {
        return -1;
    }
    FILE *file = fopen(found.gl_pathv[0], "r");
    while (file && fgets(line, sizeof(line), file)) {
        count += strstr(line, what) != NULL;
    }
    if (file) {
        fclose(file);
    }
    globfree(&found);
    return count;
}

static void use_stamps(void)
{
    uint32_t range = 0;
    void *stamp = aclprofCreateStamp();
    aclprofStepInfo *step = aclprofCreateStepInfo();
    CU_ASSERT_PTR_NOT_NULL_FATAL(stamp);
    CU_ASSERT_EQUAL(aclprofSetStampTraceMessage(stamp, "outer", 5), 0);
    CU_ASSERT_EQUAL(aclprofPush(stamp), 0);
    CU_ASSERT_EQUAL(aclprofSetStampTraceMessage(stamp, "across", 6), 0);
    CU_ASSERT_EQUAL(aclprofRangeStart(stamp, &range), 0);
    CU_ASSERT_EQUAL(aclprofPop(), 0);
    CU_ASSERT_EQUAL(aclprofRangeStop(range), 0);
    CU_ASSERT_EQUAL(aclprofSetStampTraceMessage(stamp, "moment", 6), 0);
    CU_ASSERT_EQUAL(aclprofMark(stamp), 0);
    CU_ASSERT_EQUAL(aclprofGetStepTimestamp(step, ACL_STEP_START, NULL), 0);
    CU_ASSERT_EQUAL(aclprofGetStepTimestamp(step, ACL_STEP_END, NULL), 0);
    // MindSpore's numbers for the same.
    CU_ASSERT_EQUAL(aclprofGetStepTimestamp(step, (aclprofStepTag)60000, NULL), 0);
    CU_ASSERT_EQUAL(aclprofGetStepTimestamp(step, (aclprofStepTag)60001, NULL), 0);
    CU_ASSERT_EQUAL(aclprofGetStepTimestamp(step, (aclprofStepTag)2, NULL),
                    ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_NOT_EQUAL(aclprofPop(), 0);
    CU_ASSERT_NOT_EQUAL(aclprofRangeStop(range), 0);
    CU_ASSERT_EQUAL(aclprofSetStampTraceMessage(stamp, NULL, 1), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclprofPush(NULL), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclprofMark(NULL), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclprofRangeStart(stamp, NULL), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclprofStr2Id(NULL), 0);
    CU_ASSERT_NOT_EQUAL(aclprofStr2Id("a"), aclprofStr2Id("b"));
    aclprofDestroyStamp(stamp);
    aclprofDestroyStepInfo(step);
}

static void profile_has_tasks_launches_and_memory(void)
{
    char folder[256], data[4096] = "";
    uint32_t device = 0;
    void *memory = NULL;
    begin();
    snprintf(folder, sizeof(folder), "%s/a/b", place);
    CU_ASSERT_EQUAL_FATAL(aclprofInit(folder, strlen(folder)), 0);
    CU_ASSERT_EQUAL(aclprofInit(folder, strlen(folder)), ACL_ERROR_PROF_ALREADY_RUN);
    aclprofConfig *config = aclprofCreateConfig(&device, 1, ACL_AICORE_PIPE_UTILIZATION, NULL,
                                                ACL_PROF_ACL_API | ACL_PROF_TASK_TIME);
    CU_ASSERT_PTR_NOT_NULL_FATAL(config);
    CU_ASSERT_EQUAL(aclprofStop(config), ACL_ERROR_PROF_NOT_RUN);
    CU_ASSERT_EQUAL_FATAL(aclprofStart(config), 0);
    CU_ASSERT_EQUAL(aclprofStart(config), ACL_ERROR_PROF_ALREADY_RUN);
    CU_ASSERT_EQUAL(aclrtMalloc(&memory, sizeof(data), ACL_MEM_MALLOC_HUGE_FIRST), 0);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(
            aclrtMemcpy(memory, sizeof(data), data, sizeof(data), ACL_MEMCPY_HOST_TO_DEVICE), 0);
    }
    // Not waited for: the stop does.
    CU_ASSERT_EQUAL(aclrtMemsetAsync(memory, sizeof(data), 1, sizeof(data), NULL), 0);
    CU_ASSERT_EQUAL(aclprofMarkEx("here, \"I\"", 9, NULL), 0);
    use_stamps();
    CU_ASSERT_EQUAL(aclprofStop(config), 0);
    CU_ASSERT_EQUAL(aclprofDestroyConfig(config), 0);
    CU_ASSERT_EQUAL(aclprofFinalize(), 0);
    CU_ASSERT_EQUAL(aclprofFinalize(), ACL_ERROR_PROF_NOT_RUN);
    CU_ASSERT_EQUAL(count_lines(folder, "host/data/api.csv", "outer"), 1);
    CU_ASSERT_EQUAL(count_lines(folder, "host/data/api.csv", "across"), 1);
    CU_ASSERT_EQUAL(count_lines(folder, "host/data/api.csv", "mark:moment"), 1);
    CU_ASSERT_EQUAL(count_lines(folder, "host/data/api.csv", "step"), 2);
    CU_ASSERT_EQUAL(count_lines(folder, "device_0/data/task.csv", ",copy,"), 3);
    CU_ASSERT_EQUAL(count_lines(folder, "device_0/data/task.csv", ",fill,"), 1);
    CU_ASSERT_EQUAL(count_lines(folder, "host/data/launch.csv", "0,"), 4);
    CU_ASSERT_EQUAL(count_lines(folder, "host/data/api.csv", "\"mark:here, \"\"I\"\"\""), 1);
    CU_ASSERT(count_lines(folder, "host/data/memory.csv", "0,") >= 1);
    CU_ASSERT_EQUAL(count_lines(folder, "host/start_info", "clockMonotonicRaw"), 1);
    CU_ASSERT_EQUAL(count_lines(folder, "host/host_start.log", "cntvct = "), 1);
    CU_ASSERT_EQUAL(count_lines(folder, "host/host_end.log", "cntvct = "), 1);
    CU_ASSERT_EQUAL(count_lines(folder, "device_0/data/device.json", "\"lost\": 0"), 1);
    aclrtFree(memory);
    end();
}

static void wrong_use_is_refused(void)
{
    uint32_t devices[] = {5, 0};
    aclprofAicoreEvents *events = (aclprofAicoreEvents *)devices;
    char file[256];
    begin();
    CU_ASSERT_EQUAL(aclprofInit(NULL, 3), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclprofInit("/tmp", 40), ACL_ERROR_INVALID_PARAM);
    snprintf(file, sizeof(file), "%s/file", place);
    fclose(fopen(file, "w"));
    CU_ASSERT_EQUAL(aclprofInit(file, strlen(file)), 0);
    aclprofConfig *config = aclprofCreateConfig(devices, 1, ACL_AICORE_NONE, NULL, 0);
    // The folder cannot be made: what stands there is a file.
    CU_ASSERT_EQUAL(aclprofStart(config), ACL_ERROR_WRITE_FILE);
    CU_ASSERT_EQUAL(aclprofFinalize(), 0);
    CU_ASSERT_EQUAL(aclprofInit(place, strlen(place)), 0);
    CU_ASSERT_EQUAL(aclprofStart(config), ACL_ERROR_INVALID_PARAM); // there is no device 5
    CU_ASSERT_EQUAL(aclprofDestroyConfig(config), 0);
    CU_ASSERT_EQUAL(aclprofStart(NULL), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_PTR_NULL(aclprofCreateConfig(devices, 9, ACL_AICORE_NONE, NULL, 0));
    CU_ASSERT_PTR_NULL(aclprofCreateConfig(devices, 1, ACL_AICORE_NONE, events, 0));
    CU_ASSERT_EQUAL(aclprofSetConfig(ACL_PROF_SYS_IO_FREQ, "50", 2),
                    ACL_ERROR_PROF_MODULES_UNSUPPORTED);
    CU_ASSERT_EQUAL(aclprofSetConfig(ACL_PROF_SYS_HARDWARE_MEM_FREQ, "50", 2), 0);
    CU_ASSERT_EQUAL(aclprofMarkEx(NULL, 0, NULL), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(aclprofFinalize(), 0);
    end();
}

static void finalize_ends_a_running_profile(void)
{
    char folder[256];
    uint32_t device = 0;
    begin();
    snprintf(folder, sizeof(folder), "%s/ended", place);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(aclprofInit(folder, strlen(folder)), 0);
        aclprofConfig *config = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL, 0);
        CU_ASSERT_EQUAL(aclprofStart(config), 0);
        CU_ASSERT_EQUAL(aclprofFinalize(), 0);
        CU_ASSERT_EQUAL(aclprofStop(config), ACL_ERROR_PROF_NOT_RUN);
        CU_ASSERT_EQUAL(aclprofDestroyConfig(config), 0);
    }
    end();
}

static const struct leo_test tests[] = {
    {"profile_has_tasks_launches_and_memory", profile_has_tasks_launches_and_memory},
    {"wrong_use_is_refused", wrong_use_is_refused},
    {"finalize_ends_a_running_profile", finalize_ends_a_running_profile},
};

int main(int argc, char **argv)
{
    char command[128];
    if (!mkdtemp(place)) {
        return 1;
    }
    int result = leo_test_main("prof", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    return system(command) == 0 ? result : 1;
}
