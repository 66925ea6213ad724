/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures scaled, converted and coded: properties that hold to the bit, or within stated bounds.
 */
#include "harness.h"

#include <picture.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// After stdio.h, which it needs.
#include <jpeglib.h>

static struct picture make(uint32_t format, uint32_t width, uint32_t height)
{
    const uint32_t unit = picture_unit(format);
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
    const struct picture_how how = {.nearest = nearest != 0};
    CU_ASSERT_EQUAL_FATAL(picture_scale(src, &from, dst, &to, &how), LEO_OK);
}

static const uint32_t formats[] = {
    PICTURE_GRAY, PICTURE_NV12, PICTURE_NV21, PICTURE_NV16,    PICTURE_NV61,    PICTURE_NV24,
    PICTURE_NV42, PICTURE_YUYV, PICTURE_UYVY, PICTURE_YVYU,    PICTURE_VYUY,    PICTURE_YUV_444,
    PICTURE_RGB,  PICTURE_BGR,  PICTURE_ARGB, PICTURE_ABGR,    PICTURE_RGBA,    PICTURE_BGRA,
    PICTURE_YV12, PICTURE_YV16, PICTURE_YV24, PICTURE_YUV_440, PICTURE_YVU_440, PICTURE_BGR_PLANAR};

static void the_same_size_is_a_copy(void)
{
    for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
        struct picture a = make(formats[f], 64, 18), b = make(formats[f], 64, 18);
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
            const uint32_t unit = picture_unit(formats[f]);
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
    CU_ASSERT_EQUAL(picture_scale(&a, &from, &b, &to, NULL), LEO_OK);
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

/* One pixel of two columns and two rows, where each format keeps its colours: (Y, Cb, Cr). */
static void formats_lie_as_documented(void)
{
    static const struct {
        uint32_t format;
        size_t y, cb, cr; /* bytes of column 1, row 0 of a picture of 16 x 2 */
    } places[] = {
        {PICTURE_NV12, 1, 32, 33},    {PICTURE_NV21, 1, 33, 32},  {PICTURE_NV16, 1, 32, 33},
        {PICTURE_NV61, 1, 33, 32},    {PICTURE_NV24, 1, 34, 35},  {PICTURE_NV42, 1, 35, 34},
        {PICTURE_YUYV, 2, 1, 3},      {PICTURE_UYVY, 3, 0, 2},    {PICTURE_YVYU, 2, 3, 1},
        {PICTURE_VYUY, 3, 2, 0},      {PICTURE_YUV_444, 3, 4, 5}, {PICTURE_YV12, 1, 40, 32},
        {PICTURE_YV16, 1, 48, 32},    {PICTURE_YV24, 1, 65, 33},  {PICTURE_YUV_440, 1, 34, 35},
        {PICTURE_YVU_440, 1, 35, 34},
    };
    struct picture one = make(PICTURE_YUV_444, 16, 2);
    for (size_t i = 0; i < one.bytes; i++) {
        one.data[i] = (uint8_t)(20 + i % one.row_bytes % 3 * 60);
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct picture other = make(places[i].format, 16, 2), back = make(PICTURE_YUV_444, 16, 2);
        scale_all(&one, &other, 0);
        CU_ASSERT_EQUAL(other.data[places[i].y], 20);
        CU_ASSERT_EQUAL(other.data[places[i].cb], 80);
        CU_ASSERT_EQUAL(other.data[places[i].cr], 140);
        scale_all(&other, &back, 0);
        CU_ASSERT_EQUAL(memcmp(one.data, back.data, one.bytes), 0);
        free(other.data);
        free(back.data);
    }
    free(one.data);
}

static void alpha_is_kept_or_opaque(void)
{
    struct picture rgba = make(PICTURE_RGBA, 16, 2), argb = make(PICTURE_ARGB, 16, 2),
                   rgb = make(PICTURE_RGB, 16, 2);
    fill(&rgba, 5);
    scale_all(&rgba, &argb, 0);
    CU_ASSERT(argb.data[4] == rgba.data[7] && argb.data[5] == rgba.data[4]);
    scale_all(&argb, &rgb, 0);
    scale_all(&rgb, &argb, 0);
    CU_ASSERT(argb.data[4] == 255 && argb.data[7] == rgba.data[6]);
    free(rgba.data);
    free(argb.data);
    free(rgb.data);
}

/* Colours of four samples are their mean, and stand for the same four after. */
static void colours_are_sampled_by_mean(void)
{
    struct picture full = make(PICTURE_NV24, 16, 2), quarter = make(PICTURE_NV12, 16, 2),
                   half = make(PICTURE_NV16, 16, 2);
    fill(&full, 11);
    scale_all(&full, &quarter, 0);
    scale_all(&full, &half, 0);
    const uint8_t *a = full.data + 32, *b = quarter.data + 32, *c = half.data + 32;
    for (uint32_t x = 0; x < 8; x++) {
        const uint8_t *top = a + 4 * x, *low = a + 32 + 4 * x;
        for (int i = 0; i < 2; i++) {
            CU_ASSERT_EQUAL(b[2 * x + i], (top[i] + top[i + 2] + low[i] + low[i + 2] + 2) / 4);
            CU_ASSERT_EQUAL(c[2 * x + i], (top[i] + top[i + 2] + 1) / 2);
        }
    }
    free(full.data);
    free(quarter.data);
    free(half.data);
}

/* Against the formulas of ITU-R, in doubles. */
static void matrices_are_those_of_the_standards(void)
{
    static const double red[] = {0.299, 0.2126, 0.2627}, blue[] = {0.114, 0.0722, 0.0593};
    struct picture rgb = make(PICTURE_RGB, 64, 2), ycc = make(PICTURE_NV24, 64, 2),
                   back = make(PICTURE_RGB, 64, 2);
    const struct picture_area all = picture_all(&rgb);
    fill(&rgb, 8);
    for (int m = 0; m < PICTURE_COLOURS_COUNT; m++) {
        const struct picture_how how = {.colours = (enum picture_colours)m};
        const double kr = red[m / 2], kb = blue[m / 2];
        const double scale_y = m % 2 ? 219.0 / 255 : 1, scale_c = m % 2 ? 224.0 / 255 : 1;
        CU_ASSERT_EQUAL(picture_scale(&rgb, &all, &ycc, &all, &how), LEO_OK);
        CU_ASSERT_EQUAL(picture_scale(&ycc, &all, &back, &all, &how), LEO_OK);
        for (uint32_t x = 0; x < 64; x++) {
            const uint8_t *in = rgb.data + 3 * x, *out = back.data + 3 * x;
            const double y = kr * in[0] + (1 - kr - kb) * in[1] + kb * in[2];
            const double want[] = {y * scale_y + (m % 2 ? 16 : 0),
                                   (in[2] - y) / (2 * (1 - kb)) * scale_c + 128,
                                   (in[0] - y) / (2 * (1 - kr)) * scale_c + 128};
            const double got[] = {ycc.data[x], ycc.data[128 + 2 * x], ycc.data[128 + 2 * x + 1]};
            for (int i = 0; i < 3; i++) {
                const double clamped = want[i] > 255 ? 255 : want[i];
                CU_ASSERT(got[i] - clamped < 0.51 && clamped - got[i] < 0.51);
                CU_ASSERT(abs(in[i] - out[i]) <= 3); // rounded there and back
            }
        }
    }
    free(rgb.data);
    free(ycc.data);
    free(back.data);
}

static void borders_repeat_and_reflect(void)
{
    static const char *const want[] = {"xxxabcdxxx", "aaaabcdddd", "cbaabcddcb", "dcbabcdcba"};
    struct picture in = make(PICTURE_GRAY, 4, 2), out = make(PICTURE_GRAY, 10, 8);
    const struct picture_area inner = {3, 3, 4, 2}, all = picture_all(&in);
    const uint8_t values[4] = {'x', 0, 0, 0};
    memcpy(in.data, "abcd", 4);
    memcpy(in.data + in.row_bytes, "ABCD", 4);
    for (int kind = 0; kind < 4; kind++) {
        memset(out.data, 0, out.bytes);
        CU_ASSERT_EQUAL(picture_scale(&in, &all, &out, &inner, NULL), LEO_OK);
        picture_border(&out, &inner, (enum picture_border)kind, values);
        CU_ASSERT_EQUAL(memcmp(out.data + 3 * out.row_bytes, want[kind], 10), 0);
        // The two rows, continued the same way.
        static const char *const down[] = {"xxxaAxxx", "aaaaAAAA", "AAaaAAaa", "AaAaAaAa"};
        for (int y = 0; y < 8; y++) {
            CU_ASSERT_EQUAL(out.data[y * out.row_bytes + 3], (uint8_t)down[kind][y]);
        }
    }
    free(in.data);
    free(out.data);
}

static void values_are_counted_and_replaced(void)
{
    struct picture in = make(PICTURE_NV12, 18, 6), out = make(PICTURE_NV12, 18, 6);
    uint32_t counts[4][256], want[256] = {0};
    struct picture_tables tables;
    fill(&in, 21);
    for (int i = 0; i < 256; i++) {
        tables.of[0][i] = (uint8_t)(255 - i);
        tables.of[1][i] = (uint8_t)(i / 2);
        tables.of[2][i] = 7;
    }
    picture_histogram(&in, counts);
    for (uint32_t y = 0; y < 6; y++) {
        for (uint32_t x = 0; x < 18; x++) {
            want[in.data[y * in.row_bytes + x]]++;
        }
    }
    CU_ASSERT_EQUAL(memcmp(counts[0], want, sizeof(want)), 0);
    uint32_t colours = 0;
    for (int i = 0; i < 256; i++) {
        colours += counts[1][i] + counts[2][i];
    }
    CU_ASSERT_EQUAL(colours, 2 * 9 * 3);
    picture_map(&in, &out, &tables);
    const uint8_t *a = in.data + in.row_bytes * in.rows, *b = out.data + in.row_bytes * in.rows;
    CU_ASSERT(out.data[5] == 255 - in.data[5] && b[4] == a[4] / 2 && b[5] == 7);
    free(in.data);
    free(out.data);
}

/* The sum written out for every sample, with positions reflected by hand. */
static void halves_are_weighted_means(void)
{
    static const int weights[] = {1, 4, 6, 4, 1};
    struct picture in = make(PICTURE_GRAY, 15, 8), out = make(PICTURE_GRAY, 8, 4);
    fill(&in, 31);
    picture_halve(&in, &out);
    for (int y = 0; y < 4; y++) {
        for (int x = 0; x < 8; x++) {
            int sum = 0;
            for (int k = 0; k < 25; k++) {
                int row = 2 * y + k / 5 - 2, column = 2 * x + k % 5 - 2;
                row = row < 0 ? -row : row > 7 ? 14 - row : row;
                column = column < 0 ? -column : column > 14 ? 28 - column : column;
                sum += weights[k / 5] * weights[k % 5] * in.data[row * in.row_bytes + column];
            }
            CU_ASSERT_EQUAL(out.data[y * out.row_bytes + x], (sum + 128) / 256);
        }
    }
    free(in.data);
    free(out.data);
}

static void bad_pictures_are_told(void)
{
    char text[200];
    struct picture good = make(PICTURE_NV12, 32, 16);
    CU_ASSERT_EQUAL(picture_check(&good, text, sizeof(text)), LEO_OK);
    struct picture bad[7];
    for (int i = 0; i < 7; i++) {
        bad[i] = good;
    }
    bad[0].format = 18;
    bad[1].width = 0;
    bad[2].row_bytes = 24;
    bad[3].rows = 14;
    bad[4].bytes--;
    bad[5].height = 0;
    // Bytes of all planes: 2^64 + 1072418240.
    bad[6].format = PICTURE_NV24;
    bad[6].row_bytes = 2147512032;
    bad[6].rows = 2863273686;
    bad[6].bytes = 1 << 30;
    for (int i = 0; i < 7; i++) {
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

/* Files of other samplings, and files in several passes: written by libjpeg itself here. */
static size_t write_file(const struct picture *ycc, int across, int down, bool progressive,
                         uint8_t **file)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    unsigned long bytes = 0;
    *file = NULL;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, file, &bytes);
    info.image_width = ycc->width;
    info.image_height = ycc->height;
    info.input_components = ycc->format == PICTURE_GRAY ? 1 : 3;
    info.in_color_space = ycc->format == PICTURE_GRAY ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 100, TRUE);
    info.comp_info[0].h_samp_factor = across;
    info.comp_info[0].v_samp_factor = down;
    if (progressive) {
        jpeg_simple_progression(&info);
    }
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = ycc->data + (size_t)info.next_scanline * ycc->row_bytes;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return bytes;
}

