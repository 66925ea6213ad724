/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzzer has: an entry for libFuzzer, seeds made at run time, and a reader of its bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FUZZ_MAX_BYTES = 1 << 18 };

/** Runs one input. Always 0; what is wrong aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
/** Writes the index-th seed, at most FUZZ_MAX_BYTES; its length, 0 if there is none of that
 * number. */
size_t fuzz_seed(unsigned index, uint8_t *data);

/** Aborts with this text unless `good`. */
void fuzz_check(bool good, const char *what);
/** Text of ascend910a or ascend910b1 with few cores, few queues, little memory and a short
 * watchdog. Static storage of the caller: FUZZ_SOC_BYTES. */
enum { FUZZ_SOC_BYTES = 1 << 16 };
void fuzz_soc_text(const char *soc, char text[FUZZ_SOC_BYTES]);

/** Input bytes in order; zeros when they are used up. */
struct fuzz_reader {
    const uint8_t *data;
    size_t left;
};
void fuzz_take(struct fuzz_reader *reader, void *out, size_t bytes);
uint8_t fuzz_take8(struct fuzz_reader *reader);
uint16_t fuzz_take16(struct fuzz_reader *reader);
uint32_t fuzz_take32(struct fuzz_reader *reader);
uint64_t fuzz_take64(struct fuzz_reader *reader);
