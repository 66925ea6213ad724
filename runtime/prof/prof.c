/* SPDX-License-Identifier: Apache-2.0 */
/* aclprof*: life cycle. */
#include "prof.h"

#include "acl/acl_internal.h"

#include <leo/alloc.h>
#include <leo/code_profile.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Task records of a profile: 64 MiB, touched as they are used. Longer profiles are cut and say so.
enum { TASKS = 1 << 19, TRACES = 1 << 20 };

struct aclprofStepInfo {
    uint64_t start_ns, end_ns;
};

// One profile a process, as the API has it (decision 8).
static struct {
    pthread_mutex_t lock;
    bool initialized, running;
    char path[PROF_PATH_BYTES];
    char folder[PROF_PATH_BYTES];
    unsigned number;
    struct prof_device devices[PROF_DEVICES_MAX];
    uint32_t device_count;
    bool automatic; /**< asked for by LEO_PROFILE */
    pid_t owner;    /**< of an automatic one: a forked child does not write it */
} the_profile = {.lock = PTHREAD_MUTEX_INITIALIZER};

aclError aclprofInit(const char *profilerResultPath, size_t length)
{
    static const char func[] = "aclprofInit";
    char error[512];
    if (!profilerResultPath || length == 0 || length >= PROF_PATH_BYTES - 128 ||
        strnlen(profilerResultPath, length) != length) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "no path, or one of wrong length (%zu)",
                        length);
    }
    aclError result = ACL_SUCCESS;
    pthread_mutex_lock(&the_profile.lock);
    if (the_profile.initialized) {
        result = acl_fail(ACL_ERROR_PROF_ALREADY_RUN, func, "a profile into %s is open already%s",
                          the_profile.path,
                          the_profile.automatic ? " (LEO_PROFILE): unset that variable"
                                                : ": call aclprofFinalize first");
    } else {
        snprintf(the_profile.path, sizeof(the_profile.path), "%.*s", (int)length,
                 profilerResultPath);
        if (!prof_make_folder(the_profile.path, error, sizeof(error))) {
            result = acl_fail(ACL_ERROR_INVALID_FILE, func, "%s", error);
        } else {
            the_profile.initialized = true;
        }
    }
    pthread_mutex_unlock(&the_profile.lock);
    return result;
}

// Ends the devices' profiles without writing. Caller holds the lock.
static void stop_devices(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        // A device that was reset meanwhile has lost its profile already.
        leo_status status = leo_rt_profile_stop(the_profile.devices[i].rt);
        (void)status;
        leo_rt_device_close(the_profile.devices[i].rt);
    }
    the_profile.device_count = 0;
    the_profile.running = false;
}

aclError aclprofFinalize(void)
{
    aclError result = ACL_SUCCESS;
    pthread_mutex_lock(&the_profile.lock);
    if (!the_profile.initialized) {
        result = acl_fail(ACL_ERROR_PROF_NOT_RUN, "aclprofFinalize", "call aclprofInit first");
    }
    stop_devices(the_profile.device_count);
    the_profile.initialized = false;
    pthread_mutex_unlock(&the_profile.lock);
    return result;
}

aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums,
                                   aclprofAicoreMetrics aicoreMetrics,
                                   const aclprofAicoreEvents *aicoreEvents, uint64_t dataTypeConfig)
{
    static const char func[] = "aclprofCreateConfig";
    if (aicoreEvents || deviceNums > PROF_DEVICES_MAX || (deviceNums && !deviceIdList) ||
        (aicoreMetrics > ACL_AICORE_MEMORY_ACCESS && aicoreMetrics != ACL_AICORE_NONE)) {
        acl_fail(ACL_ERROR_INVALID_PARAM, func,
                 "%u devices (at most %d), metrics %d, events must be NULL", deviceNums,
                 PROF_DEVICES_MAX, (int)aicoreMetrics);
        return NULL;
    }
    aclprofConfig *config = leo_calloc(1, sizeof(*config));
    if (!config) {
        acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
        return NULL;
    }
    config->device_count = deviceNums;
    for (uint32_t i = 0; i < deviceNums; i++) {
        config->devices[i] = deviceIdList[i];
    }
    config->metrics = aicoreMetrics;
    config->mask = dataTypeConfig;
    return config;
}

aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig)
{
    if (!profilerConfig) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclprofDestroyConfig", "the config is NULL");
    }
    leo_free((void *)(uintptr_t)profilerConfig);
    return ACL_SUCCESS;
}

// Opens a device the program has set, so that it stays while the profile needs it.
static aclError open_device(const char *func, uint32_t number, struct leo_rt_device **rt)
{
    *rt = NULL;
    leo_status status = api_device_hold(number, rt);
    return status == API_NOT_SET
               ? acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s", leo_rt_last_error())
               : acl_result(func, status);
}

static aclError start_device(const char *func, uint32_t number)
{
    struct prof_device *device = &the_profile.devices[the_profile.device_count];
    aclError error = open_device(func, number, &device->rt);
    if (error) {
        return error;
    }
    device->number = number;
    // Tasks submitted before have no name and no submission in the log: they are none of the
    // profile's.
    leo_status status = leo_rt_device_synchronize(device->rt);
    if (status == LEO_OK) {
        status =
            leo_rt_profile_start(device->rt, TASKS, leo_rt_counts_code(device->rt) ? TRACES : 0);
    }
    if (status != LEO_OK) {
        leo_rt_device_close(device->rt);
        return acl_result(func, status);
    }
    the_profile.device_count++;
    return ACL_SUCCESS;
}

static void name_folder(void)
{
    prof_name_folder(the_profile.folder, sizeof(the_profile.folder), the_profile.path,
                     ++the_profile.number);
}

aclError aclprofStart(const aclprofConfig *profilerConfig)
{
    static const char func[] = "aclprofStart";
    char text[512];
    if (!profilerConfig) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "the config is NULL");
    }
    aclError result = ACL_SUCCESS;
    pthread_mutex_lock(&the_profile.lock);
    if (!the_profile.initialized) {
        result = acl_fail(ACL_ERROR_PROF_NOT_RUN, func, "call aclprofInit first");
    } else if (the_profile.running) {
        result = acl_fail(ACL_ERROR_PROF_ALREADY_RUN, func, "a profile runs already");
    } else {
        name_folder();
        if (!prof_write_start(the_profile.folder, text, sizeof(text))) {
            result = acl_fail(ACL_ERROR_WRITE_FILE, func, "%s", text);
        }
        for (uint32_t i = 0; !result && i < profilerConfig->device_count; i++) {
            result = start_device(func, profilerConfig->devices[i]);
        }
        the_profile.running = !result;
        if (result) {
            stop_devices(the_profile.device_count);
        }
    }
    pthread_mutex_unlock(&the_profile.lock);
    return result;
}

static const char WHAT_TO_DO[] = "the profile is not complete, the run is; make room there or name "
                                 "another folder, and run again";

aclError aclprofStop(const aclprofConfig *profilerConfig)
{
    static const char func[] = "aclprofStop";
    char text[512];
    if (!profilerConfig) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "the config is NULL");
    }
    aclError result = ACL_SUCCESS;
    pthread_mutex_lock(&the_profile.lock);
    if (!the_profile.running) {
        result = acl_fail(ACL_ERROR_PROF_NOT_RUN, func, "no profile runs: call aclprofStart first");
    } else {
        // Work still under way belongs to the profile.
        for (uint32_t i = 0; !result && i < the_profile.device_count; i++) {
            result = acl_result(func, leo_rt_device_synchronize(the_profile.devices[i].rt));
        }
        if (!prof_write_result(the_profile.folder, the_profile.devices, the_profile.device_count,
                               profilerConfig, text, sizeof(text))) {
            result = acl_fail(ACL_ERROR_WRITE_FILE, func, "%s", text);
            // Callers like torch_npu's profiler do not look at this code.
            fprintf(stderr, "leonardo: profile: %s: %s\n", text, WHAT_TO_DO);
        }
        stop_devices(the_profile.device_count);
    }
    pthread_mutex_unlock(&the_profile.lock);
    return result;
}

static void stop_automatic(void)
{
    static const struct aclprofConfig config = {.metrics = ACL_AICORE_PIPE_UTILIZATION};
    char text[512];
    pthread_mutex_lock(&the_profile.lock);
    if (the_profile.automatic && the_profile.owner == getpid()) {
        bool good = true;
        for (uint32_t i = 0; good && i < the_profile.device_count; i++) {
            // A fault still unreported must not cost the profile.
            leo_status status = leo_rt_device_synchronize(the_profile.devices[i].rt);
            (void)status;
        }
        if (!prof_write_result(the_profile.folder, the_profile.devices, the_profile.device_count,
                               &config, text, sizeof(text))) {
            fprintf(stderr, "leonardo: LEO_PROFILE: %s: %s\n", text, WHAT_TO_DO);
        }
        stop_devices(the_profile.device_count);
        the_profile.automatic = the_profile.initialized = false;
    }
    pthread_mutex_unlock(&the_profile.lock);
}

