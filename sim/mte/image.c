/* SPDX-License-Identifier: Apache-2.0 */
/* Images to L1: part of an image of bytes becomes pixels of channels, with the colours, types and
 * edges that CSRs aipp_spr_1 to aipp_spr_9 ask for (HW-DMA-50 to HW-DMA-56, decision 33). */
#include "../number/number.h"
#include "mte.h"

enum { CHANNELS = 3 };
/* Bits of a plane's address in a CSR. */
#define PLANE UINT64_C(0xffffffffffff)

/** An instruction, its registers included, as numbers. */
struct image {
    struct leo_cfg_image0 place;
    struct leo_cfg_image1 edge;
    struct leo_cfg_aipp_image how;
    bool convert;                 /**< colours */
    uint64_t uv;                  /**< second plane */
    uint32_t width, rows;         /**< pixels that are taken */
    uint32_t src_width;           /**< of the source image */
    uint32_t src_channels;        /**< bytes of a pixel in the first plane */
    uint32_t channels;            /**< of a result */
    uint32_t dst_width, dst_rows; /**< with padding */
    uint32_t dst_channels, element;
};

static bool is_format(unsigned format)
{
    return format == LEO_IMAGE_FORMAT_YUV420SP || format == LEO_IMAGE_FORMAT_XRGB8888 ||
           format == LEO_IMAGE_FORMAT_RGB888 || format == LEO_IMAGE_FORMAT_YUV400;
}

static void read_image(const struct sim_core *core, const struct sim_op *op, struct image *image)
{
    const struct leo_cfg_aipp_csc csc = leo_cfg_aipp_csc_unpack(core->csr.aipp_spr[1]);
    *image = (struct image){
        .place = leo_cfg_image0_unpack(op->c),
        .edge = leo_cfg_image1_unpack(op->d),
        .how = leo_cfg_aipp_image_unpack(core->csr.aipp_spr[9]),
        .convert = csc.on,
        .uv = core->csr.aipp_spr[1] & PLANE,
    };
    const bool constant = image->how.edge == LEO_IMAGE_EDGE_CONSTANT;
    const unsigned format = image->how.format;
    image->width = image->place.hor_last + 1u;
    image->rows = image->how.single ? 1 : image->place.ver_last + 1u;
    image->src_width = image->edge.src_last + 1u;
    image->src_channels = format == LEO_IMAGE_FORMAT_XRGB8888 ? 4
                          : format == LEO_IMAGE_FORMAT_RGB888 ? 3
                                                              : 1;
    image->channels = format == LEO_IMAGE_FORMAT_YUV400 && !image->convert ? 1 : CHANNELS;
    image->dst_width = image->width + image->edge.left + image->edge.right;
    image->dst_rows = image->rows + (constant ? 0u : image->edge.top + image->edge.bottom);
    image->element = leo_dtype_bytes(image->edge.dtype);
    image->dst_channels =
        image->how.four ? 4 : MTE_BLOCK_BYTES / (image->element + !image->element);
}

/* Blocks and mirrors repeat what is taken, once. */
static bool fits_edges(const struct image *image)
{
    const bool repeats = image->how.edge >= LEO_IMAGE_EDGE_BLOCK;
    return !repeats || (image->edge.left <= image->width && image->edge.right <= image->width &&
                        image->edge.top <= image->rows && image->edge.bottom <= image->rows);
}

