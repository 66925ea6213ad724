# SPDX-License-Identifier: Apache-2.0
"""The device as a script meets it: copies, streams, events, memory, data loaders, forks, errors. Few operators."""

import gc
import io
import os
import subprocess
import sys
import time

import torch
import torch_npu

import common
from common import DEVICE


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        return torch.full((3, 4), float(index)), index


def use_the_device(answer):
    try:
        torch.npu.synchronize()
        answer.put("no error")
    except RuntimeError as error:
        answer.put(str(error))


class Device(common.Case):
    def test_the_chip_is_what_was_asked_for(self):
        self.assertTrue(torch.npu.is_available())
        self.assertEqual(torch.npu.device_count(), 1)
        name = {"ascend910a": "Ascend910A", "ascend910b1": "Ascend910B1"}[common.SOC]
        self.assertEqual(torch.npu.get_device_name(0), name)
        self.assertGreater(torch.npu.get_device_properties(0).total_memory, 2**34)
        self.assertEqual(torch.npu.is_bf16_supported(), common.HAS_BF16)

    def test_copies_keep_every_bit(self):
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int32, torch.int64,
                      torch.bool):
            for shape in ((), (0, 3), (1,), (7, 5), (1000, 33)):
                x = (torch.rand(shape) * 100).to(dtype)
                self.assertTrue(torch.equal(x.to(DEVICE).cpu(), x), (dtype, shape))
        x = torch.randn(300, 7)
        self.assertTrue(torch.equal(x.to(DEVICE, non_blocking=True).cpu(), x))
        pinned = x.pin_memory()
        self.assertTrue(pinned.is_pinned())
        self.assertFalse(x.is_pinned())
        back = torch.empty_like(x).pin_memory()
        back.copy_(pinned.to(DEVICE, non_blocking=True), non_blocking=True)
        torch.npu.synchronize()
        self.assertTrue(torch.equal(back, x))

    def test_synchronize_returns_none_and_prints_as_a_mark(self):
        self.assertIsNone(torch.npu.synchronize())
        print(torch.npu.synchronize(), "mark")

    def test_streams_and_events(self):
        streams = [torch.npu.Stream() for _ in range(70)]
        begin, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
        host = torch.randn(1 << 20).pin_memory()
        with torch.npu.stream(streams[3]):
            begin.record()
            x = host.to(DEVICE, non_blocking=True)
            end.record()
        torch.npu.current_stream().wait_event(end)
        end.synchronize()
        self.assertTrue(end.query())
        # Simulated time: 4 MiB over the host link, some hundred microseconds, however slow this machine is.
        self.assertGreater(begin.elapsed_time(end), 0.01)
        self.assertLess(begin.elapsed_time(end), 10)
        self.assertTrue(torch.equal(x.cpu(), host))
        streams[3].synchronize()
        self.assertTrue(streams[3].query())

    def test_memory_statistics(self):
        gc.collect()
        torch.npu.empty_cache()
        before = torch.npu.memory_allocated()
        free = torch.npu.mem_get_info()[0]
        torch.npu.reset_peak_memory_stats()
        x = torch.empty(64 << 20, dtype=torch.uint8, device=DEVICE)
        self.assertGreaterEqual(torch.npu.memory_allocated() - before, 64 << 20)
        self.assertLessEqual(torch.npu.mem_get_info()[0], free - (64 << 20))
        del x
        self.assertEqual(torch.npu.memory_allocated(), before)
        self.assertGreaterEqual(torch.npu.max_memory_allocated() - before, 64 << 20)
        torch.npu.empty_cache()
        self.assertEqual(torch.npu.mem_get_info()[0], free)
        self.assertIn("PyTorch NPU memory summary", torch.npu.memory_summary())

    def test_device_memory_is_not_host_memory_until_touched(self):
        def resident():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        before = resident()
        x = torch.empty(8 << 30, dtype=torch.uint8, device=DEVICE)
        self.assertLess(resident() - before, 256 << 20)
        del x
        torch.npu.empty_cache()

    def test_out_of_memory_is_the_usual_exception_and_can_be_survived(self):
        with self.assertRaisesRegex(torch.OutOfMemoryError, "NPU out of memory. Tried to allocate"):
            torch.empty(1 << 40, dtype=torch.uint8, device=DEVICE)
        blocks = []
        with self.assertRaises(torch.OutOfMemoryError):
            while True:
                blocks.append(torch.empty(2 << 30, dtype=torch.uint8, device=DEVICE))
        self.assertGreaterEqual(len(blocks), 10)
        del blocks
        x = torch.arange(5).to(DEVICE)
        self.assertEqual(x.cpu().tolist(), [0, 1, 2, 3, 4])

    def test_save_and_load(self):
        x = torch.randn(5, 6)
        buffer = io.BytesIO()
        torch.save({"x": x.to(DEVICE)}, buffer)
        for location, device in ((None, DEVICE), ("cpu", "cpu"), (DEVICE, DEVICE)):
            buffer.seek(0)
            loaded = torch.load(buffer, map_location=location)["x"]
            self.assertEqual(str(loaded.device), device)
            self.assertTrue(torch.equal(loaded.cpu(), x))

    def test_data_loader_with_workers_and_pinned_memory(self):
        torch.zeros(1).to(DEVICE)  # the device is in use when workers are forked
        loader = torch.utils.data.DataLoader(Numbers(), batch_size=8, num_workers=2, pin_memory=True,
                                             persistent_workers=True)
        for _ in range(2):
            seen = []
            for data, index in loader:
                self.assertTrue(data.is_pinned())
                on_device = data.to(DEVICE, non_blocking=True)
                seen += index.tolist()
                self.assertTrue(torch.equal(on_device.cpu(), data))
            self.assertEqual(sorted(seen), list(range(40)))

    def test_a_forked_child_is_told_to_spawn(self):
        torch.zeros(1).to(DEVICE)
        context = torch.multiprocessing.get_context("fork")
        answer = context.SimpleQueue()
        child = context.Process(target=use_the_device, args=(answer,))
        child.start()
        child.join()
        text = answer.get()
        self.assertIn("forked subprocess", text)
        self.assertIn("spawn", text)
        # The parent's chip is untouched.
        self.assertEqual(torch.arange(3).to(DEVICE).cpu().tolist(), [0, 1, 2])

    def test_expandable_segments(self):
        script = ("import torch, torch_npu\n"
                  "x = torch.randn(3 << 20)\n"
                  "y = [x.npu() for _ in range(4)]\n"
                  "del y[1:3]\n"
                  "torch.npu.empty_cache()\n"
                  "print(all(torch.equal(z.cpu(), x) for z in y), torch.npu.memory_reserved() < 64 << 20)\n")
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True"})
        self.assertIn("True True", done.stdout, done.stderr)

    def test_the_host_model_makes_launches_cost(self):
        script = ("import torch, torch_npu\n"
                  "x = torch.ones(64).npu()\n"
                  "begin, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)\n"
                  "torch.npu.synchronize(); begin.record()\n"
                  "for _ in range(100): x = x * 1.0\n"
                  "end.record(); torch.npu.synchronize(); print(begin.elapsed_time(end))\n")
        times = {}
        for level in ("0", "1", "2"):
            done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env={
                **os.environ, "LEO_HOST_MODEL": "100000,50000,20000", "TASK_QUEUE_ENABLE": level})
            times[level] = float(done.stdout)
        # 101 launches between the two records: milliseconds of one thread after the other, or of the slower one.
        for level, each in (("0", 0.17), ("1", 0.15), ("2", 0.1)):
            self.assertAlmostEqual(times[level], 101 * each, delta=0.5, msg=str(times))

    def test_import_says_nothing(self):
        done = subprocess.run([sys.executable, "-W", "error", "-c", "import torch; import torch_npu; torch.npu.set_device(0)"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_import_and_first_tensor_are_quick(self):
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", "import torch, torch_npu; torch.zeros(3).npu().cpu()"], check=True)
        print(f"  import and first tensor: {time.monotonic() - began:.1f} s")


common.main()
