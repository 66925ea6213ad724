/* SPDX-License-Identifier: Apache-2.0 */
/* PNG by libpng's simplified interface: any file, as eight bits a colour. */
#include "picture.h"

#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static leo_status begin(png_image *image, const void *data, size_t bytes)
{
    memset(image, 0, sizeof(*image));
    image->version = PNG_IMAGE_VERSION;
    return png_image_begin_read_from_memory(image, data, bytes) ? LEO_OK : LEO_ERR_PARSE;
}

leo_status picture_png_info(const void *data, size_t bytes, uint32_t *width, uint32_t *height,
                            int *components)
{
    png_image image;
    leo_status status = begin(&image, data, bytes);
    if (status == LEO_OK) {
        *width = image.width;
        *height = image.height;
        *components = (image.format & PNG_FORMAT_FLAG_COLOR ? 3 : 1) +
                      (image.format & PNG_FORMAT_FLAG_ALPHA ? 1 : 0);
    }
    png_image_free(&image);
    return status;
}

static const struct {
    uint32_t format;
    png_uint_32 png;
} formats[] = {
    {PICTURE_GRAY, PNG_FORMAT_GRAY}, {PICTURE_RGB, PNG_FORMAT_RGB},
    {PICTURE_BGR, PNG_FORMAT_BGR},   {PICTURE_ARGB, PNG_FORMAT_ARGB},
    {PICTURE_ABGR, PNG_FORMAT_ABGR}, {PICTURE_RGBA, PNG_FORMAT_RGBA},
    {PICTURE_BGRA, PNG_FORMAT_BGRA},
};

static bool find_format(uint32_t format, png_uint_32 *png)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (formats[i].format == format) {
            *png = formats[i].png;
            return true;
        }
    }
    return false;
}

bool picture_png_can(uint32_t format)
{
    png_uint_32 png;
    return find_format(format, &png);
}

leo_status picture_png_decode(const void *data, size_t bytes, const struct picture *out, char *text,
                              size_t text_bytes)
{
    png_image image;
    leo_status status = begin(&image, data, bytes);
    if (status == LEO_OK) {
        // Transparent pixels are those of a black ground.
        const png_color black = {0, 0, 0};
        const bool fits = find_format(out->format, &image.format) && image.width <= out->width &&
                          image.height <= out->height;
        status = fits && png_image_finish_read(&image, &black, out->data,
                                               (png_int_32)out->row_bytes, NULL)
                     ? LEO_OK
                     : LEO_ERR_PARSE;
    }
    if (status != LEO_OK) {
        snprintf(text, text_bytes, "%s",
                 image.message[0] ? image.message : "the picture does not fit the output");
    }
    png_image_free(&image);
    return status;
}
