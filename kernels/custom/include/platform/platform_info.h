/* SPDX-License-Identifier: Apache-2.0 */
/* C++ only. */
#pragma once
#include <platform/platform_infos_def.h>
