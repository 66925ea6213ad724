/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of videos: plain data. */
#include "desc_calls.h"
#include "vdec.h"

#include <leo/alloc.h>
#include <string.h>

MAKER(acldvppCreateStreamDesc, acldvppDestroyStreamDesc, acldvppStreamDesc)
SETTER(acldvppSetStreamDescData, acldvppStreamDesc, data, void *)
SETTER(acldvppSetStreamDescSize, acldvppStreamDesc, size, uint32_t)
SETTER(acldvppSetStreamDescFormat, acldvppStreamDesc, format, acldvppStreamFormat)
SETTER(acldvppSetStreamDescTimestamp, acldvppStreamDesc, timestamp, uint64_t)
SETTER(acldvppSetStreamDescRetCode, acldvppStreamDesc, code, uint32_t)
SETTER(acldvppSetStreamDescEos, acldvppStreamDesc, eos, uint8_t)
GETTER(acldvppGetStreamDescData, acldvppStreamDesc, data, void *)
GETTER(acldvppGetStreamDescSize, acldvppStreamDesc, size, uint32_t)
GETTER(acldvppGetStreamDescFormat, acldvppStreamDesc, format, acldvppStreamFormat)
GETTER(acldvppGetStreamDescTimestamp, acldvppStreamDesc, timestamp, uint64_t)
GETTER(acldvppGetStreamDescRetCode, acldvppStreamDesc, code, uint32_t)
GETTER(acldvppGetStreamDescEos, acldvppStreamDesc, eos, uint8_t)

MAKER(aclvdecCreateFrameConfig, aclvdecDestroyFrameConfig, aclvdecFrameConfig)

GETTER(aclvdecGetChannelDescChannelId, aclvdecChannelDesc, id, uint32_t)
GETTER(aclvdecGetChannelDescThreadId, aclvdecChannelDesc, thread, uint64_t)
GETTER(aclvdecGetChannelDescCallback, aclvdecChannelDesc, callback, aclvdecCallback)
GETTER(aclvdecGetChannelDescEnType, aclvdecChannelDesc, type, acldvppStreamFormat)
GETTER(aclvdecGetChannelDescOutPicFormat, aclvdecChannelDesc, format, acldvppPixelFormat)
GETTER(aclvdecGetChannelDescOutPicWidth, aclvdecChannelDesc, width, uint32_t)
GETTER(aclvdecGetChannelDescOutPicHeight, aclvdecChannelDesc, height, uint32_t)
GETTER(aclvdecGetChannelDescRefFrameNum, aclvdecChannelDesc, ref_frames, uint32_t)
GETTER(aclvdecGetChannelDescBitDepth, aclvdecChannelDesc, bits, uint32_t)
GETTER(aclvdecGetChannelDescOutMode, aclvdecChannelDesc, mode, uint32_t)

aclvdecChannelDesc *aclvdecCreateChannelDesc(void)
{
    aclvdecChannelDesc *channel = leo_calloc(1, sizeof(*channel));
    if (!channel) {
        leo_acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
        return NULL;
    }
    pthread_mutex_init(&channel->lock, NULL);
    channel->format = PICTURE_NV12;
    channel->type = H264_MAIN_LEVEL;
    return channel;
}

aclError aclvdecDestroyChannelDesc(aclvdecChannelDesc *channelDesc)
{
    if (!channelDesc || channelDesc->video) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%s",
                            channelDesc ? "the channel is not destroyed yet"
                                        : "the channel is NULL");
    }
    pthread_mutex_destroy(&channelDesc->lock);
    leo_free(channelDesc);
    return ACL_SUCCESS;
}

/* A setting: where it stands, its bytes and, of the small ones, how many values it has. */
struct setting {
    size_t offset, bytes;
    uint32_t values;
};

#define FIELD(name)                                                                                \
    offsetof(struct aclvdecChannelDesc, name), sizeof(((aclvdecChannelDesc *)0)->name)

