/* SPDX-License-Identifier: Apache-2.0 */
/* C++ only. */
#pragma once
#include <graph/types.h>
