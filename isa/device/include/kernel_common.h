/* SPDX-License-Identifier: Apache-2.0 */
/** C++ only. Public kernels include this beside <kernel_operator.h>, which has all of it. */
#pragma once

#include <kernel_operator.h>
