/* SPDX-License-Identifier: Apache-2.0 */
/* Videos: frames sent go through a stream of the channel; each work of it decodes one, and the
 * callback behind it reports what has become ready, in the order of showing. */
#include "vdec.h"

#include <dlfcn.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = VDEC_TEXT };

/* ---- lists ---- */

static void list_init(struct vdec_list *list)
{
    *list = (struct vdec_list){NULL, &list->first};
}

static void list_push(struct vdec_list *list, struct vdec_frame *frame)
{
    frame->next = NULL;
    *list->end = frame;
    list->end = &frame->next;
}

static struct vdec_frame *list_take(struct vdec_list *list, struct vdec_frame **at)
{
    struct vdec_frame *frame = *at;
    *at = frame->next;
    if (!*at) {
        list->end = at;
    }
    return frame;
}

static void list_free(struct vdec_list *list)
{
    while (list->first) {
        leo_free(list_take(list, &list->first));
    }
}

/* ---- decoding, on the channel's worker ---- */

/* NULL: the number is not of a frame that was sent. */
static struct vdec_frame *take_waiting(struct vdec_list *list, uint64_t number)
{
    struct vdec_frame **at = &list->first;
    while (*at && (*at)->number != number) {
        at = &(*at)->next;
    }
    return *at ? list_take(list, at) : NULL;
}

/* `why`: NULL, or what went wrong. */
static void end_frame(struct vdec_frame *frame, const char *why)
{
    const uint32_t code = why ? DVPP_FAILED : DVPP_DONE;
    aclvdecChannelDesc *channel = frame->channel;
    if (frame->out) {
        atomic_store(&frame->out->code, code);
    }
    frame->in->code = code;
    snprintf(frame->why, sizeof(frame->why), "%s", why ? why : "");
    pthread_mutex_lock(&channel->lock);
    list_push(&channel->due, frame);
    pthread_mutex_unlock(&channel->lock);
}

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Where the picture goes: as the program described it; what it left open from channel and video. */
static leo_status take_output(const struct vdec_frame *frame, const struct picture *decoded,
                              struct picture *out, char *text)
{
    const aclvdecChannelDesc *channel = frame->channel;
    const acldvppPicDesc *desc = frame->out;
    const uint32_t width = channel->width ? channel->width : decoded->width,
                   height = channel->height ? channel->height : decoded->height;
    *out = (struct picture){.format = channel->format,
                            .width = desc->width ? desc->width : round_up(width, 2),
                            .height = desc->height ? desc->height : round_up(height, 2),
                            .bytes = desc->size,
                            .data = frame->room};
    out->row_bytes =
        desc->row_bytes ? desc->row_bytes : round_up(out->width * picture_unit(out->format), 16);
    out->rows = desc->rows ? desc->rows : round_up(out->height, 2);
    return picture_check(out, text, TEXT_BYTES);
}

static void write_picture(struct vdec_frame *frame, const struct picture *decoded)
{
    struct picture out;
    char text[TEXT_BYTES] = "out of host memory";
    if (!frame->out) {
        end_frame(frame, NULL);
        return;
    }
    leo_status status = take_output(frame, decoded, &out, text);
    if (status == LEO_OK) {
        const struct picture_how how = {false, (enum picture_colours)frame->channel->colours};
        const struct picture_area from = picture_all(decoded), to = picture_all(&out);
        status = picture_scale(decoded, &from, &out, &to, &how);
    }
    if (status == LEO_OK) {
        frame->out->format = out.format;
        frame->out->width = out.width;
        frame->out->height = out.height;
        frame->out->row_bytes = out.row_bytes;
        frame->out->rows = out.rows;
    }
    end_frame(frame, status == LEO_OK ? NULL : text);
}

