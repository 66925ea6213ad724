/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels of data: a program sends sets of tensors, an operator of a stream (types InitData and
 * GetNext, attribute channel_name) or another thread of the program takes them, first in, first
 * out. Streams send by OutfeedEnqueueOp and OutfeedEnqueueOpV2. Channels do not reach other
 * processes. All functions may be called from any thread; a handle
 * that was destroyed gives an error.
 */
#pragma once

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct acltdtDataset acltdtDataset;
typedef struct acltdtDataItem acltdtDataItem;
typedef struct acltdtChannelHandle acltdtChannelHandle;
typedef enum {
    ACL_TENSOR_DATA_UNDEFINED = -1,
    ACL_TENSOR_DATA_TENSOR,
    ACL_TENSOR_DATA_END_OF_SEQUENCE,
    ACL_TENSOR_DATA_ABNORMAL,
    ACL_TENSOR_DATA_SLICE_TENSOR,
    ACL_TENSOR_DATA_END_TENSOR,
} acltdtTensorType;

/** A tensor of a set. The sizes are copied; `data` (host memory, `size` bytes) stays the caller's
 * and must live until the set was sent. NULL on failure. */
ACL_FUNC_VISIBILITY acltdtDataItem *acltdtCreateDataItem(acltdtTensorType tdtType,
                                                         const int64_t *dims, size_t dimNum,
                                                         aclDataType dataType, void *data,
                                                         size_t size);
/** Not for tensors of a set that was received: they end with the set. */
ACL_FUNC_VISIBILITY aclError acltdtDestroyDataItem(acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY void *acltdtGetDataAddrFromItem(const acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY size_t acltdtGetDataSizeFromItem(const acltdtDataItem *dataItem);
ACL_FUNC_VISIBILITY size_t acltdtGetDimNumFromItem(const acltdtDataItem *dataItem);
/** `dimNum`: places in `dims`, not fewer than the tensor has. */
ACL_FUNC_VISIBILITY aclError acltdtGetDimsFromItem(const acltdtDataItem *dataItem, int64_t *dims,
                                                   size_t dimNum);
/** Tensors are never sent in slices: one slice, number 0. */
ACL_FUNC_VISIBILITY aclError acltdtGetSliceInfoFromItem(const acltdtDataItem *dataItem,
                                                        size_t *sliceNum, size_t *sliceId);

ACL_FUNC_VISIBILITY acltdtDataset *acltdtCreateDataset(void);
/** Tensors that the program added stay the program's. */
ACL_FUNC_VISIBILITY aclError acltdtDestroyDataset(acltdtDataset *dataset);
ACL_FUNC_VISIBILITY aclError acltdtAddDataItem(acltdtDataset *dataset, acltdtDataItem *dataItem);
/** NULL: there are not so many. */
ACL_FUNC_VISIBILITY acltdtDataItem *acltdtGetDataItem(const acltdtDataset *dataset, size_t index);
/** Number of its tensors. */
ACL_FUNC_VISIBILITY size_t acltdtGetDatasetSize(const acltdtDataset *dataset);
/** Name of the channel it was received from, or its own if OutfeedEnqueueOpV2 gave it one
 * (tensor_name); empty: it was not received. */
ACL_FUNC_VISIBILITY const char *acltdtGetDatasetName(const acltdtDataset *dataset);

/** A channel with room for 16 sets. NULL on failure, also if a channel has the name. */
ACL_FUNC_VISIBILITY acltdtChannelHandle *acltdtCreateChannel(uint32_t deviceId, const char *name);
/** `capacity`: sets that wait in it at most, 2 to 8192. */
ACL_FUNC_VISIBILITY acltdtChannelHandle *
acltdtCreateChannelWithCapacity(uint32_t deviceId, const char *name, size_t capacity);
/** Ends all waits of senders and receivers, now and later; what waits in it can still be taken. */
ACL_FUNC_VISIBILITY aclError acltdtStopChannel(acltdtChannelHandle *handle);
/** Stops it, if that was not done, and frees it with what waits in it. */
ACL_FUNC_VISIBILITY aclError acltdtDestroyChannel(acltdtChannelHandle *handle);
/** Throws away what waits in it. */
ACL_FUNC_VISIBILITY aclError acltdtCleanChannel(acltdtChannelHandle *handle);
/** Copies the set into the channel. `timeout`: -1: waits for room as long as it takes, 0: not at
 * all, else milliseconds. 207014: it is full; 500001: it is stopped. */
ACL_FUNC_VISIBILITY aclError acltdtSendTensor(const acltdtChannelHandle *handle,
                                              const acltdtDataset *dataset, int32_t timeout);
/** Moves the oldest set's tensors into an empty `dataset`, which owns them. `timeout` as above.
 * 207013: the channel is empty; 500001: it is stopped as well. */
ACL_FUNC_VISIBILITY aclError acltdtReceiveTensor(const acltdtChannelHandle *handle,
                                                 acltdtDataset *dataset, int32_t timeout);
/** Sets that wait in it. */
ACL_FUNC_VISIBILITY aclError acltdtQueryChannelSize(const acltdtChannelHandle *handle,
                                                    size_t *size);

#ifdef __cplusplus
}
#endif
