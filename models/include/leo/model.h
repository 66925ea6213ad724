/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model that was compiled for a chip: a list of operator calls on tensors whose places are known,
 * its weights, and the names of its inputs and outputs. The calls are those of leo/op.h.
 */
#pragma once

#include <leo/aipp.h>
#include <leo/isa_enums.h>
#include <leo/op.h>
#include <leo/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LEO_MODEL_NAME = 128, LEO_MODEL_ERROR = 512, LEO_MODEL_ALIGN = 64 };

/** Where a tensor lies. */
enum leo_model_region {
    LEO_MODEL_INPUT,  /**< in the caller's buffer of input `index` */
    LEO_MODEL_OUTPUT, /**< in the caller's buffer of output `index` */
    LEO_MODEL_WEIGHT, /**< in the weights */
    LEO_MODEL_WORK,   /**< in the work area */
    LEO_MODEL_REGIONS
};

/** A tensor of a call: a place, and how elements lie from there on (strides in elements). In the
 * work area `index` numbers the memory it lies in, which tensors have that are views of one. */
struct leo_model_value {
    uint32_t region, index, dtype, rank;
    uint64_t offset; /**< bytes */
    int64_t dim[LEO_OP_RANK_MAX], stride[LEO_OP_RANK_MAX];
};

/** An argument as leo_op_arg has it; tensors are numbers of values. */
struct leo_model_arg {
    uint32_t kind;  /**< enum leo_op_arg_kind */
    uint32_t count; /**< of a list; bytes of a text with its NUL */
    double number;
    uint32_t value; /**< a tensor; a dtype */
    void *list;     /**< owned: uint32_t values, int64_t ints, bool bools, or the text */
};

/** A node of the network that was compiled, by which its calls are reported. */
struct leo_model_node {
    char name[LEO_MODEL_NAME];
    char type[64]; /**< as the network's file has it */
    /** The node whose calls do its work, from 1 on: itself, or the one it is folded into; 0: no
     * output needs it. */
    uint32_t into;
};

struct leo_model_call {
    char op[64];
    uint32_t node; /**< it is of, from 1 on; 0: of none, as conversions of inputs and outputs */
    uint32_t arg_count;
    struct leo_model_arg *args;
};

struct leo_model_io {
    char name[LEO_MODEL_NAME];
    uint32_t dtype, rank;
    uint32_t is_nhwc; /**< 1: a picture with its channels last */
    uint32_t reserved;
    int64_t dim[LEO_OP_RANK_MAX];
};

/** What the gears of a model are the sizes of. */
enum leo_model_gears {
    LEO_MODEL_NO_GEARS,
    LEO_MODEL_BATCHES, /**< the first dimension of inputs: one number a gear */
    LEO_MODEL_IMAGES,  /**< height and width */
    LEO_MODEL_DIMS,    /**< all dimensions that were left open, in order */
    LEO_MODEL_GEAR_KINDS
};

/** An input whose pictures are converted by settings that are compiled in. */
struct leo_model_aipp {
    uint32_t input; /**< from 1 on */
    int64_t dim[4]; /**< [n, c, h, w] that pictures become */
    struct leo_aipp settings;
};

/** Name of the input that tells the gear: its row of numbers. */
#define LEO_MODEL_GEAR_INPUT "ascend_mbatch_shape_data"

struct leo_model {
    char soc[32]; /**< chip it was compiled for; for reports, any chip runs it */
    char name[LEO_MODEL_NAME];
    uint32_t input_count, output_count, value_count, node_count, call_count;
    struct leo_model_io *inputs, *outputs;
    struct leo_model_value *values;
    struct leo_model_node *nodes;
    struct leo_model_call *calls;
    uint64_t work_bytes, weight_bytes;
    uint8_t *weights;
    /** A model with gears has no values and calls of its own: for each gear there is a variant with
     * calls, whose weights are this one's and which has no gears. Its inputs and outputs are each
     * as large as any variant's; one input more, the last, tells the gear (s64). */
    uint32_t gear_kind, gear_count, gear_width;
    int64_t *gears; /**< gear_count rows of gear_width numbers */
    struct leo_model *variants;
    /** Input whose pictures are converted by settings of each run, from 1 on (0: none), and the
     * value [n, c, h, w] that they become before the first call; the last input goes with them. */
    uint32_t aipp_input, aipp_value;
    uint32_t aipp_count;
    struct leo_model_aipp *aipps;
};

void leo_model_free(struct leo_model *model); /**< the parts; NULL is fine */
/** Bytes of an input or output, dense. */
uint64_t leo_model_io_bytes(const struct leo_model_io *io);

/** The model as the bytes of a file; *data is the caller's (leo_free). LEO_ERR_NO_MEMORY. */
LEO_MUST_CHECK leo_status leo_model_write(const struct leo_model *model, uint8_t **data,
                                          size_t *bytes);
/**
 * Reads what leo_model_write made, and checks all of it: sizes, ranges of every tensor, checksum.
 * LEO_ERR_PARSE with a reason in `error`, LEO_ERR_NO_MEMORY.
 */
LEO_MUST_CHECK leo_status leo_model_read(const void *data, size_t bytes, struct leo_model *model,
                                         char error[LEO_MODEL_ERROR]);

#ifdef __cplusplus
}
#endif
