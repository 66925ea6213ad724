/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader of a model's file looks at first. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    MODEL_FILE_VERSION = 3,
    MODEL_FILE_HEADER = 32, /**< bytes: magic, version, bytes in all, checksum */
    MODEL_FILE_BYTES_AT = 16,
    MODEL_FILE_SUM_AT = 24,
};

/** Of the bytes behind the header: finds damage, not attacks. */
uint64_t model_file_checksum(const uint8_t *data, size_t bytes);
