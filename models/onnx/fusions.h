/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that together are one operator of the library. */
#pragma once

#include "import.h"

/** Looks for patterns in the graph's nodes; constants are known. What a pattern covers is skipped
 * but its last node, in whose place one node stands. */
struct onnx_fused;

/** Tries the patterns that begin with node `index`, all before it being imported. */
void onnx_fuse_from(struct onnx_import *import, size_t index);
/** The node that stands for a pattern whose last node is `index`; NULL: it is the last of none. */
OnnxFile__Node *onnx_fused_at(const struct onnx_import *import, size_t index);
void onnx_fused_free(struct onnx_fused *fused); /**< the whole list; NULL is fine */
