/* SPDX-License-Identifier: Apache-2.0 */
/* Videos as a program decodes them. They are made here, H.265 without loss, H.264 with the least
 * (its encoder does not reorder frames without loss), with frames out of order. */
#include "harness.h"

#include <acl/acl.h>
#include <acl/ops/acl_dvpp.h>
#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) CU_ASSERT_EQUAL_FATAL((call), ACL_SUCCESS)

enum { WIDTH = 160, HEIGHT = 112, FRAMES = 12, BYTES = WIDTH * HEIGHT * 3 / 2, MAX_PACKET = 65536 };

struct packet {
    uint8_t *data;
    size_t bytes;
    int shown; /* its place in the order of showing */
};

struct video {
    struct packet packets[FRAMES];
    int count;
};

/* Frame `n` of a moving pattern, as planes Y, U, V. */
static uint8_t sample(int n, int plane, int x, int y)
{
    return (uint8_t)(plane == 0 ? 3 * x + 2 * y + 9 * n + (x * y) % 7
                                : 100 + 10 * plane + x + 2 * n - y);
}

static void paint(AVFrame *frame, int n)
{
    for (int p = 0; p < 3; p++) {
        for (int y = 0; y < (p ? HEIGHT / 2 : HEIGHT); y++) {
            for (int x = 0; x < (p ? WIDTH / 2 : WIDTH); x++) {
                frame->data[p][y * frame->linesize[p] + x] = sample(n, p, x, y);
            }
        }
    }
}

static void take_packets(AVCodecContext *codec, struct video *video)
{
    AVPacket *packet = av_packet_alloc();
    while (avcodec_receive_packet(codec, packet) == 0) {
        CU_ASSERT_FATAL(video->count < FRAMES && packet->size <= MAX_PACKET);
        struct packet *to = &video->packets[video->count++];
        to->data = malloc((size_t)packet->size);
        memcpy(to->data, packet->data, (size_t)packet->size);
        to->bytes = (size_t)packet->size;
        to->shown = (int)packet->pts;
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
}

/* False: this libavcodec cannot encode it. */
static bool make_video(const char *encoder, enum AVPixelFormat format, int reordered,
                       struct video *video)
{
    const AVCodec *coder = avcodec_find_encoder_by_name(encoder);
    *video = (struct video){.count = 0};
    if (!coder) {
        return false;
    }
    AVCodecContext *codec = avcodec_alloc_context3(coder);
    codec->width = WIDTH;
    codec->height = HEIGHT;
    codec->time_base = (AVRational){1, 25};
    codec->pix_fmt = format;
    codec->max_b_frames = reordered;
    codec->gop_size = 8;
    codec->log_level_offset = 100;
    codec->thread_count = 1;
    const bool is_h265 = strcmp(encoder, "libx265") == 0;
    av_opt_set(codec->priv_data, is_h265 ? "x265-params" : "qp",
               is_h265 ? "lossless=1:log-level=none:pools=none:frame-threads=1:b-adapt=0" : "1", 0);
    av_opt_set(codec->priv_data, "b_strategy", "0", 0);
    CU_ASSERT_FATAL(avcodec_open2(codec, coder, NULL) == 0);
    AVFrame *frame = av_frame_alloc();
    frame->format = format;
    frame->width = WIDTH;
    frame->height = HEIGHT;
    CU_ASSERT_FATAL(av_frame_get_buffer(frame, 0) == 0);
    for (int n = 0; n < FRAMES; n++) {
        CU_ASSERT_FATAL(av_frame_make_writable(frame) == 0);
        paint(frame, n);
        frame->pts = n;
        CU_ASSERT_FATAL(avcodec_send_frame(codec, frame) == 0);
        take_packets(codec, video);
    }
    avcodec_send_frame(codec, NULL);
    take_packets(codec, video);
    CU_ASSERT_EQUAL_FATAL(video->count, FRAMES);
    av_frame_free(&frame);
    avcodec_free_context(&codec);
    return true;
}

static void drop_video(struct video *video)
{
    for (int i = 0; i < video->count; i++) {
        free(video->packets[i].data);
    }
}

/* ---- the program: a thread that serves callbacks ---- */

struct seen {
    int count, failed, wrong, skipped;
    int order[FRAMES];
    int bound;     /* of a sample's error */
    char why[256]; /* the last one failed */
};

struct sent {
    struct seen *seen;
    int shown;
};

static int wrong_samples(const uint8_t *host, int n, int bound)
{
    int wrong = 0;
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            wrong += abs(host[y * WIDTH + x] - sample(n, 0, x, y)) > bound;
            wrong += y < HEIGHT / 2 &&
                     abs(host[(HEIGHT + y) * WIDTH + x] - sample(n, 1 + x % 2, x / 2, y)) > bound;
        }
    }
    return wrong;
}

