/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a single operator (atc --singleop): 24 bytes, then a JSON text:
 * {"op": type, "inputs": [{"type", "format", "shape", "range"}], "outputs": the same, "attrs":
 * {name: [values]}} with the numbers of aclDataType and aclFormat. "range" (may be missing) has
 * [low, high] for each dimension; high -1: none. A shape [-2] is any.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LEO_OP_MODEL_HEAD = 24, LEO_OP_MODEL_MAX = 1 << 20 /**< bytes of a file */ };

/** What stands before a text. */
void leo_op_model_head(const char *text, size_t length, uint8_t head[LEO_OP_MODEL_HEAD]);
/** Finds the text in a file; NULL, or what is wrong with it. */
const char *leo_op_model_text(const void *data, size_t bytes, const char **text, size_t *length);

#ifdef __cplusplus
}
#endif
