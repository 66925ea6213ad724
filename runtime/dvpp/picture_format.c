/* SPDX-License-Identifier: Apache-2.0 */
/* Where the samples of each format lie. */
#include "picture.h"

#include <stdio.h>

/* One component: the plane it is in, its first byte there, and bytes between samples. */
struct place {
    uint8_t plane, offset, step;
};

struct layout {
    uint16_t format;
    uint8_t count; /* components; the fourth is alpha */
    bool is_rgb;
    uint8_t across, down; /* one sample of components 1 and 2 stands for 2^n columns, rows */
    struct place places[4];
};

static const struct layout layouts[] = {
    {PICTURE_GRAY, 1, false, 0, 0, {{0, 0, 1}}},
    {PICTURE_NV12, 3, false, 1, 1, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}},
    {PICTURE_NV21, 3, false, 1, 1, {{0, 0, 1}, {1, 1, 2}, {1, 0, 2}}},
    {PICTURE_NV16, 3, false, 1, 0, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}},
    {PICTURE_NV61, 3, false, 1, 0, {{0, 0, 1}, {1, 1, 2}, {1, 0, 2}}},
    {PICTURE_NV24, 3, false, 0, 0, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}},
    {PICTURE_NV42, 3, false, 0, 0, {{0, 0, 1}, {1, 1, 2}, {1, 0, 2}}},
    {PICTURE_YUV_440, 3, false, 0, 1, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}},
    {PICTURE_YVU_440, 3, false, 0, 1, {{0, 0, 1}, {1, 1, 2}, {1, 0, 2}}},
    {PICTURE_YUYV, 3, false, 1, 0, {{0, 0, 2}, {0, 1, 4}, {0, 3, 4}}},
    {PICTURE_UYVY, 3, false, 1, 0, {{0, 1, 2}, {0, 0, 4}, {0, 2, 4}}},
    {PICTURE_YVYU, 3, false, 1, 0, {{0, 0, 2}, {0, 3, 4}, {0, 1, 4}}},
    {PICTURE_VYUY, 3, false, 1, 0, {{0, 1, 2}, {0, 2, 4}, {0, 0, 4}}},
    {PICTURE_YUV_444, 3, false, 0, 0, {{0, 0, 3}, {0, 1, 3}, {0, 2, 3}}},
    {PICTURE_YV12, 3, false, 1, 1, {{0, 0, 1}, {2, 0, 1}, {1, 0, 1}}},
    {PICTURE_YV16, 3, false, 1, 0, {{0, 0, 1}, {2, 0, 1}, {1, 0, 1}}},
    {PICTURE_YV24, 3, false, 0, 0, {{0, 0, 1}, {2, 0, 1}, {1, 0, 1}}},
    {PICTURE_RGB, 3, true, 0, 0, {{0, 0, 3}, {0, 1, 3}, {0, 2, 3}}},
    {PICTURE_BGR, 3, true, 0, 0, {{0, 2, 3}, {0, 1, 3}, {0, 0, 3}}},
    {PICTURE_BGR_PLANAR, 3, true, 0, 0, {{2, 0, 1}, {1, 0, 1}, {0, 0, 1}}},
    {PICTURE_ARGB, 4, true, 0, 0, {{0, 1, 4}, {0, 2, 4}, {0, 3, 4}, {0, 0, 4}}},
    {PICTURE_ABGR, 4, true, 0, 0, {{0, 3, 4}, {0, 2, 4}, {0, 1, 4}, {0, 0, 4}}},
    {PICTURE_RGBA, 4, true, 0, 0, {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}, {0, 3, 4}}},
    {PICTURE_BGRA, 4, true, 0, 0, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}, {0, 3, 4}}},
};

enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]), PLANES = 3 };

static const struct layout *find(uint32_t format)
{
    for (size_t i = 0; i < LAYOUTS; i++) {
        if (layouts[i].format == format) {
            return &layouts[i];
        }
    }
    return NULL;
}

/* The first component's step: that is what the stride of the picture counts. */
static uint32_t unit_of(const struct layout *layout)
{
    return layout->places[0].step;
}

uint32_t picture_unit(uint32_t format)
{
    const struct layout *layout = find(format);
    return layout ? unit_of(layout) : 0;
}

bool picture_is_rgb(uint32_t format)
{
    const struct layout *layout = find(format);
    return layout && layout->is_rgb;
}

/* Bytes of a row, and rows, of the plane component `i` is in. */
static size_t plane_row(const struct picture *picture, const struct layout *layout, unsigned i)
{
    const size_t row = (size_t)picture->row_bytes * layout->places[i].step / unit_of(layout);
    return i == 0 || i == 3 ? row : row >> layout->across;
}

static size_t plane_bytes(const struct picture *picture, const struct layout *layout, unsigned i)
{
    const uint32_t rows = i == 0 || i == 3 ? picture->rows : picture->rows >> layout->down;
    return plane_row(picture, layout, i) * rows;
}

/* Bytes of each plane. */
static void plane_sizes(const struct picture *picture, const struct layout *layout,
                        size_t bytes[PLANES])
{
    bytes[0] = bytes[1] = bytes[2] = 0;
    for (unsigned i = 0; i < layout->count; i++) {
        bytes[layout->places[i].plane] = plane_bytes(picture, layout, i);
    }
}

size_t picture_bytes(const struct picture *picture)
{
    const struct layout *layout = find(picture->format);
    size_t bytes[PLANES];
    if (!layout) {
        return 0;
    }
    plane_sizes(picture, layout, bytes);
    return bytes[0] + bytes[1] + bytes[2];
}

unsigned picture_components(const struct picture *picture, struct picture_component parts[4])
{
    const struct layout *layout = find(picture->format);
    size_t bytes[PLANES];
    if (!layout) {
        return 0;
    }
    plane_sizes(picture, layout, bytes);
    for (unsigned i = 0; i < layout->count; i++) {
        const struct place *place = &layout->places[i];
        const bool colour = !layout->is_rgb && i > 0;
        size_t first = place->offset;
        for (unsigned plane = 0; plane < place->plane; plane++) {
            first += bytes[plane];
        }
        parts[i] = (struct picture_component){.first = picture->data ? picture->data + first : NULL,
                                              .row_bytes = plane_row(picture, layout, i),
                                              .step = place->step,
                                              .across = colour ? layout->across : 0,
                                              .down = colour ? layout->down : 0};
        parts[i].width = picture_samples(picture->width, parts[i].across);
        parts[i].height = picture_samples(picture->height, parts[i].down);
    }
    return layout->count;
}

leo_status picture_check(const struct picture *picture, char *text, size_t text_bytes)
{
    const uint32_t unit = picture_unit(picture->format);
    if (unit == 0) {
        snprintf(text, text_bytes,
                 "pixel format %u: 0 to 17, 20 to 22, 70, 1000 and 1001 are possible",
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
    } else if (picture->bytes / picture->row_bytes < picture->rows) { // or the sum may overflow
        snprintf(text, text_bytes, "%zu bytes, %u rows of %u bytes are more", picture->bytes,
                 picture->rows, picture->row_bytes);
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
