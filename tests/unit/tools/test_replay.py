# SPDX-License-Identifier: Apache-2.0
"""leo replay: a tape priced for the chip it is of has the recorded times, and for another chip those of a run there."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

LEO, SOCS = sys.argv[1], sys.argv[2]

HEAD = "id,soc,workload,params,metric,value,unit,source\n"
# Transfers with tails, a matmul on many cores with flags between pipes, operators of the library.
ROWS = {
    "ascend910b1": [
        "stream_add,dtype=f16 rows=100 cols=1040 tile_elems=1024 buffers=2 cores=48",
        "stream_add,dtype=f16 rows=16 cols=256 tile_elems=1024 unit=scalar cores=2",
        "matmul_tiled,dtype=f16 m=512 n=1536 k=256 base=128x256x64 l1_depth=2 l0_buffers=2 cores=24 split=4x6",
        "vec_op,dtype=f16 op=vadd repeat=100 count=20",
    ],
    "ascend910a": [
        "op_cast,from=f32 to=f16 rows=300 cols=517",
        "op_matmul,dtype=f16 m=64 k=300 n=200",
        "task_gap,stream=1",
    ],
}
VARIANTS = [
    {},
    {"soc.clock_khz": "925000"},
    {"memory.l2_bytes": "65536", "gm.hbm_read_gb_per_s": "300"},
    {"queue.mte1": "2", "queue.v": "1", "sync.barrier": "9", "scalar.start_cycles": "77", "cube.mmad_gap": "30"},
]


def run(*command, **env):
    return subprocess.run([LEO, *command], env={**os.environ, **env}, capture_output=True, text=True)


def variant_text(soc, numbers):
    lines, section = [], ""
    with open(f"{SOCS}/{soc}.ini", encoding="utf-8") as file:
        text = file.readlines()
    for line in text:
        if line.startswith("["):
            section = line.strip()[1:-1]
        key = f"{section}.{line.split('=')[0].strip()}"
        lines.append(f"{line.split('=')[0].strip()} = {numbers[key]}\n" if key in numbers else line)
    return "".join(lines)


class Replay(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def record(self, soc_file, row):
        with open(self.path("row.csv"), "w", encoding="utf-8") as file:
            file.write(f"{HEAD}X,{soc_file},{row},task_us,1,us,test\n")
        result = run("accuracy", self.path("row.csv"), LEO_TAPE=self.path("tape"))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def replay(self, *options):
        result = run("replay", self.path("tape"), "--json", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_priced_as_run(self):
        for soc, rows in ROWS.items():
            for row in rows:
                self.record(soc, row)
                priced = [self.replay(*[word for key, value in numbers.items() for word in ("--set", f"{key}={value}")])
                          for numbers in VARIANTS]
                self.assertTrue(priced[0]["tasks"] > 0)
                self.assertEqual([t["us"] for t in priced[0]["task"]], [t["recorded_us"] for t in priced[0]["task"]], row)
                self.assertEqual(priced[0]["us"], priced[0]["recorded_us"], row)
                for numbers, there in zip(VARIANTS[1:], priced[1:]):
                    with open(self.path("chip.ini"), "w", encoding="utf-8") as file:
                        file.write(variant_text(soc, numbers))
                    self.record(self.path("chip.ini"), row)
                    truth = self.replay("--soc", self.path("chip.ini"))
                    if "soc.clock_khz" in numbers:
                        self.assertGreater(truth["us"], priced[0]["us"], row)
                    self.assertEqual([t["us"] for t in there["task"]], [t["recorded_us"] for t in truth["task"]], (row, numbers))

    def test_what_is_wrong_is_told(self):
        self.record("ascend910a", ROWS["ascend910a"][0])
        other = run("replay", self.path("tape"), "--soc", "ascend910b1")
        self.assertEqual(other.returncode, 1)
        self.assertIn("another architecture", other.stderr)
        small = run("replay", self.path("tape"), "--set", "memory.ub_bytes=4096")
        self.assertEqual(small.returncode, 1)
        self.assertIn("it leaves a buffer", small.stderr)
        with open(self.path("tape"), "rb") as file:
            tape = file.read()
        for cut in (4, 40, 100, len(tape) // 2, len(tape) - 8):
            with open(self.path("tape"), "wb") as file:
                file.write(tape[:cut])
            broken = run("replay", self.path("tape"))
            self.assertEqual(broken.returncode, 1, cut)
            self.assertIn("tape", broken.stderr)
        alien = run("replay", __file__)
        self.assertEqual(alien.returncode, 1)
        self.assertIn("not a tape", alien.stderr)
        missing = run("replay", self.path("nothing"))
        self.assertEqual(missing.returncode, 1)
        self.assertIn("No such file", missing.stderr)
        unwritable = run("accuracy", self.path("row.csv"), LEO_TAPE=self.path("no/folder"))
        self.assertIn("cannot write the tape", unwritable.stdout + unwritable.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
