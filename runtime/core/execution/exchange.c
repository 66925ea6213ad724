/* SPDX-License-Identifier: Apache-2.0 */
#include <leo/exchange.h>

#include "../rt.h"

#include <stdatomic.h>

// Libraries are loaded by the process, not by a device: there is no object to keep it in (decision
// 8).
static const struct leo_rt_exchanges *_Atomic the_exchanges;

void leo_rt_exchanges_offer(const struct leo_rt_exchanges *exchanges)
{
    atomic_store(&the_exchanges, exchanges);
}

const struct leo_rt_exchanges *leo_rt_exchanges(void)
{
    const struct leo_rt_exchanges *exchanges = atomic_load(&the_exchanges);
    if (!exchanges) {
        (void)!leo_rt_fail(LEO_ERR_STATE,
                           "no library of collectives (libhccl.so) is loaded: there are no groups");
    }
    return exchanges;
}
