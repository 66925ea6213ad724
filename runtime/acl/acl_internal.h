/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the AscendCL facade. The facade only translates: names, types, defaults
 * and error codes; what happens is in ../api_common. */
#pragma once

#include "../api_common/context/context.h"
#include "../api_common/launch/module_handle.h"
#include "../api_common/memory/memory_owner.h"
#include "../api_common/process/code.h"
#include "../api_common/stream/callback.h"
#include "../api_common/stream/event_handle.h"
#include "tdt/acl_tdt.h"

#include <acl/acl.h>
#include <acl/acl_op_compiler.h>
#include <leo/runtime.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>

#define ACL_ARCH_COUPLED 1001 /* generation whose cores compute matrices and vectors alike */

enum {
    ACL_COMPILE_OPTIONS = ACL_OP_DEBUG_OPTION + 1,
    ACL_SYS_PARAMS = ACL_OPT_ENABLE_KERNEL_EARLY_START + 1,
    ACL_OPTION_BYTES = 256,
    ACL_LIFE_CALLS = 16,
    ACL_EXCEPTION_CALLS = 16,
    ACL_CORE_KINDS = API_CORE_KINDS, /**< values of aclrtDevResLimitType */
};
_Static_assert((int)ACL_SYS_PARAMS <= (int)API_NUMBERS &&
                   (int)ACL_STREAM_ATTR_PRIORITY < (int)API_NUMBERS,
               "contexts and streams keep them by number");

/** Options of the process; the texts are protected by the process's lock. */
struct acl_options {
    char compile[ACL_COMPILE_OPTIONS][ACL_OPTION_BYTES];
    bool compile_set[ACL_COMPILE_OPTIONS];
    _Atomic int64_t sys_param[ACL_SYS_PARAMS];
};

/** A function that aclInit or aclFinalize calls. */
struct acl_life_call {
    aclRegisterCallbackType type;
    uintptr_t function; /**< 0: a free place */
    void *user;
};

/** The log's file of this process. */
struct acl_log_file {
    pthread_mutex_t lock;
    int fd; /**< 0 = not open */
    char path[1024];
};

/** What AscendCL alone keeps for the process (decision 8). `lock` protects the texts of options and
 * the registered functions. */
struct acl_process {
    pthread_mutex_t lock;
    struct acl_options options;
    _Atomic uintptr_t run_op;      /**< leo_acl_op_fn, 0 = none */
    _Atomic uintptr_t op_is_known; /**< leo_acl_op_known_fn, with run_op */
    _Atomic uintptr_t model_calls; /**< struct leo_acl_model_calls, 0 = none */
    struct acl_model_slot *models; /**< that are loaded, by number */
    uint32_t model_count;
    struct json_t *op_models;             /**< of single operators, that are loaded; NULL: none */
    _Atomic uintptr_t exception_callback; /**< aclrtExceptionInfoCallback, 0 = none */
    uintptr_t exception_calls[ACL_EXCEPTION_CALLS];    /**< the same, registered beside it */
    struct acl_life_call life_call[2][ACL_LIFE_CALLS]; /**< of aclInit, of aclFinalize */
    atomic_bool dump_is_on;
    _Atomic int32_t dump_flag;     /**< that pieces of dumps are given with */
    char dump_path[API_DUMP_PATH]; /**< what acldumpGetPath returned */
    struct json_t *dump_models;    /**< "dump_list": models and their nodes; NULL: none */
    struct acl_log_file log_file;
    struct acl_tdt_channels channels;
};

struct acl_process *acl_process(void);
/** As in a process that never called us; the library with the operators stays registered. */
void acl_process_forget(void);

/* Errors: each sets the thread's last error and text, logs, and returns the code. */
aclError acl_fail(aclError code, const char *func, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** Of a function with nothing behind it (absent.txt): 207000 with the reason. */
aclError acl_absent(const char *func, const char *why);
aclError acl_null(const char *func, const char *what);
/** Translates a status of the common API or the core (0 stays 0); the text is theirs. */
aclError acl_result(const char *func, leo_status status);

/** Whether the stream is being captured: what it is given does not run. */
bool acl_is_captured(aclrtStream stream);
/** Says on stderr when the environment names a toolkit of another build than this library's. */
void acl_check_home(void);
/** The number of a status, nothing set. */
aclError acl_code(leo_status status);
aclError acl_timeout_check(const char *func, int32_t timeout);

void acl_log(int level, const char *func, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void acl_log_line(int level, const char *func, const char *file, uint32_t line, const char *fmt,
                  va_list args);

/** api_face.faulted */
void acl_exception_tell(const struct api_stream *stream, leo_status status, uint64_t task);

/** Calls what is registered; the first error ends it. */
aclError acl_life_started(const char *config);
aclError acl_life_ends(void);

/** The object "dump" of a file; it must be there if `wanted`. */
aclError acl_dump_configure(const char *func, const char *path, bool wanted);

/* ../prof: LEO_PROFILE, a profile of the whole process. Both without the process's locks. */
void acl_prof_device_opened(int32_t device);
void acl_prof_finalize(void);
