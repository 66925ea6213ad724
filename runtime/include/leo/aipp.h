/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of AIPP, what is done with a picture of bytes before a model sees it: those of atc's
 * --insert_op_conf, and those that aclmdlSetInputAIPP gives to a run.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum leo_aipp_format {
    LEO_AIPP_YUV420SP = 1,
    LEO_AIPP_XRGB8888,
    LEO_AIPP_RGB888,
    LEO_AIPP_YUV400,
    LEO_AIPP_FORMATS
};

enum { LEO_AIPP_STATIC = 1, LEO_AIPP_DYNAMIC }; /* modes */

/** Numbers of the settings; those of a list follow each other. */
enum leo_aipp_key {
    LEO_AIPP_MODE, /**< static or dynamic */
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
    LEO_AIPP_MAX_BYTES = LEO_AIPP_VAR_RECI + 4, /**< of dynamic pictures together */
    LEO_AIPP_UNSERVED,                          /**< resize, rotation, raw pictures: must be 0 */
    LEO_AIPP_KEYS
};

struct leo_aipp {
    double at[LEO_AIPP_KEYS];
    char input[128]; /**< its name; "": found by its rank */
};

/** Bytes of that input for each picture: its settings. */
enum { LEO_AIPP_PICTURE_BYTES = LEO_AIPP_KEYS * 8 };
/** Name of the input that goes with dynamic settings. */
#define LEO_AIPP_INPUT "ascend_dynamic_aipp_data"

#ifdef __cplusplus
}
#endif
