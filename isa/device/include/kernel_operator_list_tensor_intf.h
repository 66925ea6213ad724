/* SPDX-License-Identifier: Apache-2.0 */
/** Another name of it. C++ only. */
#pragma once

#include <kernel_operator.h>
