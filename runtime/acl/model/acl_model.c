/* SPDX-License-Identifier: Apache-2.0 */
/* Models compiled by the vendor's tools: what a program finds where none can be loaded. */
#include "../acl_internal.h"

#include <acl/error_codes/ge_error_codes.h>
#include <leo/alloc.h>
#include <unistd.h>

struct aclmdlDesc {
    bool is_empty; /**< always: no model can be loaded */
};

static aclError refuse_model(const char *func)
{
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func,
                    "a compiled model (.om) holds code of the vendor's cores, which the simulated "
                    "chip does not run: call the operators (aclnn), or write them as kernels");
}

static aclError refuse_file(const char *func, const char *path, const void *out)
{
    if (!path || !out) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "an argument is NULL");
    }
    return access(path, R_OK) != 0
               ? acl_fail(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, func, "cannot read '%s'", path)
               : refuse_model(func);
}

static aclError refuse_memory(const char *func, const void *model, size_t size, const void *out)
{
    return model && size && out
               ? refuse_model(func)
               : acl_fail(ACL_ERROR_INVALID_PARAM, func, "an argument is NULL or a size is 0");
}

// No id was ever given.
static aclError refuse_id(const char *func, uint32_t id)
{
    return acl_fail(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, func, "no model %u is loaded", id);
}

aclError aclmdlLoadFromFile(const char *modelPath, uint32_t *modelId)
{
    return refuse_file(__func__, modelPath, modelId);
}

aclError aclmdlLoadFromFileWithMem(const char *modelPath, uint32_t *modelId, void *workPtr,
                                   size_t workSize, void *weightPtr, size_t weightSize)
{
    (void)workPtr;
    (void)workSize;
    (void)weightPtr;
    (void)weightSize;
    return refuse_file(__func__, modelPath, modelId);
}

aclError aclmdlLoadFromMem(const void *model, size_t modelSize, uint32_t *modelId)
{
    return refuse_memory(__func__, model, modelSize, modelId);
}

aclError aclmdlLoadFromMemWithMem(const void *model, size_t modelSize, uint32_t *modelId,
                                  void *workPtr, size_t workSize, void *weightPtr,
                                  size_t weightSize)
{
    (void)workPtr;
    (void)workSize;
    (void)weightPtr;
    (void)weightSize;
    return refuse_memory(__func__, model, modelSize, modelId);
}

aclError aclmdlQuerySize(const char *fileName, size_t *workSize, size_t *weightSize)
{
    return refuse_file(__func__, fileName, workSize ? weightSize : NULL);
}

aclError aclmdlQuerySizeFromMem(const void *model, size_t modelSize, size_t *workSize,
                                size_t *weightSize)
{
    return refuse_memory(__func__, model, modelSize, workSize ? weightSize : NULL);
}

aclError aclmdlUnload(uint32_t modelId)
{
    return refuse_id(__func__, modelId);
}

aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output)
{
    return input && output ? refuse_id(__func__, modelId)
                           : acl_null(__func__, input ? "output" : "input");
}

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset *input, aclmdlDataset *output,
                            aclrtStream stream)
{
    (void)stream;
    return input && output ? refuse_id(__func__, modelId)
                           : acl_null(__func__, input ? "output" : "input");
}

aclmdlDesc *aclmdlCreateDesc(void)
{
    aclmdlDesc *desc = leo_calloc(1, sizeof(*desc));
    if (desc) {
        desc->is_empty = true;
    }
    return desc;
}

aclError aclmdlDestroyDesc(aclmdlDesc *modelDesc)
{
    if (!modelDesc) {
        return acl_null(__func__, "modelDesc");
    }
    leo_free(modelDesc);
    return ACL_SUCCESS;
}

aclError aclmdlGetDesc(aclmdlDesc *modelDesc, uint32_t modelId)
{
    return modelDesc ? refuse_id(__func__, modelId) : acl_null(__func__, "modelDesc");
}

size_t aclmdlGetNumInputs(aclmdlDesc *modelDesc)
{
    (void)modelDesc;
    return 0; // of a description that was never filled
}

size_t aclmdlGetNumOutputs(aclmdlDesc *modelDesc)
{
    (void)modelDesc;
    return 0;
}

size_t aclmdlGetInputSizeByIndex(aclmdlDesc *modelDesc, size_t index)
{
    (void)acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%s has no input %zu",
                   modelDesc ? "the description" : "NULL", index);
    return 0;
}

size_t aclmdlGetOutputSizeByIndex(aclmdlDesc *modelDesc, size_t index)
{
    (void)acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%s has no output %zu",
                   modelDesc ? "the description" : "NULL", index);
    return 0;
}

static aclError refuse_dims(const char *func, const aclmdlDesc *desc, size_t index,
                            const aclmdlIODims *dims)
{
    return acl_fail(ACL_ERROR_INVALID_PARAM, func,
                    desc && dims ? "the description has no tensor %zu"
                                 : "an argument is NULL (index %zu)",
                    index);
}

aclError aclmdlGetInputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    return refuse_dims(__func__, modelDesc, index, dims);
}

aclError aclmdlGetOutputDims(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)
{
    return refuse_dims(__func__, modelDesc, index, dims);
}