/* Smooth brightness and colours, so that a file of the best quality keeps them. */
static struct picture make_smooth(uint32_t format, uint32_t width, uint32_t height)
{
    struct picture full = make(PICTURE_YUV_444, width, height), out = make(format, width, height);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            uint8_t *pixel = full.data + (size_t)y * full.row_bytes + 3 * (size_t)x;
            pixel[0] = (uint8_t)(40 + 2 * x + y);
            pixel[1] = (uint8_t)(90 + x);
            pixel[2] = (uint8_t)(160 - y);
        }
    }
    scale_all(&full, &out, 0);
    free(full.data);
    return out;
}

static int worst_difference(const struct picture *a, const struct picture *b)
{
    struct picture_component pa[4], pb[4];
    const unsigned count = picture_components(a, pa);
    int worst = 0;
    CU_ASSERT_EQUAL_FATAL(picture_components(b, pb), count);
    for (unsigned i = 0; i < count; i++) {
        for (uint32_t y = 0; y < pa[i].height; y++) {
            for (uint32_t x = 0; x < pa[i].width; x++) {
                const int d = abs(pa[i].first[y * pa[i].row_bytes + x * pa[i].step] -
                                  pb[i].first[y * pb[i].row_bytes + x * pb[i].step]);
                worst = d > worst ? d : worst;
            }
        }
    }
    return worst;
}

