/* SPDX-License-Identifier: Apache-2.0 */
/* Videos by FFmpeg's libavcodec, on one thread: the same pictures everywhere. */
#include "video.h"

#include <leo/alloc.h>
#include <libavcodec/avcodec.h>
#include <stdio.h>
#include <string.h>

struct video {
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    struct picture picture;
    size_t room; /* bytes at picture.data */
};

static leo_status fail(const char *what, int error, char *text, size_t text_bytes)
{
    char why[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(error, why, sizeof(why));
    snprintf(text, text_bytes, "%s: %s", what, why);
    return LEO_ERR_PARSE;
}

static void close_video(void *user)
{
    struct video *video = user;
    if (video) {
        avcodec_free_context(&video->codec);
        av_packet_free(&video->packet);
        av_frame_free(&video->frame);
        leo_free(video->picture.data);
        leo_free(video);
    }
}

static leo_status open_video(enum video_kind kind, bool at_once, void **made, char *text,
                             size_t text_bytes)
{
    const AVCodec *coder =
        avcodec_find_decoder(kind == VIDEO_H264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC);
    struct video *video = leo_calloc(1, sizeof(*video));
    snprintf(text, text_bytes, "%s", coder ? "out of host memory" : "libavcodec has no decoder");
    if (!video || !coder) {
        leo_free(video);
        return coder ? LEO_ERR_NO_MEMORY : LEO_ERR_UNSUPPORTED;
    }
    video->codec = avcodec_alloc_context3(coder);
    video->packet = av_packet_alloc();
    video->frame = av_frame_alloc();
    if (!video->codec || !video->packet || !video->frame) {
        close_video(video);
        return LEO_ERR_NO_MEMORY;
    }
    video->codec->thread_count = 1;
    video->codec->flags |= at_once ? AV_CODEC_FLAG_LOW_DELAY : 0;
    video->codec->log_level_offset = 100; // silent: our own errors tell it
    const int error = avcodec_open2(video->codec, coder, NULL);
    if (error < 0) {
        close_video(video);
        return fail("the decoder", error, text, text_bytes);
    }
    *made = video;
    return LEO_OK;
}

static leo_status send_frame(void *user, const void *data, size_t bytes, uint64_t number,
                             char *text, size_t text_bytes)
{
    struct video *video = user;
    int error;
    if (!data) {
        error = avcodec_send_packet(video->codec, NULL);
    } else {
        error = bytes > INT32_MAX ? AVERROR(EINVAL) : av_new_packet(video->packet, (int)bytes);
        if (error >= 0) {
            memcpy(video->packet->data, data, bytes);
            video->packet->pts = (int64_t)number;
            error = avcodec_send_packet(video->codec, video->packet);
            av_packet_unref(video->packet);
        }
    }
    return error < 0 ? fail("the frame", error, text, text_bytes) : LEO_OK;
}

static leo_status make_picture(struct video *video, uint32_t width, uint32_t height)
{
    struct picture *picture = &video->picture;
    picture->format = PICTURE_YV12;
    picture->width = width;
    picture->height = height;
    picture->row_bytes = (width + 15) / 16 * 16;
    picture->rows = (height + 1) / 2 * 2;
    picture->bytes = picture_bytes(picture);
    if (picture->bytes > video->room) {
        leo_free(picture->data);
        video->room = 0;
        picture->data = leo_alloc(picture->bytes);
        if (!picture->data) {
            return LEO_ERR_NO_MEMORY;
        }
        video->room = picture->bytes;
    }
    return LEO_OK;
}

static leo_status copy_frame(struct video *video, char *text, size_t text_bytes)
{
    const AVFrame *frame = video->frame;
    struct picture_component parts[4];
    if (frame->format != AV_PIX_FMT_YUV420P && frame->format != AV_PIX_FMT_YUVJ420P) {
        snprintf(text, text_bytes, "the video's samples are not 4:2:0 of eight bits");
        return LEO_ERR_UNSUPPORTED;
    }
    snprintf(text, text_bytes, "out of host memory");
    leo_status status = make_picture(video, (uint32_t)frame->width, (uint32_t)frame->height);
    if (status != LEO_OK) {
        return status;
    }
    picture_components(&video->picture, parts);
    for (unsigned i = 0; i < 3; i++) {
        for (uint32_t y = 0; y < parts[i].height; y++) {
            memcpy(parts[i].first + y * parts[i].row_bytes,
                   frame->data[i] + (ptrdiff_t)y * frame->linesize[i], parts[i].width);
        }
    }
    return LEO_OK;
}

static leo_status receive_picture(void *user, bool *has, uint64_t *number, struct picture *picture,
                                  char *text, size_t text_bytes)
{
    struct video *video = user;
    const int error = avcodec_receive_frame(video->codec, video->frame);
    *has = false;
    if (error == AVERROR_EOF) {
        avcodec_flush_buffers(video->codec);
        return LEO_OK;
    }
    if (error < 0) {
        return error == AVERROR(EAGAIN) ? LEO_OK : fail("the video", error, text, text_bytes);
    }
    *number = (uint64_t)video->frame->pts;
    *has = true;
    leo_status status = copy_frame(video, text, text_bytes);
    av_frame_unref(video->frame);
    *picture = video->picture;
    return status;
}

extern const struct video_calls leo_video_calls;
__attribute__((visibility("default"))) const struct video_calls leo_video_calls = {
    .open = open_video, .send = send_frame, .receive = receive_picture, .close = close_video};
