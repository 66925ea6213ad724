/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that are pictures of bytes, by --insert_op_conf. */
#pragma once

#include "import.h"

/** Reads the option; no option is fine. */
void onnx_read_pictures(struct onnx_import *import);
/** Input `index`, described but not yet in the model, becomes a picture if the option says so: the
 * input is bytes then. The value of what the model sees is in *value; false: it is none. */
bool onnx_take_picture(struct onnx_import *import, uint32_t index, uint32_t *value);
/** The input that goes with settings of each run, if there are any. Fails if the option gave an
 * input that the model has not. */
void onnx_end_pictures(struct onnx_import *import);