static void on_frame(acldvppStreamDesc *input, acldvppPicDesc *output, void *user)
{
    struct sent *sent = user;
    struct seen *seen = sent->seen;
    seen->order[seen->count++] = sent->shown;
    if (acldvppGetStreamDescRetCode(input) != 0) {
        const char *why = aclGetRecentErrMsg();
        seen->failed++;
        seen->skipped += why == NULL;
        snprintf(seen->why, sizeof(seen->why), "%s", why ? why : "");
    } else if (output) {
        const uint32_t bytes = acldvppGetPicDescSize(output);
        uint8_t *host = malloc(bytes);
        CU_ASSERT(acldvppGetPicDescWidth(output) == WIDTH &&
                  acldvppGetPicDescHeight(output) == HEIGHT);
        OK(aclrtMemcpy(host, bytes, acldvppGetPicDescData(output), bytes,
                       ACL_MEMCPY_DEVICE_TO_HOST));
        seen->wrong += wrong_samples(host, sent->shown, seen->bound);
        free(host);
    } else {
        seen->skipped++;
    }
    OK(acldvppFree(acldvppGetStreamDescData(input)));
    OK(acldvppDestroyStreamDesc(input));
    if (output) {
        OK(acldvppFree(acldvppGetPicDescData(output)));
        OK(acldvppDestroyPicDesc(output));
    }
    free(sent);
}

struct server {
    pthread_t thread;
    aclrtContext context;
    _Atomic bool stop;
};

static void *serve(void *user)
{
    struct server *server = user;
    OK(aclrtSetCurrentContext(server->context));
    while (!server->stop) {
        (void)aclrtProcessReport(50);
    }
    return NULL;
}

static void begin(struct server *server)
{
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtGetCurrentContext(&server->context));
    server->stop = false;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void end(struct server *server)
{
    server->stop = true;
    pthread_join(server->thread, NULL);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
}

