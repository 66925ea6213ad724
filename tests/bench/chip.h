/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated chip on which a benchmark runs operators. */
#pragma once

#include "must.h"

#include <leo/op.h>

struct bench_chip {
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_op_context *context;
};

/** `threads` of the host; 0: as many as there are. */
static inline struct bench_chip bench_chip_open(const char *soc, unsigned threads)
{
    struct bench_chip chip;
    const struct leo_rt_opts opts = {.size = sizeof(opts), .soc = soc, .host_threads = threads};
    must(leo_rt_create(&opts, &chip.rt), "rt_create");
    must(leo_rt_device_open(chip.rt, 0, &chip.device), "device_open");
    must(leo_rt_stream_create(chip.device, &chip.stream), "stream_create");
    must(leo_op_context_create(chip.device, chip.stream, &chip.context), "op_context_create");
    return chip;
}

static inline void bench_chip_close(struct bench_chip *chip)
{
    leo_op_context_destroy(chip->context);
    leo_rt_stream_destroy(chip->stream);
    leo_rt_device_close(chip->device);
    leo_rt_destroy(chip->rt);
}
