# SPDX-License-Identifier: Apache-2.0
"""leo replay: a tape priced for the chip it is of has the recorded times, and for another chip those of a run there."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

LEO, SOCS, KERNELS, PAGE, FAILURES, KNOWN = sys.argv[1:7]

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
    # Large enough that the plans stay those of the recording: what moves more than the L2 holds is read past it.
    {"memory.l2_bytes": "1048576", "gm.hbm_read_gb_per_s": "300"},
    {"queue.mte1": "2", "queue.v": "1", "sync.barrier": "9", "scalar.start_cycles": "77", "cube.mmad_gap": "30"},
    {},  # all numbers that change times alone
]


# The mark of a replay with another value, by what docs/soc.md says that the number changes.
MARKS = {"times": "exact", "both": "estimate"}
# Twice as many of these is more than a chip may have.
SMALLER = ("queue.", "soc.clock_khz", "scheduler.", "memory.")


def page_rows():
    """Number of a chip's file: what docs/soc.md says that it changes."""
    with open(PAGE, encoding="utf-8") as file:
        return dict(re.findall(r"^\| `(\w+\.\w+)` \| \w+ \| (\w+) \|", file.read(), re.M))


def other_values(soc, kinds):
    """Every number of a chip's file that changes one of these, with another value."""
    values, section, rows = {}, "", page_rows()
    with open(f"{SOCS}/{soc}.ini", encoding="utf-8") as file:
        for line in file:
            section = line[1:line.index("]")] if line.startswith("[") else section
            match = re.match(r"(\w+) = ([0-9.]+)", line)
            key = f"{section}.{match[1]}" if match else ""
            if rows.get(key) in kinds and float(match[2]):
                factor = 0.5 if key.startswith(SMALLER) else 2
                values[key] = f"{max(float(match[2]) * factor, 1):.12g}"
    return values


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

    def test_what_went_so_before_is_not_priced_again(self):
        small = {"memory.l2_bytes": "1048576", "gm.hbm_read_gb_per_s": "300"}
        for row in ("op_matmul,dtype=f16 m=512 n=768 k=512 warm=9", "op_cast,from=f32 to=f16 rows=600 cols=517 warm=9"):
            for numbers in ({}, small):
                with open(self.path("chip.ini"), "w", encoding="utf-8") as file:
                    file.write(variant_text("ascend910b1", numbers))
                self.record(self.path("chip.ini"), row)
                priced = self.replay()
                self.assertEqual([t["us"] for t in priced["task"]], [t["recorded_us"] for t in priced["task"]], row)
                self.assertEqual(priced["us"], priced["recorded_us"], row)
                self.assertEqual(priced["recalled"] > 5, not numbers, row)  # what the small L2 holds is never the same

    def test_without_values_times_are_the_same(self):
        # The scalar unit reads the unit buffer in the last two: an addition by elements; the tails of rows on the 910A.
        rows = (("ascend910b1", "op_matmul,dtype=f16 m=64 k=300 n=200", False), ("ascend910a", "op_cast,from=f32 to=f16 rows=300 cols=517", True),
                ("ascend910b1", "stream_add,dtype=f16 rows=16 cols=256 tile_elems=1024 unit=scalar cores=2", True))
        for soc, row, looks in rows:
            self.record(soc, row)
            with_values = self.replay()
            with unittest.mock.patch.dict(os.environ, {"LEO_TAPE_VALUES": "0"}):
                self.record(soc, row)
            without = self.replay()
            self.assertEqual([t["us"] for t in without["task"]], [t["us"] for t in with_values["task"]], row)
            self.assertEqual((without["mark"], without["looks"] > 0), ("estimate" if looks else "exact", looks), row)
        refused = run("accuracy", self.path("row.csv"), LEO_TAPE_VALUES="0")
        self.assertIn("LEO_TAPE_VALUES=0 is for a run that LEO_TAPE records", refused.stdout + refused.stderr)

    def test_priced_as_run(self):
        for soc, rows in ROWS.items():
            VARIANTS[-1] = other_values(soc, ("times",))
            self.assertGreater(len(VARIANTS[-1]), 20)
            for row in rows:
                self.record(soc, row)
                priced = [self.replay(*[word for key, value in numbers.items() for word in ("--set", f"{key}={value}")])
                          for numbers in VARIANTS]
                self.assertTrue(priced[0]["tasks"] > 0)
                self.assertEqual([t["us"] for t in priced[0]["task"]], [t["recorded_us"] for t in priced[0]["task"]], row)
                self.assertEqual(priced[0]["us"], priced[0]["recorded_us"], row)
                self.assertEqual([priced[i]["mark"] for i in (0, 1, -1)], ["exact", "estimate", "exact"])
                self.assertEqual(priced[1]["estimated_by"], "soc.clock_khz")
                for numbers, there in zip(VARIANTS[1:], priced[1:]):
                    with open(self.path("chip.ini"), "w", encoding="utf-8") as file:
                        file.write(variant_text(soc, numbers))
                    self.record(self.path("chip.ini"), row)
                    truth = self.replay("--soc", self.path("chip.ini"))
                    if "soc.clock_khz" in numbers:
                        self.assertGreater(truth["us"], priced[0]["us"], row)
                    self.assertEqual([t["us"] for t in there["task"]], [t["recorded_us"] for t in truth["task"]], (row, numbers))

    def test_marks_of_every_number(self):
        """Each number of a chip is priced exactly, priced as an estimate, or refused, as docs/soc.md says."""
        soc, rows = "ascend910b1", page_rows()
        self.record(soc, ROWS[soc][3])
        values = other_values(soc, ("times", "both", "run", "none"))
        for key, kind in rows.items():
            if key in values:
                told = run("replay", self.path("tape"), "--json", "--set", f"{key}={values[key]}")
                if kind == "run":
                    self.assertEqual(told.returncode, 2, key)
                    self.assertIn(f"--set {key}: a record does not hold", told.stderr)
                elif kind in MARKS and told.returncode == 0:
                    answer = json.loads(told.stdout)
                    self.assertEqual(answer["mark"], MARKS[kind], key)
                    self.assertEqual(answer["estimated_by"], key if kind == "both" else "", key)
                elif kind in MARKS:  # refused, and told why
                    self.assertEqual((kind, told.returncode), ("both", 1), told.stderr)
                    self.assertIn("leaves a buffer" if key.startswith("memory.") else key.split(".")[1], told.stderr)
        self.assertGreaterEqual(len(values), 70)
        with open(self.path("chip.ini"), "w", encoding="utf-8") as file:
            file.write("[soc]\nbase = ascend910b1\nname = slow\n[scalar]\nscalar_alu = 9\n[sync]\nbarrier = 50\n")
        told = self.replay("--soc", self.path("chip.ini"))
        self.assertEqual((told["mark"], told["estimated_by"]), ("estimate", "scalar.scalar_alu"))
        self.assertIn("\nexact\n", run("replay", self.path("tape")).stdout)

    def test_a_tape_has_its_chip(self):
        """A tape of a chip that is a file is priced, and told apart, without the file."""
        soc = "ascend910a"
        for name in ("mine", soc):  # the second has the name of a chip with other numbers
            with open(self.path("chip.ini"), "w", encoding="utf-8") as file:
                file.write(f"[soc]\nbase = {soc}\nname = {name}\ntold_as = {soc}\nclock_khz = 500000\n[sync]\nbarrier = 50\n")
            self.record(self.path("chip.ini"), ROWS[soc][0])
            os.remove(self.path("chip.ini"))
            told = self.replay()
            self.assertEqual((told["recorded_soc"], told["mark"], told["estimated_by"]), (name, "exact", ""))
            self.assertEqual([t["us"] for t in told["task"]], [t["recorded_us"] for t in told["task"]])
            other = self.replay("--soc", soc)
            self.assertEqual((other["mark"], other["estimated_by"]), ("estimate", "soc.told_as, soc.clock_khz"))
            self.assertLess(other["us"], told["us"])
            self.assertEqual(self.replay("--set", "sync.barrier=5")["mark"], "exact")

    def compile(self, name, soc):
        done = run("cc", os.path.join(KERNELS, name), "--soc", soc, "-o", self.path("kernels.elf"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def launch(self, soc, kernel, blocks, *args, **env):
        words = [word for arg in args for word in ("--arg", arg)]
        return run("run", self.path("kernels.elf"), "--soc", soc, "--kernel", kernel, "--blocks", f"{blocks}", "--check", "none", *words,
                   LEO_TAPE=self.path("tape"), **env)

    def test_cores_that_work_together(self):
        """Blocks of cube and vector cores, and flags between all cores; tasks have their names."""
        self.compile("cross_kernels.c", "ascend910b1")
        for kernel, blocks, args in (("fused", 2, ("out:65536",) * 4), ("sum_all", 40, ("out:65536",) * 2)):
            done = self.launch("ascend910b1", kernel, blocks, *args)
            self.assertEqual(done.returncode, 0, done.stderr)
            tasks = self.replay()["task"]
            self.assertEqual([t["us"] for t in tasks], [t["recorded_us"] for t in tasks], kernel)
            self.assertIn(kernel, [t["name"] for t in tasks])
            with open(self.path("chip.ini"), "w", encoding="utf-8") as file:
                file.write("[soc]\nbase = ascend910b1\nname = slow\nclock_khz = 925000\n[sync]\ncross_core_ns = 500\n")
            there = self.replay("--soc", self.path("chip.ini"))["task"]
            self.assertEqual(self.launch(self.path("chip.ini"), kernel, blocks, *args).returncode, 0)
            truth = self.replay("--soc", self.path("chip.ini"))["task"]
            self.assertEqual([t["us"] for t in there], [t["recorded_us"] for t in truth], kernel)

    def test_a_host_that_takes_time(self):
        self.compile("cross_kernels.c", "ascend910b1")
        done = self.launch("ascend910b1", "sum_all", 8, "out:65536", "out:65536", LEO_HOST_MODEL="20000,8000,5000")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = self.replay()
        self.assertEqual(told["us"], told["recorded_us"])
        self.assertEqual([t["us"] for t in told["task"]], [t["recorded_us"] for t in told["task"]])

    def test_cores_that_poll(self):
        """Cores that meet by words of memory: the tape says whose store a poll saw, which has its time on each chip."""
        out = "out:65536"
        kernels = [("meet", 4, (out, out, out, "3")), ("meet_once", 7, (out, out, out)), ("raw", 3, (out, out, out, "700")),
                   ("chain", 5, (out, out, "99")), ("counted", 6, (out, out, out, out)), ("turns", 2, (out, out, "5"))]
        chips = ["[gm]\ngm_write_ns = 900\n", "clock_khz = 300000\n[sync]\nflag_set = 40\n", "[memory]\nl2_bytes = 65536\n"]
        for soc in ("ascend910a", "ascend910b1"):
            self.compile("poll_kernels.c", soc)
            for kernel, blocks, args in kernels:
                done = self.launch(soc, kernel, blocks, *args)
                self.assertEqual(done.returncode, 0, done.stderr)
                tasks = self.replay()["task"]
                self.assertEqual([t["us"] for t in tasks], [t["recorded_us"] for t in tasks], (soc, kernel))
                for number, chip in enumerate(chips):
                    file = self.path(f"chip{number}.ini")
                    with open(file, "w", encoding="utf-8") as text:
                        text.write(f"[soc]\nbase = {soc}\nname = other\n{chip}")
                    self.assertEqual(self.launch(soc, kernel, blocks, *args).returncode, 0)
                    there = self.replay("--soc", file)["task"]
                    self.assertEqual(self.launch(file, kernel, blocks, *args).returncode, 0)
                    truth = self.replay("--soc", file)["task"]
                    self.assertEqual([t["us"] for t in there], [t["recorded_us"] for t in truth], (soc, kernel, chip))
                    self.assertEqual([t["us"] for t in truth], [t["recorded_us"] for t in truth], (soc, kernel, chip))

    def test_cores_that_poll_and_never_meet(self):
        """Blocks that wait for one which has no core before they end: reported, not waited for."""
        self.compile("poll_kernels.c", "ascend910a")
        self.assertEqual(self.launch("ascend910a", "meet", 8, *("out:65536",) * 3, "1").returncode, 0)
        told = run("replay", self.path("tape"), "--set", "soc.cube_cores=4")
        self.assertEqual(told.returncode, 1, told.stdout)
        self.assertIn("wait for ever", told.stderr)

    def test_a_tape_is_compressed(self):
        """What a core does again and again costs next to nothing."""
        self.record("ascend910b1", ROWS["ascend910b1"][2])
        instructions = self.replay()["instructions"]
        self.assertLess(os.path.getsize(self.path("tape")), 16 * instructions)

    def test_what_other_chips_found_out_is_used_and_the_same(self):
        """Every number of a chip, one after the other in one process: the answers are those of a process of its own."""
        rows = {"ascend910b1": ("op_matmul,dtype=f16 m=512 n=768 k=512 warm=3",
                                "matmul_tiled,dtype=f16 m=256 n=512 k=128 base=128x256x64 l1_depth=2 l0_buffers=2 cores=4 split=2x2 unit_flag=1"),
                "ascend910a": ("op_cast,from=f32 to=f16 rows=600 cols=517 warm=3",)}
        for soc, names in rows.items():
            values = other_values(soc, ("times", "both", "run", "none"))
            for row in names:
                self.record(soc, row)
                chips = []
                for number, numbers in enumerate([{}, *({key: value} for key, value in values.items()), {}]):
                    chips.append(self.path(f"chip{number}.ini"))
                    with open(chips[-1], "w", encoding="utf-8") as file:
                        file.write(variant_text(soc, numbers))
                done = subprocess.run([KNOWN, self.path("tape"), *chips], capture_output=True, text=True)
                told = [line.split() for line in done.stdout.splitlines()]
                keys = ["", *values, ""]
                self.assertEqual((done.returncode, len(told)), (0, len(chips)), (row, keys[len(told) - 1], done.stdout, done.stderr))
                used = {key: int(line[3]) - int(line[2]) for key, line in zip(keys, told)}
                free = ("", "scheduler.dispatch_ns", "scheduler.complete_ns", "scheduler.stream_gap_ns", "copy.host_gb_per_s")
                for key in free + (("gm.hbm_read_gb_per_s",) if "warm" in row else ()):
                    self.assertGreater(used[key], 0, (row, key, used))
                self.assertEqual(used["sync.flag_set"], 0, (row, used))

    def test_without_memory_times_are_right_or_told(self):
        """Blocks of one class whose price cannot be kept are priced item by item, from where they began."""
        self.record("ascend910b1", "matmul_tiled,dtype=f16 m=256 n=512 k=128 base=128x256x64 l1_depth=2 l0_buffers=2 cores=4 split=2x2 unit_flag=1")
        done = subprocess.run([FAILURES, self.path("tape")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

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
        for wrong, text in ((b"LEOTAPE3" + tape[8:], "another version"), (tape[:-20] + bytes([tape[-20] ^ 1]) + tape[-19:], "damaged"),
                            (tape + b"x" * 8, "damaged")):
            with open(self.path("tape"), "wb") as file:
                file.write(wrong)
            broken = run("replay", self.path("tape"))
            self.assertEqual(broken.returncode, 1)
            self.assertIn(text, broken.stderr)
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
