/* SPDX-License-Identifier: Apache-2.0 */
/* An operator that is refused in a thread nobody watches: every later wait says it, and so does the
 * exit code of a program that never waits. Each case is a process of its own. */
#include "harness.h"

#include <acl/acl.h>
#include <acl/acl_op_compiler.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct program {
    aclrtStream stream;
    void *memory;
    aclrtEvent event;
};

static void *call_missing(void *user)
{
    struct program *p = user;
    const int64_t dim[] = {4};
    aclrtContext context;
    aclTensorDesc *desc = aclCreateTensorDesc(ACL_FLOAT, 1, dim, ACL_FORMAT_ND);
    aclDataBuffer *buffer = aclCreateDataBuffer(p->memory, 16);
    const aclTensorDesc *in_desc[] = {desc}, *out_desc[] = {desc};
    const aclDataBuffer *in[] = {buffer};
    aclDataBuffer *out[] = {buffer};
    aclError error = 1;
    if (!aclrtGetCurrentContext(&context) || !aclrtSetDevice(0)) {
        error = aclopCompileAndExecute("NoSuchOperator", 1, in_desc, in, 1, out_desc, out, NULL,
                                       ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, p->stream);
    }
    aclDestroyTensorDesc(desc);
    aclDestroyDataBuffer(buffer);
    return (void *)(intptr_t)error;
}

// What the program returns from main; 1: it could not begin.
static int run(bool in_thread, bool waits)
{
    struct program p;
    pthread_t thread;
    void *error = NULL;
    float host[4];
    if (aclInit(NULL) || aclrtSetDevice(0) || aclrtCreateStream(&p.stream) ||
        aclrtMalloc(&p.memory, 32, ACL_MEM_MALLOC_HUGE_FIRST) || aclrtCreateEvent(&p.event)) {
        return 1;
    }
    if (!in_thread) {
        error = call_missing(&p);
    } else if (pthread_create(&thread, NULL, call_missing, &p) || pthread_join(thread, &error)) {
        return 1;
    }
    if ((intptr_t)error != ACL_ERROR_OP_NOT_FOUND) {
        return 2;
    }
    const aclError want = in_thread ? ACL_ERROR_OP_NOT_FOUND : ACL_SUCCESS;
    for (int i = 0; waits && i < 2; i++) { // not only the first
        if (aclrtSynchronizeStream(p.stream) != want || aclrtSynchronizeDevice() != want ||
            aclrtMemcpy(host, 16, p.memory, 16, ACL_MEMCPY_DEVICE_TO_HOST) != want ||
            aclrtRecordEvent(p.event, p.stream) || aclrtSynchronizeEvent(p.event) != want) {
            return 3;
        }
        const char *text = aclGetRecentErrMsg();
        if (in_thread && (!text || !strstr(text, "NoSuchOperator"))) {
            return 4;
        }
    }
    return 0;
}

static int exit_code(bool in_thread, bool waits)
{
    pid_t child = fork();
    if (child == 0) {
        exit(run(in_thread, waits));
    }
    int status = -1;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void every_wait_says_it(void)
{
    CU_ASSERT_EQUAL(exit_code(true, true), 0);
}

static void the_exit_code_says_it_if_nothing_waited(void)
{
    CU_ASSERT_EQUAL(exit_code(true, false), 70);
}

static void the_main_thread_has_seen_it(void)
{
    CU_ASSERT_EQUAL(exit_code(false, true), 0);
    CU_ASSERT_EQUAL(exit_code(false, false), 0);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"every_wait_says_it", every_wait_says_it},
        {"the_exit_code_says_it_if_nothing_waited", the_exit_code_says_it_if_nothing_waited},
        {"the_main_thread_has_seen_it", the_main_thread_has_seen_it},
    };
    return leo_test_main("aclnn_lost", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
