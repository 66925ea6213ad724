/* SPDX-License-Identifier: Apache-2.0 */
/* load_image_to_cbuf against a reference written from docs/hw/dma.md, one channel of one pixel
 * after the other. */
#include "fake_core.h"

#include <math.h>

enum { UV = 0x20000 };

struct image {
    struct leo_cfg_image0 place;
    struct leo_cfg_image1 edge;
    struct leo_cfg_aipp_image how;
    bool convert;
    int16_t matrix[3][3];
    uint8_t in[3], out[3], mean[3];
    uint16_t least[3], factor[3], pad[4];
};

/* Of a half that is a small number of eighths: exact. */
static double value_of(uint16_t half)
{
    const int exponent = half >> 10 & 31;
    const double size = exponent ? ldexp(1024 + (half & 1023), exponent - 25) : 0;
    return half & 0x8000 ? -size : size;
}

static uint16_t half_of(double value)
{
    if (value == 0) {
        return 0;
    }
    int exponent;
    frexp(fabs(value), &exponent);
    exponent = exponent < -13 ? -13 : exponent;
    double scaled = ldexp(fabs(value), 11 - exponent), down = floor(scaled);
    down += scaled - down > 0.5 || (scaled - down == 0.5 && fmod(down, 2) != 0);
    if (down == 2048) {
        down = 1024;
        exponent++;
    }
    const unsigned bits =
        down < 1024 ? (unsigned)down : (unsigned)(exponent + 14) << 10 | ((unsigned)down & 1023);
    return (uint16_t)(bits | (value < 0 ? 0x8000 : 0));
}

static int limit(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* Channel c of source pixel (x, y), before colours are converted. */
static int source(const struct fake *fake, const struct image *image, int x, int y, int c)
{
    const uint8_t *plane = fake->gm + 3, *uv = fake->gm + UV;
    const int width = image->edge.src_last + 1;
    x += image->place.hor_start;
    y += image->place.ver_start;
    switch (image->how.format) {
    case LEO_IMAGE_FORMAT_XRGB8888:
        c = image->how.swap_rb ? 2 - c : c;
        return plane[(y * width + x) * 4 + c + image->how.swap_ax];
    case LEO_IMAGE_FORMAT_RGB888:
        return plane[(y * width + x) * 3 + (image->how.swap_rb ? 2 - c : c)];
    case LEO_IMAGE_FORMAT_YUV400:
        return c ? 0 : plane[y * width + x];
    default:
        return c ? uv[y / 2 * width + x / 2 * 2 + (image->how.swap_uv ? 2 - c : c - 1)]
                 : plane[y * width + x];
    }
}

static int coloured(const struct fake *fake, const struct image *image, int x, int y, int c)
{
    const bool yuv = image->how.format == LEO_IMAGE_FORMAT_YUV420SP ||
                     image->how.format == LEO_IMAGE_FORMAT_YUV400;
    if (!image->convert) {
        return source(fake, image, x, y, c);
    }
    double sum = 0.5;
    for (int j = 0; j < 3; j++) {
        sum +=
            image->matrix[c][j] * (source(fake, image, x, y, j) - (yuv ? image->in[j] : 0)) / 256.0;
    }
    return limit((int)floor(sum) + (yuv ? 0 : image->out[c]), 0, 255);
}

static uint16_t typed(const struct image *image, int value, int c)
{
    if (image->edge.dtype == LEO_DTYPE_U8) {
        return (uint16_t)value;
    }
    value -= image->mean[c];
    if (image->edge.dtype == LEO_DTYPE_S8) {
        return (uint8_t)limit(value, -128, 127);
    }
    const uint16_t above = half_of(value - value_of(image->least[c]));
    return half_of(value_of(above) * value_of(image->factor[c]));
}

static int from(int at, int before, int size, int after, int edge)
{
    at -= before;
    if (at >= 0 && at < size) {
        return at;
    }
    if (edge == LEO_IMAGE_EDGE_NEAREST) {
        return at < 0 ? 0 : size - 1;
    }
    if (edge == LEO_IMAGE_EDGE_BLOCK) {
        return at < 0 ? at + before : at - after;
    }
    return at < 0 ? -1 - at : 2 * size - 1 - at;
}

static void expect(const struct fake *fake, const struct image *image, uint8_t *l1)
{
    const bool constant = image->how.edge == LEO_IMAGE_EDGE_CONSTANT;
    const int size = image->edge.dtype == LEO_DTYPE_F16 ? 2 : 1;
    const int channels = image->how.four ? 4 : 32 / size;
    const int real = image->how.format == LEO_IMAGE_FORMAT_YUV400 && !image->convert ? 1 : 3;
    const int width = image->place.hor_last + 1;
    const int rows = image->how.single ? 1 : image->place.ver_last + 1;
    const int top = constant ? 0 : image->edge.top, bottom = constant ? 0 : image->edge.bottom;
    for (int y = 0; y < top + rows + bottom; y++) {
        for (int x = 0; x < image->edge.left + width + image->edge.right; x++) {
            const int in_x = x - image->edge.left;
            for (int c = 0; c < channels; c++, l1 += size) {
                uint16_t bits = image->how.fill;
                if (constant && (in_x < 0 || in_x >= width)) {
                    bits = c < 4 ? image->pad[c] : bits;
                } else if (c < real) {
                    bits = typed(image,
                                 coloured(fake, image,
                                          from(x, image->edge.left, width, image->edge.right,
                                               image->how.edge),
                                          from(y, top, rows, bottom, image->how.edge), c),
                                 c);
                }
                memcpy(l1, &bits, (size_t)size);
            }
        }
    }
}

static uint64_t four(const uint16_t *values, unsigned count)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < count; i++) {
        word |= (uint64_t)values[i] << i * 16;
    }
    return word;
}

