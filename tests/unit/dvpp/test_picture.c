/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures scaled, converted and coded: properties that hold to the bit, or within stated bounds.
 */
#include "harness.h"

#include <picture.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct picture make(uint32_t format, uint32_t width, uint32_t height)
{
    const uint32_t unit = format == PICTURE_RGB || format == PICTURE_BGR ? 3 : 1;
    struct picture picture = {.format = format,
                              .width = width,
                              .height = height,
                              .row_bytes = (width * unit + 15) / 16 * 16,
                              .rows = (height + 1) / 2 * 2};
    picture.bytes = picture_bytes(&picture);
    picture.data = calloc(1, picture.bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(picture.data);
    return picture;
}

static void fill(const struct picture *picture, unsigned seed)
{
    for (size_t i = 0; i < picture->bytes; i++) {
        seed = seed * 1103515245u + 12345u;
        picture->data[i] = (uint8_t)(seed >> 16);
    }
}

static void scale_all(const struct picture *src, const struct picture *dst, int nearest)
{
    const struct picture_area from = picture_all(src), to = picture_all(dst);
    CU_ASSERT_EQUAL_FATAL(picture_scale(src, &from, dst, &to, nearest), LEO_OK);
}

static const uint32_t formats[] = {PICTURE_GRAY, PICTURE_NV12, PICTURE_NV21, PICTURE_RGB,
                                   PICTURE_BGR};

static void the_same_size_is_a_copy(void)
{
    for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
        struct picture a = make(formats[f], 32, 18), b = make(formats[f], 32, 18);
        fill(&a, 3);
        scale_all(&a, &b, 0);
        CU_ASSERT_EQUAL(memcmp(a.data, b.data, a.bytes), 0);
        free(a.data);
        free(b.data);
    }
}

static void one_colour_stays_one_colour(void)
{
    for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
        struct picture a = make(formats[f], 30, 14), b = make(formats[f], 48, 26);
        memset(a.data, 77, a.bytes);
        for (int nearest = 0; nearest < 2; nearest++) {
            memset(b.data, 0, b.bytes);
            scale_all(&a, &b, nearest);
            const uint32_t unit = formats[f] >= PICTURE_RGB ? 3 : 1;
            for (uint32_t y = 0; y < b.height; y++) {
                for (uint32_t x = 0; x < b.width * unit; x++) {
                    CU_ASSERT_EQUAL(b.data[y * b.row_bytes + x], 77);
                }
            }
        }
        free(a.data);
        free(b.data);
    }
}

/* A ramp stays a ramp: to the nearest value where no edge is near. */
static void bilinear_keeps_ramps(void)
{
    struct picture a = make(PICTURE_GRAY, 64, 16), b = make(PICTURE_GRAY, 32, 32);
    for (uint32_t y = 0; y < 16; y++) {
        for (uint32_t x = 0; x < 64; x++) {
            a.data[y * a.row_bytes + x] = (uint8_t)(2 * x + 3 * y);
        }
    }
    scale_all(&a, &b, 0);
    for (uint32_t y = 1; y < 31; y++) {
        for (uint32_t x = 1; x < 31; x++) {
            // Centres: x at 2 x + 0.5, y at y / 2 - 0.25.
            const double want = 2 * (2 * x + 0.5) + 3 * (y / 2.0 - 0.25);
            const double got = b.data[y * b.row_bytes + x];
            CU_ASSERT(got - want <= 0.5 && want - got <= 0.5);
        }
    }
    free(a.data);
    free(b.data);
}

static void nearest_repeats(void)
{
    struct picture a = make(PICTURE_RGB, 16, 4), b = make(PICTURE_RGB, 48, 8);
    fill(&a, 9);
    scale_all(&a, &b, 1);
    for (uint32_t y = 0; y < 8; y++) {
        for (uint32_t x = 0; x < 48; x++) {
            CU_ASSERT_EQUAL(memcmp(b.data + y * b.row_bytes + x * 3,
                                   a.data + y / 2 * a.row_bytes + x / 3 * 3, 3),
                            0);
        }
    }
    free(a.data);
    free(b.data);
}

static void areas_are_cut_and_pasted(void)
{
    struct picture a = make(PICTURE_NV12, 32, 32), b = make(PICTURE_NV12, 32, 32);
    const struct picture_area from = {4, 6, 8, 10}, to = {16, 2, 8, 10};
    fill(&a, 5);
    memset(b.data, 1, b.bytes);
    CU_ASSERT_EQUAL(picture_scale(&a, &from, &b, &to, 0), LEO_OK);
    for (uint32_t y = 0; y < 32; y++) {
        for (uint32_t x = 0; x < 32; x++) {
            const bool in = x >= 16 && x < 24 && y >= 2 && y < 12;
            CU_ASSERT_EQUAL(b.data[y * 32 + x], in ? a.data[(y + 4) * 32 + x - 12] : 1);
        }
    }
    const uint8_t *ca = a.data + 32 * 32, *cb = b.data + 32 * 32;
    for (uint32_t y = 0; y < 16; y++) {
        for (uint32_t x = 0; x < 32; x++) { // pairs: columns of the full size
            const bool in = x >= 16 && x < 24 && y >= 1 && y < 6;
            CU_ASSERT_EQUAL(cb[y * 32 + x], in ? ca[(y + 2) * 32 + x - 12] : 1);
        }
    }
    free(a.data);
    free(b.data);
}

