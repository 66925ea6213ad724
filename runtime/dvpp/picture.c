/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <leo/alloc.h>

/* A part of a picture taken apart: Y, Cb, Cr, or R, G, B, then alpha. */
struct planes {
    unsigned count, across, down; /* planes 1 and 2 of Y, Cb, Cr have 1 / 2^n of the size */
    bool is_rgb;
    uint32_t width[4], height[4];
    uint8_t *plane[4];
};

/* ---- planes ---- */

static bool is_colour(const struct planes *planes, unsigned i)
{
    return !planes->is_rgb && i > 0 && i < 3;
}

/* `like` but for the size. */
static leo_status make_planes(struct planes *planes, struct planes like, uint32_t width,
                              uint32_t height)
{
    *planes = like;
    for (unsigned i = 0; i < 4; i++) {
        planes->plane[i] = NULL;
    }
    for (unsigned i = 0; i < planes->count; i++) {
        const unsigned across = is_colour(planes, i) ? planes->across : 0;
        const unsigned down = is_colour(planes, i) ? planes->down : 0;
        planes->width[i] = picture_samples(width, across);
        planes->height[i] = picture_samples(height, down);
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

/* `out`, if it went well, instead of what was there. */
static leo_status replace(struct planes *planes, struct planes *out, leo_status status)
{
    free_planes(status == LEO_OK ? planes : out);
    if (status == LEO_OK) {
        *planes = *out;
    }
    return status;
}

static leo_status load(const struct picture *picture, const struct picture_area *area,
                       struct planes *planes)
{
    struct picture_component parts[4];
    const unsigned count = picture_components(picture, parts);
    const struct planes like = {.count = count,
                                .is_rgb = picture_is_rgb(picture->format),
                                .across = count > 1 ? parts[1].across : 0,
                                .down = count > 1 ? parts[1].down : 0};
    leo_status status = make_planes(planes, like, area->width, area->height);
    for (unsigned i = 0; status == LEO_OK && i < planes->count; i++) {
        const uint32_t left = area->left >> parts[i].across, top = area->top >> parts[i].down;
        for (uint32_t y = 0; y < planes->height[i]; y++) {
            const uint8_t *from =
                parts[i].first + (top + y) * parts[i].row_bytes + (size_t)left * parts[i].step;
            uint8_t *to = planes->plane[i] + (size_t)y * planes->width[i];
            for (uint32_t x = 0; x < planes->width[i]; x++) {
                to[x] = from[(size_t)x * parts[i].step];
            }
        }
    }
    return status;
}

/* Sample of plane `i` at a full-size position. Planes that are not there: grey, and opaque. */
static int at(const struct planes *planes, unsigned i, uint32_t x, uint32_t y)
{
    if (i >= planes->count) {
        return i == 3 ? 255 : 128;
    }
    const unsigned across = is_colour(planes, i) ? planes->across : 0;
    const unsigned down = is_colour(planes, i) ? planes->down : 0;
    return planes->plane[i][(size_t)(y >> down) * planes->width[i] + (x >> across)];
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Mean of the full-size samples that sample (x, y) of 1 / 2^n of the size stands for. */
static uint8_t mean(const struct planes *planes, unsigned i, uint32_t x, uint32_t y,
                    const struct picture_component *part)
{
    int sum = 0;
    const uint32_t across = 1u << part->across, down = 1u << part->down;
    for (uint32_t dy = 0; dy < down; dy++) {
        for (uint32_t dx = 0; dx < across; dx++) {
            sum += at(planes, i, least(x * across + dx, planes->width[0] - 1),
                      least(y * down + dy, planes->height[0] - 1));
        }
    }
    const int count = (int)(across * down);
    return (uint8_t)((sum + count / 2) / count);
}

static void store(const struct planes *planes, const struct picture *picture,
                  const struct picture_area *area)
{
    struct picture_component parts[4];
    const unsigned count = picture_components(picture, parts);
    for (unsigned i = 0; i < count; i++) {
        const struct picture_component *part = &parts[i];
        const uint32_t left = area->left >> part->across, top = area->top >> part->down;
        const uint32_t width = picture_samples(area->width, part->across);
        const uint32_t height = picture_samples(area->height, part->down);
        const bool same =
            i < planes->count && planes->width[i] == width && planes->height[i] == height;
        for (uint32_t y = 0; y < height; y++) {
            uint8_t *to = part->first + (top + y) * part->row_bytes + (size_t)left * part->step;
            for (uint32_t x = 0; x < width; x++) {
                to[(size_t)x * part->step] =
                    same ? planes->plane[i][(size_t)y * width + x] : mean(planes, i, x, y, part);
            }
        }
    }
}

/* ---- scaling ---- */

enum { FRACTION = 16 };

/* Position in the source of output sample i, in 1/2^16, samples at half. */
static int64_t source_of(uint32_t i, uint32_t from, uint32_t to)
{
    const int64_t at_i =
        ((2 * (int64_t)i + 1) * from * (1 << FRACTION)) / (2 * (int64_t)to) - (1 << (FRACTION - 1));
    const int64_t last = ((int64_t)from - 1) * (1 << FRACTION);
    return at_i < 0 ? 0 : at_i > last ? last : at_i;
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
    leo_status status = make_planes(&out, *planes, width, height);
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
    return replace(planes, &out, status);
}

/* ---- colours, in 1/2^16 ---- */

static uint8_t clamp(int value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static int fixed(int value)
{
    return (value + (1 << (FRACTION - 1))) >> FRACTION;
}

static int scaled(double value)
{
    return (int)(value * (1 << FRACTION) + (value < 0 ? -0.5 : 0.5));
}

struct matrix {
    int low;                       /* Y of black */
    int y, r_cr, g_cb, g_cr, b_cb; /* to R, G, B */
    int ycc[3][3];                 /* from R, G, B */
};

/* Shares of red and blue in the brightness, of ITU-R BT.601, BT.709 and BT.2020. */
static const double shares[][2] = {{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}};

static struct matrix matrix_of(enum picture_colours colours)
{
    const double red = shares[colours / 2][0], blue = shares[colours / 2][1];
    const double green = 1 - red - blue;
    const bool narrow = colours % 2;
    const double y = narrow ? 219.0 / 255 : 1, c = narrow ? 224.0 / 255 : 1;
    return (struct matrix){.low = narrow ? 16 : 0,
                           .y = scaled(1 / y),
                           .r_cr = scaled(2 * (1 - red) / c),
                           .g_cb = scaled(2 * blue * (1 - blue) / green / c),
                           .g_cr = scaled(2 * red * (1 - red) / green / c),
                           .b_cb = scaled(2 * (1 - blue) / c),
                           .ycc = {{scaled(red * y), scaled(green * y), scaled(blue * y)},
                                   {scaled(-red / (1 - blue) / 2 * c),
                                    scaled(-green / (1 - blue) / 2 * c), scaled(c / 2)},
                                   {scaled(c / 2), scaled(-green / (1 - red) / 2 * c),
                                    scaled(-blue / (1 - red) / 2 * c)}}};
}

static void to_rgb(const struct matrix *m, const int *ycc, uint8_t *rgb)
{
    const int y = (ycc[0] - m->low) * m->y, cb = ycc[1] - 128, cr = ycc[2] - 128;
    rgb[0] = clamp(fixed(y + m->r_cr * cr));
    rgb[1] = clamp(fixed(y - m->g_cb * cb - m->g_cr * cr));
    rgb[2] = clamp(fixed(y + m->b_cb * cb));
}

static void to_ycc(const struct matrix *m, const int *rgb, uint8_t *ycc)
{
    for (unsigned i = 0; i < 3; i++) {
        const int *row = m->ycc[i];
        ycc[i] =
            clamp(fixed(row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]) + (i ? 128 : m->low));
    }
}

/* Full-size planes of the other kind of colours. */
static leo_status convert_colours(struct planes *planes, enum picture_colours colours)
{
    struct planes out;
    const struct matrix matrix = matrix_of(colours);
    const struct planes like = {.count = 3, .is_rgb = !planes->is_rgb};
    leo_status status = make_planes(&out, like, planes->width[0], planes->height[0]);
    for (uint32_t y = 0; status == LEO_OK && y < out.height[0]; y++) {
        for (uint32_t x = 0; x < out.width[0]; x++) {
            const int in[] = {at(planes, 0, x, y), at(planes, 1, x, y), at(planes, 2, x, y)};
            uint8_t made[3];
            (out.is_rgb ? to_rgb : to_ycc)(&matrix, in, made);
            for (unsigned i = 0; i < 3; i++) {
                out.plane[i][(size_t)y * out.width[0] + x] = made[i];
            }
        }
    }
    return replace(planes, &out, status);
}

leo_status picture_scale(const struct picture *src, const struct picture_area *from,
                         const struct picture *dst, const struct picture_area *to,
                         const struct picture_how *how)
{
    struct planes planes;
    const struct picture_how plain = {0};
    const struct picture_how *use = how ? how : &plain;
    leo_status status = load(src, from, &planes);
    if (status == LEO_OK) {
        status = resize(&planes, to->width, to->height, use->nearest);
    }
    if (status == LEO_OK && planes.is_rgb != picture_is_rgb(dst->format)) {
        status = convert_colours(&planes, use->colours);
    }
    if (status == LEO_OK) {
        store(&planes, dst, to);
    }
    free_planes(&planes);
    return status;
}
