/* SPDX-License-Identifier: Apache-2.0 */
/* Channels: each a thread of the host that works for streams, as long as the modelled engine takes
 * in simulated time. */
#include "dvpp_internal.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

enum { ALL_MODES = DVPP_CHNMODE_VPC | DVPP_CHNMODE_JPEGD | DVPP_CHNMODE_JPEGE | DVPP_CHNMODE_PNGD };

// Channels are numbered over the process: the API shows the number (decision 8).
static _Atomic uint64_t next_id;

acldvppChannelDesc *acldvppCreateChannelDesc(void)
{
    acldvppChannelDesc *channel = leo_calloc(1, sizeof(*channel));
    if (!channel) {
        leo_acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
        return NULL;
    }
    channel->mode = ALL_MODES;
    return channel;
}

aclError acldvppDestroyChannelDesc(acldvppChannelDesc *channelDesc)
{
    if (!channelDesc || channelDesc->worker) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%s",
                            channelDesc ? "the channel is not destroyed yet"
                                        : "the channel is NULL");
    }
    leo_free(channelDesc);
    return ACL_SUCCESS;
}

aclError acldvppSetChannelDescMode(acldvppChannelDesc *channelDesc, uint32_t mode)
{
    if (!channelDesc || channelDesc->worker || mode == 0) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "the channel is NULL or created already, or mode is 0");
    }
    if (mode & ~(uint32_t)ALL_MODES) {
        return leo_acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                            "mode 0x%x: pictures, JPEG decoding and encoding are there (0x%x)",
                            mode, ALL_MODES);
    }
    channelDesc->mode = mode;
    return ACL_SUCCESS;
}

uint64_t acldvppGetChannelDescChannelId(const acldvppChannelDesc *channelDesc)
{
    return channelDesc ? channelDesc->id : 0;
}

aclError acldvppSetChannelDescParam(acldvppChannelDesc *channelDesc,
                                    acldvppChannelDescParamType paramType, size_t length,
                                    const void *param)
{
    uint32_t value;
    if (!channelDesc || !param || length != sizeof(value)) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "an argument is NULL, or length %zu: 4 is possible", length);
    }
    memcpy(&value, param, sizeof(value));
    if (paramType == ACL_DVPP_MODE_UINT32) {
        return acldvppSetChannelDescMode(channelDesc, value);
    }
    if (paramType != ACL_DVPP_CSC_MATRIX_UINT32) {
        return leo_acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                            "setting %d: 0 (colours) and 1 (mode) are there", (int)paramType);
    }
    if (value >= PICTURE_COLOURS_COUNT) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "matrix %u: 0 to %d are possible",
                            value, PICTURE_COLOURS_COUNT - 1);
    }
    channelDesc->colours = (enum picture_colours)value;
    return ACL_SUCCESS;
}

aclError dvpp_get_setting(const char *func, const void *value, size_t bytes, size_t length,
                          size_t *paramRetSize, void *param)
{
    if (!paramRetSize || !param || length < bytes) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                            "an argument is NULL, or length %zu: the setting has %zu bytes", length,
                            bytes);
    }
    memcpy(param, value, bytes);
    *paramRetSize = bytes;
    return ACL_SUCCESS;
}

aclError acldvppGetChannelDescParam(const acldvppChannelDesc *channelDesc,
                                    acldvppChannelDescParamType paramType, size_t length,
                                    size_t *paramRetSize, void *param)
{
    if (!channelDesc) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "the channel is NULL");
    }
    const uint32_t colours = (uint32_t)channelDesc->colours;
    const struct {
        const void *value;
        size_t bytes;
    } settings[] = {
        [ACL_DVPP_CSC_MATRIX_UINT32] = {&colours, sizeof(colours)},
        [ACL_DVPP_MODE_UINT32] = {&channelDesc->mode, sizeof(channelDesc->mode)},
        [ACL_DVPP_CHANNEL_ID_UINT64] = {&channelDesc->id, sizeof(channelDesc->id)},
    };
    if ((size_t)paramType >= sizeof(settings) / sizeof(settings[0])) {
        return leo_acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                            "setting %d: 0 to 2 are there", (int)paramType);
    }
    return dvpp_get_setting(__func__, settings[paramType].value, settings[paramType].bytes, length,
                            paramRetSize, param);
}