static aclvdecChannelDesc *open_channel(const struct server *server, acldvppStreamFormat type)
{
    aclvdecChannelDesc *channel = aclvdecCreateChannelDesc();
    CU_ASSERT_PTR_NOT_NULL_FATAL(channel);
    OK(aclvdecSetChannelDescChannelId(channel, 3));
    OK(aclvdecSetChannelDescThreadId(channel, (uint64_t)server->thread));
    OK(aclvdecSetChannelDescCallback(channel, on_frame));
    OK(aclvdecSetChannelDescEnType(channel, type));
    OK(aclvdecSetChannelDescOutPicFormat(channel, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    OK(aclvdecCreateChannel(channel));
    return channel;
}

static void send_packet(aclvdecChannelDesc *channel, const struct packet *packet, struct seen *seen,
                        bool skip)
{
    struct sent *sent = malloc(sizeof(*sent));
    acldvppStreamDesc *in = acldvppCreateStreamDesc();
    void *data;
    *sent = (struct sent){seen, packet->shown};
    OK(acldvppMalloc(&data, packet->bytes));
    OK(aclrtMemcpy(data, packet->bytes, packet->data, packet->bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(acldvppSetStreamDescData(in, data));
    OK(acldvppSetStreamDescSize(in, (uint32_t)packet->bytes));
    if (skip) {
        OK(aclvdecSendSkippedFrame(channel, in, NULL, sent));
        return;
    }
    acldvppPicDesc *out = acldvppCreatePicDesc();
    OK(acldvppMalloc(&data, BYTES));
    OK(acldvppSetPicDescData(out, data));
    OK(acldvppSetPicDescSize(out, BYTES));
    OK(aclvdecSendFrame(channel, in, out, NULL, sent));
}

static void send_end(aclvdecChannelDesc *channel)
{
    acldvppStreamDesc *in = acldvppCreateStreamDesc();
    OK(acldvppSetStreamDescEos(in, 1));
    CU_ASSERT_EQUAL(acldvppGetStreamDescEos(in), 1);
    OK(aclvdecSendFrame(channel, in, NULL, NULL, NULL));
    OK(aclvdecDestroyChannel(channel)); // waits
    OK(acldvppDestroyStreamDesc(in));
    OK(aclvdecDestroyChannelDesc(channel));
}

static void check_video(const char *encoder, acldvppStreamFormat type, int bound)
{
    struct video video;
    struct server server;
    struct seen seen = {.bound = bound};
    bool reordered = false;
    if (!make_video(encoder, AV_PIX_FMT_YUV420P, 2, &video)) {
        printf("(no %s) ", encoder);
        return;
    }
    begin(&server);
    aclvdecChannelDesc *channel = open_channel(&server, type);
    for (int i = 0; i < FRAMES; i++) {
        reordered = reordered || video.packets[i].shown != i;
        send_packet(channel, &video.packets[i], &seen, i == 7);
    }
    CU_ASSERT_TRUE(reordered); // or this tests less than it says
    send_end(channel);
    CU_ASSERT_EQUAL(seen.count, FRAMES);
    CU_ASSERT_TRUE(seen.failed == 0 && seen.wrong == 0 && seen.skipped == 1);
    for (int i = 0; i < FRAMES; i++) {
        CU_ASSERT_EQUAL(seen.order[i], i);
    }
    end(&server);
    drop_video(&video);
}

static void h264_comes_back_in_order(void)
{
    check_video("libx264", H264_HIGH_LEVEL, 1);
}

static void h265_comes_back_in_order(void)
{
    check_video("libx265", H265_MAIN_LEVEL, 0);
}

/* Frames that are none are reported by their codes; those behind them are decoded. */
static void bad_frames_are_told(void)
{
    struct video video;
    struct server server;
    struct seen seen = {.bound = 1};
    uint8_t junk[200];
    if (!make_video("libx264", AV_PIX_FMT_YUV420P, 0, &video)) {
        return;
    }
    memset(junk, 0x5a, sizeof(junk));
    const struct packet bad = {junk, sizeof(junk), -1};
    begin(&server);
    aclvdecChannelDesc *channel = open_channel(&server, H264_HIGH_LEVEL);
    send_packet(channel, &bad, &seen, false);
    for (int i = 0; i < 6; i++) {
        send_packet(channel, &video.packets[i], &seen, false);
    }
    send_end(channel);
    CU_ASSERT_TRUE(seen.count == 7 && seen.failed == 1 && seen.wrong == 0 && seen.skipped == 0);
    end(&server);
    drop_video(&video);
}

/* Each frame tells why. */
static void other_samples_are_told(void)
{
    struct video video;
    struct server server;
    struct seen seen = {0};
    if (!make_video("libx264", AV_PIX_FMT_YUV422P, 0, &video)) {
        return;
    }
    begin(&server);
    aclvdecChannelDesc *channel = open_channel(&server, H264_HIGH_LEVEL);
    for (int i = 0; i < 6; i++) {
        send_packet(channel, &video.packets[i], &seen, false);
    }
    send_end(channel);
    CU_ASSERT_TRUE(seen.count == 6 && seen.failed == 6);
    CU_ASSERT_PTR_NOT_NULL(strstr(seen.why, "4:2:0"));
    end(&server);
    drop_video(&video);
}

static void wrong_use_is_told(void)
{
    struct server server;
    const int bad = ACL_ERROR_INVALID_PARAM;
    uint32_t value = 9;
    size_t bytes = 0;
    begin(&server);
    aclvdecChannelDesc *channel = aclvdecCreateChannelDesc();
    acldvppStreamDesc *in = acldvppCreateStreamDesc();
    CU_ASSERT_EQUAL(aclvdecCreateChannel(NULL), bad);
    CU_ASSERT_EQUAL(aclvdecCreateChannel(channel), bad); // no callback
    CU_ASSERT_EQUAL(aclvdecSetChannelDescChannelId(channel, 32), bad);
    CU_ASSERT_EQUAL(aclvdecSetChannelDescBitDepth(channel, 1), bad);
    CU_ASSERT_EQUAL(aclvdecSetChannelDescParam(channel, ACL_VDEC_OUT_MODE_UINT32, 8, &value), bad);
    value = 1;
    OK(aclvdecSetChannelDescParam(channel, ACL_VDEC_OUT_MODE_UINT32, 4, &value));
    CU_ASSERT_EQUAL(aclvdecGetChannelDescOutMode(channel), 1);
    value = 0;
    OK(aclvdecGetChannelDescParam(channel, ACL_VDEC_OUT_MODE_UINT32, 4, &bytes, &value));
    CU_ASSERT_TRUE(value == 1 && bytes == 4);
    CU_ASSERT_EQUAL(aclvdecSendFrame(channel, in, NULL, NULL, NULL), bad);
    OK(aclvdecDestroyChannelDesc(channel));
    channel = open_channel(&server, H264_MAIN_LEVEL);
    CU_ASSERT_EQUAL(aclvdecSetChannelDescOutMode(channel, 0), bad); // created
    CU_ASSERT_EQUAL(aclvdecDestroyChannelDesc(channel), bad);
    CU_ASSERT_EQUAL(aclvdecSendFrame(channel, in, NULL, NULL, NULL), bad);  // no picture
    CU_ASSERT_EQUAL(aclvdecSendSkippedFrame(channel, in, NULL, NULL), bad); // no data
    OK(aclvdecDestroyChannel(channel));
    OK(aclvdecDestroyChannelDesc(channel));
    OK(acldvppDestroyStreamDesc(in));
    end(&server);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"h264_comes_back_in_order", h264_comes_back_in_order},
        {"h265_comes_back_in_order", h265_comes_back_in_order},
        {"bad_frames_are_told", bad_frames_are_told},
        {"other_samples_are_told", other_samples_are_told},
        {"wrong_use_is_told", wrong_use_is_told},
    };
    return leo_test_main("vdec", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
