/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder of videos; in a library of its own (libleo_video.so), as FFmpeg's libraries, which it
 * needs, are large and may not be there. Knows no device. */
#pragma once

#include "picture.h"

enum video_kind { VIDEO_H264, VIDEO_H265 };

struct video_calls {
    /** `at_once`: the video's frames come in the order they are shown in. */
    leo_status (*open)(enum video_kind kind, bool at_once, void **video, char *text,
                       size_t text_bytes);
    /** One whole frame and its number; data NULL: the end, after which another video may begin. */
    leo_status (*send)(void *video, const void *data, size_t bytes, uint64_t number, char *text,
                       size_t text_bytes);
    /** The next picture in the order of showing, with the number of its frame: the video's until
     * the next call. `*has` false: the next frame is needed first; true with an error: that
     * frame's picture cannot be given. */
    leo_status (*receive)(void *video, bool *has, uint64_t *number, struct picture *picture,
                          char *text, size_t text_bytes);
    void (*close)(void *video);
};

/** The table is found by this name in the library of this name. */
#define VIDEO_LIBRARY "libleo_video.so"
#define VIDEO_CALLS   "leo_video_calls"
