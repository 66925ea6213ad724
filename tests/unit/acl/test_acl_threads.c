/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads at one handle: one ends it, the other uses or ends it too; an error, never a crash.
 */
#include "test_acl_common.h"

#include "harness.h"
#include <pthread.h>

enum { ROUNDS = 150 };

/** What both threads of a race work on. */
struct race {
    pthread_barrier_t barrier;
    aclrtContext context; /**< current in both */
    void *handle;
    aclError (*first)(void *handle), (*second)(void *handle);
    aclError answer; /**< of the second */
};

static void *second_thread(void *user)
{
    struct race *race = user;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&race->barrier);
        aclError error = aclrtSetCurrentContext(race->context);
        race->answer = error ? error : race->second(race->handle);
        pthread_barrier_wait(&race->barrier);
    }
    return NULL;
}

/* Exactly one end is good; the other call gives `late` if it came too late. */
static void run_race(aclError (*make)(void **handle), aclError (*first)(void *handle),
                     aclError (*second)(void *handle), aclError late)
{
    struct race race = {.first = first, .second = second};
    pthread_t thread;
    int wrong = 0;
    OK(aclrtGetCurrentContext(&race.context));
    pthread_barrier_init(&race.barrier, NULL, 2);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, second_thread, &race), 0);
    for (int i = 0; i < ROUNDS; i++) {
        OK(make(&race.handle));
        pthread_barrier_wait(&race.barrier);
        aclError answer = race.first(race.handle);
        pthread_barrier_wait(&race.barrier);
        if (first == second) {
            wrong += (answer == ACL_SUCCESS) == (race.answer == ACL_SUCCESS);
        } else {
            wrong += answer != ACL_SUCCESS;
        }
        wrong += answer != ACL_SUCCESS && answer != late;
        wrong += race.answer != ACL_SUCCESS && race.answer != late;
    }
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&race.barrier);
    CU_ASSERT_EQUAL(wrong, 0);
}

static aclError make_stream(void **handle)
{
    return aclrtCreateStream(handle);
}

static aclError make_event(void **handle)
{
    return aclrtCreateEvent(handle);
}

static aclError make_context(void **handle)
{
    aclrtContext before;
    aclError error = aclrtGetCurrentContext(&before);
    if (error == ACL_SUCCESS) {
        error = aclrtCreateContext(handle, 0);
    }
    return error ? error : aclrtSetCurrentContext(before);
}

static aclError make_host_memory(void **handle)
{
    return aclrtMallocHost(handle, 64);
}

static aclError make_binary(void **handle)
{
    *handle = aclrtCreateBinary("binary", 6);
    return *handle ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}

static aclError make_module(void **handle)
{
    size_t bytes;
    const void *elf = acl_test_elf("ascend910a", &bytes);
    return aclrtBinaryLoadFromData(elf, bytes, NULL, handle);
}

static aclError use_stream(void *handle)
{
    return aclrtSynchronizeStream(handle);
}

static aclError use_event(void *handle)
{
    aclError error = aclrtRecordEvent(handle, NULL);
    return error ? error : aclrtSynchronizeEvent(handle);
}

static aclError use_context(void *handle)
{
    aclrtStream stream;
    aclError error = aclrtSetCurrentContext(handle);
    if (error == ACL_SUCCESS) {
        error = aclrtCreateStream(&stream);
    }
    if (!error) {
        // Ended by its context's end, unless this comes first.
        (void)aclrtDestroyStream(stream);
    }
    return error;
}

static aclError use_module(void *handle)
{
    aclrtFuncHandle func;
    size_t count;
    aclError error = aclrtBinaryGetFunction(handle, "nothing", &func);
    if (!error) {
        (void)aclrtFunctionGetParamCount(func, &count);
    }
    return error;
}

