// SPDX-License-Identifier: Apache-2.0
// What operators share: fitting results, numbers as tensors. C++ only.
#pragma once

#include "call.hpp"

namespace torch_mlu
{

/** Gives a result the shape it is to have: out= of the user may have another. */
void fit(const at::Tensor &y, at::IntArrayRef sizes);
/** A number as a tensor of the host that takes part in type promotion as a number does. */
at::Tensor number(const at::Scalar &value);
/** A number of that type in the host's memory, for calls that read it through a pointer. */
at::Tensor held(const at::Scalar &value, at::ScalarType type);

} // namespace torch_mlu
