/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators for C programs on leo_rt: every operator of docs/api/aclnn.md, called by its name. The
 * vendor's interface to the same code is aclnnop/aclnn_<name>.h.
 */
#pragma once

#include <leo/isa_enums.h>
#include <leo/runtime.h>
#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Runs operators on one stream, from one thread at a time. Holds their workspace. */
struct leo_op_context;
leo_status leo_op_context_create(struct leo_rt_device *device, struct leo_rt_stream *stream,
                                 struct leo_op_context **context);
void leo_op_context_destroy(
    struct leo_op_context *context); /**< waits for the stream; NULL is fine */

/** The context's workspace is the caller's from here on: device memory that lives as long as what
 * was launched uses it. Nothing is allocated then, and leo_op_context_destroy does not wait; an
 * operator that needs more ends with LEO_ERR_NO_MEMORY. */
void leo_op_context_lend(struct leo_op_context *context, uint64_t workspace, uint64_t bytes);

/** Bytes behind a tensor's end that must belong to its allocation: the coupled generation's DMA
 * reads whole blocks. */
enum { LEO_OP_READ_MARGIN = 32, LEO_OP_RANK_MAX = 8 };

/** A tensor in device memory. Describes, does not own. */
struct leo_op_tensor {
    uint64_t addr;        /**< of element [0, 0, ...] */
    enum leo_dtype dtype; /**< B8: bool */
    unsigned rank;
    int64_t dim[LEO_OP_RANK_MAX];
    int64_t stride[LEO_OP_RANK_MAX]; /**< elements; 0 repeats an element */
    /** 0: rows. Else the aclFormat in which a whole tensor of this shape is stored: 3 NC1HWC0, 4
     * FRACTAL_Z, 29 FRACTAL_NZ. */
    int format;
};
/** A row-major tensor without gaps. */
struct leo_op_tensor leo_op_tensor(uint64_t addr, enum leo_dtype dtype, unsigned rank,
                                   const int64_t *dim);
/** The matrix with rows and columns exchanged. */
struct leo_op_tensor leo_op_transposed(const struct leo_op_tensor *matrix);

enum leo_op_arg_kind {
    LEO_OP_NONE,
    LEO_OP_TENSOR,
    LEO_OP_TENSORS,
    LEO_OP_NUMBER,
    LEO_OP_INTS,
    LEO_OP_BOOLS,
    LEO_OP_DTYPE,
    LEO_OP_TEXT
};

/** An argument. What it points to must last until leo_op_run returns. */
struct leo_op_arg {
    enum leo_op_arg_kind kind;
    size_t count; /**< of a list */
    union {
        const struct leo_op_tensor *tensor; /**< one, or the first of a list */
        double number;                      /**< for scalars, integers and bools too */
        const int64_t *ints;
        const bool *bools;
        enum leo_dtype dtype;
        const char *text;
    };
};

struct leo_op_arg leo_op_arg_none(void); /**< for a parameter that may be NULL */
struct leo_op_arg leo_op_arg_tensor(const struct leo_op_tensor *tensor);
struct leo_op_arg leo_op_arg_tensors(const struct leo_op_tensor *first, size_t count);
struct leo_op_arg leo_op_arg_number(double number);
struct leo_op_arg leo_op_arg_ints(const int64_t *ints, size_t count);
struct leo_op_arg leo_op_arg_bools(const bool *bools, size_t count);
struct leo_op_arg leo_op_arg_dtype(enum leo_dtype dtype);
struct leo_op_arg leo_op_arg_text(const char *text);

/**
 * Checks the arguments and launches the operator; does not wait. `name` is the operator's without
 * aclnn, the arguments are its parameters in the order of docs/api/aclnn.md.
 * Errors: LEO_ERR_NOT_FOUND (no such operator), LEO_ERR_INVALID_ARG (number or kind of arguments,
 * values), LEO_ERR_DTYPE, LEO_ERR_SHAPE, LEO_ERR_BAD_POINTER; the text names the parameter.
 */
LEO_MUST_CHECK leo_status leo_op_run(struct leo_op_context *context, const char *name,
                                     const struct leo_op_arg *args, unsigned count);

/** Bytes of workspace that leo_op_run needs for this call; launches nothing. Errors as there. */
LEO_MUST_CHECK leo_status leo_op_workspace(struct leo_op_context *context, const char *name,
                                           const struct leo_op_arg *args, unsigned count,
                                           uint64_t *bytes);

/** In C: LEO_OP(context, "Add", leo_op_arg_tensor(&a), ...): leo_op_run with the arguments in
 * place. */
#define LEO_OP(context, name, ...)                                                                 \
    leo_op_run(context, name, (const struct leo_op_arg[]){__VA_ARGS__},                            \
               sizeof((const struct leo_op_arg[]){__VA_ARGS__}) / sizeof(struct leo_op_arg))

/** A parameter of an operator, as docs/api/aclnn.md lists it. */
struct leo_op_param {
    const char *name;
    enum leo_op_arg_kind kind; /**< LEO_OP_NONE: of a kind that leo_op_run cannot pass */
    bool optional;             /**< may be leo_op_arg_none() */
    bool written;
    uint32_t dtypes; /**< tensors: bit (1 << enum leo_dtype) for each type the chip takes there */
};
/** How many parameters an operator has. LEO_ERR_NOT_FOUND: there is no such operator. */
LEO_MUST_CHECK leo_status leo_op_param_count(const char *name, unsigned *count);
/** Parameter `index` of an operator on the context's chip. LEO_ERR_NOT_FOUND: no such operator;
 * LEO_ERR_RANGE: it has fewer parameters. */
LEO_MUST_CHECK leo_status leo_op_param(const struct leo_op_context *context, const char *name,
                                       unsigned index, struct leo_op_param *param);

#ifdef __cplusplus
}
#endif
