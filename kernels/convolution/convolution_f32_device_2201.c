/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of f32, multiplied as f32 or as HF32. */
#define CONV_UNIT_CHANNELS 8
#include "convolution_cube_device_2201.c"
