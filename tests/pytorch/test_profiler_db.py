# SPDX-License-Identifier: Apache-2.0
"""torch_npu.profiler with export_type Db: its data base, made of ours, answers what the vendor's viewers ask."""

import sqlite3
import tempfile
from pathlib import Path

import torch
from torch_npu import profiler

import common
from common import DEVICE

STEPS, ADDS = 2, 5


class ProfilerDb(common.Case):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        config = profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level1,
                                              export_type=[profiler.ExportType.Db])
        x = torch.randn(64, 64).to(DEVICE)
        torch.npu.synchronize()
        with profiler.profile(
                activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU],
                schedule=profiler.schedule(wait=1, warmup=1, active=STEPS, repeat=1),
                on_trace_ready=profiler.tensorboard_trace_handler(cls.place.name), record_shapes=True,
                experimental_config=config) as recorder:
            for _ in range(STEPS + 2):
                for _ in range(ADDS):
                    x = x + x
                torch.npu.synchronize()
                recorder.step()
        folder = next(Path(cls.place.name).glob("*_ascend_pt")) / "ASCEND_PROFILER_OUTPUT"
        cls.base = sqlite3.connect(next(folder.glob("ascend_pytorch_profiler*.db")))
        cls.analysis = sqlite3.connect(folder / "analysis.db")

    @classmethod
    def tearDownClass(cls):
        cls.base.close()
        cls.analysis.close()
        cls.place.cleanup()

    def ask(self, words, base=None):
        return (base or self.base).execute(words).fetchall()

    def test_kernels_by_name_with_shapes(self):
        rows = self.ask("SELECT n.value, o.value, s.value, t.endNs - t.startNs, c.blockDim FROM COMPUTE_TASK_INFO c "
                        "JOIN TASK t ON t.globalTaskId = c.globalTaskId JOIN STRING_IDS n ON n.id = c.name "
                        "JOIN STRING_IDS o ON o.id = c.opType JOIN STRING_IDS s ON s.id = c.inputShapes")
        self.assertEqual(len(rows), STEPS * ADDS)
        for name, kind, shapes, ns, blocks in rows:
            self.assertEqual((name, kind), ("aclnnAdd", "Add"))
            self.assertTrue(shapes.startswith("64,64;64,64"), shapes)
            self.assertGreater(ns, 0)
            self.assertGreater(blocks, 0)

    def test_every_kernel_has_the_launch_before_it(self):
        rows = self.ask("SELECT a.startNs, t.startNs FROM COMPUTE_TASK_INFO c JOIN TASK t ON t.globalTaskId = c.globalTaskId "
                        "JOIN CANN_API a ON a.connectionId = t.connectionId WHERE a.type = 10000")
        self.assertEqual(len(rows), STEPS * ADDS)
        self.assertTrue(all(launch <= start for launch, start in rows))

    def test_steps_compute_as_long_as_their_kernels(self):
        (total,), = self.ask("SELECT SUM(t.endNs - t.startNs) FROM COMPUTE_TASK_INFO c "
                             "JOIN TASK t ON t.globalTaskId = c.globalTaskId")
        steps = self.ask("SELECT computing FROM StepTraceTime", self.analysis)
        self.assertEqual(len(steps), STEPS)
        self.assertAlmostEqual(sum(row[0] for row in steps), total / 1000, delta=0.01)

    def test_calls_of_the_framework_are_joined(self):
        (count,), = self.ask("SELECT COUNT(*) FROM PYTORCH_API p JOIN STRING_IDS s ON s.id = p.name WHERE s.value = 'aten::add'")
        self.assertEqual(count, STEPS * ADDS)


if __name__ == "__main__":
    common.main()
