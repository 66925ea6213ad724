/* SPDX-License-Identifier: Apache-2.0 */
/* --singleop: a file of operators, each of which becomes a file of its own. */
#pragma once

#include "options.h"

/** Writes options->output/INDEX_TYPE_TENSORS.om for each; 0, or -1 with the error's text. */
int atc_write_operators(const struct atc_options *options, char error[ATC_ERROR]);
