/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensors a model gives, and as what types. */
#pragma once

#include "import.h"

/** One of a list "a;b;c" of options. */
enum { ONNX_ITEM = 512 };
/** The item at *at, which moves behind it; false: there is none, or it is too long. */
bool onnx_next_item(const char **at, char item[ONNX_ITEM]);
/** Whether a name is in a list; a NULL list has none. */
bool onnx_is_listed(const char *list, const char *name);

/** Names the outputs that the file or the options tell, and skips nodes that none of them needs. */
void onnx_choose_outputs(struct onnx_import *import);
/** Behind all nodes: copies the outputs to the caller's buffers. */
void onnx_take_outputs(struct onnx_import *import);
