/* SPDX-License-Identifier: Apache-2.0 */
/** Public kernels include this beside <kernel_operator.h>, which has all of it. C++ only. */
#pragma once

#include <kernel_operator.h>