static const struct setting settings[] = {
    [ACL_VDEC_CSC_MATRIX_UINT32] = {FIELD(colours), PICTURE_COLOURS_COUNT},
    [ACL_VDEC_OUT_MODE_UINT32] = {FIELD(mode), 2},
    [ACL_VDEC_THREAD_ID_UINT64] = {FIELD(thread), 0},
    [ACL_VDEC_CALLBACK_PTR] = {FIELD(callback), 0},
    [ACL_VDEC_CHANNEL_ID_UINT32] = {FIELD(id), 32},
    [ACL_VDEC_ENCODE_TYPE_UINT32] = {FIELD(type), 4},
    [ACL_VDEC_OUT_PIC_FORMAT_UINT32] = {FIELD(format), 0},
    [ACL_VDEC_OUT_PIC_WIDTH_UINT32] = {FIELD(width), 0},
    [ACL_VDEC_OUT_PIC_HEIGHT_UINT32] = {FIELD(height), 0},
    [ACL_VDEC_REF_FRAME_NUM_UINT32] = {FIELD(ref_frames), 0},
    [ACL_VDEC_BIT_DEPTH_UINT32] = {FIELD(bits), 1},
};
enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static aclError set(const char *func, aclvdecChannelDesc *channel, uint32_t kind, size_t length,
                    const void *value)
{
    if (!channel || channel->video || kind >= SETTINGS || !value ||
        length != settings[kind].bytes) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                            "the channel is NULL or created already, the value is NULL, or there "
                            "is no setting %u of %zu bytes",
                            kind, length);
    }
    if (settings[kind].values) {
        uint32_t number;
        memcpy(&number, value, sizeof(number));
        if (number >= settings[kind].values) {
            return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "%u: 0 to %u are possible", number,
                                settings[kind].values - 1);
        }
    }
    memcpy((char *)channel + settings[kind].offset, value, length);
    return ACL_SUCCESS;
}

aclError aclvdecSetChannelDescParam(aclvdecChannelDesc *channelDesc,
                                    aclvdecChannelDescParamType paramType, size_t length,
                                    const void *param)
{
    return set(__func__, channelDesc, (uint32_t)paramType, length, param);
}

aclError aclvdecGetChannelDescParam(const aclvdecChannelDesc *channelDesc,
                                    aclvdecChannelDescParamType paramType, size_t length,
                                    size_t *paramRetSize, void *param)
{
    if (!channelDesc || (uint32_t)paramType >= SETTINGS) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "the channel is NULL, or there is no setting %d", (int)paramType);
    }
    const struct setting *setting = &settings[paramType];
    return dvpp_get_setting(__func__, (const char *)channelDesc + setting->offset, setting->bytes,
                            length, paramRetSize, param);
}

#define SETTING(name, number, value_type)                                                          \
    aclError name(aclvdecChannelDesc *channelDesc, value_type value)                               \
    {                                                                                              \
        return set(#name, channelDesc, number, sizeof(value), &value);                             \
    }

SETTING(aclvdecSetChannelDescChannelId, ACL_VDEC_CHANNEL_ID_UINT32, uint32_t)
SETTING(aclvdecSetChannelDescThreadId, ACL_VDEC_THREAD_ID_UINT64, uint64_t)
SETTING(aclvdecSetChannelDescCallback, ACL_VDEC_CALLBACK_PTR, aclvdecCallback)
SETTING(aclvdecSetChannelDescEnType, ACL_VDEC_ENCODE_TYPE_UINT32, acldvppStreamFormat)
SETTING(aclvdecSetChannelDescOutPicFormat, ACL_VDEC_OUT_PIC_FORMAT_UINT32, acldvppPixelFormat)
SETTING(aclvdecSetChannelDescOutPicWidth, ACL_VDEC_OUT_PIC_WIDTH_UINT32, uint32_t)
SETTING(aclvdecSetChannelDescOutPicHeight, ACL_VDEC_OUT_PIC_HEIGHT_UINT32, uint32_t)
SETTING(aclvdecSetChannelDescRefFrameNum, ACL_VDEC_REF_FRAME_NUM_UINT32, uint32_t)
SETTING(aclvdecSetChannelDescBitDepth, ACL_VDEC_BIT_DEPTH_UINT32, uint32_t)
SETTING(aclvdecSetChannelDescOutMode, ACL_VDEC_OUT_MODE_UINT32, uint32_t)
