/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AIPP: what is done with a picture of bytes before a model sees it, in this order: channels are
 * exchanged, a part is cut out, colours are converted, means taken off and scaled, borders added.
 * Settings are those of --insert_op_conf; the formulas are in docs/models.md.
 */
#pragma once

#include "build.h"

enum leo_aipp_format {
    LEO_AIPP_YUV420SP = 1,
    LEO_AIPP_XRGB8888,
    LEO_AIPP_RGB888,
    LEO_AIPP_YUV400,
    LEO_AIPP_FORMATS
};

/** Numbers of the settings; those of a list follow each other. */
enum leo_aipp_key {
    LEO_AIPP_MODE, /**< 1: static; dynamic is not served */
    LEO_AIPP_INPUT_RANK,
    LEO_AIPP_INPUT_EDGE,
    LEO_AIPP_FORMAT,
    LEO_AIPP_SOURCE_W,
    LEO_AIPP_SOURCE_H,
    LEO_AIPP_CROP,
    LEO_AIPP_CROP_X,
    LEO_AIPP_CROP_Y,
    LEO_AIPP_CROP_W,
    LEO_AIPP_CROP_H,
    LEO_AIPP_PADDING,
    LEO_AIPP_LEFT,
    LEO_AIPP_RIGHT,
    LEO_AIPP_TOP,
    LEO_AIPP_BOTTOM,
    LEO_AIPP_PADDING_VALUE,
    LEO_AIPP_CSC,
    LEO_AIPP_SWAP_RB, /**< R and B, or U and V */
    LEO_AIPP_SWAP_AX, /**< A or X from the front to the back */
    LEO_AIPP_MATRIX,
    LEO_AIPP_OUTPUT_BIAS = LEO_AIPP_MATRIX + 9,
    LEO_AIPP_INPUT_BIAS = LEO_AIPP_OUTPUT_BIAS + 3,
    LEO_AIPP_MEAN = LEO_AIPP_INPUT_BIAS + 3,
    LEO_AIPP_MIN = LEO_AIPP_MEAN + 4,
    LEO_AIPP_VAR_RECI = LEO_AIPP_MIN + 4,
    LEO_AIPP_UNSERVED = LEO_AIPP_VAR_RECI + 4, /**< resize, rotation, raw pictures: must be 0 */
    LEO_AIPP_KEYS
};

struct leo_aipp {
    double at[LEO_AIPP_KEYS];
    char input[LEO_MODEL_NAME]; /**< "": told by its rank */
};

enum { LEO_AIPP_INPUTS = 16 };
struct leo_aipp_list {
    uint32_t count;
    struct leo_aipp list[LEO_AIPP_INPUTS];
};

/** Reads `aipp_op { key: value ... }` blocks. False, with a text: a key, value or mode that is not
 * served, or what does not fit together without knowing the model. */
bool leo_aipp_read(const char *text, struct leo_aipp_list *list, char error[LEO_MODEL_ERROR]);

/**
 * Completes sizes that were left to the model, and tells the shape of the input instead of
 * `dim` [n, c, h, w]: bytes [n, rows, columns, channels], rows of YUV420SP being 3/2 of the height.
 * False, with a text: the sizes do not fit.
 */
bool leo_aipp_fit(struct leo_aipp *aipp, const int64_t dim[4], int64_t source[4],
                  char error[LEO_MODEL_ERROR]);
/** Appends the calls from the picture (as leo_aipp_fit shaped it) to `out`, [n, c, h, w] of f16 or
 * f32. */
void leo_aipp_build(struct model_build *build, const struct leo_aipp *aipp, uint32_t picture,
                    uint32_t out);
