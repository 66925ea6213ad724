/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG by libjpeg-turbo. Its errors come back by longjmp: what they may leave behind is in `work`,
 * which outlives the jump. */
#include "picture.h"

#include <leo/alloc.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// After stdio.h, which it needs.
#include <jpeglib.h>

struct catcher {
    struct jpeg_error_mgr manager; /* first: the library knows this part */
    jmp_buf where;
    char text[JMSG_LENGTH_MAX];
};

static void jump_back(j_common_ptr info)
{
    struct catcher *catcher = (struct catcher *)(void *)info->err;
    info->err->format_message(info, catcher->text);
    longjmp(catcher->where, 1);
}

static void say_nothing(j_common_ptr info)
{
    (void)info;
}

static struct jpeg_error_mgr *set_up(struct catcher *catcher)
{
    jpeg_std_error(&catcher->manager);
    catcher->manager.error_exit = jump_back;
    catcher->manager.output_message = say_nothing;
    return &catcher->manager;
}

// Samples of the colours in terms of those of the brightness.
static enum picture_sampling sampling_of(const struct jpeg_decompress_struct *info)
{
    if (info->num_components == 1) {
        return PICTURE_SAMPLING_GRAY;
    }
    const jpeg_component_info *part = info->comp_info;
    if (info->num_components != 3 || part[1].h_samp_factor != part[2].h_samp_factor ||
        part[1].v_samp_factor != part[2].v_samp_factor) {
        return PICTURE_SAMPLING_OTHER;
    }
    switch (part[0].h_samp_factor * 10 / part[1].h_samp_factor +
            part[0].v_samp_factor / part[1].v_samp_factor) {
    case 11:
        return PICTURE_SAMPLING_444;
    case 21:
        return PICTURE_SAMPLING_422;
    case 22:
        return PICTURE_SAMPLING_420;
    case 12:
        return PICTURE_SAMPLING_440;
    case 41:
        return PICTURE_SAMPLING_411;
    default:
        return PICTURE_SAMPLING_OTHER;
    }
}

leo_status picture_jpeg_info(const void *data, size_t bytes, uint32_t *width, uint32_t *height,
                             int *components, enum picture_sampling *sampling)
{
    struct jpeg_decompress_struct info;
    struct catcher catcher;
    info.err = set_up(&catcher);
    if (setjmp(catcher.where)) {
        jpeg_destroy_decompress(&info);
        return LEO_ERR_PARSE;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, data, bytes);
    jpeg_read_header(&info, TRUE);
    *width = info.image_width;
    *height = info.image_height;
    *components = info.num_components;
    if (sampling) {
        *sampling = sampling_of(&info);
    }
    jpeg_destroy_decompress(&info);
    return LEO_OK;
}

/* An RGB or Y, Cb, Cr picture of three bytes a pixel, as the library reads and writes it. */
struct work {
    struct picture picture;
    uint32_t row;
};

static leo_status make_work(struct work *work, uint32_t width, uint32_t height)
{
    const uint32_t row_bytes = (width * 3 + 15) / 16 * 16, rows = (height + 1) / 2 * 2;
    *work = (struct work){.picture = {.format = PICTURE_RGB,
                                      .width = width,
                                      .height = height,
                                      .row_bytes = row_bytes,
                                      .rows = rows,
                                      .bytes = (size_t)row_bytes * rows}};
    work->picture.data = leo_calloc(1, work->picture.bytes);
    return work->picture.data ? LEO_OK : LEO_ERR_NO_MEMORY;
}

static leo_status read_rows(const void *data, size_t bytes, J_COLOR_SPACE colours,
                            struct work *work, char *text, size_t text_bytes)
{
    struct jpeg_decompress_struct info;
    struct catcher catcher;
    info.err = set_up(&catcher);
    if (setjmp(catcher.where)) {
        snprintf(text, text_bytes, "JPEG: %s", catcher.text);
        jpeg_destroy_decompress(&info);
        return LEO_ERR_PARSE;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, data, bytes);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = colours;
    info.dct_method = JDCT_ISLOW;
    // Repeated colours, so that their mean gives back what the file holds.
    info.do_fancy_upsampling = FALSE;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = work->picture.data + (size_t)info.output_scanline * work->picture.row_bytes;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return LEO_OK;
}

/* Y, Cb, Cr side by side into planes and pairs. */
static void split(const struct picture *from, const struct picture *out)
{
    for (uint32_t y = 0; y < out->height; y++) {
        const uint32_t last = y < from->height ? y : from->height - 1;
        const uint8_t *row = from->data + (size_t)last * from->row_bytes;
        uint8_t *luma = out->data + (size_t)y * out->row_bytes;
        for (uint32_t x = 0; x < out->width; x++) {
            luma[x] = row[3 * (x < from->width ? x : from->width - 1)];
        }
    }
    if (out->format == PICTURE_GRAY) {
        return;
    }
    uint8_t *pairs = out->data + (size_t)out->row_bytes * out->rows;
    for (uint32_t y = 0; y < (out->height + 1) / 2; y++) {
        const uint32_t y1 = 2 * y + 1 < from->height ? 2 * y + 1 : 2 * y;
        const uint8_t *one = from->data + (size_t)2 * y * from->row_bytes;
        const uint8_t *two = from->data + (size_t)y1 * from->row_bytes;
        for (uint32_t x = 0; x < (out->width + 1) / 2; x++) {
            const size_t left = (size_t)6 * x, right = 2 * x + 1 < from->width ? left + 3 : left;
            for (unsigned i = 1; i < 3; i++) {
                const unsigned sum =
                    one[left + i] + one[right + i] + two[left + i] + two[right + i];
                pairs[(size_t)y * out->row_bytes + 2 * x +
                      ((i == 1) == (out->format == PICTURE_NV12) ? 0 : 1)] =
                    (uint8_t)((sum + 2) / 4);
            }
        }
    }
}

