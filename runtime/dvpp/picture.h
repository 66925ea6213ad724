/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures in memory: areas of one scaled into areas of another, in any format. Knows no device. */
#pragma once

#include <leo/status.h>
#include <stddef.h>
#include <stdint.h>

enum picture_format { /* as acldvppPixelFormat */
                      PICTURE_GRAY = 0,
                      PICTURE_NV12 = 1,
                      PICTURE_NV21 = 2,
                      PICTURE_RGB = 12,
                      PICTURE_BGR = 13,
};

/** Strides count bytes of a row, and rows of a plane. */
struct picture {
    uint32_t format, width, height, row_bytes, rows;
    size_t bytes; /**< room at data */
    uint8_t *data;
};

/** [left, left + width) x [top, top + height) */
struct picture_area {
    uint32_t left, top, width, height;
};

/** Bytes of all its planes; 0 for a format that is not known. */
size_t picture_bytes(const struct picture *picture);
/** Of odd numbers of columns or rows in 4:2:0 the last ones have colours of their own. Says in
 * `text` what is wrong with a picture, not looking at data. */
LEO_MUST_CHECK leo_status picture_check(const struct picture *picture, char *text,
                                        size_t text_bytes);
/** The whole of it. */
struct picture_area picture_all(const struct picture *picture);

/**
 * Scales `from` of one picture to `to` of another, converting colours (BT.601, full range, as JPEG
 * has them). Bilinear with pixel centres at halves, or nearest. What lies outside of `to` stays.
 */
LEO_MUST_CHECK leo_status picture_scale(const struct picture *src, const struct picture_area *from,
                                        const struct picture *dst, const struct picture_area *to,
                                        int nearest);

/* jpeg.c */
/** How a file samples colours; as acldvppJpegFormat. */
enum picture_sampling {
    PICTURE_SAMPLING_444,
    PICTURE_SAMPLING_422,
    PICTURE_SAMPLING_420,
    PICTURE_SAMPLING_GRAY,
    PICTURE_SAMPLING_440,
    PICTURE_SAMPLING_411,
    PICTURE_SAMPLING_OTHER = 1000
};
/** Width, height, number of components and sampling (may be NULL) from the head of a file. */
LEO_MUST_CHECK leo_status picture_jpeg_info(const void *data, size_t bytes, uint32_t *width,
                                            uint32_t *height, int *components,
                                            enum picture_sampling *sampling);
/** Decodes into NV12, NV21, gray, RGB or BGR of the same size. */
LEO_MUST_CHECK leo_status picture_jpeg_decode(const void *data, size_t bytes,
                                              const struct picture *out, char *text,
                                              size_t text_bytes);
/** `*bytes`: room, then what was written. LEO_ERR_FULL: too little room. */
LEO_MUST_CHECK leo_status picture_jpeg_encode(const struct picture *in, int level, void *data,
                                              size_t *bytes, char *text, size_t text_bytes);

/* png.c */
LEO_MUST_CHECK leo_status picture_png_info(const void *data, size_t bytes, uint32_t *width,
                                           uint32_t *height, int *components);
/** Decodes into gray, RGB or BGR, no smaller than the file. */
LEO_MUST_CHECK leo_status picture_png_decode(const void *data, size_t bytes,
                                             const struct picture *out, char *text,
                                             size_t text_bytes);
