/* SPDX-License-Identifier: Apache-2.0 */
/* The host's f32 fused multiply-add rate. */
#pragma once

/** GFLOP/s over `threads` threads, best of a few rounds, with the widest vectors the host has. */
double bench_fma_peak(unsigned threads);
