#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""msprof over a small profile written by hand: every table, the timeline's joins, and what is wrong with a folder."""

import csv
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from random import Random

MSPROF = Path(__file__).resolve().parents[3] / "tools" / "toolkit" / "msprof" / "msprof.py"
REAL_US, RAW_NS = 1_700_000_000_000_000, 5_000_000_000
HEADER = ("task,stream,kind,core_kind,tag,blocks,cores,start_ns,end_ns,core_cycles,gm_read,gm_write,"
          "scalar,vec,mac,mte1,mte2,mte3,fixpipe")
TASKS = [
    '1,3,kernel,cube,"aclnnMatmul|FLOAT16[2,3];FLOAT16[3,4]|FLOAT16[2,4]",2,2,100,1100,1600,4096,1024,10,0,800,30,400,0,50',
    '2,3,kernel,vector,"aclnnInplaceAdd|FLOAT[7]/NCHW|FLOAT[7]/NCHW",1,1,1100,1600,500,0,0,5,250,0,0,125,60,0',
    '3,4,copy,any,"copy",0,0,2600,2700,0,0,0,0,0,0,0,0,0,0',
    '4,3,kernel,any,"user_kernel",1,1,5000,5001,0,0,0,0,0,0,0,0,0,0',
]
# A call of an operator that makes two launches and a fill, on cores of both kinds, beside a kernel of another thread.
CALL = "Conv2D|FLOAT16[2,1,8,8,16]/NC1HWC0|FLOAT16[2,1,8,8,16]/NC1HWC0"
OPERATOR = [
    '5,3,fill,any,"fill",0,0,6000,6100,0,0,0,0,0,0,0,0,0,0',
    f'6,3,kernel,cube,"{CALL}",2,2,6100,7100,1000,10,20,0,0,600,0,0,0,0',
    f'7,3,kernel,vector,"{CALL}",1,1,7200,7500,300,30,40,0,150,0,0,0,0,0',
    '8,4,kernel,vector,"other",1,1,6100,6200,100,0,0,0,0,0,0,0,0,0',
]


