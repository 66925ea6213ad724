/* SPDX-License-Identifier: Apache-2.0 */
/* What AscendCL keeps for the whole process. */
#include "acl_internal.h"

static struct acl_process the_process = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .log_file = {.lock = PTHREAD_MUTEX_INITIALIZER},
    .channels = ACL_TDT_CHANNELS_INITIALIZER,
};

struct acl_process *acl_process(void)
{
    return &the_process;
}

void acl_process_forget(void)
{
    uintptr_t run_op = atomic_load(&the_process.run_op),
              op_is_known = atomic_load(&the_process.op_is_known),
              model_calls = atomic_load(&the_process.model_calls);
    the_process = (struct acl_process){
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .log_file = {.lock = PTHREAD_MUTEX_INITIALIZER},
        .channels = ACL_TDT_CHANNELS_INITIALIZER,
    };
    atomic_store(&the_process.run_op, run_op);
    atomic_store(&the_process.op_is_known, op_is_known);
    atomic_store(&the_process.model_calls, model_calls);
}
