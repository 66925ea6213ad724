/* SPDX-License-Identifier: Apache-2.0 */
/* What goes through channels: sets of tensors in host memory. */
#include "acl_tdt.h"

#include "../acl_internal.h"

#include <leo/alloc.h>
#include <string.h>

void acl_tdt_free_item(acltdtDataItem *item)
{
    if (item && item->is_received) {
        leo_free(item->data);
    }
    if (item) {
        leo_free(item->dims);
    }
    leo_free(item);
}

acltdtDataItem *acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t *dims, size_t dimNum,
                                     aclDataType dataType, void *data, size_t size)
{
    if ((dimNum > 0 && !dims) || (size > 0 && !data) || dimNum > LEO_ACL_MAX_DIMS) {
        acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                 "dims or data is NULL, or there are more than %d dimensions", LEO_ACL_MAX_DIMS);
        return NULL;
    }
    acltdtDataItem *item = leo_calloc(1, sizeof(*item));
    int64_t *copy = item ? leo_alloc((dimNum + 1) * sizeof(*copy)) : NULL;
    if (!copy) {
        leo_free(item);
        acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
        return NULL;
    }
    if (dimNum > 0) {
        memcpy(copy, dims, dimNum * sizeof(*copy));
    }
    *item = (acltdtDataItem){.kind = tdtType,
                             .type = dataType,
                             .dim_count = dimNum,
                             .bytes = size,
                             .dims = copy,
                             .data = data};
    return item;
}

aclError acltdtDestroyDataItem(acltdtDataItem *dataItem)
{
    if (!dataItem) {
        return acl_null(__func__, "dataItem");
    }
    if (dataItem->is_received) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                        "the tensor belongs to a set that was received: destroy the set");
    }
    acl_tdt_free_item(dataItem);
    return ACL_SUCCESS;
}

acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem *dataItem)
{
    return dataItem ? dataItem->kind : ACL_TENSOR_DATA_UNDEFINED;
}

aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem *dataItem)
{
    return dataItem ? dataItem->type : ACL_DT_UNDEFINED;
}

void *acltdtGetDataAddrFromItem(const acltdtDataItem *dataItem)
{
    return dataItem ? dataItem->data : NULL;
}

size_t acltdtGetDataSizeFromItem(const acltdtDataItem *dataItem)
{
    return dataItem ? dataItem->bytes : 0;
}

size_t acltdtGetDimNumFromItem(const acltdtDataItem *dataItem)
{
    return dataItem ? dataItem->dim_count : 0;
}

aclError acltdtGetDimsFromItem(const acltdtDataItem *dataItem, int64_t *dims, size_t dimNum)
{
    if (!dataItem || (!dims && dataItem->dim_count > 0)) {
        return acl_null(__func__, dataItem ? "dims" : "dataItem");
    }
    if (dimNum < dataItem->dim_count) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                        "room for %zu sizes, and the tensor has %zu", dimNum, dataItem->dim_count);
    }
    if (dataItem->dim_count > 0) {
        memcpy(dims, dataItem->dims, dataItem->dim_count * sizeof(*dims));
    }
    return ACL_SUCCESS;
}

aclError acltdtGetSliceInfoFromItem(const acltdtDataItem *dataItem, size_t *sliceNum,
                                    size_t *sliceId)
{
    if (!dataItem || !sliceNum || !sliceId) {
        return acl_null(__func__, "an argument");
    }
    *sliceNum = 1;
    *sliceId = 0;
    return ACL_SUCCESS;
}

/* ---- sets ---- */

acltdtDataset *acltdtCreateDataset(void)
{
    acltdtDataset *dataset = leo_calloc(1, sizeof(*dataset));
    if (!dataset) {
        acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
    }
    return dataset;
}

static bool append(acltdtDataset *dataset, acltdtDataItem *item)
{
    acltdtDataItem **items =
        leo_realloc(dataset->items, (dataset->count + 1) * sizeof(acltdtDataItem *));
    if (items) {
        items[dataset->count++] = item;
        dataset->items = items;
    }
    return items != NULL;
}

aclError acltdtDestroyDataset(acltdtDataset *dataset)
{
    if (!dataset) {
        return acl_null(__func__, "dataset");
    }
    // The name is there only if the set was received: programs destroy the tensors they made,
    // before the set or after it.
    if (dataset->name[0]) {
        acl_tdt_free(dataset);
    } else {
        leo_free(dataset->items);
        leo_free(dataset);
    }
    return ACL_SUCCESS;
}

aclError acltdtAddDataItem(acltdtDataset *dataset, acltdtDataItem *dataItem)
{
    if (!dataset || !dataItem) {
        return acl_null(__func__, dataset ? "dataItem" : "dataset");
    }
    if (dataset->name[0] || dataItem->is_received) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                        "a set that was received, and its tensors, cannot be changed");
    }
    return append(dataset, dataItem)
               ? ACL_SUCCESS
               : acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
}

acltdtDataItem *acltdtGetDataItem(const acltdtDataset *dataset, size_t index)
{
    return dataset && index < dataset->count ? dataset->items[index] : NULL;
}

size_t acltdtGetDatasetSize(const acltdtDataset *dataset)
{
    return dataset ? dataset->count : 0;
}

const char *acltdtGetDatasetName(const acltdtDataset *dataset)
{
    return dataset ? dataset->name : NULL;
}

acltdtDataItem *acl_tdt_add(acltdtDataset *dataset, const acltdtDataItem *like)
{
    acltdtDataItem *item =
        acltdtCreateDataItem(like->kind, like->dims, like->dim_count, like->type, NULL, 0);
    void *data = item ? leo_alloc(like->bytes + 1) : NULL;
    if (!data || !append(dataset, item)) {
        leo_free(data);
        acl_tdt_free_item(item);
        return NULL;
    }
    item->data = data;
    item->bytes = like->bytes;
    item->is_received = true;
    return item;
}

acltdtDataset *acl_tdt_copy(const acltdtDataset *from)
{
    acltdtDataset *dataset = acltdtCreateDataset();
    for (size_t i = 0; dataset && i < from->count; i++) {
        const acltdtDataItem *item = acl_tdt_add(dataset, from->items[i]);
        if (!item) {
            acl_tdt_free(dataset);
            return NULL;
        }
        if (item->bytes > 0) {
            memcpy(item->data, from->items[i]->data, item->bytes);
        }
    }
    return dataset;
}

void acl_tdt_free(acltdtDataset *dataset)
{
    for (size_t i = 0; dataset && i < dataset->count; i++) {
        acl_tdt_free_item(dataset->items[i]);
    }
    if (dataset) {
        leo_free(dataset->items);
    }
    leo_free(dataset);
}
