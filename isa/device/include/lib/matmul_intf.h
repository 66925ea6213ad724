/* SPDX-License-Identifier: Apache-2.0 */
/** Types that describe operands of the language's Matmul object. The object itself is not there: a
 * kernel that declares one does not compile, one that only includes this does. C++ only. */
#pragma once

#include <kernel_operator.h>

enum class CubeFormat { ND = 0, NZ, ZN, ZZ, NN, VECTOR };

namespace matmul
{

template <AscendC::TPosition position, CubeFormat layout, typename Type, bool transposed = false>
struct MatmulType {
    static constexpr AscendC::TPosition pos = position;
    static constexpr CubeFormat format = layout;
    static constexpr bool isTrans = transposed;
    using T = Type;
};

template <typename A, typename B, typename C, typename Bias = C>
class __attribute__((unavailable("the Matmul object is not there: use LoadData, Mmad and Fixpipe, "
                                 "as examples/ascendc/matmul.cpp does"))) Matmul;

} // namespace matmul
