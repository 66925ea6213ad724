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
    const struct leo_import_shape *shapes; /**< of inputs; those not listed keep the file's */
    uint32_t shape_count;
    bool keep_f32;    /**< compute floats in f32; else in f16, as force_fp16 */
    bool half_inputs; /**< float inputs are f16 */
    bool half_outputs;
};

/**
 * Reads an ONNX model (opsets 7 to 21 as far as its operators are served). LEO_ERR_PARSE (no such
 * file), LEO_ERR_UNSUPPORTED (an operator, attribute or shape that is not served),
 * LEO_ERR_NO_MEMORY: `error` names the node. On success the model is the caller's (leo_model_free).
 */
LEO_MUST_CHECK leo_status leo_import_onnx(const void *data, size_t bytes,
                                          const struct leo_import_options *options,
                                          struct leo_model *model, char error[LEO_MODEL_ERROR]);

#ifdef __cplusplus
}
#endif
