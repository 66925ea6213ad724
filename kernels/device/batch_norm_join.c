/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch norm between its passes over planes: eight lanes of each image become one number a channel.
 * Images are added up lane by lane in order, 16 images a load; the scalar unit adds the lanes of a
 * channel up in double.
 *
 * Flags. MTE2 -> V 0: loaded; V -> MTE2 0: buffers free; V -> S 0: lanes are ready.
 */
#include "batch_norm_planes_args.h"
#include "copy.h"
#include "element.h"
#include "norm_args.h"

enum {
    CHANNELS = 64, /* at a time */
    IMAGES = 16,
    WIDTH = CHANNELS * 32, /* bytes of an image's lanes */
    FIRST = 0,
    SECOND = FIRST + IMAGES * WIDTH,
    MEAN = SECOND + IMAGES * WIDTH,
    SUM = MEAN + WIDTH,
    OTHER = SUM + WIDTH,
    COUNT = OTHER + WIDTH, /* elements of each lane of a plane */
};

/* Channels [first, first + count). */
struct share {
    uint64_t first;
    uint32_t count;
};

OP_INLINE float get_ub(uint32_t at)
{
    return *(const __ubuf__ volatile float *)(uintptr_t)at;
}

OP_INLINE void put(uint64_t addr, float value)
{
    *(__gm__ volatile float *)addr = value;
}

OP_INLINE float count_of(const struct op_planes_join_args *t, uint32_t lane)
{
    return (float)((t->length + OP_PLANE_LANES - 1 - lane) / OP_PLANE_LANES);
}

OP_INLINE void load_images(const struct op_planes_join_args *t, const struct share *share,
                           uint32_t to, uint64_t from, uint64_t image, uint32_t images)
{
    op_load_rows(to, from + (image * t->channels + share->first) * 32, images, share->count * 32,
                 t->channels * 32, WIDTH);
}

OP_INLINE uint8_t take_lanes(const struct share *share)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, share->count * OP_PLANE_LANES);
    return (uint8_t)((share->count * OP_PLANE_LANES + 63) / 64);
}

OP_INLINE void add(const struct share *share, uint32_t to, uint32_t from)
{
    const uint8_t repeats = take_lanes(share);
    vadd(op_ub_f32(to), op_ub_f32(to), op_ub_f32(from), repeats, 1, 1, 1, 8, 8, 8);
}

OP_INLINE void clear(const struct share *share, uint32_t at)
{
    const uint8_t repeats = take_lanes(share);
    vector_dup(op_ub_f32(at), 0.0f, repeats, 1, 1, 8, 8);
}

OP_INLINE void wait_loaded(void)
{
    set_flag(PIPE_MTE2, PIPE_V, 0);
    wait_flag(PIPE_MTE2, PIPE_V, 0);
}

/* to += the lanes of every image. */
OP_INLINE void add_images(const struct op_planes_join_args *t, const struct share *share,
                          uint32_t to, uint64_t from)
{
    clear(share, to);
    for (uint64_t image = 0; image < t->images; image += IMAGES) {
        const uint32_t images = (uint32_t)op_min64(IMAGES, t->images - image);
        wait_flag(PIPE_V, PIPE_MTE2, 0);
        load_images(t, share, FIRST, from, image, images);
        wait_loaded();
        for (uint32_t i = 0; i < images; i++) {
            add(share, to, FIRST + i * WIDTH);
        }
        set_flag(PIPE_V, PIPE_MTE2, 0);
    }
}

/* SUM = squares of every image, and what the images' means are away from MEAN. */
OP_INLINE void add_squares(const struct op_planes_join_args *t, const struct share *share)
{
    clear(share, SUM);
    for (uint64_t image = 0; image < t->images; image += IMAGES) {
        const uint32_t images = (uint32_t)op_min64(IMAGES, t->images - image);
        wait_flag(PIPE_V, PIPE_MTE2, 0);
        load_images(t, share, FIRST, t->first, image, images);
        load_images(t, share, SECOND, t->second, image, images);
        wait_loaded();
        for (uint32_t i = 0; i < images; i++) {
            __ubuf__ float *away = op_ub_f32(FIRST + i * WIDTH);
            uint8_t repeats = take_lanes(share);
            vsub(away, away, op_ub_f32(MEAN), repeats, 1, 1, 1, 8, 8, 8);
            repeats = take_lanes(share);
            vmul(away, away, away, repeats, 1, 1, 1, 8, 8, 8);
            repeats = take_lanes(share);
            vmul(away, away, op_ub_f32(COUNT), repeats, 1, 1, 0, 8, 8, 0);
            add(share, SUM, FIRST + i * WIDTH);
            add(share, SUM, SECOND + i * WIDTH);
        }
        set_flag(PIPE_V, PIPE_MTE2, 0);
    }
}

