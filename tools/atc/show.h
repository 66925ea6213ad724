/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiled model holds, for people and as JSON. */
#pragma once

#include <leo/model.h>
#include <stdbool.h>
#include <stdio.h>

/** Sizes, inputs and outputs, and how often each operator is called. */
void show_model(const struct leo_model *model, FILE *to);
/** All of it but the weights: {"soc", "work_bytes", "weight_bytes", "inputs", "outputs", "calls",
 * "gears"}. False: writing failed. */
bool show_json(const struct leo_model *model, FILE *to);
