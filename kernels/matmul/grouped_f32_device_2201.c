/* SPDX-License-Identifier: Apache-2.0 */
/* Products of groups in f32. */
#define MATMUL_UNIT 4
#include "grouped_device_2201.c"
