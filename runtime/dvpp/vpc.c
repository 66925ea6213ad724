/* SPDX-License-Identifier: Apache-2.0 */
/* Areas of pictures to areas of pictures: every call is a list of such steps. */
#include "dvpp_internal.h"

#include <leo/alloc.h>

struct step {
    struct picture src, dst;
    struct picture_area from, to;
    acldvppPicDesc *out; /* its return code is set */
    bool has_border;     /* around `to` */
    enum picture_border border;
    uint8_t values[4]; /* of the border */
};

struct job {
    const acldvppChannelDesc *channel;
    struct picture_how how;
    uint32_t count;
    struct step steps[];
};

static void release(void *job)
{
    leo_free(job);
}

/* The larger picture counts, as published. */
static double pixels_of(const struct step *step)
{
    const double from = (double)step->from.width * step->from.height,
                 to = (double)step->to.width * step->to.height;
    return from > to ? from : to;
}

static void run(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    const struct job *job = user;
    leo_status status = LEO_OK;
    double pixels = 0;
    for (uint32_t i = 0; i < job->count; i++) {
        const struct step *step = &job->steps[i];
        leo_status one = result->status != LEO_OK ? result->status
                                                  : picture_scale(&step->src, &step->from,
                                                                  &step->dst, &step->to, &job->how);
        if (one == LEO_OK && step->has_border) {
            picture_border(&step->dst, &step->to, step->border, step->values);
        }
        atomic_store(&step->out->code, one == LEO_OK ? DVPP_DONE : DVPP_FAILED);
        status = leo_status_first(status, one);
        pixels += pixels_of(step);
    }
    dvpp_finish(result, start_ns, job->channel, job->channel->rates.vpc_mpixel_per_s, pixels,
                status, "out of host memory");
}

/* NULL: the whole picture. */
static aclError take_area(const char *func, const char *what, const acldvppRoiConfig *roi,
                          const struct picture *picture, struct picture_area *area)
{
    if (!roi) {
        *area = picture_all(picture);
        return ACL_SUCCESS;
    }
    if (roi->left % 2 || roi->top % 2 || roi->right % 2 == 0 || roi->bottom % 2 == 0 ||
        roi->right < roi->left || roi->bottom < roi->top || roi->right >= picture->width ||
        roi->bottom >= picture->height) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                            "%s: columns %u to %u, rows %u to %u of %u x %u pixels: the first are "
                            "even, the last odd and inside",
                            what, roi->left, roi->right, roi->top, roi->bottom, picture->width,
                            picture->height);
    }
    *area = (struct picture_area){roi->left, roi->top, roi->right - roi->left + 1,
                                  roi->bottom - roi->top + 1};
    return ACL_SUCCESS;
}

/* Documented: 1/32 to 16. */
static aclError check_scale(const char *func, const struct step *step, bool may_scale)
{
    const struct picture_area *a = &step->from, *b = &step->to;
    if (!may_scale && (a->width != b->width || a->height != b->height)) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                            "%u x %u pixels become %u x %u, and this call does not resize",
                            a->width, a->height, b->width, b->height);
    }
    if (b->width > a->width * 16ull || b->height > a->height * 16ull ||
        a->width > b->width * 32ull || a->height > b->height * 32ull) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                            "%u x %u pixels become %u x %u: a scale is 1/32 to 16", a->width,
                            a->height, b->width, b->height);
    }
    return ACL_SUCCESS;
}

/* What one step is made of. */
struct request {
    const acldvppPicDesc *in;
    acldvppPicDesc *out;
    const acldvppRoiConfig *crop, *paste;
    bool may_scale;
    const acldvppBorderConfig *border;
};

/* What the borders leave of the output. */
static aclError take_border(const char *func, const acldvppBorderConfig *border, struct step *step)
{
    const uint64_t across = (uint64_t)border->left + border->right,
                   down = (uint64_t)border->top + border->bottom;
    if (across >= step->dst.width || down >= step->dst.height) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                            "borders of %llu columns and %llu rows in %u x %u pixels",
                            (unsigned long long)across, (unsigned long long)down, step->dst.width,
                            step->dst.height);
    }
    step->to = (struct picture_area){border->left, border->top, step->dst.width - (uint32_t)across,
                                     step->dst.height - (uint32_t)down};
    struct picture_component parts[4];
    const unsigned count = picture_components(&step->dst, parts);
    for (unsigned i = 0; i < count; i++) {
        step->values[i] = (uint8_t)(border->values[i] + 0.5);
        if (border->left % (1u << parts[i].across) || border->top % (1u << parts[i].down)) {
            return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                                "borders of %u columns and %u rows: they are even where colours "
                                "stand for two",
                                border->left, border->top);
        }
    }
    step->has_border = true;
    step->border = (enum picture_border)border->type;
    return ACL_SUCCESS;
}

