/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AIPP: what is done with a picture of bytes before a model sees it, in this order: channels are
 * exchanged, a part is cut out, colours are converted, means taken off and scaled, borders added.
 * Settings are those of --insert_op_conf; the formulas are in docs/models.md.
 */
#pragma once

#include "build.h"

#include <leo/aipp.h>

enum { LEO_AIPP_INPUTS = 16 };
struct leo_aipp_list {
    uint32_t count;
    struct leo_aipp list[LEO_AIPP_INPUTS];
};

/** Reads `aipp_op { key: value ... }` blocks. False, with a text: a key, value or mode that is not
 * served, or what does not fit together without knowing the model. */
bool model_aipp_read(const char *text, struct leo_aipp_list *list, char error[LEO_MODEL_ERROR]);

/**
 * Completes sizes that were left to the model, and tells the shape of the input instead of
 * `dim` [n, c, h, w]: bytes [n, rows, columns, channels], rows of YUV420SP being 3/2 of the height.
 * False, with a text: the sizes do not fit.
 */
bool model_aipp_fit(struct leo_aipp *aipp, const int64_t dim[4], int64_t source[4],
                    char error[LEO_MODEL_ERROR]);
/** Appends the calls from the picture (as model_aipp_fit shaped it) to `out`, [n, c, h, w] of f16
 * or f32. */
void model_aipp_build(struct model_build *build, const struct leo_aipp *aipp, uint32_t picture,
                      uint32_t out);
