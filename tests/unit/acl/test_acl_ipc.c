/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, events and notifies between processes, and what happens when one is killed. */
#include "test_acl_common.h"

#include "harness.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, BYTES = 2 << 20, COUNT = BYTES / 4 };

/** The other process, and a way to hand bytes to it and back. */
struct peer {
    pid_t pid;
    int to, from;
};

typedef void (*peer_fn)(int from, int to);

/* In the other process an assertion ends it with the line as its status. */
#define NEED(condition) need((condition), #condition, __LINE__)

static void need(int good, const char *what, int line)
{
    if (!good) {
        const char *text = aclGetRecentErrMsg();
        fprintf(stderr, "other process, line %d: %s: %s\n", line, what, text ? text : "");
        _exit(1 + line % 200);
    }
}

/* Before the first call of the library: each process has chips of its own. */
static struct peer start(peer_fn run)
{
    int down[2], up[2];
    CU_ASSERT_FATAL(pipe(down) == 0 && pipe(up) == 0);
    pid_t pid = fork();
    CU_ASSERT_FATAL(pid >= 0);
    if (pid == 0) {
        close(down[1]);
        close(up[0]);
        need(aclInit(NULL) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS, "start", __LINE__);
        run(down[0], up[1]);
        NEED(aclrtResetDevice(0) == ACL_SUCCESS);
        NEED(aclFinalize() == ACL_SUCCESS);
        _exit(0);
    }
    close(down[0]);
    close(up[1]);
    return (struct peer){pid, down[1], up[0]};
}

static void give(int fd, const void *data, size_t bytes)
{
    CU_ASSERT_EQUAL_FATAL(write(fd, data, bytes), (ssize_t)bytes);
}

static void take(int fd, void *data, size_t bytes)
{
    char *at = data;
    while (bytes) {
        ssize_t got = read(fd, at, bytes);
        CU_ASSERT_FATAL(got > 0);
        at += got;
        bytes -= (size_t)got;
    }
}

static void tell(int fd)
{
    give(fd, "!", 1);
}

static void listen_for(int fd)
{
    char said;
    take(fd, &said, 1);
}

static void finish(struct peer peer)
{
    int state = -1;
    close(peer.to);
    CU_ASSERT_EQUAL(waitpid(peer.pid, &state, 0), peer.pid);
    CU_ASSERT(WIFEXITED(state));
    CU_ASSERT_EQUAL(WEXITSTATUS(state), 0);
    close(peer.from);
}

static int holds(const void *device, uint32_t value, size_t count)
{
    uint32_t *host = malloc(count * 4);
    int good = host && aclrtMemcpy(host, count * 4, device, count * 4, ACL_MEMCPY_DEVICE_TO_HOST) ==
                           ACL_SUCCESS;
    for (size_t i = 0; i < count && good; i++) {
        good = host[i] == value + (uint32_t)i;
    }
    free(host);
    return good;
}

static aclError fill(void *device, uint32_t value, size_t count)
{
    uint32_t *host = malloc(count * 4);
    for (size_t i = 0; i < count; i++) {
        host[i] = value + (uint32_t)i;
    }
    aclError error = aclrtMemcpy(device, count * 4, host, count * 4, ACL_MEMCPY_HOST_TO_DEVICE);
    free(host);
    return error;
}

/* ---- memory ---- */

