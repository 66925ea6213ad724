/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels in Ascend C (docs/ascend_c.md). C++ only, C++17; compile with leo cc. Names, units and
 * defaults are those of the public language; what a chip does not have is a compile error there.
 *
 * -DLEO_NO_AUTO_SYNC: no barrier or flag but those a kernel asks for, as the vendor's compiler with
 * --cce-auto-sync=off; the checker then tells which are missing.
 */
#pragma once

// Templates cannot tell address spaces apart: the lint of C kernels has nothing to say here.
#undef LEO_CHECK_SPACES
// Functions of kernels are inlined, as the language has it.
#ifdef LEO_ONE_FILE // with code for the host (bisheng)
#define __aicore__ __attribute__((device, always_inline))
#pragma clang force_cuda_host_device begin
#else
#define __aicore__ __attribute__((always_inline))
#endif
#define LEO_ASCENDC 1
#include <leo/device.h>
// The generation of the core, as the vendor's compiler defines it.
#define __CCE_AICORE__ (LEO_HAS_2201 ? 220 : 100)
#include <limits>
#include <type_traits>

#include <ascendc/types.h>

#include <ascendc/sync.h>

#include <ascendc/tensor.h>

#include <ascendc/queue.h>

#include <ascendc/copy.h>
#include <ascendc/vector.h>

#include <ascendc/cast.h>
#include <ascendc/gather.h>
#include <ascendc/order.h>
#include <ascendc/reduce.h>
#include <ascendc/select.h>

#include <ascendc/cube.h>
#include <ascendc/debug.h>
#include <ascendc/fixpipe.h>
#include <ascendc/kind.h>
#include <ascendc/scalars.h>

#include <ascendc/hccl.h>
#include <ascendc/math.h>
#include <ascendc/meet.h>
#include <ascendc/tensor_list.h>
#include <ascendc/tiling.h>
#include <ascendc/transpose.h>
#include <ascendc/windows.h>

#ifdef LEO_ONE_FILE
#pragma clang force_cuda_host_device end
#endif
