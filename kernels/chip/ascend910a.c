/* SPDX-License-Identifier: Apache-2.0 */
#include "chip.h"

const struct op_chip op_chip_ascend910a = {
    .soc = "ascend910a",
    .arch = 1001,
    .matmul_tile_m = 256, // 256 x 256 sums fill the 256 KiB of L0C
    .matmul_tile_n = 256,
    // Twice as deep gains half a percent of simulated time at 2048 cubed and loses more on the
    // host.
    .matmul_k_chunk = 128,
    .matmul_k_most = 1024, // columns of a piece the program can load
    .matmul_band = 8,      // of 32 cores, 4 columns then: the best of 1, 4, 8
    .matmul_share = 16,
    .matmul_read_rate = 32,
    .l2_bytes = 33554432,
    .l2_read_rate = 60,   // l2_gb_per_s over 32 cores
    .core_read_rate = 91, // 128 requests of 128 bytes under way for 180 cycles
    .core_miss_rate = 69, // the same for 235 cycles
    .request_bytes = 128,
    .line_rate = 60,
    .line_total = 425,
    // [F] A25 to A27. The vendor's forward operator is slower than its gradients: A26 takes 82 us,
    // A28 63 and A29 51, with as many multiplications. With these limits ours is so, too.
    .conv_forward_m = 160,
    .conv_forward_stay = 131072,
};