static void set_registers(struct fake *fake, const struct image *image)
{
    uint64_t *spr = fake->core.csr.aipp_spr;
    uint16_t flat[9];
    memcpy(flat, image->matrix, sizeof(flat));
    spr[1] = (FAKE_GM + UV) | (uint64_t)image->convert << 63;
    spr[2] = four(flat, 4);
    spr[3] = four(flat + 4, 4);
    spr[4] = flat[8];
    spr[5] = 0;
    for (unsigned i = 0; i < 3; i++) {
        spr[4] |= (uint64_t)image->out[i] << (16 + 8 * i) | (uint64_t)image->in[i] << (40 + 8 * i);
        spr[5] |= (uint64_t)image->mean[i] << 16 * i;
    }
    spr[6] = four(image->least, 3);
    spr[7] = four(image->factor, 3);
    spr[8] = four(image->pad, 4);
    spr[9] = leo_cfg_aipp_image_pack(&image->how);
}

static enum leo_fault run(struct fake *fake, const struct image *image)
{
    set_registers(fake, image);
    return fake_run(fake, LEO_INSN_LOAD_IMAGE_TO_CBUF, 64, FAKE_GM + 3,
                    leo_cfg_image0_pack(&image->place), leo_cfg_image1_pack(&image->edge));
}

static struct image random_image(struct fake *fake)
{
    static const uint8_t formats[] = {LEO_IMAGE_FORMAT_YUV420SP, LEO_IMAGE_FORMAT_XRGB8888,
                                      LEO_IMAGE_FORMAT_RGB888, LEO_IMAGE_FORMAT_YUV400};
    static const uint8_t types[] = {LEO_DTYPE_F16, LEO_DTYPE_S8, LEO_DTYPE_U8};
    const unsigned width = 2 * (1 + fake_random(fake) % 24), rows = 1 + fake_random(fake) % 12;
    const unsigned x = fake_random(fake) % width, y = fake_random(fake) % 8;
    struct image image = {
        .place = {.hor_last = (uint16_t)(fake_random(fake) % (width - x)),
                  .ver_last = (uint16_t)(rows - 1),
                  .hor_start = (uint16_t)x,
                  .ver_start = (uint16_t)y},
        .edge = {.src_last = (uint16_t)(width - 1), .dtype = types[fake_random(fake) % 3]},
        .how = {.fill = (uint16_t)fake_random(fake),
                .swap_rb = fake_random(fake) % 2,
                .swap_uv = fake_random(fake) % 2,
                .swap_ax = fake_random(fake) % 2,
                .format = formats[fake_random(fake) % 4],
                .single = fake_random(fake) % 5 == 0,
                .edge = fake_random(fake) % 4,
                .four = fake_random(fake) % 2},
        .convert = fake_random(fake) % 2,
    };
    const unsigned taken = image.place.hor_last + 1u, lines = image.how.single ? 1 : rows;
    image.edge.left = (uint16_t)(fake_random(fake) % (taken + 1));
    image.edge.right = (uint16_t)(fake_random(fake) % (taken + 1));
    image.edge.top = (uint8_t)(fake_random(fake) % (lines + 1));
    image.edge.bottom = (uint8_t)(fake_random(fake) % (lines + 1));
    for (unsigned i = 0; i < 9; i++) {
        image.matrix[i / 3][i % 3] = (int16_t)(fake_random(fake) % 1024 - 512);
    }
    for (unsigned i = 0; i < 3; i++) {
        image.in[i] = (uint8_t)fake_random(fake);
        image.out[i] = (uint8_t)fake_random(fake);
        image.mean[i] = (uint8_t)fake_random(fake);
        image.least[i] = half_of((int)(fake_random(fake) % 512) / 8.0 - 32);
        image.factor[i] = half_of((int)(fake_random(fake) % 255 + 1) / 256.0);
    }
    for (unsigned i = 0; i < 4; i++) {
        image.pad[i] = (uint16_t)fake_random(fake);
    }
    return image;
}