void acl_prof_finalize(void)
{
    stop_automatic();
}

// Starts the profile with the process's first device. Caller holds the lock.
static bool start_automatic(const char *path, char *text, size_t text_bytes)
{
    snprintf(the_profile.path, sizeof(the_profile.path), "%.*s", PROF_PATH_BYTES - 128, path);
    name_folder();
    if (!prof_write_start(the_profile.folder, text, text_bytes)) {
        return false;
    }
    the_profile.automatic = the_profile.initialized = the_profile.running = true;
    the_profile.owner = getpid();
    if (atexit(stop_automatic) != 0) {
        snprintf(text, text_bytes, "atexit failed");
        return false;
    }
    return true;
}

void acl_prof_device_opened(int32_t device)
{
    static const char func[] = "LEO_PROFILE";
    char text[512] = "";
    const char *path = getenv("LEO_PROFILE");
    if (!path || !*path) {
        return;
    }
    pthread_mutex_lock(&the_profile.lock);
    bool good = the_profile.automatic || the_profile.initialized ||
                start_automatic(path, text, sizeof(text));
    bool known = false;
    for (uint32_t i = 0; i < the_profile.device_count; i++) {
        known = known || the_profile.devices[i].number == (uint32_t)device;
    }
    if (!good || (the_profile.automatic && !known && start_device(func, (uint32_t)device))) {
        fprintf(stderr, "leonardo: LEO_PROFILE=%s: %s; going on without a profile\n", path,
                *text ? text : "the device cannot be profiled");
    }
    pthread_mutex_unlock(&the_profile.lock);
}

aclError aclprofSetConfig(aclprofConfigType configType, const char *config, size_t configLength)
{
    if (!config || configLength == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclprofSetConfig", "no value");
    }
    if (configType != ACL_PROF_SYS_HARDWARE_MEM_FREQ) {
        return acl_fail(ACL_ERROR_PROF_MODULES_UNSUPPORTED, "aclprofSetConfig",
                        "setting %d is not supported", (int)configType);
    }
    return ACL_SUCCESS;
}

// Calls of the program go to the first device's log: they are the host's.
void prof_note(const char *name, uint64_t begin_ns)
{
    pthread_mutex_lock(&the_profile.lock);
    if (the_profile.running && the_profile.device_count > 0) {
        leo_rt_profile_call(the_profile.devices[0].rt, LEO_RT_PROFILE_CALL, name, begin_ns);
    }
    pthread_mutex_unlock(&the_profile.lock);
}

aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream)
{
    char text[160];
    (void)stream;
    if (!msg || msgLen == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclprofMarkEx", "no message");
    }
    snprintf(text, sizeof(text), "mark:%.*s", (int)(msgLen < 128 ? msgLen : 128), msg);
    prof_note(text, leo_rt_profile_clock_ns());
    return ACL_SUCCESS;
}

aclprofStepInfo *aclprofCreateStepInfo(void)
{
    return leo_calloc(1, sizeof(aclprofStepInfo));
}

void aclprofDestroyStepInfo(aclprofStepInfo *stepinfo)
{
    leo_free(stepinfo);
}

aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag, aclrtStream stream)
{
    // What MindSpore 2.10.0 gives instead of the documented numbers.
    enum { OTHER_START = 60000, OTHER_END = 60001 };
    const bool start = (int)tag == ACL_STEP_START || (int)tag == OTHER_START;
    (void)stream;
    if (!stepInfo || (!start && (int)tag != ACL_STEP_END && (int)tag != OTHER_END)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclprofGetStepTimestamp",
                        "no step, or tag %d is neither start nor end", (int)tag);
    }
    uint64_t now = leo_rt_profile_clock_ns();
    if (start) {
        stepInfo->start_ns = now;
    } else {
        stepInfo->end_ns = now;
        prof_note("step", stepInfo->start_ns);
    }
    return ACL_SUCCESS;
}
