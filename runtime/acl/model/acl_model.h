/* SPDX-License-Identifier: Apache-2.0 */
/* Models that are loaded, by number. */
#pragma once

#include "../acl_internal.h"

#include <acl/acl_mdl.h>
#include <leo/acl_hook.h>

/** Keeps runs of a model apart. */
struct acl_model_order;

/** A loaded model, or a place for one (model NULL). */
struct acl_model_slot {
    struct leo_acl_model *model;
    void *work, *weights;         /**< device memory */
    bool owns_work, owns_weights; /**< else the caller's */
    struct acl_model_order *order;
    uint32_t running; /**< calls that use it now */
    size_t gear;      /**< that was set last, from 1 on; 0: none was */
};

/** What a description holds: its own copy of what the model said. */
struct aclmdlDesc {
    uint32_t id;
    size_t input_count, output_count;
    struct acl_model_io {
        char name[ACL_MAX_TENSOR_NAME_LEN];
        aclDataType type;
        aclFormat format;
        size_t dim_count, bytes;
        int64_t dims[LEO_ACL_MODEL_DIMS];
    } *inputs, *outputs;
    enum leo_acl_gears gear_kind;
    size_t gear_count, gear_width;
    int64_t *gears;
    struct acl_model_io *gear_ios; /**< by gear: inputs but the last, outputs */
};

/** What is loaded: a file, or `bytes` of memory (data not NULL); and memory of the caller for it,
 * NULL: the library allocates it. */
struct acl_model_source {
    const char *path;
    const void *data;
    size_t bytes;
    void *work, *weights;
    size_t work_bytes, weight_bytes;
};
aclError acl_model_load(const char *func, const struct acl_model_source *source, uint32_t *id);
/** Reads a source's model without loading it, for `take`. */
aclError acl_model_peek(const char *func, const struct acl_model_source *source,
                        aclError (*take)(const char *func, const struct leo_acl_model *model,
                                         void *user),
                        void *user);
/** A run, in `work` instead of the model's own work memory if that is not NULL. */
aclError acl_model_execute(const char *func, uint32_t id, const aclmdlDataset *input,
                           const aclmdlDataset *output, aclrtStream stream, void *work);

/** The library's calls, which is looked for beside this one; NULL with an error text. */
const struct leo_acl_model_calls *acl_model_calls(const char *func);
/** The model of an id, in use until acl_model_put; NULL with an error text. */
struct acl_model_slot acl_model_take(const char *func, uint32_t id, aclError *error);
void acl_model_put(uint32_t id);

/** The gear that was set for a model last; 0: none, or no such model. */
size_t acl_model_gear(uint32_t id);
void acl_model_set_gear(uint32_t id, size_t gear);
/** The gear of a data set's runs, from 1 on; 0: none was set. */
size_t acl_dataset_gear(const aclmdlDataset *dataset);
void acl_dataset_set_gear(aclmdlDataset *dataset, size_t gear);
/** Settings of a data set's pictures, which stay its own; NULL: none were set. */
const struct leo_aipp *acl_dataset_aipp(const aclmdlDataset *dataset, size_t *count);
/** Sets a copy of them; false: out of host memory. */
bool acl_dataset_set_aipp(aclmdlDataset *dataset, const struct leo_aipp *aipp, size_t count);
/** Of gear `gear` (from 0 on): input `index`, or behind the inputs but the last an output. */
const struct acl_model_io *acl_model_gear_io(const aclmdlDesc *desc, size_t gear, size_t index);
/** Name, dims of an input or output. */
void acl_model_tell_dims(const struct acl_model_io *io, aclmdlIODims *dims);

/** For the calling thread's device. */
aclError acl_model_order_create(const char *func, struct acl_model_order **out);
/** Waits for the last run; NULL is fine. */
void acl_model_order_destroy(struct acl_model_order *order);
/** The stream waits for the run before this one. On success acl_model_order_end must follow, from
 * this thread, when all of the run is on the stream or what was launched of it before it failed. */
aclError acl_model_order_begin(struct acl_model_order *order, aclrtStream stream);
aclError acl_model_order_end(struct acl_model_order *order, aclrtStream stream);
