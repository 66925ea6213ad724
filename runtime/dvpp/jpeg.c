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

/* A picture of three bytes a pixel, as the library reads and writes it, with room for an even
 * number of columns and rows. */
static leo_status make_work(uint32_t format, uint32_t width, uint32_t height, struct picture *work)
{
    const uint32_t row_bytes = (width * 3 + 3 + 15) / 16 * 16, rows = (height + 1) / 2 * 2;
    *work = (struct picture){.format = format,
                             .width = width,
                             .height = height,
                             .row_bytes = row_bytes,
                             .rows = rows,
                             .bytes = (size_t)row_bytes * rows};
    work->data = leo_calloc(1, work->bytes);
    return work->data ? LEO_OK : LEO_ERR_NO_MEMORY;
}

/* The library turns Y, Cb, Cr into R, G, B, but nothing into Y, Cb, Cr. */
static uint32_t format_for(const struct jpeg_decompress_struct *info, bool rgb)
{
    return rgb || info->jpeg_color_space != JCS_YCbCr ? PICTURE_RGB : PICTURE_YUV_444;
}

static leo_status read_rows(const void *data, size_t bytes, bool rgb, struct picture *work,
                            char *text, size_t text_bytes)
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
    work->format = format_for(&info, rgb);
    info.out_color_space = work->format == PICTURE_RGB ? JCS_RGB : JCS_YCbCr;
    info.dct_method = JDCT_ISLOW;
    // Repeated colours, so that their mean gives back what the file holds.
    info.do_fancy_upsampling = FALSE;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = work->data + (size_t)info.output_scanline * work->row_bytes;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return LEO_OK;
}

/* The last column and row once more, where the output has them. */
static void widen(struct picture *work, const struct picture *out)
{
    for (uint32_t y = 0; out->width > work->width && y < work->height; y++) {
        uint8_t *end = work->data + (size_t)y * work->row_bytes + (size_t)work->width * 3;
        memcpy(end, end - 3, 3);
    }
    if (out->height > work->height) {
        uint8_t *end = work->data + (size_t)work->height * work->row_bytes;
        memcpy(end, end - work->row_bytes, work->row_bytes);
    }
    work->width = out->width;
    work->height = out->height;
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
    struct picture work;
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
    status = make_work(PICTURE_RGB, width, height, &work);
    if (status == LEO_OK) {
        status = read_rows(data, bytes, picture_is_rgb(out->format), &work, text, text_bytes);
    }
    if (status == LEO_OK) {
        widen(&work, out);
        const struct picture_area all = picture_all(&work);
        status = picture_scale(&work, &all, out, &all, NULL);
    }
    leo_free(work.data);
    return status;
}

/* `like`: how colours are sampled. */
static leo_status write_rows(const struct picture *rows, const struct picture *like, int level,
                             unsigned char **file, unsigned long *bytes, char *text,
                             size_t text_bytes)
{
    struct jpeg_compress_struct info;
    struct catcher catcher;
    struct picture_component parts[4];
    const unsigned count = picture_components(like, parts);
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
    info.in_color_space = rows->format == PICTURE_RGB ? JCS_RGB : JCS_YCbCr;
    jpeg_set_defaults(&info); // 4:2:0
    if (count == 3 && rows->format != PICTURE_RGB) {
        info.comp_info[0].h_samp_factor = 1 << parts[1].across;
        info.comp_info[0].v_samp_factor = 1 << parts[1].down;
    }
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
    struct picture work;
    unsigned char *file = NULL;
    unsigned long file_bytes = 0;
    const uint32_t format = picture_is_rgb(in->format) ? PICTURE_RGB : PICTURE_YUV_444;
    snprintf(text, text_bytes, "out of host memory");
    leo_status status = make_work(format, in->width, in->height, &work);
    if (status == LEO_OK) {
        const struct picture_area all = picture_all(in);
        status = picture_scale(in, &all, &work, &all, NULL);
    }
    if (status == LEO_OK) {
        status = write_rows(&work, in, level, &file, &file_bytes, text, text_bytes);
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
    leo_free(work.data);
    return status;
}
