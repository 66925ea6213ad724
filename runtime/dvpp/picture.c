/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <leo/alloc.h>
#include <stdbool.h>
#include <stdio.h>

/* A part of a picture taken apart: Y, Cb, Cr, or R, G, B, or Y alone. */
struct planes {
    unsigned count;
    bool is_rgb, half; /* half: planes 1 and 2 have half the width and height */
    uint32_t width[3], height[3];
    uint8_t *plane[3];
};

static bool is_420(uint32_t format)
{
    return format == PICTURE_NV12 || format == PICTURE_NV21;
}

static bool is_rgb(uint32_t format)
{
    return format == PICTURE_RGB || format == PICTURE_BGR;
}

size_t picture_bytes(const struct picture *picture)
{
    const size_t plane = (size_t)picture->row_bytes * picture->rows;
    if (is_420(picture->format)) {
        return plane + plane / 2;
    }
    return is_rgb(picture->format) || picture->format == PICTURE_GRAY ? plane : 0;
}

leo_status picture_check(const struct picture *picture, char *text, size_t text_bytes)
{
    const uint32_t unit = is_rgb(picture->format) ? 3 : 1;
    if (!is_420(picture->format) && !is_rgb(picture->format) && picture->format != PICTURE_GRAY) {
        snprintf(text, text_bytes, "pixel format %u: 0, 1, 2, 12 and 13 are possible",
                 picture->format);
    } else if (picture->width == 0 || picture->height == 0 || picture->width > 65535 ||
               picture->height > 65535) {
        snprintf(text, text_bytes, "%u x %u pixels", picture->width, picture->height);
    } else if (picture->row_bytes < picture->width * unit || picture->row_bytes % 16 ||
               picture->rows < picture->height || picture->rows % 2) {
        snprintf(text, text_bytes,
                 "strides %u x %u for %u x %u pixels of %u bytes: the first is a multiple of 16, "
                 "the second of 2",
                 picture->row_bytes, picture->rows, picture->width, picture->height, unit);
    } else if (picture->bytes < picture_bytes(picture)) {
        snprintf(text, text_bytes, "%zu bytes, the picture has %zu", picture->bytes,
                 picture_bytes(picture));
    } else {
        return LEO_OK;
    }
    return LEO_ERR_INVALID_ARG;
}

struct picture_area picture_all(const struct picture *picture)
{
    return (struct picture_area){0, 0, picture->width, picture->height};
}

/* ---- planes ---- */

static leo_status make_planes(struct planes *planes, unsigned count, bool rgb, bool half,
                              uint32_t width, uint32_t height)
{
    *planes = (struct planes){.count = count, .is_rgb = rgb, .half = half};
    for (unsigned i = 0; i < count; i++) {
        planes->width[i] = i && half ? (width + 1) / 2 : width;
        planes->height[i] = i && half ? (height + 1) / 2 : height;
        planes->plane[i] = leo_alloc((size_t)planes->width[i] * planes->height[i]);
        if (!planes->plane[i]) {
            return LEO_ERR_NO_MEMORY;
        }
    }
    return LEO_OK;
}

static void free_planes(struct planes *planes)
{
    for (unsigned i = 0; i < planes->count; i++) {
        leo_free(planes->plane[i]);
    }
}

/* Where sample (x, y) of plane `i` lies in the picture. */
static uint8_t *sample(const struct picture *picture, unsigned i, uint32_t x, uint32_t y)
{
    uint8_t *row = picture->data + (size_t)y * picture->row_bytes;
    if (is_rgb(picture->format)) {
        return row + (size_t)x * 3 + (picture->format == PICTURE_RGB ? i : 2 - i);
    }
    if (i == 0) {
        return row + x;
    }
    // One plane of pairs behind the first.
    return row + (size_t)picture->row_bytes * picture->rows + (size_t)x * 2 +
           ((i == 1) == (picture->format == PICTURE_NV12) ? 0 : 1);
}

