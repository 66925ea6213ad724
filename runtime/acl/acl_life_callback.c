/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of other libraries that aclInit and aclFinalize call. */
#include "acl_internal.h"

#include <string.h>

enum { INIT, FINALIZE };

static struct acl_life_call *find(int when, aclRegisterCallbackType type, uintptr_t function)
{
    struct acl_life_call *calls = acl_process()->life_call[when];
    for (int i = 0; i < ACL_LIFE_CALLS; i++) {
        if (calls[i].function == function && (!function || calls[i].type == type)) {
            return &calls[i];
        }
    }
    return NULL;
}

static aclError add(const char *func, int when, aclRegisterCallbackType type, uintptr_t function,
                    void *user)
{
    if (!function) {
        return acl_null(func, "cbFunc");
    }
    pthread_mutex_lock(&acl_process()->lock);
    struct acl_life_call *call = find(when, type, 0);
    if (call) {
        *call = (struct acl_life_call){type, function, user};
    }
    pthread_mutex_unlock(&acl_process()->lock);
    return call ? ACL_SUCCESS
                : acl_fail(ACL_ERROR_BAD_ALLOC, func, "more than %d functions are registered",
                           ACL_LIFE_CALLS);
}

static aclError drop(const char *func, int when, aclRegisterCallbackType type, uintptr_t function)
{
    if (!function) {
        return acl_null(func, "cbFunc");
    }
    pthread_mutex_lock(&acl_process()->lock);
    struct acl_life_call *call = find(when, type, function);
    if (call) {
        *call = (struct acl_life_call){0};
    }
    pthread_mutex_unlock(&acl_process()->lock);
    return call ? ACL_SUCCESS
                : acl_fail(ACL_ERROR_INTERNAL_ERROR, func, "the function is not registered");
}

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc,
                                 void *userData)
{
    aclError error = add(__func__, INIT, type, (uintptr_t)cbFunc, userData);
    // Who comes late is called at once.
    return error || !api_is_initialized() ? error : cbFunc(NULL, 0, userData);
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc)
{
    return drop(__func__, INIT, type, (uintptr_t)cbFunc);
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc,
                                     void *userData)
{
    return add(__func__, FINALIZE, type, (uintptr_t)cbFunc, userData);
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc)
{
    return drop(__func__, FINALIZE, type, (uintptr_t)cbFunc);
}

// They may register and unregister themselves.
static int copy_calls(int when, struct acl_life_call *calls)
{
    int count = 0;
    pthread_mutex_lock(&acl_process()->lock);
    for (int i = 0; i < ACL_LIFE_CALLS; i++) {
        if (acl_process()->life_call[when][i].function) {
            calls[count++] = acl_process()->life_call[when][i];
        }
    }
    pthread_mutex_unlock(&acl_process()->lock);
    return count;
}

aclError acl_life_started(const char *config)
{
    struct acl_life_call calls[ACL_LIFE_CALLS];
    int count = copy_calls(INIT, calls);
    aclError error = ACL_SUCCESS;
    for (int i = 0; !error && i < count; i++) {
        error = ((aclInitCallbackFunc)calls[i].function)(config, config ? strlen(config) : 0,
                                                         calls[i].user);
    }
    return error;
}

aclError acl_life_ends(void)
{
    struct acl_life_call calls[ACL_LIFE_CALLS];
    int count = copy_calls(FINALIZE, calls);
    aclError error = ACL_SUCCESS;
    for (int i = 0; !error && i < count; i++) {
        error = ((aclFinalizeCallbackFunc)calls[i].function)(calls[i].user);
    }
    return error;
}
