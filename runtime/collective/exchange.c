/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges that operators ask for, on the communicators of this process. */
#include "communicator_internal.h"

#include <leo/exchange.h>

static leo_status place(const struct leo_rt_device *device, const char *group, uint32_t *rank,
                        uint32_t *ranks)
{
    const struct comm *comm = comm_find_named(device, group);
    if (!comm) {
        return COMM_BAD_POINTER;
    }
    *rank = comm->rank;
    *ranks = comm->ranks;
    return LEO_OK;
}

static leo_status put(const struct leo_rt_device *device, const char *group,
                      const struct leo_rt_exchange *exchange, struct leo_rt_stream *stream)
{
    static const enum coll_kind kinds[] = {[LEO_RT_SUM_ALL] = COLL_ALL_REDUCE,
                                           [LEO_RT_SUM_SCATTER] = COLL_REDUCE_SCATTER,
                                           [LEO_RT_GATHER_ALL] = COLL_ALL_GATHER};
    static const enum coll_type types[] = {[LEO_RT_EXCHANGE_F16] = COLL_F16,
                                           [LEO_RT_EXCHANGE_BF16] = COLL_BF16,
                                           [LEO_RT_EXCHANGE_I8] = COLL_S8};
    const enum coll_type type = types[exchange->type];
    const struct comm_call call = {
        .func = exchange->func,
        .kind = kinds[exchange->kind],
        .send = (const void *)(uintptr_t)exchange->send,
        .recv = (void *)(uintptr_t)exchange->recv,
        .count = exchange->count,
        .type = {.bytes = coll_type_bytes(type), .computes = true, .type = type},
        .reduction = exchange->kind == LEO_RT_GATHER_ALL ? COMM_NO_REDUCTION : COLL_SUM};
    struct comm *comm = comm_find_named(device, group);
    return comm ? comm_put(&call, comm, stream) : COMM_BAD_POINTER;
}

void comm_offer_exchanges(void)
{
    static const struct leo_rt_exchanges exchanges = {place, put, comm_serve, comm_served};
    leo_rt_exchanges_offer(&exchanges);
}
