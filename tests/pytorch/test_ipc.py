# SPDX-License-Identifier: Apache-2.0
"""Tensors handed between processes with torch.multiprocessing: the other process reads and writes the same device memory."""

import torch
import torch.multiprocessing as mp

import common


def double(inbox, outbox):
    torch.npu.set_device(0)
    while True:
        tensor = inbox.get()
        if tensor is None:
            break
        tensor.mul_(2)  # in place: the sender sees it
        torch.npu.synchronize()
        outbox.put((tuple(tensor.shape), tensor.sum().item()))
        del tensor


def main():
    context = mp.get_context("spawn")
    inbox, outbox = context.Queue(), context.Queue()
    worker = context.Process(target=double, args=(inbox, outbox))
    worker.start()
    whole = torch.arange(3000, dtype=torch.float32).npu()
    large = torch.ones(1 << 20, device="npu")
    parts = [whole, whole[100:200], whole.view(30, 100)[:, :50], large]
    expected = [part.cpu().clone() for part in parts]
    for part in parts:
        torch.npu.synchronize()
        before = part.cpu()
        inbox.put(part)
        shape, total = outbox.get(timeout=120)
        assert shape == tuple(part.shape), (shape, part.shape)
        after = part.cpu()
        assert torch.equal(after, before * 2), (after, before)
        assert abs(total - after.sum().item()) <= 1e-3 * abs(total), (total, after.sum().item())
    inbox.put(None)
    worker.join(60)
    assert worker.exitcode == 0, worker.exitcode
    assert torch.equal(large.cpu(), expected[3] * 2)
    print("tensors of another process are read and written in place")


if __name__ == "__main__":
    main()
