/* SPDX-License-Identifier: Apache-2.0 */
/* The older name of <bang.h>. C++ only; leo cc --soc mlu370. */
#pragma once

#include <bang.h>
