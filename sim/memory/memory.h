/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory of a chip, who may use which of it, and the cache before it. */
#pragma once

#include "hbm.h"
#include "l2.h"
#include "space.h"
#include <leo/map.h>
#include <stdbool.h>

struct sim_check_written;
struct sim_unknown;

struct sim_memory {
    struct sim_hbm hbm;
    struct sim_space space[LEO_SPACES];
    bool overflow[LEO_SPACES]; /**< sticky: a block ended with CSR overflow set */
    struct sim_l2 l2;
    struct sim_check_written *written; /**< what copies and kernels wrote; NULL = nobody asks */
    struct sim_unknown *unknown;       /**< of a chip that computes no values; NULL = it does */
    _Atomic bool windowed; /**< others write its memory unseen: nobody knows what is unwritten */
};
