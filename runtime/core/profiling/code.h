/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions counted by the chip, by image and core (leo/code_profile.h). */
#pragma once

#include <leo/debug.h>
#include <leo/status.h>

struct rt_code;

leo_status rt_code_create(struct rt_code **code);
void rt_code_destroy(struct rt_code *code);
/** What the chip is to call. */
const struct leo_debugger *rt_code_counter(const struct rt_code *code);
