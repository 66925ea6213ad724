/* SPDX-License-Identifier: Apache-2.0 */
/** C++ only. Lists of tensors as an argument are not there: a kernel that only includes this
 * compiles. */
#pragma once

#include <kernel_operator.h>

namespace AscendC
{
class __attribute__((unavailable("lists of tensors as arguments are not there"))) ListTensorDesc;
}
