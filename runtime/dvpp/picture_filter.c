/* SPDX-License-Identifier: Apache-2.0 */
/* Borders, counts, tables and pyramids: each component by itself. */
#include "picture.h"

#include <string.h>

static uint8_t *at(const struct picture_component *part, uint32_t x, uint32_t y)
{
    return part->first + y * part->row_bytes + (size_t)x * part->step;
}

/* Where position `i` of a row of `count` that goes on beyond its ends is taken from. */
static int64_t inside(int64_t i, int64_t count, enum picture_border kind)
{
    if (kind == PICTURE_BORDER_REPLICATE || count == 1) {
        return i < 0 ? 0 : i >= count ? count - 1 : i;
    }
    const int64_t skip = kind == PICTURE_BORDER_REFLECT_101 ? 1 : 0;
    while (i < 0 || i >= count) {
        i = i < 0 ? -i - 1 + skip : 2 * count - 1 - i - skip;
    }
    return i;
}

void picture_border(const struct picture *picture, const struct picture_area *inner,
                    enum picture_border kind, const uint8_t values[4])
{
    struct picture_component parts[4];
    const unsigned count = picture_components(picture, parts);
    for (unsigned i = 0; i < count; i++) {
        const struct picture_component *part = &parts[i];
        const int64_t left = inner->left >> part->across, top = inner->top >> part->down;
        const int64_t width = picture_samples(inner->width, part->across);
        const int64_t height = picture_samples(inner->height, part->down);
        for (int64_t y = 0; y < part->height; y++) {
            for (int64_t x = 0; x < part->width; x++) {
                const bool in = x >= left && x < left + width && y >= top && y < top + height;
                if (in) {
                    continue;
                }
                *at(part, (uint32_t)x, (uint32_t)y) =
                    kind == PICTURE_BORDER_CONSTANT
                        ? values[i]
                        : *at(part, (uint32_t)(left + inside(x - left, width, kind)),
                              (uint32_t)(top + inside(y - top, height, kind)));
            }
        }
    }
}

void picture_histogram(const struct picture *picture, uint32_t counts[4][256])
{
    struct picture_component parts[4];
    const unsigned count = picture_components(picture, parts);
    memset(counts, 0, 4 * sizeof(counts[0]));
    for (unsigned i = 0; i < count; i++) {
        for (uint32_t y = 0; y < parts[i].height; y++) {
            for (uint32_t x = 0; x < parts[i].width; x++) {
                counts[i][*at(&parts[i], x, y)]++;
            }
        }
    }
}

void picture_map(const struct picture *src, const struct picture *dst,
                 const struct picture_tables *tables)
{
    struct picture_component from[4], to[4];
    const unsigned count = picture_components(src, from);
    picture_components(dst, to);
    for (unsigned i = 0; i < count; i++) {
        for (uint32_t y = 0; y < from[i].height; y++) {
            for (uint32_t x = 0; x < from[i].width; x++) {
                *at(&to[i], x, y) = tables->of[i][*at(&from[i], x, y)];
            }
        }
    }
}

enum { TAPS = 5 };
static const int weights[TAPS] = {1, 4, 6, 4, 1};

static int weighted_row(const struct picture_component *part, int64_t x, uint32_t y)
{
    int sum = 0;
    for (int k = 0; k < TAPS; k++) {
        const int64_t column = inside(x + k - 2, part->width, PICTURE_BORDER_REFLECT_101);
        sum += weights[k] * *at(part, (uint32_t)column, y);
    }
    return sum;
}

void picture_halve(const struct picture *src, const struct picture *dst)
{
    struct picture_component from[4], to[4];
    const unsigned count = picture_components(src, from);
    picture_components(dst, to);
    for (unsigned i = 0; i < count; i++) {
        for (uint32_t y = 0; y < to[i].height; y++) {
            for (uint32_t x = 0; x < to[i].width; x++) {
                int sum = 0;
                for (int k = 0; k < TAPS; k++) {
                    const int64_t row =
                        inside(2 * (int64_t)y + k - 2, from[i].height, PICTURE_BORDER_REFLECT_101);
                    sum += weights[k] * weighted_row(&from[i], 2 * (int64_t)x, (uint32_t)row);
                }
                *at(&to[i], x, y) = (uint8_t)((sum + 128) >> 8);
            }
        }
    }
}