static void jpeg_files_of_every_sampling(void)
{
    static const struct {
        int across, down;
        enum picture_sampling sampling;
        uint32_t format; /* that keeps all of it */
    } kinds[] = {
        {1, 1, PICTURE_SAMPLING_444, PICTURE_NV42}, {2, 1, PICTURE_SAMPLING_422, PICTURE_NV16},
        {2, 2, PICTURE_SAMPLING_420, PICTURE_NV12}, {1, 2, PICTURE_SAMPLING_440, PICTURE_YUV_440},
        {2, 1, PICTURE_SAMPLING_422, PICTURE_YUYV}, {1, 1, PICTURE_SAMPLING_444, PICTURE_NV12},
        {1, 1, PICTURE_SAMPLING_444, PICTURE_BGR},
    };
    for (size_t k = 0; k < 2 * sizeof(kinds) / sizeof(kinds[0]); k++) {
        const size_t i = k / 2;
        struct picture full = make_smooth(PICTURE_YUV_444, 35, 21),
                       want = make_smooth(kinds[i].format, 35, 21),
                       out = make(kinds[i].format, 35, 21);
        uint8_t *file;
        char text[200];
        uint32_t width, height;
        int components;
        enum picture_sampling sampling;
        const size_t bytes = write_file(&full, kinds[i].across, kinds[i].down, k % 2, &file);
        CU_ASSERT_EQUAL(picture_jpeg_info(file, bytes, &width, &height, &components, &sampling),
                        LEO_OK);
        CU_ASSERT_EQUAL(sampling, kinds[i].sampling);
        CU_ASSERT_EQUAL(picture_jpeg_decode(file, bytes, &out, text, sizeof(text)), LEO_OK);
        CU_ASSERT(worst_difference(&want, &out) <= (picture_is_rgb(kinds[i].format) ? 5 : 2));
        free(file);
        free(full.data);
        free(want.data);
        free(out.data);
    }
    struct picture gray = make_smooth(PICTURE_GRAY, 32, 16), out = make(PICTURE_NV12, 32, 16);
    uint8_t *file;
    char text[200];
    const size_t bytes = write_file(&gray, 1, 1, false, &file);
    CU_ASSERT_EQUAL(picture_jpeg_decode(file, bytes, &out, text, sizeof(text)), LEO_OK);
    CU_ASSERT(abs(out.data[40] - gray.data[40]) <= 2 && out.data[32 * 16 + 7] == 128);
    free(file);
    free(gray.data);
    free(out.data);
}