/* Pictures that the last frame completed; returns their pixels. */
static double receive(aclvdecChannelDesc *channel)
{
    double pixels = 0;
    bool has = true;
    while (has) {
        struct picture decoded = {0};
        uint64_t number = 0;
        char text[TEXT_BYTES] = "";
        leo_status status =
            channel->calls->receive(channel->video, &has, &number, &decoded, text, sizeof(text));
        struct vdec_frame *frame = has ? take_waiting(&channel->waiting, number) : NULL;
        pixels += has && status == LEO_OK ? (double)decoded.width * decoded.height : 0;
        if (frame && status == LEO_OK) {
            write_picture(frame, &decoded);
        } else if (frame) {
            end_frame(frame, text);
        }
    }
    return pixels;
}

/* Takes the frame. */
static void decode(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct vdec_frame *frame = user;
    aclvdecChannelDesc *channel = frame->channel;
    const void *data = frame->data;
    const size_t bytes = frame->bytes;
    const bool is_end = !data;
    const uint64_t number = frame->number;
    char text[TEXT_BYTES] = "";
    double pixels = 0;
    if (is_end) {
        leo_free(frame);
    } else {
        list_push(&channel->waiting, frame);
    }
    leo_status status = result->status;
    if (status != LEO_OK) {
        snprintf(text, sizeof(text), "the device has failed");
    } else {
        status = channel->calls->send(channel->video, data, bytes, number, text, TEXT_BYTES);
        pixels = receive(channel);
    }
    // A frame that cannot be decoded, and what no picture came of, is reported by its return code.
    struct vdec_frame *lost;
    if (status != LEO_OK && (lost = take_waiting(&channel->waiting, number)) != NULL) {
        end_frame(lost, text);
    }
    while (is_end && channel->waiting.first) {
        end_frame(list_take(&channel->waiting, &channel->waiting.first),
                  "no picture came of the frame");
    }
    dvpp_finish(result, start_ns, &channel->base, channel->base.rates.vdec_mpixel_per_s, pixels,
                LEO_OK, "");
}

/* On the program's thread. */
static void report(void *user)
{
    aclvdecChannelDesc *channel = user;
    pthread_mutex_lock(&channel->lock);
    struct vdec_frame *frame = channel->due.first;
    list_init(&channel->due);
    pthread_mutex_unlock(&channel->lock);
    while (frame) {
        struct vdec_frame *next = frame->next;
        if (frame->why[0]) { // for aclGetRecentErrMsg inside the callback
            (void)leo_acl_fail(ACL_ERROR_FAILURE, "aclvdecSendFrame", "frame %llu: %s",
                               (unsigned long long)frame->number, frame->why);
        }
        channel->callback(frame->in, frame->out, frame->user);
        leo_free(frame);
        frame = next;
    }
}

/* ---- calls ---- */

