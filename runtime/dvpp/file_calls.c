/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG and PNG files to pictures, and back to JPEG. */
#include "dvpp_internal.h"

#include <leo/alloc.h>

/* Strides of a decoded picture, as documented for the first generation; multiples of those of the
 * second. */
enum { DECODED_ROW = 128, DECODED_ROWS = 16, TEXT_BYTES = 256 };

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

aclError acldvppJpegGetImageInfo(const void *data, uint32_t size, uint32_t *width, uint32_t *height,
                                 int32_t *components)
{
    return acldvppJpegGetImageInfoV2(data, size, width, height, components, NULL);
}

aclError acldvppJpegGetImageInfoV2(const void *data, uint32_t size, uint32_t *width,
                                   uint32_t *height, int32_t *components, acldvppJpegFormat *format)
{
    uint32_t w, h;
    int count;
    enum picture_sampling sampling;
    if (!data || picture_jpeg_info(data, size, &w, &h, &count, &sampling) != LEO_OK) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "data is NULL or no JPEG file");
    }
    if (width) {
        *width = w;
    }
    if (height) {
        *height = h;
    }
    if (components) {
        *components = count;
    }
    if (format) {
        *format = (acldvppJpegFormat)sampling;
    }
    return ACL_SUCCESS;
}

/* The picture that a file of this size is decoded to. */
static struct picture decoded(uint32_t width, uint32_t height, uint32_t format)
{
    const uint32_t unit = picture_unit(format);
    return (struct picture){.format = format,
                            .width = round_up(width, 2),
                            .height = round_up(height, 2),
                            .row_bytes = round_up(width, DECODED_ROW) * unit,
                            .rows = round_up(height, DECODED_ROWS)};
}

aclError acldvppJpegPredictDecSize(const void *data, uint32_t dataSize,
                                   acldvppPixelFormat outputPixelFormat, uint32_t *decSize)
{
    uint32_t width, height;
    int count;
    if (!data || !decSize ||
        picture_jpeg_info(data, dataSize, &width, &height, &count, NULL) != LEO_OK) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "an argument is NULL, or data is no JPEG file");
    }
    const struct picture picture = decoded(width, height, (uint32_t)outputPixelFormat);
    const size_t bytes = picture_bytes(&picture);
    if (bytes == 0 || bytes > UINT32_MAX) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "format %d of %u x %u pixels",
                            (int)outputPixelFormat, width, height);
    }
    *decSize = (uint32_t)bytes;
    return ACL_SUCCESS;
}

aclError acldvppJpegPredictEncSize(const acldvppPicDesc *inputDesc,
                                   const acldvppJpegeConfig *config, uint32_t *size)
{
    if (!inputDesc || !config || !size) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "an argument is NULL");
    }
    // Every pixel as three bytes, and the tables: no coded picture is larger in practice.
    const uint64_t most =
        (uint64_t)round_up(inputDesc->width, 16) * round_up(inputDesc->height, 16) * 3 + 4096;
    *size = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
    return ACL_SUCCESS;
}

struct job {
    const acldvppChannelDesc *channel;
    const struct coding *coding; /* of decoding */
    acldvppPicDesc *out;         /* of decoding */
    struct picture picture;
    void *data;
    size_t bytes;
    uint32_t *written; /* of encoding */
    uint32_t level;
};

static void release(void *job)
{
    leo_free(job);
}

/* A kind of files that is decoded. */
struct coding {
    const char *name;
    int mode; /* of its channels */
    leo_status (*info)(const void *data, size_t bytes, uint32_t *width, uint32_t *height,
                       int *components);
    leo_status (*decode)(const void *data, size_t bytes, const struct picture *out, char *text,
                         size_t text_bytes);
};

static leo_status jpeg_info(const void *data, size_t bytes, uint32_t *width, uint32_t *height,
                            int *components)
{
    return picture_jpeg_info(data, bytes, width, height, components, NULL);
}

static const struct coding jpeg = {"JPEG", DVPP_CHNMODE_JPEGD, jpeg_info, picture_jpeg_decode};
static const struct coding png = {"PNG", DVPP_CHNMODE_PNGD, picture_png_info, picture_png_decode};

static void decode(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    const struct job *job = user;
    const acldvppChannelDesc *channel = job->channel;
    char text[TEXT_BYTES] = "";
    leo_status status = result->status;
    if (status == LEO_OK) {
        status = job->coding->decode(job->data, job->bytes, &job->picture, text, sizeof(text));
    }
    atomic_store(&job->out->code, status == LEO_OK ? DVPP_DONE : DVPP_FAILED);
    dvpp_finish(result, start_ns, channel, channel->rates.jpegd_mpixel_per_s,
                (double)job->picture.width * job->picture.height, status, text);
}

static void encode(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    const struct job *job = user;
    const acldvppChannelDesc *channel = job->channel;
    char text[TEXT_BYTES] = "";
    size_t bytes = job->bytes;
    leo_status status = result->status;
    if (status == LEO_OK) {
        status = picture_jpeg_encode(&job->picture, (int)job->level, job->data, &bytes, text,
                                     sizeof(text));
    }
    if (status == LEO_OK) {
        *job->written = (uint32_t)bytes;
    }
    dvpp_finish(result, start_ns, channel, channel->rates.jpege_mpixel_per_s,
                (double)job->picture.width * job->picture.height, status, text);
}