class Profiled(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = Path(self.place.name) / "PROF_000001_20260101000000000_AAAAAAAA"
        host, device = self.folder / "host" / "data", self.folder / "device_0" / "data"
        host.mkdir(parents=True)
        device.mkdir(parents=True)
        (self.folder / "host" / "start_info").write_text(
            json.dumps({"collectionTimeBegin": str(REAL_US), "clockMonotonicRaw": str(RAW_NS), "pid": 77}))
        # The host is slow: task 2 is submitted long after the simulated end of task 1.
        launches = [(1, 1000), (2, 500_000), (3, 500_100), (4, 500_200)]
        (host / "launch.csv").write_text("device,task,thread,ns\n" + "".join(
            f"0,{task},9,{RAW_NS + at}\n" for task, at in launches))
        (host / "api.csv").write_text("level,name,thread,begin,end\n" + "".join(
            f"acl,aclnnMatmul,9,{RAW_NS + at},{RAW_NS + at + took}\n" for at, took in ((900, 1000), (4000, 3000))))
        (host / "memory.csv").write_text(f"device,ns,bytes\n0,{RAW_NS + 5},1048576\n")
        (device / "device.json").write_text(json.dumps(
            {"soc": "x", "clock_khz": 1_000_000, "cube_cores": 2, "vector_cores": 2, "metrics": 1, "lost": 0}))
        (device / "task.csv").write_text("\n".join([HEADER, *TASKS, ""]))

    def tearDown(self):
        self.place.cleanup()


class Msprof(Profiled):
    def msprof(self, *arguments, code=0):
        done = subprocess.run([sys.executable, "-B", MSPROF, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    def table(self, name):
        self.msprof("--export=on", f"--output={self.folder}")
        found = list((self.folder / "mindstudio_profiler_output").glob(f"{name}_*.csv"))
        self.assertRegex(found[0].name, rf"^{name}_\d{{14}}\.csv$")
        with open(found[0], newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def host(self, code=0):
        """What get_msprof_info.py says of the host."""
        done = subprocess.run([sys.executable, "-B", MSPROF.with_name("get_msprof_info.py"), "-dir", self.folder / "host"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_rate_of_the_hosts_counter(self):
        def moment(name, ns, count):
            (self.folder / "host" / name).write_text(f"[Host]\nclock_monotonic_raw = {ns}\ncntvct = {count}\n")

        self.assertEqual(self.host(1)["status"], 1)
        moment("host_start.log", RAW_NS, 1000)
        self.assertIn("was not stopped", self.host(1)["info"])
        moment("host_end.log", RAW_NS + 2_000_000, 5_001_000)
        data = self.host()["data"]
        self.assertEqual(float(data["host_info"]["cpu_info"][0]["Frequency"]), 2500)
        self.assertGreaterEqual(data["version_info"]["drv_version"], 467473)  # what MindSpore compares with
        moment("host_end.log", RAW_NS, 1000)
        self.assertEqual(self.host(1)["status"], 1)

    def test_rules_of_the_analysis(self):
        self.assertIn("no collectives", self.msprof("--analyze=on", "--rule=communication,communication_matrix", f"--output={self.folder}"))

    def test_op_summary(self):
        rows = self.table("op_summary")
        self.assertEqual([r["Op Name"] for r in rows], ["aclnnMatmul", "aclnnInplaceAdd", "user_kernel"])
        self.assertEqual([r["OP Type"] for r in rows], ["Matmul", "Add", "user_kernel"])
        self.assertEqual([r["Task Type"] for r in rows], ["AI_CORE", "AI_VECTOR_CORE", "MIX_AIC"])
        first = rows[0]
        self.assertEqual(first["Task Start Time(us)"], f"{REAL_US + 1}.000")
        self.assertEqual(first["Task Duration(us)"], "1.000")
        self.assertEqual(first["Input Shapes"], '"2,3;3,4"')
        self.assertEqual((first["Input Data Types"], first["Input Formats"]), ("FLOAT16;FLOAT16", "ND;ND"))
        self.assertEqual(rows[1]["Output Formats"], "NCHW")
        # 1600 cycles on 2 cores of 1 GHz; 800 of them in the Cube unit; 2 Cube units for 1000 cycles.
        self.assertEqual((first["aicore_time(us)"], first["total_cycles"]), ("0.800", "1600"))
        self.assertEqual((first["mac_time(us)"], first["mac_ratio"]), ("0.400", "0.5000"))
        self.assertEqual((first["memory_bound"], first["cube_utilization(%)"]), ("0.5000", "40.00"))

    def test_metrics(self):
        """What the simulator counts of each set of metrics; the rest has a column and no number."""
        device = self.folder / "device_0" / "data"
        (device / "task.csv").write_text(f"{HEADER},l2_hits,vec_bank\n{TASKS[0]},1024,160\n{TASKS[1]},0,0\n")
        for metrics, wanted in ((0, {"mac_ratio": "0.5000", "vec_ratio": "0.0000", "mac_fp16_ratio": "N/A"}),
                                (2, {"l2_read_bw(GB/s)": "1.0240", "main_mem_read_bw(GB/s)": "4.0960",
                                     "main_mem_write_bw(GB/s)": "1.0240", "l1_read_bw(GB/s)": "N/A"}),
                                (3, {"l0c_write_bw(GB/s)": "N/A"}), (4, {"vec_bank_cflt_ratio": "0.1000"}),
                                (5, {"ub_read_bw_vector(GB/s)": "N/A"}), (6, {"read_cache_hit_ratio": "0.2500"}),
                                (8, {"read_main_memory_datas(KB)": "4.000", "write_main_memory_datas(KB)": "1.000"}),
                                (255, {})):
            info = json.loads((device / "device.json").read_text())
            (device / "device.json").write_text(json.dumps({**info, "metrics": metrics}))
            shutil.rmtree(self.folder / "mindstudio_profiler_output", ignore_errors=True)
            first = self.table("op_summary")[0]
            self.assertEqual({name: first[name] for name in wanted}, wanted)
            if metrics != 255:
                wanted = {"aicore_time(us)": "0.800", "total_cycles": "1600"}
                self.assertEqual({name: first[name] for name in wanted}, wanted)

    def add_operator(self):
        host = self.folder / "host" / "data"
        with open(self.folder / "device_0" / "data" / "task.csv", "a", encoding="utf-8") as file:
            file.write("\n".join([*OPERATOR, ""]))
        with open(host / "launch.csv", "a", encoding="utf-8") as file:
            file.write("".join(f"0,{task},{thread},{RAW_NS + at}\n" for task, thread, at in (
                (5, 9, 600_100), (6, 9, 600_200), (7, 9, 600_300), (8, 10, 600_250))))
        with open(host / "api.csv", "a", encoding="utf-8") as file:
            # The inner call is part of the outer one.
            file.write(f'operator,"inner|INT8[1]|",9,{RAW_NS + 600_250},{RAW_NS + 600_350}\n'
                       f'operator,"{CALL}",9,{RAW_NS + 600_000},{RAW_NS + 600_400}\n')

    def test_a_call_is_one_row(self):
        self.add_operator()
        rows = [row for row in self.table("op_summary") if row["OP Type"] not in ("Matmul", "Add", "user_kernel")]
        self.assertEqual([(r["Op Name"], r["OP Type"], r["Task Type"]) for r in rows],
                         [("Conv2D", "Conv2D", "MIX_AIC"), ("other", "other", "AI_VECTOR_CORE")])
        first = rows[0]
        # Without the 0.1 us between the two kernels.
        self.assertEqual((first["Task Duration(us)"], first["Block Num"]), ("1.400", "2"))
        self.assertEqual((first["Input Shapes"], first["Output Formats"]), ('"2,1,8,8,16"', "NC1HWC0"))
        # 1000 cycles on two cores and 300 on one.
        self.assertEqual((first["aicore_time(us)"], first["total_cycles"]), ("0.800", "1300"))
        self.assertEqual((first["mac_time(us)"], first["vec_time(us)"]), ("0.300", "0.150"))
        statistic = {row["OP Type"]: row for row in self.table("op_statistic")}
        self.assertEqual((statistic["Conv2D"]["Count"], statistic["Conv2D"]["Total Time(us)"]), ("1", "1.400"))
        self.assertEqual(sum(row["kernel_name"] == "Conv2D" for row in self.table("task_time")), 3)
        calls = {row["API Name"]: row["Count"] for row in self.table("api_statistic")}
        self.assertEqual(calls["aclopCompileAndExecute"], "2")

    def test_collectives(self):
        (self.folder / "host" / "data" / "link.csv").write_text(
            "device,name,group,rank,ranks,bytes,begin,ready,end\n0,HcclAllReduce,world,1,2,4000,1400,1600,2000\n")
        row, = [row for row in self.table("op_summary") if row["Task Type"] == "COMMUNICATION"]
        self.assertEqual((row["Op Name"], row["OP Type"], row["Task Duration(us)"]),
                         ("hcom_allReduce__world_0", "hcom_allReduce_", "0.600"))
        sums = {}
        for event in self.events():
            if event["ph"] == "X":
                sums[event["name"]] = sums.get(event["name"], 0) + event["dur"]
        self.assertAlmostEqual(sums["Communication"], 0.6)
        # The second kernel ends at 1600; 2000 to 2600 and 2700 to 5000 are free.
        self.assertAlmostEqual(sums["Communication(Not Overlapped)"], 0.4)
        self.assertAlmostEqual(sums["Free"], 2.9)
        self.msprof("--analyze=on", f"--output={self.folder}")
        found = json.loads((self.folder / "analyze" / "communication.json").read_text())["hcom_allReduce__world_0@world"]
        times = found["Communication Time Info"]
        self.assertAlmostEqual(times["Wait Time(ms)"], 0.0002)
        self.assertAlmostEqual(times["Transit Time(ms)"], 0.0004)
        self.assertEqual(found["Communication Bandwidth Info"]["HCCS"]["Bandwidth(GB/s)"], 10.0)

    def test_statistics(self):
        rows = self.table("op_statistic")
        self.assertEqual([(r["OP Type"], r["Count"], r["Total Time(us)"]) for r in rows],
                         [("Matmul", "1", "1.000"), ("Add", "1", "0.500"), ("user_kernel", "1", "0.001")])
        self.assertAlmostEqual(sum(float(r["Ratio(%)"]) for r in rows), 100, places=2)
        api = self.table("api_statistic")
        self.assertEqual([(r["API Name"], r["Count"], r["Time(us)"], r["Min(us)"], r["Max(us)"], r["Variance"]) for r in api],
                         [("aclnnMatmul", "2", "4.000", "1.000", "3.000", "1.000")])

    def test_other_tables(self):
        self.assertEqual([r["kernel_type"] for r in self.table("task_time")],
                         ["AI_CORE", "AI_VECTOR_CORE", "MEMCPY_ASYNC", "MIX_AIC"])
        self.assertEqual(self.table("npu_module_mem")[0]["Total Reserved(KB)"], "1024.000")
        self.assertEqual(self.table("npu_mem")[0]["memory(KB)"], "1024.000")

    def events(self):
        self.msprof("--export=on", f"--output={self.folder.parent}")
        return json.loads(next((self.folder / "mindstudio_profiler_output").glob("msprof_*.json")).read_text())

    def test_arrows_join_launch_and_task(self):
        events = self.events()
        spans = {f"{e['pid']}-{e['tid']}-{e['ts']}": e for e in events if e["ph"] == "X"}
        begins = {e["id"]: e for e in events if e["ph"] == "s"}
        ends = {e["id"]: e for e in events if e["ph"] == "f"}
        self.assertEqual(len(begins), 4)
        for number, end in ends.items():
            task = spans[f"{end['pid']}-{end['tid']}-{end['ts']}"]
            self.assertLessEqual(float(begins[number]["ts"]), float(task["ts"]))

    def test_host_time_does_not_count_as_free(self):
        events = self.events()
        labels = {e["pid"]: e["args"]["labels"] for e in events if e["name"] == "process_labels"}
        sums = {}
        for event in events:
            if event["ph"] == "X" and event["name"] in ("Computing", "Free"):
                self.assertEqual(labels[event["pid"]], "NPU 0")
                sums[event["name"]] = sums.get(event["name"], 0) + event["dur"]
        # Simulated gaps: 1600 to 2600 and 2700 to 5000 ns.
        self.assertAlmostEqual(sums["Computing"], 1.501)
        self.assertAlmostEqual(sums["Free"], 3.3)

    def test_data_base(self):
        self.msprof("--export=on", "--type=db", f"--output={self.folder}")
        path, = [path for path in self.folder.iterdir() if path.suffix == ".db"]
        self.assertRegex(path.name, r"^msprof_\d{14}\.db$")
        base = sqlite3.connect(path)
        kernels = base.execute("SELECT n.value, s.value, t.startNs, t.endNs, t.streamId FROM COMPUTE_TASK_INFO c "
                               "JOIN TASK t ON t.globalTaskId = c.globalTaskId JOIN STRING_IDS n ON n.id = c.name "
                               "JOIN STRING_IDS s ON s.id = c.inputShapes ORDER BY t.startNs").fetchall()
        self.assertEqual([row[0] for row in kernels], ["aclnnMatmul", "aclnnInplaceAdd", "user_kernel"])
        self.assertEqual(kernels[0][1:4], ("2,3;3,4", REAL_US * 1000 + 1000, REAL_US * 1000 + 2000))
        launches = base.execute("SELECT a.startNs, a.globalTid FROM CANN_API a JOIN TASK t ON t.connectionId = a.connectionId "
                                "WHERE a.type = 10000 ORDER BY a.startNs").fetchall()
        self.assertEqual(launches[0], (REAL_US * 1000 + 1000, 77 << 32 | 9))
        self.assertEqual(len(launches), len(TASKS))
        self.assertEqual(base.execute("SELECT hbm, deviceId FROM NPU_MEM").fetchall(), [(1048576, 0)])
        base.close()

    def test_wrong_folders_and_arguments(self):
        self.assertIn("start_info", self.msprof("--export=on", f"--output={self.break_start()}", code=1))
        self.assertIn("no PROF_", self.msprof("--export=on", "--output=/nowhere", code=1))
        self.assertIn("--output", self.msprof(code=2))
        # torch_npu asks for a data base only if the help text has this.
        self.assertIn("--type", self.msprof("--help"))

    def damage(self, random):
        """Cuts a file of the profile, or changes some of its bytes; the function that takes it back."""
        path = random.choice(sorted(path for path in self.folder.rglob("*") if path.is_file()))
        good = path.read_bytes()
        bad = bytearray(good[:random.randrange(len(good))] if random.random() < 0.3 else good)
        for _ in range(random.randrange(1, 4) if bad else 0):
            bad[random.randrange(len(bad))] = random.choice(b'\x00\xff\xc3,"\n-9x')
        path.write_bytes(bad)
        return lambda: path.write_bytes(good)

    def test_damaged_profiles_are_told(self):
        """Whatever is damaged: it works, or it ends with one line that names a file."""
        random = Random(1)
        told = 0
        for turn in range(18):
            repair = self.damage(random)
            tool, *options = ((MSPROF, "--export=on", f"--output={self.folder}"),
                              (MSPROF, "--export=on", "--type=db", f"--output={self.folder}"),
                              (MSPROF.parents[1] / "report" / "report.py", self.folder))[turn % 3]
            done = subprocess.run([sys.executable, "-B", tool, *options], capture_output=True, text=True, check=False)
            self.assertNotIn("Traceback", done.stderr)
            self.assertIn(done.returncode, (0, 1))
            if done.returncode:
                self.assertRegex(done.stderr, r"^[a-z ]+: .*PROF_.*\n$")
                told += 1
            repair()
            for left in [*self.folder.glob("mindstudio_profiler_output"), *self.folder.glob("*.db")]:
                shutil.rmtree(left) if left.is_dir() else left.unlink()
        self.assertGreater(told, 4)

    def break_start(self):
        (self.folder / "host" / "start_info").write_text("")
        return self.folder


if __name__ == "__main__":
    unittest.main()
