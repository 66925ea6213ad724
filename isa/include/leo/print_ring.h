/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How leo_printf travels (docs/kernel_output.md): shared by the device library, which writes, and
 * the runtime, which reads. An image that prints holds an object `leo_print_area`; the loader fills
 * it in. At `addr` stand `rings` heads, one a core, then the rings' data in the same order.
 */
#pragma once

#include <stdint.h>

#define LEO_PRINT_AREA_SYMBOL "leo_print_area"
#define LEO_PRINT_STRING_MAX  1024 /* most bytes of one %s */

struct leo_print_area {
    uint64_t addr;       /**< 0: no reader, nothing is written */
    uint64_t rings;      /**< cores of the chip */
    uint64_t ring_bytes; /**< data of a ring, a power of two */
};

/** Counts grow for ever; a byte's place is its count modulo the ring. */
struct leo_print_head {
    uint64_t written; /**< bytes, by the core */
    uint64_t read;    /**< bytes, by the host */
    uint64_t lost;    /**< records that found no room */
    uint64_t reserved[5];
};

enum { LEO_PRINT_TEXT, LEO_PRINT_ASSERT };

/** Then `args` words, the format and its zero, then each string of a %s and its zero; zeros up to
 * `bytes`. */
struct leo_print_record {
    uint32_t bytes; /**< all of it, a multiple of 8 */
    uint16_t kind;  /**< LEO_PRINT_* */
    uint16_t args;
    uint32_t block;
    uint32_t reserved;
};
