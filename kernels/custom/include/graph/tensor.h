/* SPDX-License-Identifier: Apache-2.0 */
/* C++ only. */
#pragma once
#include <exe_graph/runtime/shape.h>
