/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures in memory: areas of one scaled into areas of another, in any format. Knows no device. */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum picture_format { /* as acldvppPixelFormat; NVxy: Y in one plane, pairs of colours in another */
                      PICTURE_GRAY = 0,
                      PICTURE_NV12 = 1, /**< 4:2:0 */
                      PICTURE_NV21 = 2,
                      PICTURE_NV16 = 3, /**< 4:2:2 */
                      PICTURE_NV61 = 4,
                      PICTURE_NV24 = 5, /**< 4:4:4 */
                      PICTURE_NV42 = 6,
                      PICTURE_YUYV = 7, /**< 4:2:2 in one plane */
                      PICTURE_UYVY = 8,
                      PICTURE_YVYU = 9,
                      PICTURE_VYUY = 10,
                      PICTURE_YUV_444 = 11, /**< three bytes a pixel */
                      PICTURE_RGB = 12,
                      PICTURE_BGR = 13,
                      PICTURE_ARGB = 14,
                      PICTURE_ABGR = 15,
                      PICTURE_RGBA = 16,
                      PICTURE_BGRA = 17,
                      PICTURE_YV12 = 20, /**< planes Y, V, U */
                      PICTURE_YV16 = 21,
                      PICTURE_YV24 = 22,
                      PICTURE_BGR_PLANAR = 70,
                      PICTURE_YUV_440 = 1000, /**< as NV12, each column with colours */
                      PICTURE_YVU_440 = 1001,
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

/* picture_format.c */
/** Bytes of all its planes; 0 for a format that is not known. */
size_t picture_bytes(const struct picture *picture);
/** Bytes between pixels of a row of the first plane; 0 for a format that is not known. */
uint32_t picture_unit(uint32_t format);
bool picture_is_rgb(uint32_t format);
/** Samples of one component: Y, Cb, Cr, or R, G, B, then alpha. */
struct picture_component {
    uint8_t *first;
    size_t row_bytes;
    uint32_t width, height;      /**< samples */
    unsigned step, across, down; /**< bytes between samples; one is for 2^n columns, 2^n rows */
};
/** Samples of so many columns or rows, where one is for 2^shift; the last may be for fewer. */
static inline uint32_t picture_samples(uint32_t size, unsigned shift)
{
    return (size + (1u << shift) - 1) >> shift;
}
/** How many it has; 0 for a format that is not known. */
unsigned picture_components(const struct picture *picture, struct picture_component parts[4]);
/** Of odd numbers of columns or rows in 4:2:0 the last ones have colours of their own. Says in
 * `text` what is wrong with a picture, not looking at data. */
LEO_MUST_CHECK leo_status picture_check(const struct picture *picture, char *text,
                                        size_t text_bytes);
/** The whole of it. */
struct picture_area picture_all(const struct picture *picture);

/* picture.c */
/** Which Y, Cb, Cr stand for which colours; as acldvppCscMatrix. Wide: 0 to 255, as JPEG has them.
 */
enum picture_colours {
    PICTURE_BT601_WIDE,
    PICTURE_BT601_NARROW,
    PICTURE_BT709_WIDE,
    PICTURE_BT709_NARROW,
    PICTURE_BT2020_WIDE,
    PICTURE_BT2020_NARROW
};
enum { PICTURE_COLOURS_COUNT = PICTURE_BT2020_NARROW + 1 };
struct picture_how {
    bool nearest;
    enum picture_colours colours;
};
/**
 * Scales `from` of one picture to `to` of another, converting colours; `how` NULL: all 0. Bilinear
 * with pixel centres at halves, or nearest. Colours are repeated or averaged where the formats
 * sample them differently. What lies outside of `to` stays.
 */
LEO_MUST_CHECK leo_status picture_scale(const struct picture *src, const struct picture_area *from,
                                        const struct picture *dst, const struct picture_area *to,
                                        const struct picture_how *how);

/* picture_filter.c */
/** As OpenCV's, on each component of the format. */
enum picture_border { /* as acldvppBorderType; for a row abcd: */
                      PICTURE_BORDER_CONSTANT,
                      PICTURE_BORDER_REPLICATE,  /**< aaa|abcd|ddd */
                      PICTURE_BORDER_REFLECT,    /**< cba|abcd|dcb */
                      PICTURE_BORDER_REFLECT_101 /**< dcb|abcd|cba */
};
/** Fills what lies outside of `inner`, which has been filled; `values`: of the components. */
void picture_border(const struct picture *picture, const struct picture_area *inner,
                    enum picture_border kind, const uint8_t values[4]);
/** How often each value stands in each component. */
void picture_histogram(const struct picture *picture, uint32_t counts[4][256]);
struct picture_tables {
    uint8_t of[4][256]; /**< of each component */
};
/** Replaces values, component by component; same size and format. */
void picture_map(const struct picture *src, const struct picture *dst,
                 const struct picture_tables *tables);
/** Half the size (rounded up): weights 1 4 6 4 1 in both directions, reflected (101) at edges; same
 * format. */
void picture_halve(const struct picture *src, const struct picture *dst);

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
/** Decodes into any format of the same size; even sizes of odd files repeat the last column and
 * row.
 */
LEO_MUST_CHECK leo_status picture_jpeg_decode(const void *data, size_t bytes,
                                              const struct picture *out, char *text,
                                              size_t text_bytes);
/** Samples colours as `in` does (RGB: 4:2:0). `*bytes`: room, then what was written. LEO_ERR_FULL:
 * too little room. */
LEO_MUST_CHECK leo_status picture_jpeg_encode(const struct picture *in, int level, void *data,
                                              size_t *bytes, char *text, size_t text_bytes);

/* png.c */
LEO_MUST_CHECK leo_status picture_png_info(const void *data, size_t bytes, uint32_t *width,
                                           uint32_t *height, int *components);
/** Whether files are decoded into it: gray, RGB, with or without alpha. */
bool picture_png_can(uint32_t format);
/** No smaller than the file; without alpha transparent pixels are those of a black ground. */
LEO_MUST_CHECK leo_status picture_png_decode(const void *data, size_t bytes,
                                             const struct picture *out, char *text,
                                             size_t text_bytes);