static leo_status load(const struct picture *picture, const struct picture_area *area,
                       struct planes *planes)
{
    const bool half = is_420(picture->format);
    leo_status status = make_planes(planes, picture->format == PICTURE_GRAY ? 1 : 3,
                                    is_rgb(picture->format), half, area->width, area->height);
    for (unsigned i = 0; status == LEO_OK && i < planes->count; i++) {
        const uint32_t shift = i && half ? 1 : 0;
        for (uint32_t y = 0; y < planes->height[i]; y++) {
            for (uint32_t x = 0; x < planes->width[i]; x++) {
                planes->plane[i][(size_t)y * planes->width[i] + x] =
                    *sample(picture, i, (area->left >> shift) + x, (area->top >> shift) + y);
            }
        }
    }
    return status;
}

static void store(const struct planes *planes, const struct picture *picture,
                  const struct picture_area *area)
{
    for (unsigned i = 0; i < planes->count; i++) {
        const uint32_t shift = i && planes->half ? 1 : 0;
        for (uint32_t y = 0; y < planes->height[i]; y++) {
            for (uint32_t x = 0; x < planes->width[i]; x++) {
                *sample(picture, i, (area->left >> shift) + x, (area->top >> shift) + y) =
                    planes->plane[i][(size_t)y * planes->width[i] + x];
            }
        }
    }
}

/* ---- scaling ---- */

enum { FRACTION = 16 };

/* Position in the source of output sample i, in 1/2^16, samples at half. */
static int64_t source_of(uint32_t i, uint32_t from, uint32_t to)
{
    const int64_t at =
        ((2 * (int64_t)i + 1) * from * (1 << FRACTION)) / (2 * (int64_t)to) - (1 << (FRACTION - 1));
    const int64_t last = ((int64_t)from - 1) * (1 << FRACTION);
    return at < 0 ? 0 : at > last ? last : at;
}

static uint8_t bilinear(const uint8_t *plane, uint32_t width, uint32_t height, int64_t x, int64_t y)
{
    const size_t x0 = (size_t)(x >> FRACTION), y0 = (size_t)(y >> FRACTION);
    const size_t x1 = x0 + 1 < width ? x0 + 1 : x0, y1 = y0 + 1 < height ? y0 + 1 : y0;
    const int64_t fx = x & ((1 << FRACTION) - 1), fy = y & ((1 << FRACTION) - 1);
    const int64_t one = 1 << FRACTION;
    const int64_t top = plane[y0 * width + x0] * (one - fx) + plane[y0 * width + x1] * fx;
    const int64_t low = plane[y1 * width + x0] * (one - fx) + plane[y1 * width + x1] * fx;
    return (uint8_t)((top * (one - fy) + low * fy + (one * one / 2)) >> (2 * FRACTION));
}

static leo_status resize(struct planes *planes, uint32_t width, uint32_t height, bool nearest)
{
    struct planes out;
    if (planes->width[0] == width && planes->height[0] == height) {
        return LEO_OK;
    }
    leo_status status =
        make_planes(&out, planes->count, planes->is_rgb, planes->half, width, height);
    for (unsigned i = 0; status == LEO_OK && i < out.count; i++) {
        const uint32_t from_w = planes->width[i], from_h = planes->height[i];
        for (uint32_t y = 0; y < out.height[i]; y++) {
            const int64_t sy = source_of(y, from_h, out.height[i]);
            for (uint32_t x = 0; x < out.width[i]; x++) {
                const int64_t sx = source_of(x, from_w, out.width[i]);
                const size_t nx = (size_t)x * from_w / out.width[i],
                             ny = (size_t)y * from_h / out.height[i];
                out.plane[i][(size_t)y * out.width[i] + x] =
                    nearest ? planes->plane[i][ny * from_w + nx]
                            : bilinear(planes->plane[i], from_w, from_h, sx, sy);
            }
        }
    }
    if (status != LEO_OK) {
        free_planes(&out);
        return status;
    }
    free_planes(planes);
    *planes = out;
    return LEO_OK;
}

/* ---- colours: BT.601, full range, in 1/2^16 ---- */

