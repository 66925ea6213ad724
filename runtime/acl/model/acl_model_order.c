/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of one model use one work area, so they follow each other, whatever their streams are. */
#include "acl_model.h"

#include <acl/acl_rt.h>
#include <leo/alloc.h>
#include <pthread.h>

/** Runs take the lock while they launch; the event says when the last one has ended. */
struct acl_model_order {
    pthread_mutex_t lock;
    aclrtEvent ended;
    bool has_run;
    bool is_captured; /**< some run; when its graph runs is not known here */
};

aclError acl_model_order_create(const char *func, struct acl_model_order **out)
{
    struct acl_model_order *order = leo_calloc(1, sizeof(*order));
    *out = NULL;
    if (!order) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    aclError error = aclrtCreateEvent(&order->ended);
    if (error != ACL_SUCCESS) {
        leo_free(order);
        return error;
    }
    pthread_mutex_init(&order->lock, NULL);
    *out = order;
    return ACL_SUCCESS;
}

void acl_model_order_destroy(struct acl_model_order *order)
{
    if (!order) {
        return;
    }
    // A failed device is reported by who waits for its results.
    if (order->is_captured) {
        (void)aclrtSynchronizeDevice();
    } else if (order->has_run) {
        (void)aclrtSynchronizeEvent(order->ended);
    }
    (void)aclrtDestroyEvent(order->ended);
    pthread_mutex_destroy(&order->lock);
    leo_free(order);
}

aclError acl_model_order_begin(struct acl_model_order *order, aclrtStream stream)
{
    pthread_mutex_lock(&order->lock);
    // What is captured runs when its graph does, which the program orders.
    const aclError error = order->has_run && !acl_is_captured(stream)
                               ? aclrtStreamWaitEvent(stream, order->ended)
                               : ACL_SUCCESS;
    if (error != ACL_SUCCESS) {
        pthread_mutex_unlock(&order->lock);
    }
    return error;
}

aclError acl_model_order_end(struct acl_model_order *order, aclrtStream stream)
{
    aclError error = ACL_SUCCESS;
    if (acl_is_captured(stream)) {
        order->is_captured = true;
    } else {
        error = aclrtRecordEvent(order->ended, stream);
        order->has_run = order->has_run || error == ACL_SUCCESS;
    }
    pthread_mutex_unlock(&order->lock);
    return error;
}
