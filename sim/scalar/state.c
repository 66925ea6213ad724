/* SPDX-License-Identifier: Apache-2.0 */
#include "scalar.h"

#define SECTION(what, member) SIM_SECTION(struct sim_scalar, what, member)
static const struct sim_section list[] = {
    SECTION(BLOCK, x),
    SECTION(BLOCK, f),
    SECTION(BLOCK, pc),
    SECTION(BLOCK, fcsr),
    SECTION(BLOCK, cycle),
    SECTION(BLOCK, instructions),
    SECTION(BLOCK, reservation),
    SECTION(BLOCK, reserved),
    SECTION(BLOCK, fault),
    SECTION(WIRED, env),
    SECTION(GIVEN, text),
    SECTION(WIRED, time),
    SECTION(WIRED, owner),
    SECTION(WIRED, line_bytes),
    // Found again when asked for (sim_scalar_forget).
    SECTION(GIVEN, region_cache),
    SECTION(GIVEN, load_reach),
    SECTION(GIVEN, store_reach),
    SECTION(WIRED, slowest),
    SECTION(BLOCK, anchor),
    SECTION(BLOCK, anchor_ticks),
    SECTION(WIRED, marks),
    SECTION(GIVEN, counts),
    SECTION(BLOCK, counted),
    SECTION(WIRED, is_stepping),
};
#undef SECTION

const struct sim_sections sim_scalar_sections = SIM_SECTIONS(struct sim_scalar, list);

void sim_scalar_reset(struct sim_scalar *scalar)
{
    sim_sections_zero(&sim_scalar_sections, scalar, SIM_SECTION_BLOCK);
    sim_scalar_forget(scalar);
}