static aclError make_step(const char *func, const acldvppChannelDesc *channel,
                          const struct request *request, struct step *step)
{
    aclError error = dvpp_picture(func, channel, "input", request->in, &step->src);
    if (!error) {
        error = dvpp_picture(func, channel, "output", request->out, &step->dst);
    }
    if (!error) {
        error = take_area(func, "crop area", request->crop, &step->src, &step->from);
    }
    if (!error) {
        error = take_area(func, "paste area", request->paste, &step->dst, &step->to);
    }
    if (!error && request->border) {
        error = take_border(func, request->border, step);
    }
    step->out = request->out;
    return error ? error : check_scale(func, step, request->may_scale);
}

static struct job *make_job(const char *func, const acldvppChannelDesc *channel, uint32_t count,
                            const acldvppResizeConfig *resize)
{
    struct job *job = leo_calloc(1, sizeof(*job) + count * sizeof(job->steps[0]));
    if (!job) {
        leo_acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
        return NULL;
    }
    job->channel = channel;
    job->how = (struct picture_how){resize && resize->interpolation == 2, channel->colours};
    job->count = count;
    return job;
}

static aclError start(const char *func, const acldvppChannelDesc *channel,
                      const struct request *request, const acldvppResizeConfig *resize,
                      aclrtStream stream)
{
    aclError error = dvpp_channel_check(func, channel, DVPP_CHNMODE_VPC);
    if (error) {
        return error;
    }
    struct job *job = make_job(func, channel, 1, resize);
    if (!job) {
        return ACL_ERROR_BAD_ALLOC;
    }
    error = make_step(func, channel, request, &job->steps[0]);
    if (error) {
        release(job);
        return error;
    }
    return dvpp_submit(func, channel, stream, run, release, job);
}

aclError acldvppVpcResizeAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                               acldvppPicDesc *outputDesc, acldvppResizeConfig *resizeConfig,
                               aclrtStream stream)
{
    const struct request request = {.in = inputDesc, .out = outputDesc, .may_scale = true};
    return start(__func__, channelDesc, &request, resizeConfig, stream);
}

static aclError no_area(const char *func)
{
    return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "an area or its border is NULL");
}

aclError acldvppVpcCropAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                             acldvppPicDesc *outputDesc, acldvppRoiConfig *cropArea,
                             aclrtStream stream)
{
    // The documents let the output of a crop have another size: it is resized.
    return acldvppVpcCropResizeAsync(channelDesc, inputDesc, outputDesc, cropArea, NULL, stream);
}

aclError acldvppVpcCropResizeAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                   acldvppPicDesc *outputDesc, acldvppRoiConfig *cropArea,
                                   acldvppResizeConfig *resizeConfig, aclrtStream stream)
{
    const struct request request = {
        .in = inputDesc, .out = outputDesc, .crop = cropArea, .may_scale = true};
    return cropArea ? start(__func__, channelDesc, &request, resizeConfig, stream)
                    : no_area(__func__);
}

aclError acldvppVpcCropAndPasteAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                     acldvppPicDesc *outputDesc, acldvppRoiConfig *cropArea,
                                     acldvppRoiConfig *pasteArea, aclrtStream stream)
{
    return acldvppVpcCropResizePasteAsync(channelDesc, inputDesc, outputDesc, cropArea, pasteArea,
                                          NULL, stream);
}

aclError acldvppVpcCropResizePasteAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                        acldvppPicDesc *outputDesc, acldvppRoiConfig *cropArea,
                                        acldvppRoiConfig *pasteArea,
                                        acldvppResizeConfig *resizeConfig, aclrtStream stream)
{
    const struct request request = {.in = inputDesc,
                                    .out = outputDesc,
                                    .crop = cropArea,
                                    .paste = pasteArea,
                                    .may_scale = true};
    return cropArea && pasteArea ? start(__func__, channelDesc, &request, resizeConfig, stream)
                                 : no_area(__func__);
}

aclError acldvppVpcConvertColorAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                     acldvppPicDesc *outputDesc, aclrtStream stream)
{
    const struct request request = {.in = inputDesc, .out = outputDesc};
    return start(__func__, channelDesc, &request, NULL, stream);
}

aclError acldvppVpcMakeBorderAsync(const acldvppChannelDesc *channelDesc,
                                   const acldvppPicDesc *inputDesc, acldvppPicDesc *outputDesc,
                                   const acldvppBorderConfig *borderConfig, aclrtStream stream)
{
    const struct request request = {.in = inputDesc, .out = outputDesc, .border = borderConfig};
    return borderConfig ? start(__func__, channelDesc, &request, NULL, stream) : no_area(__func__);
}

/* ---- batches ---- */

struct batch {
    acldvppBatchPicDesc *in, *out;
    const uint32_t *areas; /* of each input */
    uint32_t size;         /* inputs */
    acldvppRoiConfig *const *crop, *const *paste;
    acldvppBorderConfig *const *border;
    bool pastes, borders;
};

