# SPDX-License-Identifier: Apache-2.0
"""One rank of a data-parallel job, started by torchrun as a user would start it; prints "good" at rank 0.

Every check compares with the same work on one CPU: the whole batch, nothing parallel.
"""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.nn.parallel import DistributedDataParallel

import common

STEPS = 3
# The 910A multiplies in half precision.
BOUND = 5e-3 if common.SOC == "ascend910a" else 1e-4


class Forked(nn.Module):
    """A part that the loss does not reach in every second step, and buffers that only rank 0 changes."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(12, 32)
        self.even, self.odd = nn.Linear(32, 4), nn.Linear(32, 4)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x, step):
        hidden = torch.tanh(self.first(x))
        return (self.odd if step % 2 else self.even)(hidden)


def make_batches(world, *shape):
    common.seed(7)
    return [torch.randn(4 * world, *shape) for _ in range(STEPS)]


def compare(rank, got, want, what, bound=BOUND):
    for (name, a), b in zip(got, want):
        difference = (a.detach().cpu().float() - b.detach().float()).abs().max().item()
        assert difference <= bound, f"rank {rank}, {what}, {name}: differs by {difference}"


def same_everywhere(tensors, world, what):
    for tensor in tensors:
        parts = [torch.empty_like(tensor) for _ in range(world)]
        dist.all_gather(parts, tensor.detach().contiguous())
        assert all(torch.equal(part, parts[0]) for part in parts), f"{what}: the ranks differ"


def train(model, batches, rank, world, call):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step, batch in enumerate(batches):
        mine = batch[rank::world]
        optimizer.zero_grad()
        call(model, mine, step).square().mean().backward()
        optimizer.step()


def unused_parameters_and_buffers(rank, world):
    common.seed(1)
    whole = Forked()
    model = Forked()
    model.load_state_dict(whole.state_dict())
    model = model.to(common.KIND)
    if rank == 0:
        model.seen += 5
    parallel = DistributedDataParallel(model, device_ids=[common.card.current_device()], find_unused_parameters=True,
                                       broadcast_buffers=True)
    batches = make_batches(world, 12)

    def call(net, x, step):
        return net(x, step)

    train(parallel, [batch.to(common.KIND) for batch in batches], rank, world, call)
    train(whole, batches, 0, 1, call)
    assert model.seen.item() == 5, "broadcast_buffers did not bring rank 0's buffer"
    compare(rank, model.named_parameters(), whole.parameters(), "find_unused_parameters")
    same_everywhere(model.parameters(), world, "find_unused_parameters")


def many_buckets(rank, world):
    """Buckets of 10 KB: many all-reduces under way while gradients are still computed; summed up over two passes first."""
    def make():
        common.seed(2)
        return nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(64, 64), nn.Tanh())])

    whole, model = make(), make().to(common.KIND)
    parallel = DistributedDataParallel(model, device_ids=[common.card.current_device()], bucket_cap_mb=0.01,
                                       gradient_as_bucket_view=True)
    batches = make_batches(world, 64)
    with parallel.no_sync():
        parallel(batches[0][rank::world].to(common.KIND)).square().mean().backward()
    parallel(batches[1][rank::world].to(common.KIND)).square().mean().backward()
    for batch in batches[:2]:
        whole(batch).square().mean().backward()
    compare(rank, [(name, p.grad) for name, p in model.named_parameters()], [p.grad for p in whole.parameters()], "buckets")
    same_everywhere([p.grad for p in model.parameters()], world, "buckets")


def sync_batch_norm(rank, world):
    def make():
        common.seed(3)
        return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5))

    whole = make()
    model = nn.SyncBatchNorm.convert_sync_batchnorm(make()).to(common.KIND)
    assert isinstance(model[1], nn.SyncBatchNorm)
    parallel = DistributedDataParallel(model, device_ids=[common.card.current_device()])
    batches = make_batches(world, 3, 8, 8)

    def call(net, x, _):
        return net(x)

    train(parallel, [batch.to(common.KIND) for batch in batches], rank, world, call)
    train(whole, batches, 0, 1, call)
    # Convolutions multiply in HF32, ten bits, where there is no half precision.
    bound = max(BOUND, 2e-3)
    compare(rank, model.named_parameters(), whole.parameters(), "SyncBatchNorm", bound)
    compare(rank, [("running mean", model[1].running_mean), ("running variance", model[1].running_var)],
            [whole[1].running_mean, whole[1].running_var], "SyncBatchNorm", bound)


def flat_collectives(rank, world):
    """What FSDP calls."""
    whole = torch.empty(6 * world, device=common.KIND)
    dist.all_gather_into_tensor(whole, torch.full((6,), float(rank), device=common.KIND))
    assert torch.equal(whole.cpu(), torch.arange(world).repeat_interleave(6).float())
    part = torch.empty(6, device=common.KIND)
    dist.reduce_scatter_tensor(part, torch.arange(6. * world).to(common.KIND) + rank)
    assert torch.equal(part.cpu(), torch.arange(6. * rank, 6. * rank + 6) * world + world * (world - 1) / 2)
    dist.reduce_scatter_tensor(part, whole, op=dist.ReduceOp.AVG)
    assert torch.equal(part.cpu(), torch.full((6,), float(rank)))


def captured(rank, world):
    """Collectives in a graph: each replay is a round of its own."""
    values = torch.full((64,), float(rank + 1), device=common.KIND)
    dist.all_reduce(values.clone())  # the group meets before the capture
    common.card.synchronize()
    graph = common.card.NPUGraph()
    with common.card.graph(graph):
        doubled = values * 2
        dist.all_reduce(doubled)
        result = doubled + 1
    for factor in (1, 3):
        values.fill_(factor * (rank + 1))
        graph.replay()
        common.card.synchronize()
        assert torch.all(result == factor * world * (world + 1) + 1), result


def fully_sharded(rank, world):
    def make():
        common.seed(4)
        return nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 8))

    whole = make()
    model = FullyShardedDataParallel(make().to(common.KIND), device_id=common.card.current_device(), use_orig_params=True)
    batches = make_batches(world, 16)

    def call(net, x, _):
        return net(x)

    train(model, [batch.to(common.KIND) for batch in batches], rank, world, call)
    train(whole, batches, 0, 1, call)
    with FullyShardedDataParallel.summon_full_params(model):
        compare(rank, model.named_parameters(), whole.parameters(), "FSDP")


def main():
    rank, world, local = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    common.card.set_device(local)
    dist.init_process_group(common.BACKEND)
    for check in (unused_parameters_and_buffers, many_buckets, sync_batch_norm, flat_collectives, captured, fully_sharded):
        check(rank, world)
        if rank == 0:
            print(f"  {check.__name__} over {world}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    if rank == 0:
        print("good", flush=True)


main()
