/* SPDX-License-Identifier: Apache-2.0 */
/* The media calls as a program uses them: encode, decode, crop and resize, in order on a stream. */
#include "harness.h"

#include <acl/acl.h>
#include <acl/ops/acl_dvpp.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) CU_ASSERT_EQUAL_FATAL((call), ACL_SUCCESS)

enum { WIDTH = 256, HEIGHT = 128 };

struct world {
    aclrtStream stream;
    acldvppChannelDesc *channel;
};

static void begin(struct world *world)
{
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&world->stream));
    world->channel = acldvppCreateChannelDesc();
    CU_ASSERT_PTR_NOT_NULL_FATAL(world->channel);
    OK(acldvppCreateChannel(world->channel));
}

static void end(struct world *world)
{
    OK(acldvppDestroyChannel(world->channel));
    OK(acldvppDestroyChannelDesc(world->channel));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
}

static acldvppPicDesc *make_picture(uint32_t width, uint32_t height, acldvppPixelFormat format)
{
    const uint32_t unit = format == PIXEL_FORMAT_RGB_888 ? 3 : 1;
    const uint32_t row = (width * unit + 15) / 16 * 16, rows = (height + 1) / 2 * 2;
    const uint32_t bytes = unit == 3 ? row * rows : row * rows * 3 / 2;
    acldvppPicDesc *picture = acldvppCreatePicDesc();
    void *data;
    CU_ASSERT_PTR_NOT_NULL_FATAL(picture);
    OK(acldvppMalloc(&data, bytes));
    OK(acldvppSetPicDescData(picture, data));
    OK(acldvppSetPicDescSize(picture, bytes));
    OK(acldvppSetPicDescFormat(picture, format));
    OK(acldvppSetPicDescWidth(picture, width));
    OK(acldvppSetPicDescHeight(picture, height));
    OK(acldvppSetPicDescWidthStride(picture, row));
    OK(acldvppSetPicDescHeightStride(picture, rows));
    OK(acldvppSetPicDescRetCode(picture, 77));
    return picture;
}

static void drop_picture(acldvppPicDesc *picture)
{
    OK(acldvppFree(acldvppGetPicDescData(picture)));
    OK(acldvppDestroyPicDesc(picture));
}