static aclError find_calls(const char *func, aclvdecChannelDesc *channel)
{
    channel->library = dlopen(VIDEO_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    channel->calls = channel->library ? dlsym(channel->library, VIDEO_CALLS) : NULL;
    return channel->calls
               ? ACL_SUCCESS
               : leo_acl_fail(
                     ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func,
                     "videos need FFmpeg's libraries (libavcodec), and this toolkit was "
                     "built without them or they are gone (%s): install libavcodec-dev and "
                     "configure again",
                     dlerror());
}

static aclError open_video(const char *func, aclvdecChannelDesc *channel)
{
    char text[TEXT_BYTES] = "";
    leo_status status =
        channel->calls->open(channel->type == H265_MAIN_LEVEL ? VIDEO_H265 : VIDEO_H264,
                             channel->mode == 1, &channel->video, text, sizeof(text));
    return status == LEO_OK ? ACL_SUCCESS : leo_acl_fail(ACL_ERROR_FAILURE, func, "%s", text);
}

static void close_all(aclvdecChannelDesc *channel)
{
    if (channel->stream) {
        (void)aclrtUnSubscribeReport(channel->thread, channel->stream);
        (void)aclrtDestroyStream(channel->stream);
    }
    if (channel->base.worker) {
        (void)acldvppDestroyChannel(&channel->base);
    }
    if (channel->video) {
        channel->calls->close(channel->video);
    }
    list_free(&channel->waiting);
    list_free(&channel->due);
    if (channel->library) {
        dlclose(channel->library);
    }
    channel->stream = NULL;
    channel->video = channel->library = NULL;
}

aclError aclvdecCreateChannel(aclvdecChannelDesc *channelDesc)
{
    if (!channelDesc || channelDesc->video || !channelDesc->callback ||
        picture_unit(channelDesc->format) == 0) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                            "the channel is NULL or created already, its callback is not set, or "
                            "its pixel format is not known");
    }
    channelDesc->base = (acldvppChannelDesc){.mode = DVPP_CHNMODE_VPC};
    list_init(&channelDesc->waiting);
    list_init(&channelDesc->due);
    aclError error = find_calls(__func__, channelDesc);
    if (!error) {
        error = open_video(__func__, channelDesc);
    }
    if (!error) {
        error = acldvppCreateChannel(&channelDesc->base);
    }
    if (!error) {
        error = aclrtCreateStream(&channelDesc->stream);
    }
    if (!error) {
        error = aclrtSubscribeReport(channelDesc->thread, channelDesc->stream);
    }
    if (error) {
        close_all(channelDesc);
    }
    return error;
}

aclError aclvdecDestroyChannel(aclvdecChannelDesc *channelDesc)
{
    if (!channelDesc || !channelDesc->video) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%s",
                            channelDesc ? "the channel is not created" : "the channel is NULL");
    }
    const aclError error = aclrtSynchronizeStream(channelDesc->stream);
    close_all(channelDesc);
    return error;
}

/* The memory of a frame and of its picture. */
static aclError take_memory(const char *func, struct vdec_frame *frame)
{
    void *window = NULL;
    const acldvppChannelDesc *base = &frame->channel->base;
    if (frame->in->eos) {
        return ACL_SUCCESS;
    }
    aclError error =
        dvpp_window(func, base, "the frame", frame->in->data, frame->in->size, &window);
    frame->data = window;
    frame->bytes = frame->in->size;
    if (!error && frame->out) {
        error = dvpp_window(func, base, "the picture", frame->out->data, frame->out->size, &window);
        frame->room = window;
    }
    return error;
}

static aclError send(const char *func, aclvdecChannelDesc *channel, acldvppStreamDesc *input,
                     acldvppPicDesc *output, void *user)
{
    if (!channel || !channel->video || !input) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, func,
                            "the channel is NULL or not created, or the frame is NULL");
    }
    struct vdec_frame *frame = leo_calloc(1, sizeof(*frame));
    if (!frame) {
        return leo_acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    *frame = (struct vdec_frame){.channel = channel,
                                 .number = atomic_fetch_add(&channel->sent, 1),
                                 .in = input,
                                 .out = output,
                                 .user = user};
    aclError error = take_memory(func, frame);
    if (!error) {
        error = dvpp_submit(func, &channel->base, channel->stream, decode, NULL, frame);
    }
    if (error) {
        leo_free(frame);
        return error;
    }
    return aclrtLaunchCallback(report, channel, ACL_CALLBACK_BLOCK, channel->stream);
}

aclError aclvdecSendFrame(aclvdecChannelDesc *channelDesc, acldvppStreamDesc *input,
                          acldvppPicDesc *output, aclvdecFrameConfig *config, void *userData)
{
    (void)config;
    if (!output && !(input && input->eos)) {
        return leo_acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "output is NULL");
    }
    return send(__func__, channelDesc, input, output, userData);
}

aclError aclvdecSendSkippedFrame(aclvdecChannelDesc *channelDesc, acldvppStreamDesc *input,
                                 aclvdecFrameConfig *config, void *userData)
{
    (void)config;
    return send(__func__, channelDesc, input, NULL, userData);
}
