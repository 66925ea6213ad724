/* SPDX-License-Identifier: Apache-2.0 */
/* What a killed rank leaves in the system. */
#pragma once

/**
 * Removes shared memory files of UCX that no process of this host has. UCX takes the name of such a
 * file away as soon as it has made it; a rank killed in between leaves it for good.
 */
void coll_shm_cleanup(void);