static uint8_t *fetch(const acldvppPicDesc *picture)
{
    const uint32_t bytes = acldvppGetPicDescSize(picture);
    uint8_t *host = malloc(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(host);
    OK(aclrtMemcpy(host, bytes, acldvppGetPicDescData(picture), bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    return host;
}

/* A file on the device, made by the encoder. */
static void make_file(struct world *world, void **file, uint32_t *bytes)
{
    acldvppPicDesc *picture = make_picture(WIDTH, HEIGHT, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
    acldvppJpegeConfig *config = acldvppCreateJpegeConfig();
    const uint32_t size = acldvppGetPicDescSize(picture);
    uint8_t *host = malloc(size);
    for (uint32_t i = 0; i < size; i++) {
        host[i] = i < WIDTH * HEIGHT ? (uint8_t)(i % WIDTH / 2 + i / WIDTH) : 128;
    }
    OK(aclrtMemcpy(acldvppGetPicDescData(picture), size, host, size, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(acldvppSetJpegeConfigLevel(config, 95));
    CU_ASSERT_EQUAL(acldvppGetJpegeConfigLevel(config), 95);
    OK(acldvppJpegPredictEncSize(picture, config, bytes));
    OK(acldvppMalloc(file, *bytes));
    const uint32_t room = *bytes;
    OK(acldvppJpegEncodeAsync(world->channel, picture, *file, bytes, config, world->stream));
    OK(aclrtSynchronizeStream(world->stream));
    CU_ASSERT(*bytes > 100 && *bytes < room);
    free(host);
    OK(acldvppDestroyJpegeConfig(config));
    drop_picture(picture);
}

/* The sample program: decode, resize to the network's input, convert to RGB. */
static void a_file_becomes_a_small_picture(void)
{
    struct world world;
    void *file, *data;
    uint32_t bytes = 0, decoded_bytes = 0, width = 0, height = 0;
    int32_t components = 0;
    begin(&world);
    make_file(&world, &file, &bytes);
    uint8_t *host_file = malloc(bytes);
    OK(aclrtMemcpy(host_file, bytes, file, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(acldvppJpegGetImageInfo(host_file, bytes, &width, &height, &components));
    CU_ASSERT(width == WIDTH && height == HEIGHT && components == 3);
    acldvppJpegFormat sampling = ACL_JPEG_CSS_UNKNOWN;
    OK(acldvppJpegGetImageInfoV2(host_file, bytes, &width, NULL, NULL, &sampling));
    CU_ASSERT_EQUAL(sampling, ACL_JPEG_CSS_420);
    OK(acldvppJpegPredictDecSize(host_file, bytes, PIXEL_FORMAT_YUV_SEMIPLANAR_420,
                                 &decoded_bytes));
    CU_ASSERT_EQUAL(decoded_bytes, WIDTH * HEIGHT * 3 / 2);
    acldvppPicDesc *decoded = acldvppCreatePicDesc();
    OK(acldvppMalloc(&data, decoded_bytes));
    OK(acldvppSetPicDescData(decoded, data));
    OK(acldvppSetPicDescSize(decoded, decoded_bytes));
    OK(acldvppSetPicDescFormat(decoded, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
    OK(acldvppJpegDecodeAsync(world.channel, file, bytes, decoded, world.stream));
    CU_ASSERT_EQUAL(acldvppGetPicDescWidthStride(decoded), 256);

    acldvppPicDesc *small = make_picture(64, 64, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
    acldvppPicDesc *rgb = make_picture(64, 64, PIXEL_FORMAT_RGB_888);
    acldvppResizeConfig *config = acldvppCreateResizeConfig();
    aclrtEvent before, after;
    float ms = 0;
    OK(aclrtCreateEvent(&before));
    OK(aclrtCreateEvent(&after));
    OK(aclrtRecordEvent(before, world.stream));
    OK(acldvppVpcResizeAsync(world.channel, decoded, small, config, world.stream));
    OK(aclrtRecordEvent(after, world.stream));
    OK(acldvppVpcConvertColorAsync(world.channel, small, rgb, world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    CU_ASSERT_EQUAL(acldvppGetPicDescRetCode(small), 0);
    CU_ASSERT_EQUAL(acldvppGetPicDescRetCode(rgb), 0);
    OK(aclrtEventElapsedTime(&ms, before, after));
    // 20 us and 32768 pixels at 2986 a microsecond, see [dvpp] of the SoC file.
    CU_ASSERT(ms > 0.030F && ms < 0.033F);
    uint8_t *pixels = fetch(rgb);
    for (int y = 2; y < 62; y++) {
        for (int x = 2; x < 62; x++) {
            // Column x covers columns 4 x to 4 x + 3 of the file, row y rows 2 y and 2 y + 1.
            const int want = (4 * x + 2) / 2 + 2 * y;
            CU_ASSERT(abs(pixels[y * 192 + 3 * x + 1] - want) <= 6);
        }
    }
    free(pixels);
    free(host_file);
    OK(acldvppDestroyResizeConfig(config));
    drop_picture(small);
    drop_picture(rgb);
    drop_picture(decoded);
    OK(acldvppFree(file));
    end(&world);
}

static void areas_of_a_batch(void)
{
    struct world world;
    begin(&world);
    acldvppBatchPicDesc *in = acldvppCreateBatchPicDesc(1), *out = acldvppCreateBatchPicDesc(2);
    acldvppPicDesc *source = make_picture(64, 32, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
    acldvppPicDesc *parts[] = {make_picture(16, 16, PIXEL_FORMAT_YUV_SEMIPLANAR_420),
                               make_picture(16, 16, PIXEL_FORMAT_YUV_SEMIPLANAR_420)};
    acldvppRoiConfig *areas[] = {acldvppCreateRoiConfig(0, 15, 0, 15),
                                 acldvppCreateRoiConfig(32, 63, 0, 31)};
    const uint32_t size = acldvppGetPicDescSize(source);
    uint32_t counts[] = {2};
    uint8_t *host = malloc(size);
    for (uint32_t i = 0; i < size; i++) {
        host[i] = i % 64 < 32 ? 10 : 200;
    }
    OK(aclrtMemcpy(acldvppGetPicDescData(source), size, host, size, ACL_MEMCPY_HOST_TO_DEVICE));
    const acldvppPicDesc *from[] = {source, parts[0], parts[1]};
    acldvppPicDesc *to[] = {acldvppGetPicDesc(in, 0), acldvppGetPicDesc(out, 0),
                            acldvppGetPicDesc(out, 1)};
    for (int i = 0; i < 3; i++) {
        OK(acldvppSetPicDescData(to[i], acldvppGetPicDescData(from[i])));
        OK(acldvppSetPicDescSize(to[i], acldvppGetPicDescSize(from[i])));
        OK(acldvppSetPicDescFormat(to[i], acldvppGetPicDescFormat(from[i])));
        OK(acldvppSetPicDescWidth(to[i], acldvppGetPicDescWidth(from[i])));
        OK(acldvppSetPicDescHeight(to[i], acldvppGetPicDescHeight(from[i])));
        OK(acldvppSetPicDescWidthStride(to[i], acldvppGetPicDescWidthStride(from[i])));
        OK(acldvppSetPicDescHeightStride(to[i], acldvppGetPicDescHeightStride(from[i])));
        OK(acldvppSetPicDescRetCode(to[i], 9));
    }
    OK(acldvppVpcBatchCropResizeAsync(world.channel, in, counts, 1, out, areas, NULL,
                                      world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    for (int i = 0; i < 2; i++) {
        uint8_t *pixels = fetch(parts[i]);
        CU_ASSERT_EQUAL(acldvppGetPicDescRetCode(to[i + 1]), 0);
        for (int k = 0; k < 16 * 24; k++) {
            CU_ASSERT_EQUAL(pixels[k], i ? 200 : 10);
        }
        free(pixels);
        drop_picture(parts[i]);
        OK(acldvppDestroyRoiConfig(areas[i]));
    }
    CU_ASSERT_PTR_NULL(acldvppGetPicDesc(out, 2));
    OK(acldvppDestroyBatchPicDesc(in));
    OK(acldvppDestroyBatchPicDesc(out));
    drop_picture(source);
    free(host);
    end(&world);
}

/* A picture whose left half is dark and right half bright. */
static acldvppPicDesc *make_halves(uint32_t width, uint32_t height)
{
    acldvppPicDesc *picture = make_picture(width, height, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
    const uint32_t size = acldvppGetPicDescSize(picture);
    const uint32_t row = acldvppGetPicDescWidthStride(picture);
    uint8_t *host = malloc(size);
    for (uint32_t i = 0; i < size; i++) {
        host[i] = i % row < width / 2 ? 10 : 200;
    }
    OK(aclrtMemcpy(acldvppGetPicDescData(picture), size, host, size, ACL_MEMCPY_HOST_TO_DEVICE));
    free(host);
    return picture;
}

static void clear(const acldvppPicDesc *picture)
{
    const uint32_t size = acldvppGetPicDescSize(picture);
    OK(aclrtMemset(acldvppGetPicDescData(picture), size, 0, size));
}

/* What columns [left, right) of the first 8 rows show. */
static int shows(const acldvppPicDesc *picture, uint32_t left, uint32_t right, uint8_t value)
{
    uint8_t *pixels = fetch(picture);
    int good = 1;
    for (uint32_t y = 0; y < 8; y++) {
        for (uint32_t x = left; x < right; x++) {
            good = good && pixels[y * acldvppGetPicDescWidthStride(picture) + x] == value;
        }
    }
    free(pixels);
    return good;
}

/* As an object detector uses them: cut out, enlarge, put side by side. */
static void areas_are_cut_out_and_pasted(void)
{
    struct world world;
    begin(&world);
    acldvppPicDesc *source = make_halves(64, 32), *out = make_halves(64, 32);
    acldvppRoiConfig *crop = acldvppCreateRoiConfig(0, 1, 0, 1);
    acldvppRoiConfig *paste = acldvppCreateRoiConfig(32, 63, 0, 31);
    acldvppResizeConfig *resize = acldvppCreateResizeConfig();
    OK(acldvppSetRoiConfigLeft(crop, 32));
    OK(acldvppSetRoiConfigRight(crop, 63));
    OK(acldvppSetRoiConfigTop(crop, 0));
    OK(acldvppSetRoiConfigBottom(crop, 31));
    OK(acldvppSetResizeConfigInterpolation(resize, 2));
    CU_ASSERT_EQUAL(acldvppGetResizeConfigInterpolation(resize), 2);
    (void)acldvppGetChannelDescChannelId(world.channel);
    OK(acldvppVpcCropResizeAsync(world.channel, source, out, crop, resize, world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    CU_ASSERT(shows(out, 0, 64, 200)); // the bright half, twice as wide
    clear(out);
    OK(acldvppVpcCropAndPasteAsync(world.channel, source, out, crop, paste, world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    CU_ASSERT(shows(out, 0, 32, 0)); // what lies outside of the area stays
    CU_ASSERT(shows(out, 32, 64, 200));
    OK(acldvppSetRoiConfig(crop, 0, 31, 0, 31));
    OK(acldvppSetRoiConfig(paste, 0, 15, 0, 15));
    OK(acldvppVpcCropResizePasteAsync(world.channel, source, out, crop, paste, resize,
                                      world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    CU_ASSERT(shows(out, 0, 16, 10) && shows(out, 16, 32, 0) && shows(out, 32, 64, 200));
    CU_ASSERT_EQUAL(acldvppVpcCropAndPasteAsync(world.channel, source, out, crop, NULL, NULL),
                    ACL_ERROR_INVALID_PARAM);
    OK(acldvppDestroyRoiConfig(crop));
    OK(acldvppDestroyRoiConfig(paste));
    OK(acldvppDestroyResizeConfig(resize));
    drop_picture(source);
    drop_picture(out);
    end(&world);
}

static void put_into(acldvppBatchPicDesc *batch, uint32_t index, const acldvppPicDesc *from)
{
    acldvppPicDesc *to = acldvppGetPicDesc(batch, index);
    OK(acldvppSetPicDescData(to, acldvppGetPicDescData(from)));
    OK(acldvppSetPicDescSize(to, acldvppGetPicDescSize(from)));
    OK(acldvppSetPicDescFormat(to, acldvppGetPicDescFormat(from)));
    OK(acldvppSetPicDescWidth(to, acldvppGetPicDescWidth(from)));
    OK(acldvppSetPicDescHeight(to, acldvppGetPicDescHeight(from)));
    OK(acldvppSetPicDescWidthStride(to, acldvppGetPicDescWidthStride(from)));
    OK(acldvppSetPicDescHeightStride(to, acldvppGetPicDescHeightStride(from)));
}

static void a_batch_is_pasted(void)
{
    struct world world;
    begin(&world);
    acldvppBatchPicDesc *in = acldvppCreateBatchPicDesc(2), *out = acldvppCreateBatchPicDesc(2);
    acldvppPicDesc *source = make_halves(64, 32), *first = make_halves(64, 32),
                   *second = make_halves(64, 32);
    acldvppRoiConfig *crop[] = {acldvppCreateRoiConfig(0, 31, 0, 31),
                                acldvppCreateRoiConfig(32, 63, 0, 31)};
    acldvppRoiConfig *paste[] = {acldvppCreateRoiConfig(32, 63, 0, 31),
                                 acldvppCreateRoiConfig(0, 31, 0, 31)};
    uint32_t counts[] = {1, 1};
    clear(first);
    clear(second);
    put_into(in, 0, source);
    put_into(in, 1, source);
    put_into(out, 0, first);
    put_into(out, 1, second);
    OK(acldvppVpcBatchCropAndPasteAsync(world.channel, in, counts, 2, out, crop, paste,
                                        world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    CU_ASSERT(shows(first, 0, 32, 0) && shows(first, 32, 64, 10));
    CU_ASSERT(shows(second, 0, 32, 200) && shows(second, 32, 64, 0));
    OK(acldvppVpcBatchCropResizePasteAsync(world.channel, in, counts, 2, out, crop, crop, NULL,
                                           world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    CU_ASSERT(shows(first, 0, 64, 10) && shows(second, 0, 64, 200));
    OK(acldvppVpcBatchCropAsync(world.channel, in, counts, 2, out, paste, world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    CU_ASSERT(shows(first, 0, 64, 200) && shows(second, 0, 64, 10));
    CU_ASSERT_EQUAL(acldvppVpcBatchCropAndPasteAsync(world.channel, in, counts, 2, out, crop, NULL,
                                                     world.stream),
                    ACL_ERROR_INVALID_PARAM);
    for (int i = 0; i < 2; i++) {
        OK(acldvppDestroyRoiConfig(crop[i]));
        OK(acldvppDestroyRoiConfig(paste[i]));
    }
    OK(acldvppDestroyBatchPicDesc(in));
    OK(acldvppDestroyBatchPicDesc(out));
    drop_picture(source);
    drop_picture(first);
    drop_picture(second);
    end(&world);
}

/* A file of another library, whatever it holds, without loss. */
static void a_png_file_becomes_a_picture(void)
{
    enum { W = 34, H = 18 };
    uint8_t pixels[H][W][4], file[W * H * 8];
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = W, .height = H, .format = PNG_FORMAT_RGBA};
    png_alloc_size_t bytes = sizeof(file);
    struct world world;
    uint32_t width = 0, height = 0, decoded = 0;
    int32_t components = 0, wrong = 0;
    void *data, *picture_data;
    for (int i = 0; i < W * H; i++) {
        uint8_t *pixel = pixels[i / W][i % W];
        pixel[0] = (uint8_t)(i * 3);
        pixel[1] = (uint8_t)(255 - i);
        pixel[2] = (uint8_t)(i / W * 9);
        pixel[3] = i % W == 5 ? 0 : 255;
    }
    CU_ASSERT_TRUE_FATAL(png_image_write_to_memory(&image, file, &bytes, 0, pixels, 0, NULL));
    begin(&world);
    OK(acldvppPngGetImageInfo(file, (uint32_t)bytes, &width, &height, &components));
    CU_ASSERT_TRUE(width == W && height == H && components == 4);
    OK(acldvppPngPredictDecSize(file, (uint32_t)bytes, PIXEL_FORMAT_RGB_888, &decoded));
    CU_ASSERT_EQUAL(decoded, 128 * 3 * 32);
    CU_ASSERT_EQUAL(
        acldvppPngPredictDecSize(file, (uint32_t)bytes, PIXEL_FORMAT_YUV_SEMIPLANAR_420, &decoded),
        ACL_ERROR_INVALID_PARAM);
    OK(acldvppMalloc(&data, (uint32_t)bytes));
    OK(aclrtMemcpy(data, bytes, file, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(acldvppMalloc(&picture_data, decoded));
    acldvppPicDesc *picture = acldvppCreatePicDesc();
    OK(acldvppSetPicDescData(picture, picture_data));
    OK(acldvppSetPicDescSize(picture, decoded));
    OK(acldvppSetPicDescFormat(picture, PIXEL_FORMAT_RGB_888));
    OK(acldvppPngDecodeAsync(world.channel, data, (uint32_t)bytes, picture, world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    CU_ASSERT_EQUAL(acldvppGetPicDescRetCode(picture), 0);
    CU_ASSERT_EQUAL(acldvppGetPicDescWidthStride(picture), 128 * 3);
    uint8_t *host = fetch(picture);
    for (int i = 0; i < W * H; i++) {
        for (int c = 0; c < 3; c++) {
            const uint8_t want = i % W == 5 ? 0 : pixels[i / W][i % W][c]; // on a black ground
            wrong += host[i / W * 384 + i % W * 3 + c] != want;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(acldvppPngGetImageInfo(host, 64, &width, &height, &components),
                    ACL_ERROR_INVALID_PARAM);
    // A file that is cut off is reported by the stream.
    OK(acldvppPngDecodeAsync(world.channel, data, (uint32_t)bytes / 2, picture, world.stream));
    CU_ASSERT_NOT_EQUAL(aclrtSynchronizeStream(world.stream), ACL_SUCCESS);
    CU_ASSERT_NOT_EQUAL(acldvppGetPicDescRetCode(picture), 0);
    free(host);
    OK(acldvppFree(data));
    drop_picture(picture);
    end(&world);
}

enum { ODD_WIDTH = 35, ODD_HEIGHT = 21 };

/* The Y of a column and row of the odd picture, whose colours are 90 and 160. */
static int odd_luma(uint32_t x, uint32_t y)
{
    return (int)(40 + 2 * x + 3 * y);
}

static void check_odd(const acldvppPicDesc *picture, uint32_t width, uint32_t height)
{
    uint8_t *host = fetch(picture);
    const uint32_t row = acldvppGetPicDescWidthStride(picture),
                   rows = acldvppGetPicDescHeightStride(picture);
    int worst = 0;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const uint8_t *pair = host + (size_t)row * (rows + y / 2) + x / 2 * 2;
            const int luma =
                odd_luma(x < ODD_WIDTH ? x : ODD_WIDTH - 1, y < ODD_HEIGHT ? y : ODD_HEIGHT - 1);
            const int wrong[] = {abs(host[(size_t)y * row + x] - luma), abs(pair[0] - 90),
                                 abs(pair[1] - 160)};
            for (int i = 0; i < 3; i++) {
                worst = wrong[i] > worst ? wrong[i] : worst;
            }
        }
    }
    CU_ASSERT(worst <= 3);
    free(host);
}

/* Public samples decode pictures of 1024 x 683 and resize what they got. */
static void sizes_may_be_odd(void)
{
    struct world world;
    begin(&world);
    const acldvppPixelFormat format = PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    acldvppPicDesc *picture = make_picture(ODD_WIDTH, ODD_HEIGHT, format),
                   *odd = make_picture(ODD_WIDTH, ODD_HEIGHT, format),
                   *even = make_picture(ODD_WIDTH + 1, ODD_HEIGHT + 1, format),
                   *other = make_picture(ODD_WIDTH, ODD_HEIGHT + 3, format),
                   *small = make_picture(18, 10, format);
    acldvppJpegeConfig *config = acldvppCreateJpegeConfig();
    const uint32_t row = acldvppGetPicDescWidthStride(picture),
                   rows = acldvppGetPicDescHeightStride(picture);
    uint32_t bytes;
    void *file;
    uint8_t *host = fetch(picture);
    for (uint32_t y = 0; y < rows; y++) {
        for (uint32_t x = 0; x < row; x++) {
            host[y * row + x] = (uint8_t)odd_luma(x, y);
            host[row * (rows + y / 2) + x] = x % 2 ? 160 : 90;
        }
    }
    OK(aclrtMemcpy(acldvppGetPicDescData(picture), acldvppGetPicDescSize(picture), host,
                   acldvppGetPicDescSize(picture), ACL_MEMCPY_HOST_TO_DEVICE));
    check_odd(picture, ODD_WIDTH, ODD_HEIGHT);
    OK(acldvppSetJpegeConfigLevel(config, 100));
    OK(acldvppJpegPredictEncSize(picture, config, &bytes));
    OK(acldvppMalloc(&file, bytes));
    OK(acldvppJpegEncodeAsync(world.channel, picture, file, &bytes, config, world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    OK(acldvppJpegDecodeAsync(world.channel, file, bytes, odd, world.stream));
    OK(acldvppJpegDecodeAsync(world.channel, file, bytes, even, world.stream));
    OK(acldvppVpcResizeAsync(world.channel, odd, small, NULL, world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    check_odd(odd, ODD_WIDTH, ODD_HEIGHT);
    check_odd(even, ODD_WIDTH + 1, ODD_HEIGHT + 1);
    uint8_t *resized = fetch(small);
    CU_ASSERT(abs(resized[4 * acldvppGetPicDescWidthStride(small) + 9] - odd_luma(17, 9)) <= 5);
    free(resized);
    // A picture of other sizes would be read behind its end.
    (void)acldvppJpegDecodeAsync(world.channel, file, bytes, other, world.stream);
    (void)aclrtSynchronizeStream(world.stream);
    CU_ASSERT_NOT_EQUAL(acldvppGetPicDescRetCode(other), 0);
    free(host);
    OK(acldvppFree(file));
    OK(acldvppDestroyJpegeConfig(config));
    drop_picture(picture);
    drop_picture(odd);
    drop_picture(even);
    drop_picture(other);
    drop_picture(small);
    end(&world);
}

/* Borders, alone and around areas of a batch, as detectors put pictures into squares. */
static void pictures_get_borders(void)
{
    struct world world;
    begin(&world);
    acldvppPicDesc *source = make_halves(64, 32), *out = make_halves(80, 48);
    acldvppBatchPicDesc *in = acldvppCreateBatchPicDesc(1), *outs = acldvppCreateBatchPicDesc(1);
    acldvppBorderConfig *border = acldvppCreateBorderConfig();
    acldvppRoiConfig *crop = acldvppCreateRoiConfig(32, 63, 0, 31);
    uint32_t counts[] = {1};
    OK(acldvppSetBorderConfigLeft(border, 16));
    OK(acldvppSetBorderConfigTop(border, 4));
    OK(acldvppSetBorderConfigBottom(border, 12));
    OK(acldvppSetBorderConfigBorderType(border, BORDER_CONSTANT));
    OK(acldvppSetBorderConfigValue(border, 0, 77));
    CU_ASSERT(acldvppGetBorderConfigLeft(border) == 16 && acldvppGetBorderConfigTop(border) == 4 &&
              acldvppGetBorderConfigBottom(border) == 12 &&
              acldvppGetBorderConfigRight(border) == 0 &&
              acldvppGetBorderConfigBorderType(border) == BORDER_CONSTANT &&
              acldvppGetBorderConfigValue(border, 0) == 77);
    OK(acldvppVpcMakeBorderAsync(world.channel, source, out, border, world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    uint8_t *pixels = fetch(out);
    CU_ASSERT(pixels[3 * 80 + 40] == 77 && pixels[4 * 80 + 15] == 77);
    CU_ASSERT(pixels[4 * 80 + 16] == 10 && pixels[35 * 80 + 79] == 200);
    CU_ASSERT(pixels[36 * 80 + 79] == 77);
    free(pixels);
    put_into(in, 0, source);
    put_into(outs, 0, out);
    OK(acldvppSetBorderConfigBorderType(border, BORDER_REPLICATE));
    OK(acldvppVpcBatchCropResizeMakeBorderAsync(world.channel, in, counts, 1, outs, &crop, &border,
                                                NULL, world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    CU_ASSERT(shows(out, 0, 80, 200)); // all of it is the bright half
    CU_ASSERT_EQUAL(acldvppVpcMakeBorderAsync(world.channel, source, source, border, world.stream),
                    ACL_ERROR_INVALID_PARAM); // no room
    OK(acldvppSetBorderConfigLeft(border, 15));
    OK(acldvppSetBorderConfigRight(border, 1));
    CU_ASSERT_EQUAL(acldvppVpcMakeBorderAsync(world.channel, source, out, border, world.stream),
                    ACL_ERROR_INVALID_PARAM); // odd, in 4:2:0
    CU_ASSERT_EQUAL(acldvppSetBorderConfigValue(border, 4, 0), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(acldvppSetBorderConfigValue(border, 0, 256), ACL_ERROR_INVALID_PARAM);
    OK(acldvppDestroyBorderConfig(border));
    OK(acldvppDestroyRoiConfig(crop));
    OK(acldvppDestroyBatchPicDesc(in));
    OK(acldvppDestroyBatchPicDesc(outs));
    drop_picture(source);
    drop_picture(out);
    end(&world);
}

static void values_are_counted_mapped_and_halved(void)
{
    struct world world;
    begin(&world);
    acldvppPicDesc *source = make_halves(64, 32), *out = make_halves(64, 32),
                   *half = make_halves(32, 16);
    acldvppHist *hist = acldvppCreateHist();
    acldvppLutMap *map = acldvppCreateLutMap();
    uint32_t *counts, len = 0;
    uint16_t count = 0;
    uint8_t *table;
    CU_ASSERT_EQUAL(acldvppGetHistDims(hist), 0);
    OK(acldvppVpcCalcHistAsync(world.channel, source, hist, NULL, world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    CU_ASSERT(acldvppGetHistDims(hist) == 3 && acldvppGetHistRetCode(hist) == 0);
    OK(acldvppGetHistData(hist, 0, &counts, &count));
    CU_ASSERT(count == 256 && counts[10] == 1024 && counts[200] == 1024 && counts[11] == 0);
    CU_ASSERT_EQUAL(acldvppGetHistData(hist, 3, &counts, &count), ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(acldvppGetLutMapDims(map), 3);
    OK(acldvppGetLutMapData(map, 0, &table, &len));
    CU_ASSERT_EQUAL_FATAL(len, 256);
    table[10] = 99;
    table[200] = 3;
    OK(acldvppVpcEqualizeHistAsync(world.channel, source, out, map, world.stream));
    table[10] = 0; // it has been read
    OK(acldvppVpcPyrDownAsync(world.channel, source, half, NULL, world.stream));
    OK(aclrtSynchronizeStream(world.stream));
    CU_ASSERT(shows(out, 0, 32, 99) && shows(out, 32, 64, 3));
    // Column 16 of the half lies on column 32: 200 has 6 + 4 + 1 of 16, 10 the rest.
    CU_ASSERT(shows(half, 0, 15, 10) && shows(half, 17, 32, 200));
    CU_ASSERT(shows(half, 16, 17, (200 * 11 + 10 * 5 + 8) / 16));
    CU_ASSERT_EQUAL(acldvppVpcPyrDownAsync(world.channel, source, out, NULL, world.stream),
                    ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(acldvppVpcEqualizeHistAsync(world.channel, source, half, map, world.stream),
                    ACL_ERROR_INVALID_PARAM);
    OK(acldvppClearHist(hist));
    CU_ASSERT_EQUAL(acldvppGetHistDims(hist), 0);
    OK(acldvppDestroyHist(hist));
    OK(acldvppDestroyLutMap(map));
    drop_picture(source);
    drop_picture(out);
    drop_picture(half);
    end(&world);
}

/* White of narrow range (235) is 255, of wide range not. */
static void channels_have_colours(void)
{
    struct world world;
    begin(&world);
    acldvppPicDesc *source = make_halves(16, 16), *rgb = make_picture(16, 16, PIXEL_FORMAT_RGB_888);
    const uint32_t size = acldvppGetPicDescSize(source), matrices[] = {0, 1};
    uint8_t host[16 * 24];
    size_t bytes = 0;
    uint32_t value = 6;
    memset(host, 235, 16 * 16);
    memset(host + 16 * 16, 128, 16 * 8);
    OK(aclrtMemcpy(acldvppGetPicDescData(source), size, host, size, ACL_MEMCPY_HOST_TO_DEVICE));
    for (int i = 0; i < 2; i++) {
        OK(acldvppSetChannelDescParam(world.channel, ACL_DVPP_CSC_MATRIX_UINT32, 4, &matrices[i]));
        OK(acldvppVpcConvertColorAsync(world.channel, source, rgb, world.stream));
        OK(aclrtSynchronizeStream(world.stream));
        CU_ASSERT(shows(rgb, 0, 48, i ? 255 : 235));
    }
    CU_ASSERT_EQUAL(
        acldvppSetChannelDescParam(world.channel, ACL_DVPP_CSC_MATRIX_UINT32, 4, &value),
        ACL_ERROR_INVALID_PARAM);
    CU_ASSERT_EQUAL(
        acldvppSetChannelDescParam(world.channel, ACL_DVPP_CHANNEL_WIDTH_UINT32, 4, &value),
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(acldvppGetChannelDescParam(world.channel, ACL_DVPP_CSC_MATRIX_UINT32, 4, &bytes, &value));
    CU_ASSERT(value == 1 && bytes == 4);
    CU_ASSERT_EQUAL(
        acldvppGetChannelDescParam(world.channel, ACL_DVPP_CHANNEL_ID_UINT64, 4, &bytes, &value),
        ACL_ERROR_INVALID_PARAM); // of eight bytes
    drop_picture(source);
    drop_picture(rgb);
    end(&world);
}

static void wrong_use_is_told(void)
{
    struct world world;
    begin(&world);
    acldvppPicDesc *a = make_picture(64, 32, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
    acldvppPicDesc *b = make_picture(32, 32, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
    acldvppRoiConfig *odd = acldvppCreateRoiConfig(1, 15, 0, 15),
                     *outside = acldvppCreateRoiConfig(0, 65, 0, 15);
    aclrtStream s = world.stream;
    acldvppChannelDesc *jpeg = acldvppCreateChannelDesc();
    const int bad = ACL_ERROR_INVALID_PARAM;
    char junk[64] = "this is not a picture";
    CU_ASSERT_EQUAL(acldvppVpcResizeAsync(NULL, a, b, NULL, s), bad);
    CU_ASSERT_EQUAL(acldvppVpcResizeAsync(jpeg, a, b, NULL, s), bad); // not created
    OK(acldvppSetChannelDescMode(jpeg, DVPP_CHNMODE_JPEGD));
    OK(acldvppCreateChannel(jpeg));
    CU_ASSERT_EQUAL(acldvppVpcResizeAsync(jpeg, a, b, NULL, s), bad); // another mode
    CU_ASSERT_EQUAL(acldvppDestroyChannelDesc(jpeg), bad);
    OK(acldvppDestroyChannel(jpeg));
    CU_ASSERT_EQUAL(acldvppDestroyChannel(jpeg), bad);
    CU_ASSERT_EQUAL(acldvppSetChannelDescMode(jpeg, 16), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    OK(acldvppDestroyChannelDesc(jpeg));
    CU_ASSERT_EQUAL(acldvppVpcResizeAsync(world.channel, NULL, b, NULL, s), bad);
    CU_ASSERT_EQUAL(acldvppVpcConvertColorAsync(world.channel, a, b, s), bad); // another size
    CU_ASSERT_EQUAL(acldvppVpcCropAsync(world.channel, a, b, NULL, s), bad);
    CU_ASSERT_EQUAL(acldvppVpcCropAsync(world.channel, a, b, odd, s), bad);
    CU_ASSERT_EQUAL(acldvppVpcCropAsync(world.channel, a, b, outside, s), bad);
    CU_ASSERT_EQUAL(acldvppJpegGetImageInfo(junk, sizeof(junk), NULL, NULL, NULL), bad);
    OK(aclrtMemcpy(acldvppGetPicDescData(a), 64, junk, 64, ACL_MEMCPY_HOST_TO_DEVICE));
    CU_ASSERT_EQUAL(acldvppJpegDecodeAsync(world.channel, acldvppGetPicDescData(a), 64, b, s), bad);
    CU_ASSERT_EQUAL(acldvppJpegDecodeAsync(world.channel, junk, 64, b, s), bad); // host memory
    OK(acldvppSetPicDescSize(b, 10));
    CU_ASSERT_EQUAL(acldvppVpcResizeAsync(world.channel, a, b, NULL, s), bad);
    CU_ASSERT_EQUAL(acldvppSetPicDescWidth(NULL, 1), bad);
    CU_ASSERT_PTR_NULL(acldvppCreateBatchPicDesc(0));
    OK(acldvppDestroyRoiConfig(odd));
    OK(acldvppDestroyRoiConfig(outside));
    drop_picture(a);
    drop_picture(b);
    end(&world);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"a_file_becomes_a_small_picture", a_file_becomes_a_small_picture},
        {"areas_of_a_batch", areas_of_a_batch},
        {"areas_are_cut_out_and_pasted", areas_are_cut_out_and_pasted},
        {"a_batch_is_pasted", a_batch_is_pasted},
        {"a_png_file_becomes_a_picture", a_png_file_becomes_a_picture},
        {"sizes_may_be_odd", sizes_may_be_odd},
        {"pictures_get_borders", pictures_get_borders},
        {"values_are_counted_mapped_and_halved", values_are_counted_mapped_and_halved},
        {"channels_have_colours", channels_have_colours},
        {"wrong_use_is_told", wrong_use_is_told},
    };
    return leo_test_main("dvpp", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
