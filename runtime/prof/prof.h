/* SPDX-License-Identifier: Apache-2.0 */
/* A profile's folder: what is written, and how. */
#pragma once

#include <acl/acl_prof.h>
#include <leo/runtime.h>
#include <stdio.h>

enum { PROF_PATH_BYTES = 4096, PROF_DEVICES_MAX = 8 };

struct aclprofConfig {
    uint32_t devices[PROF_DEVICES_MAX];
    uint32_t device_count;
    aclprofAicoreMetrics metrics;
    uint64_t mask;
};

/** A device under a profile: its number as the program counts. */
struct prof_device {
    uint32_t number;
    struct leo_rt_device *rt;
};

/** Makes <folder> and host/start_info: this moment on both clocks. On failure `error` has the text.
 */
LEO_MUST_CHECK bool prof_write_start(const char *folder, char *error, size_t error_bytes);
/** Writes what was recorded; the profiles of the devices must still be on. */
LEO_MUST_CHECK bool prof_write_result(const char *folder, const struct prof_device *devices,
                                      uint32_t count, const struct aclprofConfig *config,
                                      char *error, size_t error_bytes);
/** PROF_<number>_<time>_<letters> in a folder: other tools find it by this form. */
void prof_name_folder(char *folder, size_t bytes, const char *path, unsigned number);
/** mkdir -p. */
LEO_MUST_CHECK bool prof_make_folder(const char *path, char *error, size_t error_bytes);
/** A call, mark or range of the program that began then and ends now. */
void prof_note(const char *name, uint64_t begin_ns);