static aclError fill_batch(const char *func, struct job *job, const struct batch *batch)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < batch->size; i++) {
        for (uint32_t k = 0; k < batch->areas[i]; k++, at++) {
            const struct request request = {.in = &batch->in->pics[i],
                                            .out = &batch->out->pics[at],
                                            .crop = batch->crop[at],
                                            .paste = batch->pastes ? batch->paste[at] : NULL,
                                            .border = batch->borders ? batch->border[at] : NULL,
                                            .may_scale = true};
            const bool complete = request.crop && (request.paste || !batch->pastes) &&
                                  (request.border || !batch->borders);
            aclError error =
                complete ? make_step(func, job->channel, &request, &job->steps[at]) : no_area(func);
            if (error) {
                return error;
            }
        }
    }
    return ACL_SUCCESS;
}

static aclError check_batch(const char *func, const struct batch *batch, uint32_t *count)
{
    uint64_t total = 0;
    if (!batch->in || !batch->areas || !batch->out || !batch->crop ||
        (batch->pastes && !batch->paste) || (batch->borders && !batch->border) ||
        batch->size > batch->in->count) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                            "an argument is NULL, or size is above the batch's");
    }
    for (uint32_t i = 0; i < batch->size; i++) {
        total += batch->areas[i];
    }
    if (total == 0 || total > batch->out->count) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "%llu areas and %u outputs",
                            (unsigned long long)total, batch->out->count);
    }
    *count = (uint32_t)total;
    return ACL_SUCCESS;
}

static aclError start_batch(const char *func, const acldvppChannelDesc *channel,
                            const struct batch *batch, const acldvppResizeConfig *resize,
                            aclrtStream stream)
{
    uint32_t count = 0;
    aclError error = dvpp_channel_check(func, channel, DVPP_CHNMODE_VPC);
    if (!error) {
        error = check_batch(func, batch, &count);
    }
    if (error) {
        return error;
    }
    struct job *job = make_job(func, channel, count, resize);
    if (!job) {
        return ACL_ERROR_BAD_ALLOC;
    }
    error = fill_batch(func, job, batch);
    if (error) {
        release(job);
        return error;
    }
    return dvpp_submit(func, channel, stream, run, release, job);
}

aclError acldvppVpcBatchCropResizeAsync(acldvppChannelDesc *channelDesc,
                                        acldvppBatchPicDesc *srcBatchPicDescs, uint32_t *roiNums,
                                        uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs,
                                        acldvppRoiConfig *cropAreas[],
                                        acldvppResizeConfig *resizeConfig, aclrtStream stream)
{
    const struct batch batch = {.in = srcBatchPicDescs,
                                .out = dstBatchPicDescs,
                                .areas = roiNums,
                                .size = size,
                                .crop = cropAreas};
    return start_batch(__func__, channelDesc, &batch, resizeConfig, stream);
}

aclError acldvppVpcBatchCropAsync(acldvppChannelDesc *channelDesc,
                                  acldvppBatchPicDesc *srcBatchPicDescs, uint32_t *roiNums,
                                  uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs,
                                  acldvppRoiConfig *cropAreas[], aclrtStream stream)
{
    return acldvppVpcBatchCropResizeAsync(channelDesc, srcBatchPicDescs, roiNums, size,
                                          dstBatchPicDescs, cropAreas, NULL, stream);
}

aclError acldvppVpcBatchCropResizePasteAsync(
    acldvppChannelDesc *channelDesc, acldvppBatchPicDesc *srcBatchPicDescs, uint32_t *roiNums,
    uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs, acldvppRoiConfig *cropAreas[],
    acldvppRoiConfig *pasteAreas[], acldvppResizeConfig *resizeConfig, aclrtStream stream)
{
    const struct batch batch = {.in = srcBatchPicDescs,
                                .out = dstBatchPicDescs,
                                .areas = roiNums,
                                .size = size,
                                .crop = cropAreas,
                                .paste = pasteAreas,
                                .pastes = true};
    return start_batch(__func__, channelDesc, &batch, resizeConfig, stream);
}

aclError acldvppVpcBatchCropAndPasteAsync(acldvppChannelDesc *channelDesc,
                                          acldvppBatchPicDesc *srcBatchPicDescs, uint32_t *roiNums,
                                          uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs,
                                          acldvppRoiConfig *cropAreas[],
                                          acldvppRoiConfig *pasteAreas[], aclrtStream stream)
{
    return acldvppVpcBatchCropResizePasteAsync(channelDesc, srcBatchPicDescs, roiNums, size,
                                               dstBatchPicDescs, cropAreas, pasteAreas, NULL,
                                               stream);
}

aclError acldvppVpcBatchCropResizeMakeBorderAsync(
    acldvppChannelDesc *channelDesc, acldvppBatchPicDesc *srcBatchPicDescs, uint32_t *roiNums,
    uint32_t size, acldvppBatchPicDesc *dstBatchPicDescs, acldvppRoiConfig *cropAreas[],
    acldvppBorderConfig *borderCfgs[], acldvppResizeConfig *resizeConfig, aclrtStream stream)
{
    const struct batch batch = {.in = srcBatchPicDescs,
                                .out = dstBatchPicDescs,
                                .areas = roiNums,
                                .size = size,
                                .crop = cropAreas,
                                .border = borderCfgs,
                                .borders = true};
    return start_batch(__func__, channelDesc, &batch, resizeConfig, stream);
}
