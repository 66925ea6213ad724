/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: conversions between types. */
#pragma once

namespace AscendC
{

template <typename D, typename S> struct leo_cast {
};

} // namespace AscendC

#include <ascendc/cast_calls.h>

namespace AscendC
{

/** A pair that no instruction converts with this rounding ends the kernel: RoundMode is a number.
 */
template <typename D, typename S>
LEO_AC_INLINE void leo_cast_run(const LocalTensor<D> &dst, const LocalTensor<S> &src,
                                RoundMode mode, uint8_t repeat, const UnaryRepeatParams &params)
{
    if (!leo_convert(leo_cast<D, S>(), dst.GetPhyAddr(), src.GetPhyAddr(), mode, repeat, params)) {
        leo_print("Cast: this chip does not convert these types with RoundMode %d\n", (int)mode);
        trap();
    }
}

/* Blocks that a repeat of the wider type takes of one. */
template <typename T, typename Other> constexpr uint8_t leo_cast_blocks()
{
    constexpr unsigned own = IsSameType<T, int4b_t>::value ? 1 : 2 * sizeof(T),
                       other = IsSameType<Other, int4b_t>::value ? 1 : 2 * sizeof(Other);
    return (uint8_t)(own >= other ? 8 : 8 * own / other);
}

/** The first `count` elements. f32 to f16 and s32 to f16 take the scale of SetDeqScale as their
 * instructions say. */
template <typename D, typename S>
LEO_AC_INLINE void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode,
                        uint32_t count)
{
    leo_count_begin(count);
    leo_cast_run(dst, src, mode, 1,
                 UnaryRepeatParams(1, 1, leo_cast_blocks<D, S>(), leo_cast_blocks<S, D>()));
    leo_count_end();
}

/** Lanes and repeats are those of the wider type. */
template <typename D, typename S, bool isSetMask = true, typename M>
LEO_AC_INLINE void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &mode,
                        M mask, uint8_t repeat, const UnaryRepeatParams &params)
{
    if constexpr (sizeof(D) > sizeof(S)) {
        leo_slice_begin<D, isSetMask>(mask);
    } else {
        leo_slice_begin<S, isSetMask>(mask);
    }
    leo_cast_run(dst, src, mode, repeat, params);
}

LEO_AC_INLINE void SetDeqScale(half scale)
{
    set_deqscale(scale);
}

LEO_AC_INLINE float ToFloat(bfloat16_t value)
{
    return (float)value;
}

LEO_AC_INLINE bfloat16_t ToBfloat16(float value)
{
    return (bfloat16_t)value;
}

/** Of the scalar unit. */
template <typename S, typename D, RoundMode mode> LEO_AC_INLINE D ScalarCast(S value)
{
    const float x = (float)value;
    if constexpr (mode == RoundMode::CAST_FLOOR) {
        return (D)__builtin_floorf(x);
    } else if constexpr (mode == RoundMode::CAST_CEIL) {
        return (D)__builtin_ceilf(x);
    } else if constexpr (mode == RoundMode::CAST_ROUND) {
        return (D)__builtin_roundf(x);
    } else if constexpr (mode == RoundMode::CAST_RINT) {
        return (D)__builtin_rintf(x);
    } else {
        return (D)x;
    }
}

} // namespace AscendC