static uint8_t clamp(int value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static int fixed(int value)
{
    return (value + (1 << (FRACTION - 1))) >> FRACTION;
}

static void to_rgb(int y, int cb, int cr, uint8_t *rgb)
{
    rgb[0] = clamp(y + fixed(91881 * (cr - 128)));
    rgb[1] = clamp(y - fixed(22554 * (cb - 128) + 46802 * (cr - 128)));
    rgb[2] = clamp(y + fixed(116130 * (cb - 128)));
}

static void to_ycc(const uint8_t *rgb, uint8_t *ycc)
{
    const int r = rgb[0], g = rgb[1], b = rgb[2];
    ycc[0] = clamp(fixed(19595 * r + 38470 * g + 7471 * b));
    ycc[1] = clamp(fixed(-11059 * r - 21709 * g + 32768 * b) + 128);
    ycc[2] = clamp(fixed(32768 * r - 27439 * g - 5329 * b) + 128);
}

/* Sample of plane `i` at a full-size position; grey for planes that are not there. */
static int at(const struct planes *planes, unsigned i, uint32_t x, uint32_t y)
{
    if (i >= planes->count) {
        return 128;
    }
    const uint32_t shift = i && planes->half ? 1 : 0;
    return planes->plane[i][(size_t)(y >> shift) * planes->width[i] + (x >> shift)];
}

/* Full-size planes of the other kind of colours. */
static leo_status convert_colours(struct planes *planes, bool rgb)
{
    struct planes out;
    leo_status status = make_planes(&out, 3, rgb, false, planes->width[0], planes->height[0]);
    for (uint32_t y = 0; status == LEO_OK && y < out.height[0]; y++) {
        for (uint32_t x = 0; x < out.width[0]; x++) {
            const int in[] = {at(planes, 0, x, y), at(planes, 1, x, y), at(planes, 2, x, y)};
            const uint8_t colours[] = {(uint8_t)in[0], (uint8_t)in[1], (uint8_t)in[2]};
            uint8_t made[3];
            if (rgb) {
                to_rgb(in[0], in[1], in[2], made);
            } else {
                to_ycc(colours, made);
            }
            for (unsigned i = 0; i < 3; i++) {
                out.plane[i][(size_t)y * out.width[0] + x] = made[i];
            }
        }
    }
    if (status != LEO_OK) {
        free_planes(&out);
        return status;
    }
    free_planes(planes);
    *planes = out;
    return LEO_OK;
}

/* Mean of the four full-size samples of a half-size one. */
static uint8_t mean(const struct planes *planes, unsigned i, uint32_t x, uint32_t y)
{
    const uint32_t x1 = 2 * x + 1 < planes->width[0] ? 2 * x + 1 : 2 * x;
    const uint32_t y1 = 2 * y + 1 < planes->height[0] ? 2 * y + 1 : 2 * y;
    return (uint8_t)((at(planes, i, 2 * x, 2 * y) + at(planes, i, x1, 2 * y) +
                      at(planes, i, 2 * x, y1) + at(planes, i, x1, y1) + 2) /
                     4);
}

static leo_status halve_colours(struct planes *planes)
{
    struct planes out;
    leo_status status = make_planes(&out, 3, false, true, planes->width[0], planes->height[0]);
    for (unsigned i = 0; status == LEO_OK && i < 3; i++) {
        for (uint32_t y = 0; y < out.height[i]; y++) {
            for (uint32_t x = 0; x < out.width[i]; x++) {
                out.plane[i][(size_t)y * out.width[i] + x] =
                    i ? mean(planes, i, x, y) : (uint8_t)at(planes, 0, x, y);
            }
        }
    }
    if (status != LEO_OK) {
        free_planes(&out);
        return status;
    }
    free_planes(planes);
    *planes = out;
    return LEO_OK;
}

leo_status picture_scale(const struct picture *src, const struct picture_area *from,
                         const struct picture *dst, const struct picture_area *to, int nearest)
{
    struct planes planes;
    leo_status status = load(src, from, &planes);
    if (status == LEO_OK) {
        status = resize(&planes, to->width, to->height, nearest);
    }
    if (status == LEO_OK && planes.is_rgb != is_rgb(dst->format)) {
        status = convert_colours(&planes, is_rgb(dst->format));
    }
    if (status == LEO_OK && is_420(dst->format) && !planes.half) {
        status = halve_colours(&planes);
    }
    if (status == LEO_OK) {
        const unsigned count = planes.count;
        planes.count = dst->format == PICTURE_GRAY ? 1 : count;
        store(&planes, dst, to);
        planes.count = count;
    }
    free_planes(&planes);
    return status;
}
