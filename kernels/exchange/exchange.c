/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange.h"

#include <string.h>

enum { GROUP_BYTES = 128 };

/* A step's arguments. Groups are looked for again when it runs: plans outlive them. */
struct exchange_args {
    uint64_t send, recv;
    uint64_t count;
    const char *func;
    enum leo_rt_exchange_kind kind;
    enum leo_rt_exchange_type type;
    uint32_t ranks;
    char group[GROUP_BYTES];
};

leo_status op_group_of(const struct op_call *call, const char *name, struct op_group *group)
{
    const struct leo_rt_exchanges *exchanges = leo_rt_exchanges();
    group->name = op_call_value(call, name)->text;
    if (!group->name || strlen(group->name) >= GROUP_BYTES) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "%s must be the name of a group", name);
    }
    if (!exchanges || exchanges->place(op_plan_device(call->plan), group->name, &group->rank,
                                       &group->ranks) != LEO_OK) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "%s %s: %s", name, group->name,
                            leo_rt_last_error());
    }
    return LEO_OK;
}

static leo_status put(const struct op_host_run *run, const void *step)
{
    struct exchange_args args;
    uint32_t rank, ranks;
    const struct leo_rt_exchanges *exchanges = leo_rt_exchanges();
    memcpy(&args, step, sizeof(args));
    leo_status status =
        exchanges ? exchanges->place(run->device, args.group, &rank, &ranks) : LEO_ERR_STATE;
    if (status == LEO_OK && ranks != args.ranks) {
        status = leo_rt_fail(LEO_ERR_STATE, "%s: group %s has %u ranks now and had %u", args.func,
                             args.group, ranks, args.ranks);
    }
    const struct leo_rt_exchange exchange = {.func = args.func,
                                             .kind = args.kind,
                                             .type = args.type,
                                             .send = args.send,
                                             .recv = args.recv,
                                             .count = args.count};
    return status == LEO_OK ? exchanges->put(run->device, args.group, &exchange, run->stream)
                            : status;
}

void op_chain_exchange(struct op_chain *chain, const struct op_group *group,
                       enum leo_rt_exchange_kind kind, const struct op_tensor *send,
                       const struct op_tensor *recv, int64_t count)
{
    struct exchange_args args;
    memset(&args, 0, sizeof(args)); // with its gaps
    args.send = send->addr;
    args.recv = recv->addr;
    args.count = (uint64_t)count;
    args.func = chain->call->row->name;
    args.kind = kind;
    args.type = send->type == OP_TYPE_F16    ? LEO_RT_EXCHANGE_F16
                : send->type == OP_TYPE_BF16 ? LEO_RT_EXCHANGE_BF16
                                             : LEO_RT_EXCHANGE_I8;
    args.ranks = group->ranks;
    memcpy(args.group, group->name, strlen(group->name));
    if (chain->status == LEO_OK) {
        chain->status = op_plan_host(chain->plan, put, &args, sizeof(args), 2);
    }
}