bool sim_foot_image(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    struct image image;
    read_image(core, op, &image);
    const enum leo_dtype type = image.edge.dtype;
    if (op->c & LEO_CFG_IMAGE0_RESERVED || image.place.hor_start + image.width > image.src_width) {
        return mte_bad_config(core, op->c);
    }
    if (op->d & LEO_CFG_IMAGE1_RESERVED || !fits_edges(&image) ||
        (type != LEO_DTYPE_F16 && type != LEO_DTYPE_S8 && type != LEO_DTYPE_U8)) {
        return mte_bad_config(core, op->d);
    }
    if (core->csr.aipp_spr[9] & LEO_CFG_AIPP_IMAGE_RESERVED || !is_format(image.how.format)) {
        return mte_bad_config(core, core->csr.aipp_spr[9]);
    }
    foot->empty = false;
    const uint64_t pitch = (uint64_t)image.src_width * image.src_channels;
    // Of four bytes a pixel one is nothing.
    const bool padded = image.how.format == LEO_IMAGE_FORMAT_XRGB8888;
    struct sim_span *src = sim_footprint_add(
        foot, SIM_OPERAND_B, LEO_MEM_SPACE_GM, SIM_TOUCH_READ | (padded ? SIM_TOUCH_PADDED : 0),
        op->b + image.place.ver_start * pitch + image.place.hor_start * image.src_channels,
        (uint64_t)image.width * image.src_channels);
    src->align = 1;
    src->level[0] = (struct sim_level){image.rows, (int64_t)pitch};
    sim_span_close(src);
    struct sim_span *dst =
        sim_footprint_add(foot, SIM_OPERAND_A, LEO_MEM_SPACE_L1, SIM_TOUCH_WRITE, op->a,
                          (uint64_t)image.dst_width * image.dst_channels * image.element);
    dst->align = MTE_BLOCK_BYTES;
    dst->level[0] = (struct sim_level){image.dst_rows, (int64_t)dst->bytes};
    sim_span_close(dst);
    if (image.how.format == LEO_IMAGE_FORMAT_YUV420SP) {
        const uint32_t first = image.place.hor_start & ~1u,
                       last = (image.place.hor_start + image.width - 1) | 1u,
                       row = image.place.ver_start / 2,
                       end = (image.place.ver_start + image.rows - 1) / 2;
        struct sim_span *uv =
            sim_footprint_add(foot, SIM_OPERAND_EXTRA, LEO_MEM_SPACE_GM, SIM_TOUCH_READ,
                              image.uv + (uint64_t)row * image.src_width + first, last - first + 1);
        uv->align = 1;
        uv->level[0] = (struct sim_level){end - row + 1, (int64_t)image.src_width};
        sim_span_close(uv);
    }
    return true;
}

/** Where the bytes of a row of source pixels are. */
struct line {
    const uint8_t *plane, *uv; /**< uv: of the pixel at an even place before or at the first */
    uint32_t odd;              /**< the first pixel is the second of a pair */
};

/* HW-DMA-51: the three channels of source pixel x, in the order of the result. */
static void take_channels(const struct image *image, const struct line *line, uint32_t x,
                          int32_t channel[CHANNELS])
{
    const uint8_t *pixel = line->plane + (size_t)x * image->src_channels;
    if (image->src_channels == 1) {
        const uint8_t *uv = line->uv ? line->uv + (x + line->odd) / 2 * 2 : NULL;
        channel[0] = pixel[0];
        channel[1] = uv ? uv[image->how.swap_uv ? 1 : 0] : 0;
        channel[2] = uv ? uv[image->how.swap_uv ? 0 : 1] : 0;
        return;
    }
    pixel += image->src_channels == 4 && image->how.swap_ax ? 1 : 0;
    for (unsigned i = 0; i < CHANNELS; i++) {
        channel[i] = pixel[image->how.swap_rb ? CHANNELS - 1 - i : i];
    }
}

