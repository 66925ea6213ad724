/* SPDX-License-Identifier: Apache-2.0 */
/* Matmul of f32 and HF32: neither matrix transposed on the way, because only 16-bit fractals turn.
 */
#define MATMUL_UNIT 4
#include "matmul_cube_device_2201.c"
