/* SPDX-License-Identifier: Apache-2.0 */
/* Counts, tables and pyramids of whole pictures. */
#include "dvpp_internal.h"

#include <leo/alloc.h>
#include <string.h>

struct job;
typedef void (*work_fn)(const struct job *job);

struct job {
    const acldvppChannelDesc *channel;
    work_fn work;
    struct picture src, dst;
    _Atomic uint32_t *code; /* of the output */
    acldvppHist *hist;
    struct picture_tables tables;
};

static void release(void *job)
{
    leo_free(job);
}

static void run(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    const struct job *job = user;
    if (result->status == LEO_OK) {
        job->work(job);
    }
    atomic_store(job->code, result->status == LEO_OK ? DVPP_DONE : DVPP_FAILED);
    dvpp_finish(result, start_ns, job->channel, job->channel->rates.vpc_mpixel_per_s,
                (double)job->src.width * job->src.height, LEO_OK, "");
}

/* The output has the input's format, and 1 / `part` of its size, rounded up. */
static aclError take_output(const char *func, struct job *job, acldvppPicDesc *out, uint32_t part)
{
    aclError error = dvpp_picture(func, job->channel, "output", out, &job->dst);
    if (error) {
        return error;
    }
    const uint32_t width = (job->src.width + part - 1) / part,
                   height = (job->src.height + part - 1) / part;
    if (job->dst.format != job->src.format || job->dst.width != width ||
        job->dst.height != height) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                            "the output is %u x %u pixels of format %u, it must be %u x %u of "
                            "format %u",
                            job->dst.width, job->dst.height, job->dst.format, width, height,
                            job->src.format);
    }
    job->code = &out->code;
    return ACL_SUCCESS;
}

static aclError begin(const char *func, const acldvppChannelDesc *channel, const acldvppPicDesc *in,
                      work_fn work, struct job **made)
{
    aclError error = dvpp_channel_check(func, channel, DVPP_CHNMODE_VPC);
    if (error) {
        return error;
    }
    struct job *job = leo_calloc(1, sizeof(*job));
    if (!job) {
        return leo_acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    job->channel = channel;
    job->work = work;
    error = dvpp_picture(func, channel, "input", in, &job->src);
    if (error) {
        leo_free(job);
        return error;
    }
    *made = job;
    return ACL_SUCCESS;
}

/* Takes the job. */
static aclError end(const char *func, struct job *job, aclError error, aclrtStream stream)
{
    if (error) {
        release(job);
        return error;
    }
    return dvpp_submit(func, job->channel, stream, run, release, job);
}

static void count_values(const struct job *job)
{
    struct picture_component parts[4];
    picture_histogram(&job->src, job->hist->counts);
    job->hist->dims = picture_components(&job->src, parts);
}

aclError acldvppVpcCalcHistAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *srcPicDesc,
                                 acldvppHist *hist, void *reserve, aclrtStream stream)
{
    struct job *job;
    if (!hist || reserve) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%s",
                            hist ? "reserve is not NULL" : "hist is NULL");
    }
    aclError error = begin(__func__, channelDesc, srcPicDesc, count_values, &job);
    if (error) {
        return error;
    }
    job->hist = hist;
    job->code = &hist->code;
    return end(__func__, job, ACL_SUCCESS, stream);
}

static void map_values(const struct job *job)
{
    picture_map(&job->src, &job->dst, &job->tables);
}

aclError acldvppVpcEqualizeHistAsync(const acldvppChannelDesc *channelDesc,
                                     const acldvppPicDesc *inputDesc, acldvppPicDesc *outputDesc,
                                     const acldvppLutMap *lutMap, aclrtStream stream)
{
    struct job *job;
    if (!lutMap) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "lutMap is NULL");
    }
    aclError error = begin(__func__, channelDesc, inputDesc, map_values, &job);
    if (error) {
        return error;
    }
    memcpy(job->tables.of, lutMap->tables, sizeof(lutMap->tables));
    for (unsigned i = 0; i < DVPP_VALUES; i++) {
        job->tables.of[DVPP_TABLES][i] = (uint8_t)i; // alpha stays
    }
    return end(__func__, job, take_output(__func__, job, outputDesc, 1), stream);
}

static void halve(const struct job *job)
{
    picture_halve(&job->src, &job->dst);
}

aclError acldvppVpcPyrDownAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                acldvppPicDesc *outputDesc, void *reserve, aclrtStream stream)
{
    struct job *job;
    if (reserve) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "reserve is not NULL");
    }
    aclError error = begin(__func__, channelDesc, inputDesc, halve, &job);
    return error ? error : end(__func__, job, take_output(__func__, job, outputDesc, 2), stream);
}