static int32_t clamp(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Nine numbers of 16 bits, four in a register. */
static int32_t matrix_at(const struct sim_core *core, unsigned index)
{
    return (int16_t)(core->csr.aipp_spr[2 + index / 4] >> index % 4 * 16);
}

static int32_t bias_at(const struct sim_core *core, unsigned index, bool of_source)
{
    return (int32_t)(core->csr.aipp_spr[4] >> (16 + index * 8 + (of_source ? 24 : 0)) & 0xff);
}

/* HW-DMA-52: 8 bits of fraction, rounded down after half was added. */
static void convert_colours(const struct sim_core *core, const struct image *image,
                            int32_t channel[CHANNELS])
{
    const bool from_yuv = image->src_channels == 1;
    int32_t from[CHANNELS];
    for (unsigned i = 0; i < CHANNELS; i++) {
        from[i] = channel[i] - (from_yuv ? bias_at(core, i, true) : 0);
    }
    for (unsigned i = 0; i < CHANNELS; i++) {
        int32_t sum = 128;
        for (unsigned j = 0; j < CHANNELS; j++) {
            sum += matrix_at(core, i * CHANNELS + j) * from[j];
        }
        channel[i] = clamp((sum >> 8) + (from_yuv ? 0 : bias_at(core, i, false)), 0, 255);
    }
}

/* HW-DMA-53: the bits of a channel. */
static uint16_t convert_type(const struct sim_core *core, const struct image *image, unsigned at,
                             int32_t value)
{
    const unsigned shift = at * 16;
    if (image->edge.dtype == LEO_DTYPE_U8) {
        return (uint16_t)value;
    }
    value -= (int32_t)(core->csr.aipp_spr[5] >> shift & 0xff);
    if (image->edge.dtype == LEO_DTYPE_S8) {
        return (uint8_t)clamp(value, -128, 127);
    }
    const float least = sim_number_f16_to_f32((uint16_t)(core->csr.aipp_spr[6] >> shift));
    const float factor = sim_number_f16_to_f32((uint16_t)(core->csr.aipp_spr[7] >> shift));
    const uint16_t above = sim_number_f32_to_f16((float)value - least, LEO_ROUND_RINT);
    return sim_number_f32_to_f16(sim_number_f16_to_f32(above) * factor, LEO_ROUND_RINT);
}

static void put(const struct image *image, uint8_t *pixel, unsigned at, uint16_t bits)
{
    memcpy(pixel + at * image->element, &bits, image->element);
}

static void write_pixel(const struct sim_core *core, const struct image *image,
                        const struct line *line, uint32_t x, uint8_t *pixel)
{
    int32_t channel[CHANNELS];
    take_channels(image, line, x, channel);
    if (image->convert) {
        convert_colours(core, image, channel);
    }
    for (unsigned i = 0; i < image->channels; i++) {
        put(image, pixel, i, convert_type(core, image, i, channel[i]));
    }
    for (unsigned i = image->channels; i < image->dst_channels; i++) {
        put(image, pixel, i, image->how.fill);
    }
}

/* HW-DMA-54: padding of one value a channel. */
static void write_constant(const struct sim_core *core, const struct image *image, uint8_t *pixel)
{
    for (unsigned i = 0; i < image->dst_channels; i++) {
        put(image, pixel, i, i < 4 ? (uint16_t)(core->csr.aipp_spr[8] >> i * 16) : image->how.fill);
    }
}

/* HW-DMA-55: the place in 0..size - 1 that stands at `at`, `before` and `after` padding. */
static uint32_t source_of(uint32_t at, uint32_t before, uint32_t size, uint32_t after,
                          enum leo_image_edge edge)
{
    const bool in_front = at < before;
    if (!in_front && at - before < size) {
        return at - before;
    }
    if (edge == LEO_IMAGE_EDGE_BLOCK) {
        return in_front ? at : at - before - after;
    }
    if (edge == LEO_IMAGE_EDGE_MIRROR) {
        return in_front ? before - 1 - at : 2 * size - 1 - (at - before);
    }
    return in_front ? 0 : size - 1;
}

static bool find_line(struct sim_core *core, const struct sim_op *op, const struct image *image,
                      uint32_t row, struct line *line)
{
    const struct sim_span *plane = &op->foot->span[SIM_OPERAND_B];
    line->plane =
        sim_core_gm(core, plane->addr + row * (uint64_t)plane->level[0].step, plane->bytes, false);
    line->uv = NULL;
    line->odd = image->place.hor_start & 1;
    if (op->foot->count > SIM_OPERAND_EXTRA) {
        const struct sim_span *uv = &op->foot->span[SIM_OPERAND_EXTRA];
        const uint32_t pair = (image->place.ver_start + row) / 2 - image->place.ver_start / 2;
        line->uv =
            sim_core_gm(core, uv->addr + pair * (uint64_t)uv->level[0].step, uv->bytes, false);
        return line->plane && line->uv;
    }
    return line->plane != NULL;
}

bool sim_mte_image(struct sim_core *core, const struct sim_op *op)
{
    struct image image;
    read_image(core, op, &image);
    const bool constant = image.how.edge == LEO_IMAGE_EDGE_CONSTANT;
    const size_t pixel_bytes = (size_t)image.dst_channels * image.element;
    uint8_t *pixel = op->foot->span[SIM_OPERAND_A].host;
    for (uint32_t i = 0; i < image.dst_rows; i++) {
        const uint32_t row = source_of(i, constant ? 0 : image.edge.top, image.rows,
                                       image.edge.bottom, image.how.edge);
        struct line line;
        if (!find_line(core, op, &image, row, &line)) {
            return false;
        }
        for (uint32_t j = 0; j < image.dst_width; j++, pixel += pixel_bytes) {
            const bool inside = j >= image.edge.left && j - image.edge.left < image.width;
            if (constant && !inside) {
                write_constant(core, &image, pixel);
            } else {
                write_pixel(
                    core, &image, &line,
                    source_of(j, image.edge.left, image.width, image.edge.right, image.how.edge),
                    pixel);
            }
        }
    }
    return true;
}
