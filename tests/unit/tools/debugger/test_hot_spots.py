# SPDX-License-Identifier: Apache-2.0
"""test_hot_spots.py LEO: what each line of a kernel did, in a profile, in leo report and in msprof op."""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LEO = str(Path(sys.argv[1]).resolve())
ROOT = Path(__file__).resolve().parents[4]
KERNEL = ROOT / "examples" / "ascendc" / "vector_add.cpp"
MSPROF = ROOT / "tools" / "toolkit" / "msprof" / "msprof.py"
REPORT = ROOT / "tools" / "toolkit" / "report" / "report.py"
BLOCKS, TILES, TILE_BYTES, MHZ = 4, 4, 2048, 1850


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class HotSpots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.place = Path(cls.folder.name)
        cls.elf = str(cls.place / "add.elf")
        subprocess.run([LEO, "cc", "--soc", "ascend910b1", KERNEL, "-o", cls.elf], check=True, timeout=120)
        (cls.place / "x.bin").write_bytes(b"\0\x3c" * 16384)
        cls.command = [LEO, "run", "--soc", "ascend910b1", "--blocks", str(BLOCKS), cls.elf, "--arg", f"in:{cls.place}/x.bin", "--arg",
                   f"in:{cls.place}/x.bin", "--arg", "out:32768", "--arg", "4096"]
        text = KERNEL.read_text().splitlines()
        cls.lines = {what: next(i for i, line in enumerate(text, 1) if what in line)
                     for what in ("DataCopy(x, xGm", "Add(z, x, y", "DataCopy(zGm", "tiles = count")}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def profile(self, name, **environment):
        place = self.place / name
        out = subprocess.run([*self.command, "--profile", place], check=True, capture_output=True, text=True, timeout=120,
                             env={**os.environ, **environment}).stdout
        return next(place.glob("PROF_*")), out

    def test_profile(self):
        plain = subprocess.run(self.command, check=True, capture_output=True, text=True, timeout=120).stdout
        profile, out = self.profile("one", LEO_THREADS="1")
        self.assertEqual(out, plain)  # counting changes neither times nor results
        code = rows(profile / "device_0" / "data" / "code.csv")
        by_line = {}
        for row in code:
            by_line.setdefault(int(row["line"]), []).append(row)
        copies = [row for row in by_line[self.lines["DataCopy(x, xGm"]] if row["insn"] == "copy_gm_to_ubuf"]
        self.assertEqual(sum(int(row["count"]) for row in copies), BLOCKS * TILES)
        self.assertEqual(sum(int(row["bytes"]) for row in copies), BLOCKS * TILES * TILE_BYTES)
        self.assertEqual({row["pipe"] for row in copies}, {"mte2"})
        task = next(row for row in rows(profile / "device_0" / "data" / "task.csv") if row["kind"] == "kernel")
        for pipe, column in (("v", "vec"), ("mte3", "mte3"), ("mte2", "mte2")):
            busy = sum(int(row["busy_ps"]) for row in code if row["pipe"] == pipe) * MHZ / 1e6
            self.assertGreater(busy, 0)
            # A pipe that starts the next one before the last has ended is busy less than the sum.
            self.assertGreaterEqual(busy, int(task[column]) * 0.99, pipe)
        scalar = sum(float(row["scalar_cycles"]) for row in code)
        self.assertLess(scalar, int(task["scalar"]) * 1.001)
        self.assertGreater(scalar, int(task["scalar"]) * 0.5)
        same, _ = self.profile("two", LEO_THREADS="2")
        self.assertEqual(rows(same / "device_0" / "data" / "code.csv"), code)

    def test_report(self):
        profile, _ = self.profile("report")
        told = subprocess.run([sys.executable, "-B", REPORT, "--source", profile], check=True, capture_output=True, text=True, timeout=60).stdout
        line = next(line for line in told.splitlines() if "Add(z, x, y, TILE)" in line)
        self.assertRegex(line, rf"^ *{self.lines['Add(z, x, y']} +\d+ +\d+ +v \d+ +.*Add\(z")
        copy = next(line for line in told.splitlines() if "DataCopy(zGm" in line)
        self.assertRegex(copy, rf"mte3 \d+ .* {BLOCKS * TILES * TILE_BYTES} ")
        page = self.place / "report.html"
        subprocess.run([sys.executable, "-B", REPORT, profile, "-o", page], check=True, capture_output=True, timeout=60)
        data = json.loads(re.search(r"^const data = (.*);$", page.read_text(), re.M)[1])
        lines = data["devices"][0]["code"][0]["lines"]
        self.assertEqual(lines[self.lines["Add(z, x, y"] - 1][1].strip(), "Add(z, x, y, TILE);")
        self.assertGreater(lines[self.lines["Add(z, x, y"] - 1][4]["v"], 0)

    def test_not_counted(self):
        profile, _ = self.profile("plain", LEO_PROFILE_CODE="0")
        self.assertFalse((profile / "device_0" / "data" / "code.csv").exists())
        run = subprocess.run([sys.executable, "-B", REPORT, "--source", profile], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("instructions were not counted", run.stderr)

    def msprof(self, *words, program=None):
        place = self.place / "op"
        run = subprocess.run([sys.executable, "-B", MSPROF, "op", *words, "--output", place, *(program or self.command)], capture_output=True, text=True,
                             timeout=120, check=False)
        found = re.search(r"written to (\S+)", run.stdout)
        return run, found and Path(found[1])

    def test_op(self):
        run, folder = self.msprof("--kernel-name=vector_*", "--aic-metrics=PipeUtilization")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(folder.name, r"^OPPROF_\d{14}_[A-Z]{16}$")
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         sorted(f"{name}.csv" for name in ("OpBasicInfo", "PipeUtilization", "ArithmeticUtilization", "Memory", "L2Cache",
                                                           "ResourceConflictRatio")))
        info = rows(folder / "OpBasicInfo.csv")
        self.assertEqual((info[0]["Op Name"], info[0]["Block Dim"]), ("vector_add", "4"))
        pipes = rows(folder / "PipeUtilization.csv")
        self.assertEqual([(row["block_id"], row["sub_block_id"]) for row in pipes], [("0", "vector0"), ("0", "vector1"), ("1", "vector0"), ("1", "vector1")])
        for row in pipes:
            self.assertLess(float(row["aiv_vec_ratio"]), 1)
            self.assertGreater(float(row["aiv_vec_ratio"]), 0)
            self.assertLessEqual(float(row["aiv_time(us)"]), float(info[0]["Task Duration(us)"]))
        memory = rows(folder / "Memory.csv")
        self.assertEqual(sum(float(row["aiv_read_main_memory_datas(KB)"]) for row in memory), 2 * BLOCKS * TILES * TILE_BYTES / 1024)

    def test_simulator(self):
        run, folder = self.msprof("simulator", "--soc-version=Ascend910B1")
        self.assertEqual(run.returncode, 0, run.stderr)
        place = folder / "simulator"
        cores = sorted(path.name for path in place.iterdir() if path.is_dir())
        self.assertEqual(cores, ["core0.veccore0", "core0.veccore1", "core1.veccore0", "core1.veccore1"])
        self.assertTrue(json.loads((place / "trace.json").read_text())["traceEvents"])
        home = place / cores[0]
        self.assertTrue(json.loads((home / "trace.json").read_text())["traceEvents"])
        lines = rows(home / f"{cores[0]}_code_exe.csv")
        cycles = [int(row["cycles"]) for row in lines]
        self.assertEqual(cycles, sorted(cycles, reverse=True))
        self.assertIn(f"vector_add.cpp:{self.lines['Add(z, x, y']}", [row["code"].rsplit("/", 1)[-1] for row in lines])
        instructions = rows(home / f"{cores[0]}_instr_exe.csv")
        add = next(row for row in instructions if row["instr"] == "vadd")
        self.assertEqual((add["pipe"], add["call_count"]), ("V", str(TILES)))

    def test_op_misuse(self):
        for words, program, text in ((("--kernel-name=nobody",), None, "no kernel nobody was launched; there were: vector_add"),
                                     ((), ["true"], "true used no device"), ((), ["no-such-program"], "cannot run no-such-program"),
                                     (("--core-id=47",), None, "left no record of these cores")):
            run, folder = self.msprof(*words, program=program)
            self.assertEqual((run.returncode, folder), (1, None), run.stdout)
            self.assertIn(text, run.stderr)
        run = subprocess.run([sys.executable, "-B", MSPROF, "op"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("no program", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
