/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the process and of contexts, and the operator compiler's: kept, and read by the
 * libraries on top. */
#include "acl_internal.h"

#include <string.h>

static const char *const default_option[ACL_COMPILE_OPTIONS] = {
    [ACL_PRECISION_MODE] = "must_keep_origin_dtype",
    [ACL_OP_JIT_COMPILE] = "disable",
    [ACL_OP_DETERMINISTIC] = "0",
    [ACL_ALLOW_HF32] = "10",
};

static bool option_is_known(aclCompileOpt opt)
{
    return (int)opt >= ACL_PRECISION_MODE && opt < (aclCompileOpt)ACL_COMPILE_OPTIONS;
}

// Caller holds the lock.
static const char *option_text(aclCompileOpt opt)
{
    const struct acl_options *options = &acl_process()->options;
    if (options->compile_set[opt]) {
        return options->compile[opt];
    }
    return default_option[opt] ? default_option[opt] : "";
}

aclError aclSetCompileopt(aclCompileOpt opt, const char *value)
{
    struct acl_process *process = acl_process();
    const char *func = "aclSetCompileopt";
    if (!value || !option_is_known(opt)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "value is NULL or option %d is unknown",
                        (int)opt);
    }
    if (strlen(value) >= ACL_OPTION_BYTES) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "option %d: a value of more than %d bytes",
                        (int)opt, ACL_OPTION_BYTES - 1);
    }
    // Both are the same here, operators are compiled beforehand; torch_npu calls operators by their
    // type name where it is "enable".
    if (opt == ACL_OP_JIT_COMPILE && strcmp(value, "disable") != 0 &&
        strcmp(value, "enable") != 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func,
                        "ACL_OP_JIT_COMPILE must be \"enable\" or \"disable\", not \"%s\"", value);
    }
    pthread_mutex_lock(&process->lock);
    strcpy(process->options.compile[opt], value);
    process->options.compile_set[opt] = true;
    pthread_mutex_unlock(&process->lock);
    return ACL_SUCCESS;
}

size_t aclGetCompileoptSize(aclCompileOpt opt)
{
    struct acl_process *process = acl_process();
    if (!option_is_known(opt)) {
        return 0;
    }
    pthread_mutex_lock(&process->lock);
    size_t bytes = strlen(option_text(opt)) + 1;
    pthread_mutex_unlock(&process->lock);
    return bytes;
}

aclError aclGetCompileopt(aclCompileOpt opt, char *value, size_t length)
{
    struct acl_process *process = acl_process();
    if (!value || !option_is_known(opt)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclGetCompileopt",
                        "value is NULL or option %d is unknown", (int)opt);
    }
    pthread_mutex_lock(&process->lock);
    const char *text = option_text(opt);
    size_t bytes = strlen(text) + 1;
    if (bytes <= length) {
        memcpy(value, text, bytes);
    }
    pthread_mutex_unlock(&process->lock);
    return bytes <= length ? ACL_SUCCESS
                           : acl_fail(ACL_ERROR_INVALID_PARAM, "aclGetCompileopt",
                                      "length %zu is less than the %zu bytes of option %d", length,
                                      bytes, (int)opt);
}

static aclError check_param(const char *func, aclSysParamOpt opt, const int64_t *value)
{
    bool good = value && (int)opt >= ACL_OPT_DETERMINISTIC && opt < (aclSysParamOpt)ACL_SYS_PARAMS;
    return good ? ACL_SUCCESS
                : acl_fail(ACL_ERROR_INVALID_PARAM, func, "value is NULL or option %d is unknown",
                           (int)opt);
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
    aclError error = check_param("aclrtSetSysParamOpt", opt, &value);
    if (!error) {
        atomic_store(&acl_process()->options.sys_param[opt], value);
    }
    return error;
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    aclError error = check_param("aclrtGetSysParamOpt", opt, value);
    if (!error) {
        *value = atomic_load(&acl_process()->options.sys_param[opt]);
    }
    return error;
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
    API_PINNED struct api_context *context = NULL;
    aclError error = check_param("aclrtCtxSetSysParamOpt", opt, &value);
    if (!error) {
        error = acl_result("aclrtCtxSetSysParamOpt", api_context_current(&context));
    }
    if (!error) {
        atomic_store(&context->number[opt], value);
        atomic_fetch_or(&context->number_set, 1u << opt);
    }
    return error;
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    API_PINNED struct api_context *context = NULL;
    const char *func = "aclrtCtxGetSysParamOpt";
    aclError error = check_param(func, opt, value);
    if (!error) {
        error = acl_result(func, api_context_current(&context));
    }
    if (error) {
        return error;
    }
    if (!(atomic_load(&context->number_set) >> opt & 1)) {
        return acl_fail(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, func,
                        "option %d of this context was never set", (int)opt);
    }
    *value = atomic_load(&context->number[opt]);
    return ACL_SUCCESS;
}