static leo_status read_rates(const struct leo_rt_device *device, struct dvpp_rates *rates)
{
    const struct {
        const char *key;
        double *value;
    } keys[] = {
        {"start_ns", &rates->start_ns},
        {"vpc_mpixel_per_s", &rates->vpc_mpixel_per_s},
        {"jpegd_mpixel_per_s", &rates->jpegd_mpixel_per_s},
        {"jpege_mpixel_per_s", &rates->jpege_mpixel_per_s},
        {"vdec_mpixel_per_s", &rates->vdec_mpixel_per_s},
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        leo_status status = leo_rt_soc_number(device, "dvpp", keys[i].key, keys[i].value);
        if (status != LEO_OK) {
            return status;
        }
    }
    return LEO_OK;
}

aclError acldvppCreateChannel(acldvppChannelDesc *channelDesc)
{
    if (!channelDesc || channelDesc->worker) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%s",
                            channelDesc ? "the channel is created already" : "the channel is NULL");
    }
    aclError error = leo_acl_device_get(&channelDesc->device);
    if (error) {
        return error;
    }
    leo_status status = read_rates(channelDesc->device, &channelDesc->rates);
    if (status == LEO_OK) {
        status = leo_rt_host_worker_create(channelDesc->device, &channelDesc->worker);
    }
    channelDesc->id = atomic_fetch_add(&next_id, status == LEO_OK);
    return leo_acl_status(__func__, status);
}

aclError acldvppDestroyChannel(acldvppChannelDesc *channelDesc)
{
    if (!channelDesc || !channelDesc->worker) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%s",
                            channelDesc ? "the channel is not created" : "the channel is NULL");
    }
    leo_rt_host_worker_destroy(channelDesc->worker);
    channelDesc->worker = NULL;
    return ACL_SUCCESS;
}

aclError dvpp_channel_check(const char *func, const acldvppChannelDesc *channel, uint32_t mode)
{
    if (!channel || !channel->worker) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s",
                            channel ? "the channel is not created" : "the channel is NULL");
    }
    return channel->mode & mode ? ACL_SUCCESS
                                : leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                                               "the channel's mode is 0x%x, and this needs 0x%x",
                                               channel->mode, mode);
}

aclError dvpp_window(const char *func, const acldvppChannelDesc *channel, const char *what,
                     const void *data, size_t bytes, void **window)
{
    if (!data) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s is NULL", what);
    }
    leo_status status =
        leo_rt_memory_window(channel->device, (uint64_t)(uintptr_t)data, bytes, window);
    return status == LEO_OK
               ? ACL_SUCCESS
               : leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s: %s", what, leo_rt_last_error());
}

aclError dvpp_picture(const char *func, const acldvppChannelDesc *channel, const char *what,
                      const acldvppPicDesc *desc, struct picture *picture)
{
    char text[256];
    void *window = NULL;
    if (!desc) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s is NULL", what);
    }
    *picture = (struct picture){.format = desc->format,
                                .width = desc->width,
                                .height = desc->height,
                                .row_bytes = desc->row_bytes,
                                .rows = desc->rows,
                                .bytes = desc->size};
    if (picture_check(picture, text, sizeof(text)) != LEO_OK) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s: %s", what, text);
    }
    aclError error = dvpp_window(func, channel, what, desc->data, picture_bytes(picture), &window);
    picture->data = window;
    return error;
}

aclError dvpp_submit(const char *func, const acldvppChannelDesc *channel, aclrtStream stream,
                     leo_rt_host_fn run, void (*release)(void *job), void *job)
{
    struct leo_rt_stream *rt_stream;
    struct leo_rt_device *device;
    aclError error = leo_acl_stream_get(stream, &rt_stream, &device);
    if (!error) {
        error =
            leo_acl_status(func, leo_rt_host_task(channel->worker, rt_stream, run, release, job));
    }
    if (error && release) {
        release(job);
    }
    return error;
}

void dvpp_finish(struct leo_rt_host_result *result, uint64_t start_ns,
                 const acldvppChannelDesc *channel, double mpixel_per_s, double pixels,
                 leo_status status, const char *text)
{
    result->end_ns = start_ns + (uint64_t)(channel->rates.start_ns + pixels * 1e3 / mpixel_per_s);
    if (status != LEO_OK && result->status == LEO_OK) {
        result->status = status;
        snprintf(result->text, sizeof(result->text), "channel %llu: %s",
                 (unsigned long long)channel->id, text);
    }
}

aclError acldvppMalloc(void **devPtr, size_t size)
{
    return aclrtMalloc(devPtr, size, ACL_MEM_MALLOC_HUGE_FIRST);
}

aclError acldvppFree(void *devPtr)
{
    return aclrtFree(devPtr);
}
