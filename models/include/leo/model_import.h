/* SPDX-License-Identifier: Apache-2.0 */
/* From a network's file to a model. */
#pragma once

#include <leo/model.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct leo_import_shape {
    const char *input; /**< name of an input */
    uint32_t rank;
    int64_t dim[LEO_OP_RANK_MAX];
};

struct leo_import_options {
    const char *soc;                       /**< chip's name, kept in the model */
    const char *name;                      /**< the model's, kept in it; NULL: none */
    const struct leo_import_shape *shapes; /**< of inputs; those not listed keep the file's */
    uint32_t shape_count;
    bool keep_f32; /**< compute floats in f32; else in f16, as force_fp16 */
    /** Float inputs that are f16, "name;name2"; NULL: none. */
    const char *half_inputs;
    /** What the outputs are instead of the file's, "node:0;node2:1", in this order; NULL: the
     * file's. A node goes by its name, or without one by the name of its output. */
    const char *out_nodes;
    /** A type of LEO_IMPORT_TYPES for float outputs, or "node:0:FP16;node2:1:UINT8" with those of
     * out_nodes; NULL: the file's. */
    const char *output_type;
    const char *without_fusions; /**< by name, "Gelu;Swish" or "ALL"; NULL: all are done */
    const char *aipp;            /**< text of --insert_op_conf; NULL: none */
    bool nhwc; /**< inputs that pictures become are [n, h, w, c], else [n, c, h, w] */
};

enum { LEO_IMPORT_SHAPES = 64 };
/** Shapes of inputs as a text gives them. */
struct leo_import_shapes {
    uint32_t count;
    struct leo_import_shape list[LEO_IMPORT_SHAPES]; /**< names lie in `names` */
    char names[4096];
};

/** Sizes that a model is compiled for. */
enum { LEO_IMPORT_GEARS = 100, LEO_IMPORT_GEAR_WIDTH = 16 };
struct leo_import_gears {
    enum leo_model_gears kind; /**< LEO_MODEL_NO_GEARS: none */
    uint32_t count, width;
    int64_t rows[LEO_IMPORT_GEARS][LEO_IMPORT_GEAR_WIDTH];
};
/** Reads "1,2,4" (batches) or "1,2;3,4": from 2 to 100 gears of as many numbers, none twice, two
 * for images. False: the text is not like this. */
bool leo_import_read_gears(enum leo_model_gears kind, const char *text,
                           struct leo_import_gears *gears);

/** Reads "name:1,3,224,224;name2:1,8"; sizes are at least 0, or -1 for what gears tell; "name" or
 * "name:" is a scalar. False: the text is not like this, or it has more than 64 shapes. */
bool leo_import_read_shapes(const char *text, struct leo_import_shapes *shapes);

/** Modes of precision that are known: "|a|b|". */
#define LEO_IMPORT_PRECISIONS                                                                      \
    "|force_fp16|allow_fp32_to_fp16|allow_mix_precision|force_fp32|cube_fp16in_fp32out|"           \
    "must_keep_origin_dtype|"
/** Types of outputs that are known, the same way. */
#define LEO_IMPORT_TYPES "|FP32|FP16|UINT8|INT8|INT16|UINT16|INT32|UINT32|INT64|UINT64|"
/** Whether a mode (NULL: the default) keeps floats in single precision. */
bool leo_import_keeps_f32(const char *mode);
/** Whether this is the name of a chip as programs have it: "Ascend910A", "Ascend910B1" ... */
bool leo_import_knows_chip(const char *name);

/**
 * Reads an ONNX model (opsets 7 to 25 as far as its operators are served). LEO_ERR_PARSE (no such
 * file), LEO_ERR_INVALID_ARG (an option that does not fit it), LEO_ERR_UNSUPPORTED (an operator,
 * attribute or shape that is not served), LEO_ERR_NO_MEMORY: `error` names the node. On success the
 * model is the caller's (leo_model_free).
 */
LEO_MUST_CHECK leo_status leo_import_onnx(const void *data, size_t bytes,
                                          const struct leo_import_options *options,
                                          struct leo_model *model, char error[LEO_MODEL_ERROR]);

struct leo_import_bytes {
    const void *data;
    size_t bytes;
};

/**
 * Reads a Caffe network, a text (prototxt) and a file of weights (caffemodel), and gives an ONNX
 * file that computes the same; *onnx is the caller's (leo_free). Layers that `out_nodes` (as in
 * leo_import_options; NULL: none) does not need are left out. LEO_ERR_PARSE, LEO_ERR_UNSUPPORTED (a
 * layer or a parameter of it that is not served), LEO_ERR_NO_MEMORY: `error` names the layer.
 */
LEO_MUST_CHECK leo_status leo_caffe_to_onnx(const struct leo_import_bytes *text,
                                            const struct leo_import_bytes *weights,
                                            const char *out_nodes, uint8_t **onnx, size_t *bytes,
                                            char error[LEO_MODEL_ERROR]);

/**
 * Reads a frozen graph of TensorFlow 1 and gives an ONNX file that computes what options->out_nodes
 * needs (NULL: what no node reads), with inputs and outputs in the graph's own order (NHWC). Inputs
 * without a known shape need one in `options`. Outputs are called "node:index". Results and errors
 * as of leo_caffe_to_onnx; LEO_ERR_INVALID_ARG: out_nodes names a node that is not there.
 */
LEO_MUST_CHECK leo_status leo_tensorflow_to_onnx(const void *data, size_t bytes,
                                                 const struct leo_import_options *options,
                                                 uint8_t **onnx, size_t *onnx_bytes,
                                                 char error[LEO_MODEL_ERROR]);

/** The same for each gear, as one model: -1 in options->shapes are the gears' numbers, in order. */
LEO_MUST_CHECK leo_status leo_import_with_gears(const void *data, size_t bytes,
                                                const struct leo_import_options *options,
                                                const struct leo_import_gears *gears,
                                                struct leo_model *model,
                                                char error[LEO_MODEL_ERROR]);

#ifdef __cplusplus
}
#endif
