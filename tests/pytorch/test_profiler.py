# SPDX-License-Identifier: Apache-2.0
"""torch_npu.profiler end to end: every file it promises, joined with the simulated clock."""

import csv
import json
import tempfile
import unittest
from pathlib import Path

import torch
import torch_npu
from torch_npu import profiler

import common
from common import DEVICE

FILES = ["kernel_details.csv", "op_statistic.csv", "api_statistic.csv", "step_trace_time.csv", "task_time.csv",
         "operator_details.csv", "operator_memory.csv", "memory_record.csv", "npu_module_mem.csv", "trace_view.json"]
STEPS, ADDS = 3, 7


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Profiler(common.Case):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = cls.record(Path(cls.place.name) / "level1", profiler.ProfilerLevel.Level1)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @staticmethod
    def record(place, level, x=None, step=None):
        torch.npu.synchronize()
        config = profiler._ExperimentalConfig(profiler_level=level, aic_metrics=profiler.AiCMetrics.PipeUtilization)
        x = (torch.randn(64, 64) if x is None else x).to(DEVICE)
        with profiler.profile(
                activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU],
                schedule=profiler.schedule(wait=1, warmup=1, active=STEPS, repeat=1),
                on_trace_ready=profiler.tensorboard_trace_handler(str(place)), record_shapes=True, profile_memory=True,
                experimental_config=config) as recorder:
            for _ in range(STEPS + 2):
                for _ in range(0 if step else ADDS):
                    x = x + x
                if step:
                    step(x)
                # What waits in the adapter's queue would belong to the next step.
                torch.npu.synchronize()
                recorder.step()
        return next(place.glob("*_ascend_pt")) / "ASCEND_PROFILER_OUTPUT"

    def test_all_files_are_there(self):
        self.assertLessEqual(set(FILES), {path.name for path in self.folder.iterdir()})

    def test_kernel_details(self):
        rows = read(self.folder / "kernel_details.csv")
        self.assertEqual(len(rows), STEPS * ADDS)
        self.assertEqual({row["Step Id"] for row in rows}, {str(step) for step in range(2, 2 + STEPS)})
        for row in rows:
            self.assertEqual((row["Name"], row["Type"]), ("aclnnAdd", "Add"))
            self.assertEqual(row["Input Shapes"], '"64,64;64,64"')
            self.assertEqual(row["Output Data Types"], "FLOAT")
            self.assertGreater(float(row["Duration(us)"]), 0)
            self.assertGreater(float(row["aicore_time(us)"]), 0)
            self.assertGreater(sum(float(row[f"{pipe}_time(us)"]) for pipe in ("scalar", "vec", "mte2", "mte3")), 0)
        # The same work takes the same simulated time, whatever this machine does meanwhile.
        self.assertLessEqual(len({row["Duration(us)"] for row in rows[1:]}), 3)

    @unittest.skipUnless(common.SOC == "ascend910a", "only there operators are called by type name")
    def test_operators_by_type_name(self):
        """The chip's own formats: one row per operator, under the type users know, with shapes as they are stored."""
        net = torch.nn.Sequential(torch.nn.Conv2d(3, 20, 3), torch.nn.BatchNorm2d(20), torch.nn.ReLU(), torch.nn.MaxPool2d(2)).to(DEVICE)
        torch_npu.npu.config.allow_internal_format = True

        def step(x):
            with torch.autocast("npu", dtype=torch.float16):
                net(x).float().sum().backward()

        folder = self.record(Path(self.place.name) / "formats", profiler.ProfilerLevel.Level1, torch.randn(2, 3, 8, 8), step)
        torch_npu.npu.config.allow_internal_format = False
        rows = read(folder / "kernel_details.csv")
        count = {name: sum(row["Type"] == name for row in rows) for name in (
            "Conv2D", "Conv2DBackpropFilter", "BNTrainingReduce", "BNTrainingUpdate", "BNTrainingReduceGrad", "BNTrainingUpdateGrad",
            "Relu", "ReluGrad", "MaxPoolWithArgmaxV1", "MaxPoolGradWithArgmaxV1")}
        self.assertEqual(set(count.values()), {STEPS}, count)
        for row in rows:
            self.assertTrue(row["Output Shapes"] and row["Output Data Types"] and row["Output Formats"], row)
        norm = next(row for row in rows if row["Type"] == "BNTrainingReduce")
        self.assertEqual((norm["Input Shapes"], norm["Input Formats"]), ('"2,2,6,6,16"', "NC1HWC0"))
        self.assertGreater(int(norm["Block Num"]), 0)
        statistic = {row["OP Type"]: float(row["Total Time(us)"]) for row in read(folder / "op_statistic.csv")}
        self.assertAlmostEqual(sum(statistic.values()), sum(float(row["Duration(us)"]) for row in rows), places=1)

    def test_sums_agree_between_files(self):
        kernels = sum(float(row["Duration(us)"]) for row in read(self.folder / "kernel_details.csv"))
        statistic = sum(float(row["Total Time(us)"]) for row in read(self.folder / "op_statistic.csv"))
        steps = read(self.folder / "step_trace_time.csv")
        self.assertAlmostEqual(kernels, statistic, places=2)
        self.assertAlmostEqual(kernels, sum(float(row["Computing"]) for row in steps), places=2)
        self.assertEqual(len(steps), STEPS)
        operators = read(self.folder / "operator_details.csv")
        self.assertAlmostEqual(kernels, sum(float(r["Device Self Duration(us)"]) for r in operators), places=2)
        named = {row["Name"] for row in operators if float(row["Device Self Duration(us)"])}
        self.assertLessEqual(named, {"aten::add", "aclnnAdd"})
        self.assertTrue(named)

    def test_calls_and_memory(self):
        calls = {row["API Name"]: int(row["Count"]) for row in read(self.folder / "api_statistic.csv")}
        self.assertEqual(calls["aclnnAdd"], STEPS * ADDS)
        self.assertEqual(calls["aclnnAddGetWorkspaceSize"], STEPS * ADDS)
        self.assertTrue(read(self.folder / "npu_module_mem.csv"))
        self.assertTrue(any(row["Name"] == "aten::add" for row in read(self.folder / "operator_memory.csv")))
        self.assertIn("APP", {row["Component"] for row in read(self.folder / "memory_record.csv")})

    def test_trace_view(self):
        events = json.loads((self.folder / "trace_view.json").read_text())
        processes = {e["args"]["name"] for e in events if e.get("name") == "process_name"}
        self.assertLessEqual({"Python", "CANN", "Ascend Hardware", "Overlap Analysis"}, processes)
        for flow in ("async_npu", "async_task_queue", "HostToDevice"):
            begins = [e for e in events if e.get("cat") == flow and e["ph"] == "s"]
            ends = [e for e in events if e.get("cat") == flow and e["ph"] == "f"]
            self.assertGreaterEqual(len(begins), STEPS * ADDS, flow)
            self.assertEqual(len(begins), len(ends), flow)

    def test_level0(self):
        folder = self.record(Path(self.place.name) / "level0", profiler.ProfilerLevel.Level0)
        rows = read(folder / "kernel_details.csv")
        self.assertEqual(len(rows), STEPS * ADDS)
        self.assertNotIn("mte2_time(us)", rows[0])

    @unittest.skipUnless(hasattr(torch_npu.npu, "mstx"), "this torch_npu has no mstx")
    def test_marks_outside_of_a_profile_do_no_harm(self):
        torch_npu.npu.mstx.mark("here")


common.main()
