/* SPDX-License-Identifier: Apache-2.0 */
/* Channels of data and what goes through them, for the files of this folder and for acl_op.c. */
#pragma once

#include <acl/acl_tdt.h>
#include <leo/acl_hook.h>
#include <pthread.h>
#include <stdbool.h>

enum { ACL_TDT_NAME_BYTES = 256 };

struct acltdtDataItem {
    acltdtTensorType kind;
    aclDataType type;
    size_t dim_count, bytes;
    int64_t *dims; /**< owned */
    void *data;
    bool is_received; /**< owns `data`, and belongs to a set */
};

struct acltdtDataset {
    acltdtDataItem **items;
    size_t count;
    char name[ACL_TDT_NAME_BYTES]; /**< given by its sender, else its channel's; empty: not received
                                    */
};

/** The process's channels. */
struct acl_tdt_channels {
    pthread_mutex_t lock; /**< protects everything behind `first` */
    pthread_cond_t changed;
    struct acltdtChannelHandle *first;
};

#define ACL_TDT_CHANNELS_INITIALIZER                                                               \
    {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}

/** Adds a tensor of the type and sizes of `like` that owns memory for its data. NULL: out of
 * memory. */
acltdtDataItem *acl_tdt_add(acltdtDataset *dataset, const acltdtDataItem *like);
/** Frees a tensor, and its data if it owns them. */
void acl_tdt_free_item(acltdtDataItem *item);
/** A deep copy, as a receiver owns it. NULL: out of memory. */
acltdtDataset *acl_tdt_copy(const acltdtDataset *from);
/** Frees a set and all its tensors. */
void acl_tdt_free(acltdtDataset *dataset);

/** How a wait ended. */
enum acl_tdt_end { ACL_TDT_DONE, ACL_TDT_LATE, ACL_TDT_STOPPED, ACL_TDT_GONE };
/** Takes the oldest set of a channel of that name; the caller frees it. `timeout_ms` < 0: waits as
 * long as it takes. GONE: there is no such channel. */
enum acl_tdt_end acl_tdt_take(const char *name, int timeout_ms, acltdtDataset **dataset);
/** Moves a set into a channel of that name; if it does not end with DONE, the set stays the
 * caller's. `timeout_ms` as above. */
enum acl_tdt_end acl_tdt_put(const char *name, int timeout_ms, acltdtDataset *dataset);
/** Whether there is one, or one is expected. */
bool acl_tdt_exists(const char *name);
/** A channel of that name will be made; who takes from it waits for that. False: out of memory. */
bool acl_tdt_expect(const char *name);

/** What a failed operator of a channel says. */
void acl_tdt_tell(struct leo_rt_host_result *result, leo_status status, const char *type,
                  const char *channel, const char *what);
/** Puts an operator into its stream that sends its inputs through a channel when the stream comes
 * there. An input of the name tensor_name, a text, is the set's name. */
aclError acl_tdt_enqueue(const struct leo_acl_op *op, const char *channel);
/** Runs the types InitData, GetNext, OutfeedEnqueueOp and OutfeedEnqueueOpV2. False: the call is of
 * another type. */
bool acl_tdt_run_op(const struct leo_acl_op *op, aclError *error);