static void colours_are_converted(void)
{
    // Full-range BT.601 of plain colours: Y = 0.299 R + 0.587 G + 0.114 B.
    static const struct {
        uint8_t rgb[3], ycc[3];
    } colours[] = {
        {{0, 0, 0}, {0, 128, 128}},    {{255, 255, 255}, {255, 128, 128}},
        {{255, 0, 0}, {76, 85, 255}},  {{0, 255, 0}, {150, 44, 21}},
        {{0, 0, 255}, {29, 255, 107}}, {{100, 150, 200}, {141, 161, 99}},
    };
    for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++) {
        struct picture rgb = make(PICTURE_RGB, 16, 2), bgr = make(PICTURE_BGR, 16, 2);
        struct picture ycc = make(PICTURE_NV12, 16, 2), swapped = make(PICTURE_NV21, 16, 2);
        for (size_t k = 0; k < (size_t)rgb.row_bytes * 2; k++) {
            rgb.data[k] = colours[i].rgb[k % rgb.row_bytes % 3];
        }
        scale_all(&rgb, &ycc, 0);
        scale_all(&ycc, &swapped, 0);
        CU_ASSERT_EQUAL(ycc.data[5], colours[i].ycc[0]);
        CU_ASSERT_EQUAL(ycc.data[32], colours[i].ycc[1]);
        CU_ASSERT_EQUAL(ycc.data[33], colours[i].ycc[2]);
        CU_ASSERT_EQUAL(swapped.data[33], ycc.data[32]);
        CU_ASSERT_EQUAL(swapped.data[32], ycc.data[33]);
        scale_all(&swapped, &bgr, 0);
        for (int c = 0; c < 3; c++) {
            CU_ASSERT(abs(bgr.data[2 - c] - colours[i].rgb[c]) <= 2); // rounded there and back
        }
        free(rgb.data);
        free(bgr.data);
        free(ycc.data);
        free(swapped.data);
    }
}

static void bad_pictures_are_told(void)
{
    char text[200];
    struct picture good = make(PICTURE_NV12, 32, 16);
    CU_ASSERT_EQUAL(picture_check(&good, text, sizeof(text)), LEO_OK);
    struct picture bad[6];
    for (int i = 0; i < 6; i++) {
        bad[i] = good;
    }
    bad[0].format = 7;
    bad[1].width = 0;
    bad[2].row_bytes = 24;
    bad[3].rows = 14;
    bad[4].bytes--;
    bad[5].height = 0;
    for (int i = 0; i < 6; i++) {
        CU_ASSERT_EQUAL(picture_check(&bad[i], text, sizeof(text)), LEO_ERR_INVALID_ARG);
    }
    free(good.data);
}

/* Smooth colours come back from a file of the best quality within a few steps. */
static void jpeg_there_and_back(void)
{
    static const uint32_t sizes[][2] = {{64, 48}, {2, 2}, {33 * 2, 17 * 2}};
    for (size_t s = 0; s < 3; s++) {
        struct picture in = make(PICTURE_NV12, sizes[s][0], sizes[s][1]);
        struct picture out = make(PICTURE_NV12, sizes[s][0], sizes[s][1]);
        struct picture rgb = make(PICTURE_RGB, sizes[s][0], sizes[s][1]);
        char text[200];
        uint8_t file[65536];
        size_t bytes = sizeof(file), little = 100;
        uint32_t width = 0, height = 0;
        int components = 0;
        for (uint32_t y = 0; y < in.rows * 3 / 2; y++) {
            for (uint32_t x = 0; x < in.row_bytes; x++) {
                in.data[y * in.row_bytes + x] = (uint8_t)(60 + x + y);
            }
        }
        CU_ASSERT_EQUAL_FATAL(picture_jpeg_encode(&in, 100, file, &bytes, text, sizeof(text)),
                              LEO_OK);
        CU_ASSERT_EQUAL(picture_jpeg_encode(&in, 100, file, &little, text, sizeof(text)),
                        LEO_ERR_FULL);
        CU_ASSERT_EQUAL(picture_jpeg_info(file, bytes, &width, &height, &components, NULL), LEO_OK);
        CU_ASSERT(width == in.width && height == in.height && components == 3);
        CU_ASSERT_EQUAL(picture_jpeg_decode(file, bytes, &out, text, sizeof(text)), LEO_OK);
        CU_ASSERT_EQUAL(picture_jpeg_decode(file, bytes, &rgb, text, sizeof(text)), LEO_OK);
        for (uint32_t y = 0; y < in.height; y++) {
            for (uint32_t x = 0; x < in.width; x++) {
                CU_ASSERT(abs(in.data[y * in.row_bytes + x] - out.data[y * in.row_bytes + x]) <= 6);
            }
        }
        // Cut anywhere, the file is refused or decoded, and nothing else happens.
        for (size_t cut = 0; cut < bytes; cut += 1 + bytes / 37) {
            (void)!picture_jpeg_decode(file, cut, &out, text, sizeof(text));
        }
        free(in.data);
        free(out.data);
        free(rgb.data);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"the_same_size_is_a_copy", the_same_size_is_a_copy},
        {"one_colour_stays_one_colour", one_colour_stays_one_colour},
        {"bilinear_keeps_ramps", bilinear_keeps_ramps},
        {"nearest_repeats", nearest_repeats},
        {"areas_are_cut_and_pasted", areas_are_cut_and_pasted},
        {"colours_are_converted", colours_are_converted},
        {"bad_pictures_are_told", bad_pictures_are_told},
        {"jpeg_there_and_back", jpeg_there_and_back},
    };
    return leo_test_main("picture", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
