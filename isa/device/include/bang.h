/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels in BANG C (docs/bang_c.md). C++ only; compile with leo cc --soc mlu370. Names, argument
 * order and units are those that public kernels use; what is not there is a compile error that
 * names it. A core of the simulated card plays an IPU: NRAM is its UB, WRAM its L1.
 */
#pragma once

// Pointers of the language carry no memory: the lint of C kernels has nothing to say here.
#undef LEO_CHECK_SPACES
#ifdef LEO_ONE_FILE
#pragma clang force_cuda_host_device begin
#endif
#include <leo/device.h>

#if !LEO_HAS_1001
#error "BANG C is for a card with coupled cores: leo cc --soc mlu370"
#endif

#include <limits>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <type_traits>

#include <bang/qualifiers.h>

#include <bang/task.h>

#include <bang/sync.h>

#include <bang/cluster.h>

#include <bang/memory.h>

#include <bang/engine.h>

#include <bang/convert.h>

#include <bang/calls.h>

#include <bang/conversions.h>

#include <bang/fill.h>

#include <bang/reduce.h>

#include <bang/shape.h>

#include <bang/fusion.h>

#include <bang/product.h>

#include <bang/atomic.h>

#ifdef LEO_ONE_FILE
#pragma clang force_cuda_host_device end
#endif
