/* SPDX-License-Identifier: Apache-2.0 */
#include "chip.h"

const struct op_chip op_chip_ascend910b1 = {
    .soc = "ascend910b1",
    .arch = 2201,
    .matmul_tile_m = 128, // 128 x 256 sums fill the 128 KiB of L0C
    .matmul_tile_n = 256,
    .matmul_k_chunk = 256, // two halves of (128 + 256) x 256 elements leave room for the bias in
                           // the 512 KiB of L1
    .matmul_k_most = 256,
    .matmul_band = 1,    // 4 is 1 % slower
    .matmul_share = 256, // [A] rows of 352 bytes load slower than those of 512
    .matmul_read_rate = 64,
    .l2_bytes = 201326592,
    .l2_read_rate = 88, // 64 requests of 256 bytes under way for 185 cycles
    .core_read_rate = 88,
    .core_miss_rate = 52, // the same for 310 cycles
    .request_bytes = 256,
    .line_rate = 44, // half of l2_read_rate: requests of 128 bytes
    .line_total = 230,
    .conv_forward_m = 512,
    .conv_forward_stay = 262144, // half of L1
};
