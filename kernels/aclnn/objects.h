/* SPDX-License-Identifier: Apache-2.0 */
/* The objects behind aclTensor and its sisters. */
#pragma once

#include "../frame/value.h"

#include <aclnn/acl_meta.h>
#include <leo/status.h>

struct aclTensor {
    struct op_tensor view; /**< first: a list of aclTensor is a list of op_tensor */
    /** ACL_INT4, a type no operator has: the view as i32 words of 8 numbers, for rows whose word
     * `nibbles` names the parameter. Rank 0: it has no whole words, or another type. */
    struct op_tensor words;
    uint64_t data;  /**< address of the storage */
    int64_t offset; /**< of the view, in elements */
    aclDataType data_type;
    unsigned storage_rank;
    int64_t storage[OP_RANK_MAX];
};

struct aclScalar {
    struct op_scalar value; /**< first */
    aclDataType data_type;
};

struct aclIntArray {
    struct op_ints value;
    int64_t items[];
};

struct aclFloatArray {
    struct op_floats value;
    float items[];
};

struct aclBoolArray {
    struct op_bools value;
    bool items[];
};

struct aclTensorList {
    struct op_tensor_list value;
    const aclTensor *items[];
};

struct aclScalarList {
    struct op_scalar_list value;
    const aclScalar *items[];
};

/** The type of that number; OP_TYPES for one no operator has. */
enum op_type opapi_type(aclDataType type);
/** The number of that type; ACL_DT_UNDEFINED for one the interface has not. */
aclDataType opapi_data_type(enum op_type type);

/** Address of the first element of the tensor's view in a storage at `data`; 0 for data 0. */
uint64_t opapi_address(const aclTensor *tensor, uint64_t data);

/** Fails unless the view of an aclTensor lies within its storage; `op` and `name` (of the
 * parameter) are for the text. */
LEO_MUST_CHECK leo_status opapi_check_view(const char *op, const char *name,
                                           const struct op_tensor *view);

/** Reports a refused argument of `func` as ACLNN_ERR_PARAM_INVALID. */
void opapi_refuse(const char *func, const char *text);

/** ACLNN_ERR_PARAM_NULLPTR with a text if a question's object or the place of its answer is NULL.
 */
aclnnStatus opapi_check_question(const char *func, const void *object, const void *answer);

/** Frees an object (NULL: nothing); the interface takes const pointers to what it frees. */
aclnnStatus opapi_release(const void *object);

/* Packing of arguments. */
static inline struct op_value opapi_tensor(const aclTensor *tensor)
{
    return op_value_tensor(tensor ? &tensor->view : NULL);
}

static inline struct op_value opapi_tensor_list(const aclTensorList *list)
{
    return op_value_tensors(list ? &list->value : NULL);
}

static inline struct op_value opapi_scalar(const aclScalar *scalar)
{
    return op_value_scalar(scalar ? &scalar->value : NULL);
}

static inline struct op_value opapi_scalar_list(const aclScalarList *list)
{
    return (struct op_value){.kind = OP_KIND_SCALAR_LIST, .scalars = list ? &list->value : NULL};
}

static inline struct op_value opapi_int_array(const aclIntArray *array)
{
    return op_value_ints(array ? &array->value : NULL);
}

static inline struct op_value opapi_float_array(const aclFloatArray *array)
{
    return (struct op_value){.kind = OP_KIND_FLOATS, .floats = array ? &array->value : NULL};
}

static inline struct op_value opapi_bool_array(const aclBoolArray *array)
{
    return (struct op_value){.kind = OP_KIND_BOOLS, .bools = array ? &array->value : NULL};
}

static inline struct op_value opapi_text(const char *text)
{
    return (struct op_value){.kind = OP_KIND_TEXT, .text = text};
}

static inline struct op_value opapi_dtype(aclDataType type)
{
    return op_value_type(opapi_type(type));
}

static inline struct op_value opapi_int(int64_t integer)
{
    return op_value_int(integer);
}

static inline struct op_value opapi_real(double real)
{
    return op_value_real(real);
}