static void two_threads_end_one_handle(void)
{
    aclrtBinHandle binary;
    acl_begin("ascend910a", &binary);
    run_race(make_stream, aclrtDestroyStream, aclrtDestroyStream, ACL_ERROR_RT_STREAM_CONTEXT);
    run_race(make_event, aclrtDestroyEvent, aclrtDestroyEvent, ACL_ERROR_RT_INVALID_HANDLE);
    run_race(make_context, aclrtDestroyContext, aclrtDestroyContext, ACL_ERROR_RT_CONTEXT_NULL);
    run_race(make_host_memory, aclrtFreeHost, aclrtFreeHost, ACL_ERROR_RT_PARAM_INVALID);
    run_race(make_binary, aclrtDestroyBinary, aclrtDestroyBinary, ACL_ERROR_INVALID_PARAM);
    run_race(make_module, aclrtBinaryUnLoad, aclrtBinaryUnLoad, ACL_ERROR_RT_INVALID_HANDLE);
    acl_end(binary);
}

static void one_thread_uses_what_another_ends(void)
{
    aclrtBinHandle binary;
    acl_begin("ascend910a", &binary);
    run_race(make_stream, aclrtDestroyStream, use_stream, ACL_ERROR_RT_STREAM_CONTEXT);
    run_race(make_event, aclrtDestroyEvent, use_event, ACL_ERROR_RT_INVALID_HANDLE);
    run_race(make_context, aclrtDestroyContext, use_context, ACL_ERROR_RT_CONTEXT_NULL);
    run_race(make_module, aclrtBinaryUnLoad, use_module, ACL_ERROR_RT_INVALID_HANDLE);
    acl_end(binary);
}

/** A thread whose context ended while it slept. */
struct sleeper {
    pthread_barrier_t barrier;
    aclrtContext context;
    aclError answer;
};

static void *sleeper_thread(void *user)
{
    struct sleeper *sleeper = user;
    aclrtContext found;
    (void)aclrtSetCurrentContext(sleeper->context);
    pthread_barrier_wait(&sleeper->barrier);
    pthread_barrier_wait(&sleeper->barrier);
    sleeper->answer = aclrtGetCurrentContext(&found);
    return NULL;
}

/* Most allocators give the new context the old one's address. */
static void a_new_context_is_not_an_old_threads(void)
{
    aclrtBinHandle binary;
    struct sleeper sleeper = {.answer = ACL_SUCCESS};
    aclrtContext made;
    pthread_t thread;
    acl_begin("ascend910a", &binary);
    OK(make_context(&sleeper.context));
    pthread_barrier_init(&sleeper.barrier, NULL, 2);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, sleeper_thread, &sleeper), 0);
    pthread_barrier_wait(&sleeper.barrier);
    OK(aclrtDestroyContext(sleeper.context));
    for (int i = 0; i < ROUNDS; i++) {
        OK(make_context(&made));
        if (made == sleeper.context) {
            break;
        }
        OK(aclrtDestroyContext(made));
    }
    pthread_barrier_wait(&sleeper.barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&sleeper.barrier);
    CU_ASSERT_EQUAL(sleeper.answer, ACL_ERROR_RT_CONTEXT_NULL);
    acl_end(binary);
}

static void *finalize_thread(void *user)
{
    pthread_barrier_t *barrier = user;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(barrier);
        (void)aclInit(NULL);
        (void)aclFinalize();
    }
    return NULL;
}

/* Questions that need no device set go on while another thread ends the runtime. */
static void capabilities_meet_finalize(void)
{
    pthread_barrier_t barrier;
    pthread_t thread;
    aclrtDeviceStatus status;
    int wrong = 0;
    pthread_barrier_init(&barrier, NULL, 2);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, finalize_thread, &barrier), 0);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        wrong += aclrtQueryDeviceStatus(0, &status) != ACL_SUCCESS;
        wrong += aclrtSetOpExecuteTimeOut(1) != ACL_SUCCESS;
    }
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    CU_ASSERT_EQUAL(wrong, 0);
    (void)aclInit(NULL);
    OK(aclFinalize());
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"two_threads_end_one_handle", two_threads_end_one_handle},
        {"one_thread_uses_what_another_ends", one_thread_uses_what_another_ends},
        {"a_new_context_is_not_an_old_threads", a_new_context_is_not_an_old_threads},
        {"capabilities_meet_finalize", capabilities_meet_finalize},
    };
    return leo_test_main("acl_threads", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