static struct job *make_job(const char *func, const acldvppChannelDesc *channel)
{
    struct job *job = leo_calloc(1, sizeof(*job));
    if (!job) {
        leo_acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
        return NULL;
    }
    job->channel = channel;
    return job;
}

/* What the output's description leaves open comes from the file. */
static aclError complete(const char *func, const struct job *job, acldvppPicDesc *out)
{
    uint32_t width, height;
    int count;
    if (job->coding->info(job->data, job->bytes, &width, &height, &count) != LEO_OK) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "data is no %s file", job->coding->name);
    }
    const struct picture whole = decoded(width, height, out->format);
    out->width = out->width ? out->width : whole.width;
    out->height = out->height ? out->height : whole.height;
    out->row_bytes = out->row_bytes ? out->row_bytes : whole.row_bytes;
    out->rows = out->rows ? out->rows : whole.rows;
    if (out->width < width || out->height < height) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                            "the file has %u x %u pixels, the output %u x %u", width, height,
                            out->width, out->height);
    }
    return ACL_SUCCESS;
}

static aclError decode_async(const char *func, const struct coding *coding,
                             const acldvppChannelDesc *channelDesc, const void *data, uint32_t size,
                             acldvppPicDesc *outputDesc, aclrtStream stream)
{
    aclError error = dvpp_channel_check(func, channelDesc, coding->mode);
    if (!error && !outputDesc) {
        error = leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "outputDesc is NULL");
    }
    if (error) {
        return error;
    }
    struct job *job = make_job(func, channelDesc);
    if (!job) {
        return ACL_ERROR_BAD_ALLOC;
    }
    job->coding = coding;
    job->out = outputDesc;
    job->bytes = size;
    // The head of the file is read now: it must be there, as after a copy that has ended.
    error = dvpp_window(func, channelDesc, "data", data, size, &job->data);
    if (!error) {
        error = complete(func, job, outputDesc);
    }
    if (!error) {
        error = dvpp_picture(func, channelDesc, "output", outputDesc, &job->picture);
    }
    if (error) {
        release(job);
        return error;
    }
    return dvpp_submit(func, channelDesc, stream, decode, release, job);
}

aclError acldvppJpegDecodeAsync(acldvppChannelDesc *channelDesc, const void *data, uint32_t size,
                                acldvppPicDesc *outputDesc, aclrtStream stream)
{
    return decode_async(__func__, &jpeg, channelDesc, data, size, outputDesc, stream);
}

aclError acldvppPngGetImageInfo(const void *data, uint32_t dataSize, uint32_t *width,
                                uint32_t *height, int32_t *components)
{
    uint32_t w, h;
    int count;
    if (!data || picture_png_info(data, dataSize, &w, &h, &count) != LEO_OK) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "data is NULL or no PNG file");
    }
    if (width) {
        *width = w;
    }
    if (height) {
        *height = h;
    }
    if (components) {
        *components = count;
    }
    return ACL_SUCCESS;
}

aclError acldvppPngPredictDecSize(const void *data, uint32_t dataSize,
                                  acldvppPixelFormat outputPixelFormat, uint32_t *decSize)
{
    uint32_t width, height;
    int count;
    if (!data || !decSize || picture_png_info(data, dataSize, &width, &height, &count) != LEO_OK) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "an argument is NULL, or data is no PNG file");
    }
    const struct picture picture = decoded(width, height, (uint32_t)outputPixelFormat);
    const size_t bytes = picture_bytes(&picture);
    if (!picture_png_can(picture.format) || bytes > UINT32_MAX) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "format %d of %u x %u pixels",
                            (int)outputPixelFormat, width, height);
    }
    *decSize = (uint32_t)bytes;
    return ACL_SUCCESS;
}

aclError acldvppPngDecodeAsync(acldvppChannelDesc *channelDesc, const void *data, uint32_t size,
                               acldvppPicDesc *outputDesc, aclrtStream stream)
{
    if (outputDesc && !picture_png_can(outputDesc->format)) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "format %u: PNG is decoded to 0 and 12 to 17", outputDesc->format);
    }
    return decode_async(__func__, &png, channelDesc, data, size, outputDesc, stream);
}

aclError acldvppJpegEncodeAsync(acldvppChannelDesc *channelDesc, acldvppPicDesc *inputDesc,
                                const void *data, uint32_t *size, acldvppJpegeConfig *config,
                                aclrtStream stream)
{
    aclError error = dvpp_channel_check(__func__, channelDesc, DVPP_CHNMODE_JPEGE);
    if (!error && (!size || !config)) {
        error = leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "size or config is NULL");
    }
    if (error) {
        return error;
    }
    struct job *job = make_job(__func__, channelDesc);
    if (!job) {
        return ACL_ERROR_BAD_ALLOC;
    }
    job->bytes = *size;
    job->written = size;
    job->level = config->level;
    error = dvpp_window(__func__, channelDesc, "data", data, *size, &job->data);
    if (!error) {
        error = dvpp_picture(__func__, channelDesc, "input", inputDesc, &job->picture);
    }
    if (error) {
        release(job);
        return error;
    }
    return dvpp_submit(__func__, channelDesc, stream, encode, release, job);
}