/* HW-DMA-50 .. HW-DMA-55 */
static void images_are_what_the_reference_says(void)
{
    struct fake *fake = fake_create("generic");
    uint8_t *l1 = fake->core.local[LEO_MEM_SPACE_L1].data;
    const uint32_t bytes = fake->core.local[LEO_MEM_SPACE_L1].bytes;
    for (unsigned i = 0; i < 3000; i++) {
        const struct image image = random_image(fake);
        uint8_t *want = fake_copy(l1, bytes);
        expect(fake, &image, want + 64);
        CU_ASSERT_EQUAL(run(fake, &image), LEO_FAULT_NONE);
        if (memcmp(l1, want, bytes) != 0) {
            fprintf(stderr, "image %u: format %u type %u edge %u differs\n", i, image.how.format,
                    image.edge.dtype, image.how.edge);
            CU_FAIL_FATAL("image differs from the reference");
        }
        free(want);
    }
    fake_destroy(fake);
}

/* HW-DMA-56 */
static void images_that_cannot_be_are_faults(void)
{
    struct fake *fake = fake_create("generic");
    const struct image good = {.place = {.hor_last = 7, .ver_last = 7},
                               .edge = {.src_last = 7, .dtype = LEO_DTYPE_U8},
                               .how = {.format = LEO_IMAGE_FORMAT_RGB888}};
    CU_ASSERT_EQUAL(run(fake, &good), LEO_FAULT_NONE);
    struct image bad = good;
    bad.place.hor_start = 1;
    CU_ASSERT_EQUAL(run(fake, &bad), LEO_FAULT_ILLEGAL_CONFIG);
    bad = good;
    bad.edge.dtype = LEO_DTYPE_F32;
    CU_ASSERT_EQUAL(run(fake, &bad), LEO_FAULT_ILLEGAL_CONFIG);
    bad = good;
    bad.how.format = 2;
    CU_ASSERT_EQUAL(run(fake, &bad), LEO_FAULT_ILLEGAL_CONFIG);
    bad = good;
    bad.how.edge = LEO_IMAGE_EDGE_MIRROR;
    bad.edge.left = 9;
    CU_ASSERT_EQUAL(run(fake, &bad), LEO_FAULT_ILLEGAL_CONFIG);
    bad = good;
    bad.edge.left = 8191;
    bad.edge.right = 8191;
    bad.place.ver_last = 500;
    CU_ASSERT_EQUAL(run(fake, &bad), LEO_FAULT_LOCAL_OUT_OF_RANGE);
    bad = good;
    bad.place.ver_start = 8191;
    bad.edge.src_last = 4095;
    CU_ASSERT_EQUAL(run(fake, &bad), LEO_FAULT_GM_OUT_OF_RANGE);
    fake_destroy(fake);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"images_are_what_the_reference_says", images_are_what_the_reference_says},
        {"images_that_cannot_be_are_faults", images_that_cannot_be_are_faults},
    };
    return leo_test_main("image", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
