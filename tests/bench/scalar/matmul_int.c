/* SPDX-License-Identifier: Apache-2.0 */
#define ELEMENT int32_t
#define DIVISOR 1
#define ROUNDS  60
#include "matmul.inc"
