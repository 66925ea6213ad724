/* SPDX-License-Identifier: Apache-2.0 */
/* Channels that decode videos. */
#pragma once

#include "dvpp_internal.h"
#include "video.h"

#include <pthread.h>

enum { VDEC_TEXT = 256 };

/* One frame on its way: sent, decoded, reported. */
struct vdec_frame {
    struct vdec_frame *next;
    aclvdecChannelDesc *channel;
    uint64_t number;
    acldvppStreamDesc *in;
    acldvppPicDesc *out; /* NULL: skipped */
    void *user;
    const void *data; /* as the host sees it; NULL: the end of the video */
    size_t bytes;
    uint8_t *room;       /* of the output, as the host sees it */
    char why[VDEC_TEXT]; /* "": all went well */
};

struct vdec_list {
    struct vdec_frame *first, **end;
};

struct acldvppStreamDesc {
    void *data;
    uint32_t size, format, code;
    uint64_t timestamp;
    uint8_t eos;
};

struct aclvdecFrameConfig {
    uint32_t unused;
};

struct aclvdecChannelDesc {
    uint32_t id, type, format, width, height, ref_frames, bits, mode, colours;
    uint64_t thread;
    aclvdecCallback callback;
    /* while it is created: */
    acldvppChannelDesc base;
    aclrtStream stream;
    const struct video_calls *calls;
    void *library, *video;
    _Atomic uint64_t sent;
    /* Frames without a picture yet (of the worker alone), and those whose callback is due. */
    struct vdec_list waiting, due;
    pthread_mutex_t lock; /* of `due`: on a device that has failed nothing waits for its turn */
};