/* The scalar unit after the vector unit. */
OP_INLINE void to_scalar(void)
{
    set_flag(PIPE_V, PIPE_S, 0);
    wait_flag(PIPE_V, PIPE_S, 0);
}

OP_INLINE void to_vector(void)
{
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
}

OP_INLINE void put_moments(const struct op_planes_join_args *t, const struct share *share)
{
    for (uint32_t c = 0; c < share->count; c++) {
        double mean = 0, squares = 0;
        for (uint32_t i = 0; i < OP_PLANE_LANES; i++) {
            mean += (double)get_ub(MEAN + c * 32 + i * 4) * (double)count_of(t, i);
        }
        mean /= (double)t->length;
        for (uint32_t i = 0; i < OP_PLANE_LANES; i++) {
            const double away = (double)get_ub(MEAN + c * 32 + i * 4) - mean;
            squares += (double)get_ub(SUM + c * 32 + i * 4) +
                       away * away * (double)count_of(t, i) * (double)t->images;
        }
        const uint64_t out = t->out + (share->first + c) * sizeof(struct op_norm_moments);
        put(out, (float)mean);
        put(out + 4, (float)squares);
    }
}

OP_INLINE double sum_lanes(uint32_t at)
{
    double sum = 0;
    for (uint32_t i = 0; i < OP_PLANE_LANES; i++) {
        sum += (double)get_ub(at + i * 4);
    }
    return sum;
}

OP_INLINE uint64_t end_of_block(const struct op_planes_join_args *t)
{
    return op_min64(((uint64_t)get_block_idx() + 1) * t->per_block, t->channels);
}

/* The next channels from `first` on. */
OP_INLINE struct share next_share(uint64_t first, uint64_t end)
{
    return (struct share){first, (uint32_t)op_min64(CHANNELS, end - first)};
}

__global__ __vector__ void planes_join_moments(struct op_planes_join_args args)
{
    const struct op_planes_join_args t = args;
    const uint64_t end = end_of_block(&t);
    set_mask_count();
    for (uint32_t i = 0; i < OP_PLANE_LANES; i++) {
        *(__ubuf__ volatile float *)(uintptr_t)(COUNT + i * 4) = count_of(&t, i);
    }
    set_flag(PIPE_V, PIPE_MTE2, 0);
    for (uint64_t c = (uint64_t)get_block_idx() * t.per_block; c < end; c += CHANNELS) {
        const struct share share = next_share(c, end);
        to_vector();
        add_images(&t, &share, MEAN, t.first);
        const uint8_t repeats = take_lanes(&share);
        vmuls(op_ub_f32(MEAN), op_ub_f32(MEAN), 1.0f / (float)t.images, repeats, 1, 1, 8, 8);
        add_squares(&t, &share);
        to_scalar();
        put_moments(&t, &share);
    }
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    op_flush();
}

__global__ __vector__ void planes_join_sums(struct op_planes_join_args args)
{
    const struct op_planes_join_args t = args;
    const uint64_t end = end_of_block(&t);
    set_mask_count();
    set_flag(PIPE_V, PIPE_MTE2, 0);
    for (uint64_t c = (uint64_t)get_block_idx() * t.per_block; c < end; c += CHANNELS) {
        const struct share share = next_share(c, end);
        to_vector();
        add_images(&t, &share, SUM, t.first);
        add_images(&t, &share, OTHER, t.second);
        to_scalar();
        for (uint32_t i = 0; i < share.count; i++) {
            const uint64_t out = t.out + (c + i) * sizeof(struct op_norm_sums);
            put(out, (float)sum_lanes(SUM + i * 32));
            put(out + 4, (float)sum_lanes(OTHER + i * 32));
        }
    }
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    op_flush();
}

/* A number of each channel, eight times. */
__global__ __vector__ void planes_spread(struct op_planes_join_args args)
{
    const struct op_planes_join_args t = args;
    const uint64_t end = end_of_block(&t);
    for (uint64_t c = (uint64_t)get_block_idx() * t.per_block; c < end; c++) {
        const float value = *(const __gm__ volatile float *)(t.first + c * 4);
        for (uint32_t i = 0; i < OP_PLANE_LANES; i++) {
            put(t.out + (c * OP_PLANE_LANES + i) * 4, value);
        }
    }
    op_flush();
}
