/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a launch tells a kernel of how its blocks lie, and the memory that the blocks of a cluster
 * share. The chips have no such memory: device memory of the stream takes its place. Behind the
 * lines by which cores meet (leo/cluster.h) each cluster has its bytes.
 */
#include "../rt.h"

#include <leo/cluster.h>
#include <string.h>

enum { LINES_BYTES = (LEO_CLUSTER_LINES + LEO_UNION_LINES) * LEO_LINE_BYTES };

leo_status rt_cluster_check(const struct leo_rt_kernel *kernel, uint32_t block_num,
                            const struct leo_rt_launch_opts *opts)
{
    const uint32_t *dim = opts->task_dim;
    if (dim[0] && (uint64_t)dim[0] * dim[1] * dim[2] != block_num) {
        return rt_fail(LEO_ERR_INVALID_ARG, "kernel %s: %u x %u x %u tasks are not %u blocks",
                       kernel->name, dim[0], dim[1], dim[2], block_num);
    }
    const uint32_t type = opts->task_type, x = dim[0] ? dim[0] : block_num;
    if (kernel->takes_task && type > 1 && (type % LEO_CLUSTER_CORES || x % type)) {
        return rt_fail(LEO_ERR_INVALID_ARG,
                       "kernel %s: %u of %u blocks in a row are no whole clusters of %d",
                       kernel->name, type, x, LEO_CLUSTER_CORES);
    }
    return LEO_OK;
}

// What stands in the stream's memory is used up to the end of its tasks.
static leo_status grow_shared(struct leo_rt_stream *stream, const struct leo_rt_kernel *kernel,
                              uint64_t bytes)
{
    leo_status status = rt_stream_wait(stream, stream->submitted, -1);
    if (status) {
        return status;
    }
    if (stream->shared_addr) {
        // The driver's: the stream is locked, and no other thread knows the address.
        (void)leo_drv_memory_free(stream->device->drv, stream->shared_addr);
    }
    stream->shared_bytes = 0;
    status = leo_drv_memory_alloc(stream->device->drv, bytes, false, &stream->shared_addr);
    if (status) {
        stream->shared_addr = 0;
        return rt_fail(status, "kernel %s: no device memory for the memory of its clusters",
                       kernel->name);
    }
    stream->shared_bytes = bytes;
    return LEO_OK;
}

static leo_status clear_lines(struct leo_rt_stream *stream, uint64_t bytes)
{
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_FILL};
    const struct leo_sqe_copy body = {
        .dst = stream->shared_addr, .width = bytes, .height = 1, .dst_pitch = bytes};
    memcpy(entry.body, &body, sizeof(body));
    return rt_stream_submit(stream, &entry, &(struct rt_task){.what = "fill"});
}

leo_status rt_cluster_prepare(const struct leo_rt_kernel *kernel, uint32_t block_num,
                              struct leo_rt_stream *stream, const struct leo_rt_launch_opts *opts,
                              struct rt_task_words *words)
{
    const uint32_t *dim = opts->task_dim;
    *words = (struct rt_task_words){
        .dim = {block_num, 1, 1},
        .type = opts->task_type ? opts->task_type : 1,
        .clusters = (block_num + LEO_CLUSTER_CORES - 1) / LEO_CLUSTER_CORES,
        .shared_bytes = kernel->shared_bytes,
    };
    if (dim[0]) {
        memcpy(words->dim, dim, sizeof(words->dim));
    }
    if (!kernel->shared_bytes || words->type < LEO_CLUSTER_CORES) {
        return LEO_OK; // blocks for themselves share nothing
    }
    if (stream->sink->is_capture) {
        return rt_fail(LEO_ERR_UNSUPPORTED,
                       "kernel %s uses memory of clusters, which is the stream's: it cannot be "
                       "captured",
                       kernel->name);
    }
    const uint64_t lines = (uint64_t)words->clusters * LINES_BYTES,
                   bytes = lines + (uint64_t)words->clusters * kernel->shared_bytes;
    leo_status status = bytes > stream->shared_bytes ? grow_shared(stream, kernel, bytes) : LEO_OK;
    if (status == LEO_OK) {
        status = clear_lines(stream, lines);
    }
    words->shared_addr = stream->shared_addr;
    return status;
}