/* A file samples colours as the picture does that it is made of. */
static void jpeg_keeps_the_sampling(void)
{
    static const struct {
        uint32_t format;
        enum picture_sampling sampling;
    } kinds[] = {{PICTURE_NV12, PICTURE_SAMPLING_420},
                 {PICTURE_YUYV, PICTURE_SAMPLING_422},
                 {PICTURE_UYVY, PICTURE_SAMPLING_422},
                 {PICTURE_NV24, PICTURE_SAMPLING_444},
                 {PICTURE_RGB, PICTURE_SAMPLING_420}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct picture in = make_smooth(kinds[i].format, 48, 16),
                       out = make(kinds[i].format, 48, 16);
        uint8_t file[16384];
        size_t bytes = sizeof(file);
        char text[200];
        uint32_t width, height;
        int components;
        enum picture_sampling sampling;
        CU_ASSERT_EQUAL(picture_jpeg_encode(&in, 100, file, &bytes, text, sizeof(text)), LEO_OK);
        CU_ASSERT_EQUAL(picture_jpeg_info(file, bytes, &width, &height, &components, &sampling),
                        LEO_OK);
        CU_ASSERT_EQUAL(sampling, kinds[i].sampling);
        CU_ASSERT_EQUAL(picture_jpeg_decode(file, bytes, &out, text, sizeof(text)), LEO_OK);
        CU_ASSERT(worst_difference(&in, &out) <= (picture_is_rgb(kinds[i].format) ? 6 : 2));
        free(in.data);
        free(out.data);
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
        {"formats_lie_as_documented", formats_lie_as_documented},
        {"alpha_is_kept_or_opaque", alpha_is_kept_or_opaque},
        {"colours_are_sampled_by_mean", colours_are_sampled_by_mean},
        {"matrices_are_those_of_the_standards", matrices_are_those_of_the_standards},
        {"borders_repeat_and_reflect", borders_repeat_and_reflect},
        {"values_are_counted_and_replaced", values_are_counted_and_replaced},
        {"halves_are_weighted_means", halves_are_weighted_means},
        {"bad_pictures_are_told", bad_pictures_are_told},
        {"jpeg_there_and_back", jpeg_there_and_back},
        {"jpeg_files_of_every_sampling", jpeg_files_of_every_sampling},
        {"jpeg_keeps_the_sampling", jpeg_keeps_the_sampling},
    };
    return leo_test_main("picture", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