static void import_memory(int from, int to)
{
    char key[65];
    void *device, *again, *beyond;
    take(from, key, sizeof(key));
    NEED(aclrtIpcMemImportByKey(&device, key, 0) == ACL_ERROR_RT_PARAM_INVALID); // not allowed yet
    tell(to);
    listen_for(from);
    NEED(aclrtIpcMemImportByKey(&device, key, 0) == ACL_SUCCESS);
    NEED(holds(device, 7, COUNT));
    // A device's own tasks see it, too; what lies behind it is nobody's.
    NEED(aclrtMalloc(&again, BYTES, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    NEED(aclrtMemcpy(again, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE) == ACL_SUCCESS);
    NEED(holds(again, 7, COUNT));
    beyond = (char *)device + BYTES;
    NEED(aclrtMemset(beyond, 4, 0, 4) != ACL_SUCCESS);
    NEED(aclrtFree(device) != ACL_SUCCESS); // not its own
    NEED(fill(device, 1000, COUNT) == ACL_SUCCESS);
    tell(to);
    listen_for(from);
    NEED(holds(device, 5000, COUNT)); // written by the exporter meanwhile
    // The same key: the same address, counted.
    NEED(aclrtIpcMemImportByKey(&again, key, 0) == ACL_SUCCESS && again == device);
    NEED(aclrtIpcMemClose(key) == ACL_SUCCESS);
    NEED(holds(device, 5000, COUNT));
    NEED(aclrtIpcMemClose(key) == ACL_SUCCESS);
    NEED(!holds(device, 5000, 1));
    NEED(aclrtIpcMemClose(key) == ACL_ERROR_RT_PARAM_INVALID);
    tell(to);
    listen_for(from);
    NEED(aclrtIpcMemImportByKey(&device, key, 0) == ACL_ERROR_RT_PARAM_INVALID); // closed
}

static void memory_is_shared_with_who_may(void)
{
    struct peer peer = start(import_memory);
    char key[65];
    void *device, *next;
    acl_begin_plain();
    OK(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(fill(device, 7, COUNT));
    OK(aclrtIpcMemGetExportKey(device, BYTES, key, sizeof(key),
                               ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
    EXPECT(aclrtIpcMemImportByKey(&next, key, 0), ACL_ERROR_RT_PARAM_INVALID); // its own
    give(peer.to, key, sizeof(key));
    listen_for(peer.from);
    int32_t pid = peer.pid;
    OK(aclrtIpcMemSetImportPid(key, &pid, 1));
    tell(peer.to);
    listen_for(peer.from);
    CU_ASSERT(holds(device, 1000, COUNT));
    OK(fill(device, 5000, COUNT));
    tell(peer.to);
    listen_for(peer.from);
    OK(aclrtIpcMemClose(key));
    EXPECT(aclrtIpcMemClose(key), ACL_ERROR_RT_PARAM_INVALID);
    tell(peer.to);
    finish(peer);
    CU_ASSERT(holds(device, 5000, COUNT));
    OK(aclrtFree(device));
    acl_end_plain();
}

static void keep_memory(int from, int to)
{
    char key[65];
    void *device;
    take(from, key, sizeof(key));
    NEED(aclrtIpcMemImportByKey(&device, key, 0) == ACL_SUCCESS);
    tell(to);
    listen_for(from);
    NEED(holds(device, 1, COUNT)); // the exporter has freed it, and uses the place for others
    NEED(fill(device, 99, COUNT) == ACL_SUCCESS);
    tell(to);
    listen_for(from);
    // The device's end closes what was not closed.
}

static void freed_memory_is_shared_no_more(void)
{
    struct peer peer = start(keep_memory);
    char key[65];
    void *device, *next;
    acl_begin_plain();
    OK(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(fill(device, 1, COUNT));
    OK(aclrtIpcMemGetExportKey(device, BYTES, key, sizeof(key),
                               ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    give(peer.to, key, sizeof(key));
    listen_for(peer.from);
    OK(aclrtFree(device));
    EXPECT(aclrtIpcMemClose(key), ACL_ERROR_RT_PARAM_INVALID); // ended with the memory
    OK(aclrtMalloc(&next, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    CU_ASSERT_PTR_EQUAL(next, device);
    OK(fill(next, 2, COUNT));
    tell(peer.to);
    listen_for(peer.from);
    CU_ASSERT(holds(next, 2, COUNT));
    tell(peer.to);
    finish(peer);
    OK(aclrtFree(next));
    acl_end_plain();
}

static void export_and_stay(int from, int to)
{
    char key[65];
    void *device;
    NEED(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    NEED(fill(device, 3, COUNT) == ACL_SUCCESS);
    NEED(aclrtIpcMemGetExportKey(device, BYTES, key, sizeof(key), 1) == ACL_SUCCESS);
    give(to, key, sizeof(key));
    listen_for(from);
}

static void memory_of_a_killed_process_stays_with_importers(void)
{
    struct peer peer = start(export_and_stay);
    char key[65];
    void *device, *next;
    acl_begin_plain();
    take(peer.from, key, sizeof(key));
    OK(aclrtIpcMemImportByKey(&device, key, 0));
    CU_ASSERT(holds(device, 3, COUNT));
    kill(peer.pid, SIGKILL);
    waitpid(peer.pid, NULL, 0);
    CU_ASSERT(holds(device, 3, COUNT));
    OK(aclrtIpcMemClose(key));
    EXPECT(aclrtIpcMemImportByKey(&next, key, 0), ACL_ERROR_RT_PARAM_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(aclGetRecentErrMsg(), "the process has ended"));
    close(peer.to);
    close(peer.from);
    acl_end_plain();
}

static void wrong_use_is_told(void)
{
    char key[65];
    void *device, *imported;
    int32_t pid = 1;
    acl_begin_plain();
    OK(aclrtMalloc(&device, 3 * PAGE, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(aclrtIpcMemGetExportKey(NULL, PAGE, key, 65, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtIpcMemGetExportKey(device, PAGE, NULL, 65, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtIpcMemGetExportKey(device, PAGE, key, 64, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcMemGetExportKey(device, PAGE, key, 65, 2), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcMemGetExportKey(device, 100, key, 65, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcMemGetExportKey((char *)device + 32, PAGE, key, 65, 0),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcMemGetExportKey(device, 8 * PAGE, key, 65, 0), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtIpcMemGetExportKey(device, 2 * PAGE, key, 65, 0));
    EXPECT(aclrtIpcMemGetExportKey((char *)device + PAGE, 2 * PAGE, key, 65, 0),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcMemSetImportPid(NULL, &pid, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtIpcMemSetImportPid(key, NULL, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtIpcMemSetImportPid(key, &pid, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtIpcMemSetImportPid("nonsense", &pid, 1), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcMemImportByKey(NULL, key, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtIpcMemImportByKey(&imported, NULL, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtIpcMemImportByKey(&imported, key, 8), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcMemImportByKey(&imported, "leo-ipc-0000000000000001x", 0),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcMemImportByKey(&imported, "leo-ipc-0000400000000001", 0),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcMemClose(NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtIpcMemSetAttr(key, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 0),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtIpcMemImportPidInterServer(key, NULL, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtFree(device));
    acl_end_plain();
}

/* ---- physical memory ---- */

static void import_physical(int from, int to)
{
    uint64_t shareable;
    aclrtDrvMemHandle handle;
    void *where;
    int32_t pid;
    NEED(aclrtDeviceGetBareTgid(&pid) == ACL_SUCCESS);
    give(to, &pid, sizeof(pid));
    take(from, &shareable, sizeof(shareable));
    NEED(aclrtMemImportFromShareableHandle(shareable, 0, &handle) == ACL_SUCCESS);
    NEED(aclrtReserveMemAddress(&where, BYTES, 0, NULL, 0) == ACL_SUCCESS);
    NEED(aclrtMapMem(where, BYTES, 0, handle, 0) == ACL_SUCCESS);
    NEED(holds(where, 11, COUNT));
    NEED(fill(where, 22, COUNT) == ACL_SUCCESS);
    NEED(aclrtUnmapMem(where) == ACL_SUCCESS);
    NEED(aclrtFreePhysical(handle) == ACL_SUCCESS);
    NEED(aclrtReleaseMemAddress(where) == ACL_SUCCESS);
    tell(to);
}

static void physical_memory_is_shared(void)
{
    struct peer peer = start(import_physical);
    aclrtPhysicalMemProp prop = {.location = {.id = 0, .type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtDrvMemHandle handle;
    uint64_t shareable, second;
    void *where, *elsewhere;
    int32_t pid;
    acl_begin_plain();
    OK(aclrtReserveMemAddress(&where, BYTES, 0, NULL, 0));
    OK(aclrtReserveMemAddress(&elsewhere, BYTES, 0, NULL, 0));
    OK(aclrtMallocPhysical(&handle, BYTES, &prop, 0));
    OK(aclrtMapMem(where, BYTES, 0, handle, 0));
    OK(fill(where, 11, COUNT));
    OK(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 0, &shareable));
    OK(aclrtMemExportToShareableHandleV2(handle, 0, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &second));
    CU_ASSERT_EQUAL(shareable, second);
    take(peer.from, &pid, sizeof(pid));
    CU_ASSERT_EQUAL(pid, peer.pid);
    OK(aclrtMemSetPidToShareableHandle(shareable, &pid, 1));
    OK(aclrtMemSetPidToShareableHandleV2(&shareable, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &pid, 1));
    give(peer.to, &shareable, sizeof(shareable));
    listen_for(peer.from);
    CU_ASSERT(holds(where, 22, COUNT));
    // It stays the same memory at another address.
    OK(aclrtUnmapMem(where));
    OK(aclrtMapMem(elsewhere, BYTES, 0, handle, 0));
    CU_ASSERT(holds(elsewhere, 22, COUNT));
    finish(peer);
    EXPECT(aclrtMemImportFromShareableHandle(shareable, 0, &handle), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemImportFromShareableHandleV2(&shareable, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0,
                                               &handle),
           ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtMemExportToShareableHandleV2(handle, 0, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &second),
           ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT(aclrtMemSetPidToShareableHandle(77, &pid, 1), ACL_ERROR_RT_PARAM_INVALID);
    OK(aclrtUnmapMem(elsewhere));
    OK(aclrtFreePhysical(handle));
    OK(aclrtReleaseMemAddress(elsewhere));
    OK(aclrtReleaseMemAddress(where));
    acl_end_plain();
}

/* ---- events and notifies ---- */

static void wait_for_event(int from, int to)
{
    aclrtIpcEventHandle handle;
    aclrtEvent event, own;
    aclrtEventRecordedStatus status;
    char key[65];
    void *device;
    uint64_t reached, after;
    take(from, key, sizeof(key));
    take(from, &handle, sizeof(handle));
    NEED(aclrtIpcMemImportByKey(&device, key, 0) == ACL_SUCCESS);
    NEED(aclrtIpcOpenEventHandle(handle, &event) == ACL_SUCCESS);
    NEED(aclrtQueryEventStatus(event, &status) == ACL_SUCCESS);
    tell(to);
    listen_for(from); // recorded
    NEED(aclrtStreamWaitEvent(NULL, event) == ACL_SUCCESS);
    NEED(aclrtCreateEvent(&own) == ACL_SUCCESS);
    NEED(aclrtRecordEvent(own, NULL) == ACL_SUCCESS);
    NEED(aclrtSynchronizeStream(NULL) == ACL_SUCCESS);
    NEED(holds(device, 0x01010101, 1));
    NEED(aclrtQueryEventStatus(event, &status) == ACL_SUCCESS &&
         status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    // Time goes on from when the other device was there.
    NEED(aclrtEventGetTimestamp(event, &reached) == ACL_SUCCESS);
    NEED(aclrtEventGetTimestamp(own, &after) == ACL_SUCCESS);
    NEED(reached > 0 && after >= reached);
    NEED(aclrtIpcGetEventHandle(event, &handle) == ACL_ERROR_RT_PARAM_INVALID);
    // And back: the maker waits for what is recorded here.
    NEED(aclrtMemsetAsync(device, 4, 2, 4, NULL) == ACL_SUCCESS);
    NEED(aclrtRecordEvent(event, NULL) == ACL_SUCCESS);
    tell(to);
    listen_for(from);
    NEED(aclrtSynchronizeStream(NULL) == ACL_SUCCESS);
}

static void events_order_work_of_two_processes(void)
{
    struct peer peer = start(wait_for_event);
    aclrtIpcEventHandle handle;
    aclrtEvent event, plain;
    char key[65];
    void *device, *large;
    acl_begin_plain();
    OK(aclrtMalloc(&device, PAGE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&large, 64 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtIpcMemGetExportKey(device, PAGE, key, sizeof(key), 1));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC | ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEvent(&plain));
    OK(aclrtIpcGetEventHandle(event, &handle));
    EXPECT(aclrtIpcGetEventHandle(plain, &handle), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtIpcGetEventHandle(event, NULL), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtIpcOpenEventHandle(handle, NULL), ACL_ERROR_INVALID_PARAM);
    aclrtEvent mine;
    EXPECT(aclrtIpcOpenEventHandle(handle, &mine), ACL_ERROR_RT_PARAM_INVALID);
    give(peer.to, key, sizeof(key));
    give(peer.to, &handle, sizeof(handle));
    listen_for(peer.from);
    OK(aclrtMemsetAsync(large, 64 << 20, 9, 64 << 20, NULL));
    OK(aclrtMemsetAsync(device, 4, 1, 4, NULL));
    OK(aclrtRecordEvent(event, NULL));
    tell(peer.to);
    listen_for(peer.from);
    OK(aclrtSynchronizeEvent(event));
    CU_ASSERT(holds(device, 0x02020202, 1));
    tell(peer.to);
    finish(peer);
    OK(aclrtDestroyEvent(event));
    OK(aclrtDestroyEvent(plain));
    OK(aclrtFree(device));
    OK(aclrtFree(large));
    acl_end_plain();
}

enum { ROUNDS = 20 };

static void answer(int from, int to)
{
    char keys[2][65], key[65];
    aclrtNotify ping, pong;
    uint32_t *device;
    take(from, keys, sizeof(keys));
    take(from, key, sizeof(key));
    NEED(aclrtNotifyImportByKey(&ping, keys[0], 0) == ACL_SUCCESS);
    NEED(aclrtNotifyImportByKey(&pong, keys[1], ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS) ==
         ACL_SUCCESS);
    NEED(aclrtIpcMemImportByKey((void **)&device, key, 0) == ACL_SUCCESS);
    tell(to);
    for (int i = 0; i < ROUNDS; i++) {
        NEED(aclrtWaitAndResetNotify(ping, NULL, 0) == ACL_SUCCESS);
        NEED(aclrtMemcpyAsync(device + 1, 4, device, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, NULL) ==
             ACL_SUCCESS);
        NEED(aclrtRecordNotify(pong, NULL) == ACL_SUCCESS);
    }
    NEED(aclrtSynchronizeStream(NULL) == ACL_SUCCESS);
    NEED(aclrtDestroyNotify(ping) == ACL_SUCCESS);
}

static void notifies_go_to_and_fro(void)
{
    struct peer peer = start(answer);
    char keys[2][65], key[65];
    aclrtNotify ping, pong;
    uint32_t *device, seen = 0;
    int32_t pid = peer.pid;
    acl_begin_plain();
    OK(aclrtMalloc((void **)&device, PAGE, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtIpcMemGetExportKey(device, PAGE, key, sizeof(key), 1));
    OK(aclrtCreateNotify(&ping, 0));
    OK(aclrtCreateNotify(&pong, 0));
    EXPECT(aclrtNotifySetImportPid(ping, &pid, 1), ACL_ERROR_RT_PARAM_INVALID); // exported first
    EXPECT(aclrtNotifyGetExportKey(ping, keys[0], 64, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT(aclrtNotifyGetExportKey(NULL, keys[0], 65, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT(aclrtNotifySetImportPidInterServer(ping, NULL, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(aclrtNotifyGetExportKey(ping, keys[0], 65, 0));
    OK(aclrtNotifySetImportPid(ping, &pid, 1));
    OK(aclrtNotifyGetExportKey(pong, keys[1], 65,
                               ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    give(peer.to, keys, sizeof(keys));
    give(peer.to, key, sizeof(key));
    listen_for(peer.from);
    for (int i = 1; i <= ROUNDS; i++) {
        OK(aclrtMemsetAsync(device, 4, i, 4, NULL));
        OK(aclrtRecordNotify(ping, NULL));
        OK(aclrtWaitAndResetNotify(pong, NULL, 30));
        OK(aclrtMemcpyAsync(&seen, 4, device + 1, 4, ACL_MEMCPY_DEVICE_TO_HOST, NULL));
        OK(aclrtSynchronizeStream(NULL));
        CU_ASSERT_EQUAL(seen, (uint32_t)i * 0x01010101u);
    }
    finish(peer);
    OK(aclrtDestroyNotify(ping));
    OK(aclrtDestroyNotify(pong));
    OK(aclrtFree(device));
    acl_end_plain();
}

static void import_and_stay(int from, int to)
{
    char key[65];
    aclrtNotify notify;
    take(from, key, sizeof(key));
    NEED(aclrtNotifyImportByKey(&notify, key, 0) == ACL_SUCCESS);
    tell(to);
    listen_for(from);
}

static void a_wait_for_a_killed_process_ends(void)
{
    struct peer peer = start(import_and_stay);
    aclrtNotify notify;
    aclrtStream stream;
    char key[65];
    acl_begin_plain();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateNotify(&notify, 0));
    OK(aclrtNotifyGetExportKey(notify, key, 65, 1));
    give(peer.to, key, sizeof(key));
    listen_for(peer.from);
    OK(aclrtWaitAndResetNotify(notify, stream, 0));
    kill(peer.pid, SIGKILL);
    waitpid(peer.pid, NULL, 0);
    CU_ASSERT_NOT_EQUAL(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL(strstr(aclGetRecentErrMsg(), "have ended"));
    OK(aclrtSynchronizeStream(stream)); // the stream goes on
    close(peer.to);
    close(peer.from);
    OK(aclrtDestroyStream(stream));
    acl_end_plain();
}

static void waits_have_limits(void)
{
    aclrtNotify notify;
    aclrtStream stream, stuck;
    acl_begin_plain();
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&stuck));
    OK(aclrtCreateNotify(&notify, 0));
    OK(aclrtWaitAndResetNotify(notify, stream, 1));
    EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_WAIT_TIMEOUT);
    OK(aclrtSetOpWaitTimeout(1));
    OK(aclrtWaitAndResetNotify(notify, stream, 0));
    EXPECT(aclrtSynchronizeStream(stream), ACL_ERROR_RT_WAIT_TIMEOUT);
    OK(aclrtSetOpWaitTimeout(0));
    // One without a limit ends with its stream when that is ended by force, or with the device.
    OK(aclrtWaitAndResetNotify(notify, stream, 0));
    OK(aclrtDestroyStreamForce(stream));
    OK(aclrtWaitAndResetNotify(notify, stuck, 0));
    acl_end_plain();
}

static void hold_up(void *user)
{
    while (!atomic_load((atomic_bool *)user)) {
        usleep(100);
    }
}

// The newest record counts, also if one asked for earlier is reached after it.
static void the_newest_record_of_a_shared_event_counts(void)
{
    atomic_bool go = false;
    aclrtEventRecordedStatus status;
    aclrtStream slow, fast;
    aclrtEvent event;
    acl_begin_plain();
    OK(aclrtCreateStream(&slow));
    OK(aclrtCreateStream(&fast));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
    OK(aclrtLaunchHostFunc(slow, hold_up, &go));
    OK(aclrtRecordEvent(event, slow));
    OK(aclrtRecordEvent(event, fast));
    OK(aclrtSynchronizeStreamWithTimeout(fast, 10000)); // reached before the first was
    atomic_store(&go, true);
    OK(aclrtQueryEventStatus(event, &status));
    CU_ASSERT_EQUAL(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtSynchronizeStream(slow));
    OK(aclrtQueryEventStatus(event, &status));
    CU_ASSERT_EQUAL(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    OK(aclrtDestroyEvent(event));
    acl_end_plain();
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"memory_is_shared_with_who_may", memory_is_shared_with_who_may},
        {"freed_memory_is_shared_no_more", freed_memory_is_shared_no_more},
        {"memory_of_a_killed_process_stays_with_importers",
         memory_of_a_killed_process_stays_with_importers},
        {"wrong_use_is_told", wrong_use_is_told},
        {"physical_memory_is_shared", physical_memory_is_shared},
        {"events_order_work_of_two_processes", events_order_work_of_two_processes},
        {"the_newest_record_of_a_shared_event_counts", the_newest_record_of_a_shared_event_counts},
        {"notifies_go_to_and_fro", notifies_go_to_and_fro},
        {"a_wait_for_a_killed_process_ends", a_wait_for_a_killed_process_ends},
        {"waits_have_limits", waits_have_limits},
    };
    return leo_test_main("acl_ipc", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
