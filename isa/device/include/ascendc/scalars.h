/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: small names of the compiler and of the language's own
 * sources that kernels use. */
#pragma once

/** Of scalars, in the common type of both; the compiler of the vendor has them built in. */
template <typename A, typename B> constexpr auto min(const A &a, const B &b)
{
    using both = decltype(true ? a : b);
    return (std::decay_t<both>)(b < a ? b : a);
}

template <typename A, typename B> constexpr auto max(const A &a, const B &b)
{
    using both = decltype(true ? a : b);
    return (std::decay_t<both>)(a < b ? b : a);
}

template <typename A> constexpr A abs(const A &a)
{
    return a < 0 ? (A)-a : a;
}

constexpr bool likely(bool condition)
{
    return __builtin_expect(condition, 1);
}

constexpr bool unlikely(bool condition)
{
    return __builtin_expect(condition, 0);
}

/** The block and their number, as the vendor's compiler has them built in. */
struct leo_block_idx {
    LEO_AC_METHOD operator int64_t() const
    {
        return get_block_idx();
    }
};
struct leo_block_num {
    LEO_AC_METHOD operator int64_t() const
    {
        return get_block_num();
    }
};
constexpr leo_block_idx block_idx;
constexpr leo_block_num block_num;

using AscendC::GetTPipePtr;

namespace AscendC
{

using TEventID = int8_t;
constexpr uint32_t B16_DATA_NUM_PER_REPEAT = 128, B32_DATA_NUM_PER_REPEAT = 64, TWO = 2;

/** Place of the lowest bit that is `value`; -1: there is none. */
template <int value> LEO_AC_INLINE int64_t ScalarGetSFFValue(uint64_t bits)
{
    static_assert(value == 0 || value == 1, "a bit is 0 or 1");
    const uint64_t ones = value ? bits : ~bits;
    return ones ? __builtin_ctzll(ones) : -1;
}

struct AscendCUtils {
    static constexpr int32_t GetBitSize(int32_t bytes)
    {
        return bytes * 8;
    }

    static constexpr int32_t GetC0Count(int32_t bytes)
    {
        return (int32_t)DEFAULT_C0_SIZE / bytes;
    }

    template <typename T, bool isSetMask = true>
    LEO_AC_METHOD static void SetMask(uint64_t high, uint64_t low)
    {
        if constexpr (isSetMask) {
            set_vector_mask(high, low);
        }
    }

    template <typename T, bool isSetMask = true> LEO_AC_METHOD static void SetMask(int32_t count)
    {
        if constexpr (isSetMask) {
            leo_set_lanes((uint64_t)count);
        }
    }
};

namespace Std
{
using std::conditional_t;
using std::enable_if_t;
using std::integral_constant;
using std::is_same;
using std::is_same_v;
} // namespace Std

} // namespace AscendC
