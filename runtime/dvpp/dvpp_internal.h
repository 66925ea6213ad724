/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the media calls. */
#pragma once

#include "picture.h"

#include <acl/ops/acl_dvpp.h>
#include <leo/acl_hook.h>
#include <stdatomic.h>
#include <stdbool.h>

struct acldvppPicDesc {
    void *data;
    uint32_t format, width, height, row_bytes, rows, size;
    _Atomic uint32_t code;
};

struct acldvppBatchPicDesc {
    uint32_t count;
    acldvppPicDesc pics[];
};

/** Both ends belong to it. */
struct acldvppRoiConfig {
    uint32_t left, right, top, bottom;
};

struct acldvppResizeConfig {
    uint32_t interpolation;
};

struct acldvppJpegeConfig {
    uint32_t level;
};

struct acldvppBorderConfig {
    uint32_t top, bottom, left, right;
    acldvppBorderType type;
    double values[4];
};

enum { DVPP_VALUES = 256, DVPP_TABLES = 3 };

struct acldvppHist {
    uint32_t dims;
    _Atomic uint32_t code;
    uint32_t counts[4][DVPP_VALUES];
};

struct acldvppLutMap {
    uint8_t tables[DVPP_TABLES][DVPP_VALUES];
};

/** What an engine of the chip takes, from [dvpp] of the SoC file. */
struct dvpp_rates {
    double start_ns, vpc_mpixel_per_s, jpegd_mpixel_per_s, jpege_mpixel_per_s, vdec_mpixel_per_s;
};

struct acldvppChannelDesc {
    uint32_t mode; /**< bits of acldvppChannelMode */
    uint64_t id;
    struct leo_rt_device *device;
    struct leo_rt_host_worker *worker; /**< NULL: the channel is not created */
    struct dvpp_rates rates;
    enum picture_colours colours;
};

/** Result of an operation in an output's return code: any other number than 0. */
enum { DVPP_DONE = 0, DVPP_FAILED = 1 };

/** NULL, or a channel that was not created for `mode`: the code to return, error set. */
aclError dvpp_channel_check(const char *func, const acldvppChannelDesc *channel, uint32_t mode);
/** The picture behind a description, its data as the host sees it. */
aclError dvpp_picture(const char *func, const acldvppChannelDesc *channel, const char *what,
                      const acldvppPicDesc *desc, struct picture *picture);
/** A setting of `bytes` that a program reads by number. */
aclError dvpp_get_setting(const char *func, const void *value, size_t bytes, size_t length,
                          size_t *paramRetSize, void *param);
/** Host address of device memory. */
aclError dvpp_window(const char *func, const acldvppChannelDesc *channel, const char *what,
                     const void *data, size_t bytes, void **window);
/** Puts work into a stream: `run`, then `release` of what `job` holds. Always takes the job;
 * `release` NULL: `run` does, and if this fails the job stays the caller's. */
aclError dvpp_submit(const char *func, const acldvppChannelDesc *channel, aclrtStream stream,
                     leo_rt_host_fn run, void (*release)(void *job), void *job);
/** Sets end and outcome of a job of so many pixels. */
void dvpp_finish(struct leo_rt_host_result *result, uint64_t start_ns,
                 const acldvppChannelDesc *channel, double mpixel_per_s, double pixels,
                 leo_status status, const char *text);
