/* SPDX-License-Identifier: Apache-2.0 */
#define ELEMENT double
#define DIVISOR 511
#define ROUNDS  60
#include "matmul.inc"
