/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

/* A pair of instructions is reported once, whatever else they do to each other. */
static bool is_same_place(const struct sim_finding *a, const struct sim_finding *b)
{
    return a->code == b->code && a->pc == b->pc && a->other_pc == b->other_pc &&
           a->unit == b->unit && a->other_unit == b->other_unit;
}

void sim_findings_add(struct sim_findings *findings, const struct sim_finding *finding)
{
    for (unsigned i = 0; i < findings->count; i++) {
        struct sim_finding *old = &findings->list[i];
        if (!is_same_place(old, finding)) {
            continue;
        }
        if (old->kind == finding->kind && old->block == finding->block &&
            old->addr + old->bytes == finding->addr) {
            old->bytes += finding->bytes; // the shadow cuts ranges into pages
        }
        return;
    }
    if (findings->count < SIM_FINDINGS) {
        findings->list[findings->count++] = *finding;
    } else {
        findings->more++;
    }
}
