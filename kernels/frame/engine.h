/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of one device: its device programs, loaded when first used, and the plans made so far.
 */
#pragma once

#include "../chip/chip.h"
#include "row.h"
#include <leo/runtime.h>

struct op_engine;
struct op_cache;

/** The engine of a device, made on first use; the device ends it. */
LEO_MUST_CHECK leo_status op_engine_get(struct leo_rt_device *device, struct op_engine **engine);
const struct leo_caps *op_engine_caps(const struct op_engine *engine);
/** What plans know of the chip; lives as long as the engine. */
const struct op_chip *op_engine_numbers(const struct op_engine *engine);
struct leo_rt_device *op_engine_device(const struct op_engine *engine);
/** Index into the type masks of rows. */
unsigned op_engine_chip(const struct op_engine *engine);
/** The types a parameter takes on the chip: a mask as in struct op_param. */
uint32_t op_engine_types(const struct op_engine *engine, const struct op_param *param);
/** Whether bf16 is worked on in f32 (plan_wide.h). */
bool op_engine_widens(const struct op_engine *engine);
/** The plans made for the device so far. */
struct op_cache *op_engine_cache(const struct op_engine *engine);
/** A kernel of device/<program>.c, its module loaded if need be. */
LEO_MUST_CHECK leo_status op_engine_kernel(struct op_engine *engine, const char *program,
                                           const char *kernel, struct leo_rt_kernel **out);
