# SPDX-License-Identifier: Apache-2.0
"""Several processes, a simulated card each: collectives and DistributedDataParallel of the real torch_npu over our HCCL."""

import os
import queue
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

import common

STEPS, BATCH = 4, 8


def make_model():
    common.seed(3)
    return torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.Tanh(), torch.nn.Linear(64, 3))


def make_data(world):
    common.seed(4)
    return torch.randn(BATCH * world, 10), torch.randint(0, 3, (BATCH * world,))


def train(model, inputs, labels):
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()


def check_collectives(rank, world):
    total = torch.full((1000,), float(rank + 1), device=common.KIND)
    dist.all_reduce(total)
    assert torch.all(total == world * (world + 1) / 2)
    parts = [torch.zeros(3, device=common.KIND) for _ in range(world)]
    dist.all_gather(parts, torch.full((3,), float(rank), device=common.KIND))
    assert [part[0].item() for part in parts] == list(map(float, range(world)))
    first = torch.full((5,), rank, dtype=torch.int64, device=common.KIND)
    dist.broadcast(first, world - 1)
    assert torch.all(first == world - 1)
    out = torch.zeros(2, device=common.KIND)
    dist.reduce_scatter(out, [torch.full((2,), float(r), device=common.KIND) for r in range(world)])
    assert torch.all(out == rank * world)
    given = torch.arange(world, device=common.KIND, dtype=torch.float32) + 10 * rank
    taken = torch.zeros(world, device=common.KIND)
    dist.all_to_all_single(taken, given)
    assert taken.tolist() == [10.0 * r + rank for r in range(world)]
    if rank == 0:
        dist.send(torch.arange(7, device=common.KIND), 1)
    elif rank == 1:
        got = torch.zeros(7, dtype=torch.int64, device=common.KIND)
        dist.recv(got, 0)
        assert got.tolist() == list(range(7))
    names = [None] * world
    dist.all_gather_object(names, f"rank {rank}")
    assert names == [f"rank {r}" for r in range(world)]


def check_products(rank, world):
    """Products and exchanges in one, which the 910B1 has: each rank's part of a layer that is split by rows or columns."""
    group = dist.distributed_c10d._get_default_group()._get_backend(torch.device("npu")).get_hccl_comm_name(rank)
    common.seed(5)
    x = torch.randint(-2, 3, (world, 8, 32)).half()
    w = torch.randint(-2, 3, (world, 32, 24)).half()
    bias = torch.randint(-2, 3, (24,)).half()
    total = sum(x[r].float() @ w[r].float() for r in range(world))
    mine, weight = x[rank].npu(), w[rank].npu()
    out = common.torch_npu.npu_mm_all_reduce_base(mine, weight, group, reduce_op="sum", bias=bias.npu())
    assert torch.equal(out.cpu().float(), total + world * bias.float())
    scattered = common.torch_npu.npu_mm_reduce_scatter_base(mine, weight, group, world, reduce_op="sum")
    assert torch.equal(scattered.cpu().float(), total.chunk(world)[rank])
    product, gathered = common.torch_npu.npu_all_gather_base_mm(mine, weight, group, world, bias=None, gather_index=0, gather_output=True)
    assert torch.equal(gathered.cpu(), x.reshape(world * 8, 32))
    assert torch.equal(product.cpu().float(), x.reshape(world * 8, 32).float() @ w[rank].float())


def be_rank(rank, world, port, results):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    common.card.set_device(0)
    dist.init_process_group(common.BACKEND, rank=rank, world_size=world)
    check_collectives(rank, world)
    if common.SOC == "ascend910b1" and common.KIND == "npu":
        check_products(rank, world)
    model = make_model().to(common.KIND)
    inputs, labels = make_data(world)
    parallel = DistributedDataParallel(model, device_ids=[0])
    train(parallel, inputs[rank::world].to(common.KIND), labels[rank::world].to(common.KIND))
    results.put((rank, [parameter.detach().cpu().numpy() for parameter in model.parameters()]))
    dist.barrier()
    dist.destroy_process_group()


def wait_forever(rank, world, port, _):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    common.card.set_device(0)
    dist.init_process_group(common.BACKEND, rank=rank, world_size=world)
    dist.all_reduce(torch.ones(4, device=common.KIND))
    common.card.synchronize()
    if rank == 1:
        os.kill(os.getpid(), 9)
    dist.all_reduce(torch.ones(4, device=common.KIND))
    common.card.synchronize()


class Distributed(common.Case):
    def run_ranks(self, world):
        context = mp.get_context("spawn")
        results = context.Queue()
        processes = mp.spawn(be_rank, args=(world, common.free_port(), results), nprocs=world, join=False)
        found = {}
        while len(found) < world:
            try:
                found.update([results.get(timeout=1)])
            except queue.Empty:
                processes.join(timeout=0)  # raises what a rank ended with
        while not processes.join():
            pass
        return found

    def check_training(self, world):
        found = self.run_ranks(world)
        model = make_model()
        train(model, *make_data(world))
        # The 910A multiplies in half precision.
        bound = 5e-3 if common.SOC == "ascend910a" else 1e-5
        for index, parameter in enumerate(model.parameters()):
            for rank in range(world):
                self.expect_close(torch.from_numpy(found[rank][index]), parameter, rtol=bound, atol=bound, what=f"rank {rank}")
                # All ranks hold the same bits.
                self.assertTrue((found[rank][index] == found[0][index]).all())

    def test_two_processes(self):
        self.check_training(2)

    def test_four_processes(self):
        self.check_training(4)

    def test_a_killed_rank_ends_the_others(self):
        begin = time.monotonic()
        with self.assertRaises(Exception):
            mp.spawn(wait_forever, args=(2, common.free_port(), None), nprocs=2)
        self.assertLess(time.monotonic() - begin, 120)


if __name__ == "__main__":
    common.main()
