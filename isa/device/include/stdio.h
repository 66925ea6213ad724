/* SPDX-License-Identifier: Apache-2.0 */
/* For kernels: printf is leo_printf (leo/device_print.h). A pass for the host gets the host's own
 * header. */
#ifdef __riscv
#pragma once
#include <leo/device.h>
#define printf leo_printf
#else
#include_next <stdio.h>
#endif