// Of even outputs of odd files the last column and row stand twice.
static int is_size(uint32_t out, uint32_t file)
{
    return out == file || out == (file + 1) / 2 * 2;
}

leo_status picture_jpeg_decode(const void *data, size_t bytes, const struct picture *out,
                               char *text, size_t text_bytes)
{
    uint32_t width, height;
    int components;
    struct work work;
    const int rgb = out->format == PICTURE_RGB || out->format == PICTURE_BGR;
    snprintf(text, text_bytes, "not a JPEG file");
    leo_status status = picture_jpeg_info(data, bytes, &width, &height, &components, NULL);
    if (status != LEO_OK) {
        return status;
    }
    if (!is_size(out->width, width) || !is_size(out->height, height)) {
        snprintf(text, text_bytes, "the file has %u x %u pixels, the output %u x %u", width, height,
                 out->width, out->height);
        return LEO_ERR_INVALID_ARG;
    }
    snprintf(text, text_bytes, "out of host memory");
    status = make_work(&work, width, height);
    if (status == LEO_OK) {
        status = read_rows(data, bytes, rgb ? JCS_RGB : JCS_YCbCr, &work, text, text_bytes);
    }
    if (status == LEO_OK && rgb) {
        const struct picture_area all = picture_all(&work.picture);
        status = picture_scale(&work.picture, &all, out, &all, 1);
    } else if (status == LEO_OK) {
        split(&work.picture, out);
    }
    leo_free(work.picture.data);
    return status;
}

/* The other way: every pixel gets the colours of its pair. */
static void join(const struct picture *in, const struct picture *out)
{
    const uint8_t *pairs = in->data + (size_t)in->row_bytes * in->rows;
    const unsigned cb = in->format == PICTURE_NV12 ? 0 : 1;
    for (uint32_t y = 0; y < in->height; y++) {
        uint8_t *row = out->data + (size_t)y * out->row_bytes;
        for (uint32_t x = 0; x < in->width; x++) {
            const uint8_t *pair = pairs + (size_t)(y / 2) * in->row_bytes + x / 2 * 2;
            row[3 * x] = in->data[(size_t)y * in->row_bytes + x];
            row[3 * x + 1] = in->format == PICTURE_GRAY ? 128 : pair[cb];
            row[3 * x + 2] = in->format == PICTURE_GRAY ? 128 : pair[1 - cb];
        }
    }
}

static leo_status write_rows(const struct picture *rows, J_COLOR_SPACE colours, int level,
                             unsigned char **file, unsigned long *bytes, char *text,
                             size_t text_bytes)
{
    struct jpeg_compress_struct info;
    struct catcher catcher;
    info.err = set_up(&catcher);
    if (setjmp(catcher.where)) {
        snprintf(text, text_bytes, "JPEG: %s", catcher.text);
        jpeg_destroy_compress(&info);
        return LEO_ERR_INVALID_ARG;
    }
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, file, bytes);
    info.image_width = rows->width;
    info.image_height = rows->height;
    info.input_components = 3;
    info.in_color_space = colours;
    jpeg_set_defaults(&info); // 4:2:0
    jpeg_set_quality(&info, level ? level : 100, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = rows->data + (size_t)info.next_scanline * rows->row_bytes;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return LEO_OK;
}

leo_status picture_jpeg_encode(const struct picture *in, int level, void *data, size_t *bytes,
                               char *text, size_t text_bytes)
{
    struct work work;
    unsigned char *file = NULL;
    unsigned long file_bytes = 0;
    const int rgb = in->format == PICTURE_RGB || in->format == PICTURE_BGR;
    snprintf(text, text_bytes, "out of host memory");
    leo_status status = make_work(&work, in->width, in->height);
    if (status == LEO_OK) {
        const struct picture_area all = picture_all(in);
        if (rgb) {
            status = picture_scale(in, &all, &work.picture, &all, 1);
        } else {
            join(in, &work.picture);
        }
    }
    if (status == LEO_OK) {
        status = write_rows(&work.picture, rgb ? JCS_RGB : JCS_YCbCr, level, &file, &file_bytes,
                            text, text_bytes);
    }
    if (status == LEO_OK && file_bytes > *bytes) {
        snprintf(text, text_bytes, "the file has %lu bytes, there is room for %zu", file_bytes,
                 *bytes);
        status = LEO_ERR_FULL;
    } else if (status == LEO_OK) {
        memcpy(data, file, file_bytes);
        *bytes = file_bytes;
    }
    free(file); // of the library
    leo_free(work.picture.data);
    return status;
}
