/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler calls for 128-bit division. Names are those of the compiler's run-time library.
 */
#include <stdint.h>

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

u128 __udivmodti4(u128 a, u128 b, u128 *rest);
u128 __udivti3(u128 a, u128 b);
u128 __umodti3(u128 a, u128 b);
i128 __divti3(i128 a, i128 b);
i128 __modti3(i128 a, i128 b);

static int leading_zeros(u128 value)
{
    uint64_t high = (uint64_t)(value >> 64);
    return high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)value | 1);
}

u128 __udivmodti4(u128 a, u128 b, u128 *rest)
{
    u128 quotient = 0;
    if ((a >> 64) == 0 && (b >> 64) == 0) {
        // As the instruction: all ones by zero.
        uint64_t q = b ? (uint64_t)a / (uint64_t)b : UINT64_MAX;
        *rest = b ? (uint64_t)a % (uint64_t)b : a;
        return q;
    }
    if (b == 0) {
        *rest = a;
        return ~(u128)0;
    }
    if (a >= b) {
        // One bit of the quotient at a time, from the first that can be set.
        int shift = leading_zeros(b) - leading_zeros(a);
        for (u128 part = b << shift; shift >= 0; shift--, part >>= 1) {
            quotient <<= 1;
            if (a >= part) {
                a -= part;
                quotient |= 1;
            }
        }
    }
    *rest = a;
    return quotient;
}

u128 __udivti3(u128 a, u128 b)
{
    u128 rest;
    return __udivmodti4(a, b, &rest);
}

u128 __umodti3(u128 a, u128 b)
{
    u128 rest;
    (void)__udivmodti4(a, b, &rest);
    return rest;
}

static u128 magnitude(i128 value)
{
    return value < 0 ? 0 - (u128)value : (u128)value;
}

i128 __divti3(i128 a, i128 b)
{
    u128 quotient = __udivti3(magnitude(a), magnitude(b));
    return (i128)((a < 0) != (b < 0) ? 0 - quotient : quotient);
}

i128 __modti3(i128 a, i128 b)
{
    u128 rest = __umodti3(magnitude(a), magnitude(b));
    return (i128)(a < 0 ? 0 - rest : rest);
}
