/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets: lists of data buffers with their descriptions. They own neither. */
#include "acl_model.h"

#include <leo/alloc.h>
#include <string.h>

struct item {
    aclDataBuffer *buffer;
    aclTensorDesc *desc;
};

struct aclmdlDataset {
    struct item *items;
    size_t count;
    size_t gear; /* from 1 on */
    struct leo_aipp *aipp;
    size_t aipp_count;
};

aclmdlDataset *aclmdlCreateDataset(void)
{
    aclmdlDataset *dataset = leo_calloc(1, sizeof(*dataset));
    if (!dataset) {
        acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
    }
    return dataset;
}

aclError aclmdlDestroyDataset(const aclmdlDataset *dataset)
{
    if (!dataset) {
        return acl_null(__func__, "dataset");
    }
    leo_free(dataset->items);
    leo_free(dataset->aipp);
    leo_free((void *)(uintptr_t)dataset);
    return ACL_SUCCESS;
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset *dataset, aclDataBuffer *dataBuffer)
{
    if (!dataset || !dataBuffer) {
        return acl_null(__func__, dataset ? "dataBuffer" : "dataset");
    }
    struct item *items = leo_realloc(dataset->items, (dataset->count + 1) * sizeof(*items));
    if (!items) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
    }
    items[dataset->count++] = (struct item){.buffer = dataBuffer};
    dataset->items = items;
    return ACL_SUCCESS;
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset *dataset)
{
    return dataset ? dataset->count : 0;
}

aclDataBuffer *aclmdlGetDatasetBuffer(const aclmdlDataset *dataset, size_t index)
{
    return dataset && index < dataset->count ? dataset->items[index].buffer : NULL;
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset *dataset, aclTensorDesc *tensorDesc, size_t index)
{
    if (!dataset) {
        return acl_null(__func__, "dataset");
    }
    if (index >= dataset->count) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "index %zu, and the set has %zu buffers",
                        index, dataset->count);
    }
    dataset->items[index].desc = tensorDesc; // NULL: none any more
    return ACL_SUCCESS;
}

aclTensorDesc *aclmdlGetDatasetTensorDesc(const aclmdlDataset *dataset, size_t index)
{
    return dataset && index < dataset->count ? dataset->items[index].desc : NULL;
}

size_t acl_dataset_gear(const aclmdlDataset *dataset)
{
    return dataset->gear;
}

void acl_dataset_set_gear(aclmdlDataset *dataset, size_t gear)
{
    dataset->gear = gear;
}

const struct leo_aipp *acl_dataset_aipp(const aclmdlDataset *dataset, size_t *count)
{
    *count = dataset->aipp_count;
    return dataset->aipp;
}

bool acl_dataset_set_aipp(aclmdlDataset *dataset, const struct leo_aipp *aipp, size_t count)
{
    struct leo_aipp *copy = leo_calloc(count, sizeof(*copy));
    if (!copy) {
        return false;
    }
    memcpy(copy, aipp, count * sizeof(*copy));
    leo_free(dataset->aipp);
    dataset->aipp = copy;
    dataset->aipp_count = count;
    return true;
}
