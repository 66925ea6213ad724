/* SPDX-License-Identifier: Apache-2.0 */
/* A device's range of the process's addresses: nothing of the host's can land there, so a pointer
 * says by itself whose memory it is, and a host access to device memory ends the program as it does
 * with a card. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct drv_range {
    uint64_t base, bytes;
    bool reserved; /**< false: the host gave no range; the addresses are used all the same */
};

/** Takes the first free place at or after `index`. Smaller than LEO_DRV_GM_BYTES where the
 * process's address space is limited. */
void drv_range_take(struct drv_range *range, unsigned index);
void drv_range_release(struct drv_range *range);

/* From 32 TiB on: above the shadow memory of AddressSanitizer (to 16 TiB), below
 * position-independent programs (from 85 TiB). */
#define DRV_RANGE_FIRST UINT64_C(0x200000000000)
enum { DRV_RANGES = 48 };
