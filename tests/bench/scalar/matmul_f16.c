/* SPDX-License-Identifier: Apache-2.0 */
#define ELEMENT _Float16
#define DIVISOR 511
#define ROUNDS  30
#include "matmul.inc"
