/* SPDX-License-Identifier: Apache-2.0 */
/* One call of CNNL: its tensors as operators see them, temporaries, the first failure. Entries are
 * generated (gen/cnnl.py); what a line of a row cannot say is in the files by subject. */
#pragma once

#include "../frame/run.h"

#include <cnnl.h>

/** What every query of a workspace tells [A]: temporaries are the handle's own, but a caller that
 * allocates what it is told must get memory. */
enum { CNNL_WORKSPACE_BYTES = 128 };

enum { CNNL_CALL_TENSORS = 48, CNNL_CALL_NUMBERS = 24, CNNL_CALL_LISTS = 8, CNNL_CALL_INTS = 96 };

struct cnnl_call {
    const char *func;
    cnnlHandle_t handle;
    cnnlStatus_t status; /**< of the first failure; later steps do nothing then */
    struct leo_rt_stream *stream;
    unsigned tensor_count, scalar_count, list_count, int_count, ints_count, block_count;
    struct op_tensor tensors[CNNL_CALL_TENSORS];
    struct op_scalar scalars[CNNL_CALL_NUMBERS];
    struct op_tensor_list lists[CNNL_CALL_LISTS];
    struct op_ints ints[CNNL_CALL_NUMBERS];
    int64_t numbers[CNNL_CALL_INTS];
    const struct op_tensor *places[OP_RANK_MAX]; /**< indices of a call */
    void *blocks[CNNL_CALL_LISTS];               /**< host memory of long lists, freed in the end */
};

/** An attribute of a descriptor. */
struct cnnl_attr {
    int attr;
    size_t at, bytes;
};

/** Tells the failure to a person (with the text also of leo_rt_last_error) and returns the status.
 */
cnnlStatus_t cnnl_fail(cnnlStatus_t status, const char *func, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
cnnlStatus_t cnnl_set_attr(const char *func, void *desc, const struct cnnl_attr *attrs,
                           size_t count, int attr, const void *buf, size_t bytes);
cnnlStatus_t cnnl_workspace(cnnlHandle_t handle, const char *func, size_t *size);

/** Checks the handle; finds its queue. */
void cnnl_begin(struct cnnl_call *call, cnnlHandle_t handle, const char *func);
cnnlStatus_t cnnl_end(struct cnnl_call *call);
/** Ends the call with CNNL_STATUS_NOT_SUPPORTED. */
void cnnl_refuse(struct cnnl_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Ends the call with CNNL_STATUS_BAD_PARAM. */
void cnnl_bad(struct cnnl_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Ends the call with the code of a status of the layers below, if it is none of success. */
void cnnl_take(struct cnnl_call *call, leo_status status);
/** Ends the call with CNNL_STATUS_BAD_PARAM unless `there`. */
void cnnl_need(struct cnnl_call *call, const char *name, bool there);

/* Tensors. They live as long as the call; NULL after a failure. */
const struct op_tensor *cnnl_in(struct cnnl_call *call, const char *name,
                                cnnlTensorDescriptor_t desc, const void *data);
const struct op_tensor *cnnl_out(struct cnnl_call *call, const char *name,
                                 cnnlTensorDescriptor_t desc, const void *data);
/** NULL too if there is no descriptor or no memory. */
const struct op_tensor *cnnl_optional_in(struct cnnl_call *call, const char *name,
                                         cnnlTensorDescriptor_t desc, const void *data);
const struct op_tensor *cnnl_optional_out(struct cnnl_call *call, const char *name,
                                          cnnlTensorDescriptor_t desc, const void *data);
const struct op_tensor_list *cnnl_list(struct cnnl_call *call, const char *name, int64_t count,
                                       const cnnlTensorDescriptor_t desc[],
                                       const void *const data[], bool optional);
/** The tensor with its channels as second dimension, as its layout says where they are. */
const struct op_tensor *cnnl_channels_second(struct cnnl_call *call, const char *name,
                                             cnnlTensorDescriptor_t desc,
                                             const struct op_tensor *tensor);
/** A tensor of the call's own that may be changed. */
struct op_tensor *cnnl_view(struct cnnl_call *call, const struct op_tensor *tensor);
/** A dense vector. */
const struct op_tensor *cnnl_vector(struct cnnl_call *call, const void *data, enum op_type type,
                                    int64_t count);
/** Dense memory until the end of the call, in the order of the queue. */
const struct op_tensor *cnnl_temp(struct cnnl_call *call, enum op_type type, unsigned rank,
                                  const int64_t *dim);
const struct op_tensor *cnnl_temp_like(struct cnnl_call *call, enum op_type type,
                                       const struct op_tensor *shape);
/** The tensor itself if it is of the type, else a converted copy. */
const struct op_tensor *cnnl_as(struct cnnl_call *call, enum op_type type,
                                const struct op_tensor *tensor);

/* Numbers. */
const struct op_scalar *cnnl_real(struct cnnl_call *call, double number);
const struct op_scalar *cnnl_integer(struct cnnl_call *call, int64_t number);
/** The number of this type at a place in host memory. */
const struct op_scalar *cnnl_host(struct cnnl_call *call, const char *name, enum op_type type,
                                  const void *data);
/** A factor in host memory for tensors of this type: float, or int for integers; `none` if NULL. */
double cnnl_factor(enum op_type type, const void *data, double none);
/** Fails unless alpha is 1 and beta 0 (or NULL): blending is not built in here. */
void cnnl_no_blend(struct cnnl_call *call, const void *alpha, const void *beta);
const struct op_ints *cnnl_ints(struct cnnl_call *call, const int *items, int64_t count);
const struct op_ints *cnnl_longs(struct cnnl_call *call, const int64_t *items, int64_t count);
const struct op_ints *cnnl_int1(struct cnnl_call *call, int64_t item);
const struct op_ints *cnnl_int2(struct cnnl_call *call, int64_t a, int64_t b);
/** The sizes of the dimensions from `first` on. */
const struct op_ints *cnnl_sizes(struct cnnl_call *call, const struct op_tensor *tensor,
                                 unsigned first);
/** The type behind a number of cnnlDataType_t; false if operators have none. */
bool cnnl_type_of(cnnlDataType_t type, enum op_type *out);
/** Bytes of an element; 0 for a type that does not exist. */
size_t cnnl_type_bytes(cnnlDataType_t type);

/** Runs an operator (its name without aclnn) on the handle's queue; does not wait. */
void cnnl_run(struct cnnl_call *call, const char *row, const struct op_value *args);
/** to = from, with conversion. */
void cnnl_copy(struct cnnl_call *call, const struct op_tensor *to, const struct op_tensor *from);
