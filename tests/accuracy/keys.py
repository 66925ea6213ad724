# SPDX-License-Identifier: Apache-2.0
"""Every number of a chip's file does to times what docs/soc.md says: keys.py LEO SOCS DOCS_SOC KERNELS.

Each number is doubled and halved under a workload that depends on it. Times must not move against what the page says, and
must move for one of the two (one may meet another limit). Numbers that change what a program does are run anew, with a file
that is the difference from the chip; the others are priced (leo replay), the first of each workload both ways.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

LEO, SOCS, PAGE, KERNELS = sys.argv[1:5]
CHIP = "ascend910b1"
HEAD = "id,soc,workload,params,metric,value,unit,source\n"

ROWS = {
    "one add": "stream_add,dtype=f16 rows=16 cols=4096 tile_elems=4096 buffers=1 cores=1",
    "adds": "stream_add,dtype=f16 rows=256 cols=4096 tile_elems=4096 buffers=2 cores=48",
    "load": "gm_to_ub,dtype=f16 rows=64 cols=2048 tile_rows=16 tile_cols=2048 cores=1",
    "small loads": "gm_to_ub,dtype=f16 rows=64 cols=1024 tile_rows=1 tile_cols=64 cores=1",
    "strided loads": "gm_to_ub,dtype=f16 rows=512 cols=16384 tile_rows=64 tile_cols=256 cores=48",
    "loads": "gm_to_ub,dtype=f16 rows=1024 cols=4096 tile_rows=16 tile_cols=1024 passes=4 cores=48",
    "shared loads": "gm_to_ub_shared,dtype=f16 rows=128 cols=512 tile_rows=16 tile_cols=512 cores=48 order=same",
    "fractals": "gm_to_l1_nd2nz,dtype=f16 rows=256 cols=256 tile_rows=64 tile_cols=16 cores=1",
    "products": "mmad_chain,dtype=f16 m=128 n=128 k=1024 count=16",
    "bank conflicts": "ub_vadd,dtype=f32 elems=4096 count=20 src0=0x0 src1=0x10100 dst=0x4020",
    "vadd": "vec_op,dtype=f16 op=vadd elems=16384 count=200 src0=0 src1=0x8000 dst=0x10000",
    "matmul": "op_matmul,dtype=f16 m=1024 k=256 n=1536",
    "cast": "op_cast,from=f32 to=f16 rows=1024 cols=1024",
    "gap": "task_gap,stream=1",
    "to device": "copy,kind=h2d bytes=4000000",
    "in device": "copy,kind=d2d bytes=4000000",
}
# By number: workload, and what must be different from the chip for it to matter.
SMALL_L2 = {"memory.l2_bytes": 1048576}
FREE_WINDOW = {"gm.gm_read_requests": 1024}
FREE_RATE = {"insn.vector.vadd": "23 1024 1024"}
WAYS = {
    "soc.cube_cores": ("matmul", {"soc.vector_cores": 96}), "soc.vector_cores": ("cast", {"soc.cube_cores": 12}), "soc.clock_khz": ("vadd", {}),
    "memory.l2_bytes": ("loads", {"memory.l2_bytes": 6000000}),
    "scheduler.dispatch_ns": ("one add", {}), "scheduler.complete_ns": ("one add", {}), "scheduler.block_spread_ns": ("adds", {}),
    "scheduler.stream_gap_ns": ("gap", {}), "copy.host_latency_ns": ("to device", {}), "copy.host_gb_per_s": ("to device", {}),
    "copy.device_latency_ns": ("in device", {}), "copy.device_gb_per_s": ("in device", {}),
    **{f"scalar.{key}": ("scalar_unit", {}) for key in (
        "scalar_alu", "scalar_mul", "scalar_div", "scalar_branch", "scalar_float", "scalar_float_div", "scalar_load_ub",
        "scalar_store_ub", "scalar_load_gm", "scalar_store_gm", "scalar_load_private", "dcache_bytes", "dcache_line_bytes")},
    "scalar.start_cycles": ("one add", {}), "scalar.scalar_issue": ("long_text", {}),
    "scalar.icache_bytes": ("long_text", {}), "scalar.icache_line_bytes": ("long_text", {}),
    "sync.flag_set": ("one add", {}), "sync.flag_wait": ("one add", {}), "sync.barrier": ("bank conflicts", {}),
    "sync.cross_core_ns": ("meet", {}),
    **{f"queue.{pipe}": (f"queue_{pipe}", {}) for pipe in ("v", "mte2", "mte3", "m", "mte1", "fix")},
    "gm.gm_read_hit_ns": ("load", {}), "gm.gm_read_miss_ns": ("load", {"memory.l2_bytes": 0}), "gm.gm_write_ns": ("one add", {}),
    "gm.gm_read_requests": ("load", {}), "gm.gm_request_bytes": ("load", {}), "gm.gm_read_rate": ("load", FREE_WINDOW),
    "gm.gm_write_rate": ("one add", {}), "gm.gm_same_line_ns": ("shared loads", {}), "gm.gm_small_interval": ("small loads", {}),
    "gm.nd2nz_row": ("fractals", {}), "gm.l2_gb_per_s": ("loads", {"gm.l2_gb_per_s": 1000}),
    **{f"gm.{key}": ("adds", SMALL_L2) for key in (
        "l2_written_part", "hbm_read_gb_per_s", "hbm_write_gb_per_s", "hbm_refresh_ns", "hbm_refresh_every_ns", "hbm_turn_bytes")},
    "gm.hbm_run_bytes": ("strided loads", SMALL_L2),
    "cube.mmad_head": ("products", {}), "cube.mmad_gap": ("products", {}),
    "cube.cube_m": ("products", {}), "cube.cube_n": ("products", {}), "cube.cube_k": ("products", {}),
    "vector.ub_repeats": ("vadd", FREE_RATE), "vector.ub_bank_wait": ("bank conflicts", {}),
}
# What these workloads do does not follow the plans of operators: more can be priced than tools/leo/chip_keys.c calls exact.
PRICED = re.compile(r"(gm|vector|sync|queue|copy|cube)\.|scalar\.start_cycles|soc\.clock_khz|memory\.l2_bytes|scheduler\.")
# One number of a file that has two by right.
PAIRS = {"soc.cube_cores": (0.5, 2), "soc.vector_cores": (0.5, 1)}


def run(*command, **env):
    return subprocess.run([LEO, *command], env={**os.environ, "LEO_LOG": "0", **env}, capture_output=True, text=True)


def page_rows():
    with open(PAGE, encoding="utf-8") as file:
        return dict(re.findall(r"^\| `(\w+\.\w+)` \| (\w+) \|", file.read(), re.M))


def chip_numbers():
    numbers, section = {}, ""
    with open(f"{SOCS}/{CHIP}.ini", encoding="utf-8") as file:
        for line in file:
            if line.startswith("["):
                section = line[1:line.index("]")]
            elif (match := re.match(r"(\w+) = ([^;]*)", line)):
                numbers[f"{section}.{match[1]}"] = match[2].strip()
    return numbers


class Keys(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.own = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.own.cleanup)
        cls.folder, cls.numbers, cls.tapes = cls.own.name, chip_numbers(), {}
        # What a file may leave out.
        cls.numbers.update({"cube.cube_m": "16", "cube.cube_n": "16", "cube.cube_k": "16", "vector.ub_repeats": "1"})

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def chip_of(self, changes):
        text = f"[soc]\nbase = {CHIP}\nname = varied\n"
        for key, value in changes.items():
            section, name = key.rsplit(".", 1)
            text += f"[{section}]\n{name} = {value}\n"
        return self.write("chip.ini", text)

    def record(self, workload, soc, tape):
        """Runs a workload; its simulated time."""
        if workload in ROWS:
            name, params = ROWS[workload].split(",", 1)
            table = self.write("row.csv", f"{HEAD}X,{soc},{name},{params},{'gap_us' if name == 'task_gap' else 'task_us'},1,us,test\n")
            done = run("accuracy", table, LEO_TAPE=tape)
            self.assertIn("1 rows ran", done.stdout, done.stdout + done.stderr)
        else:
            cores = {"meet": "48"}.get(workload, "1")
            done = run("run", self.path("kernels.elf"), "--kernel", workload, "--soc", soc, "--blocks", cores, "--check", "none",
                       "--arg", "out:262144", LEO_TAPE=tape)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.price(workload, tape, {}, soc)

    def price(self, workload, tape, changes, soc=CHIP):
        words = [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]
        done = run("replay", tape, "--json", "--soc", soc, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        if workload == "gap":
            return told["us"]
        # What comes and goes before and after a kernel is not meant.
        is_copy = ROWS.get(workload, "").startswith("copy")
        return sum(task["us"] for task in told["task"] if is_copy or task["name"] not in ("copy", "fill"))

    def tape_of(self, workload):
        if workload not in self.tapes:
            self.tapes[workload] = self.path(f"{len(self.tapes)}.tape")
            self.record(workload, CHIP, self.tapes[workload])
        return self.tapes[workload]

    def time(self, key, workload, changes):
        if all(PRICED.match(name) or name.startswith("insn.") for name in (key, *changes)):
            return self.price(workload, self.tape_of(workload), changes)
        return self.record(workload, self.chip_of(changes), self.path("run.tape"))

    def check(self, key, direction, workload, others):
        at = float(others.get(key, self.numbers[key]))
        smaller, larger = PAIRS.get(key, (0.5, 2))
        us = []
        for factor in (smaller, 1, larger):
            value = at * factor
            us.append(self.time(key, workload, {**others, key: f"{value:.12g}"}))
        told = f"{key} x {smaller}, 1, {larger}: {us} us ({workload})"
        if direction == "shorter":
            us = us[::-1]
        if direction == "either":
            self.assertNotEqual(us[0], us[2], told)
        else:
            self.assertTrue(us[0] <= us[1] <= us[2] and us[0] < us[2], told)

    def test_0_every_number_is_on_the_page(self):
        numbers = {key for key in self.numbers if not key.startswith("insn")}
        self.assertEqual(numbers, set(page_rows()))

    def test_1_times_move_as_the_page_says(self):
        done = run("cc", "-Wno-int-to-pointer-cast", KERNELS, "--soc", CHIP, "-o", self.path("kernels.elf"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for key, direction in page_rows().items():
            if direction in ("longer", "shorter", "either"):
                with self.subTest(key=key):
                    self.check(key, direction, *WAYS[key])
            else:
                self.assertNotIn(key, WAYS)

    def test_2_half_the_clock_leaves_memory_as_it_is(self):
        """DVFS: what HBM or L2 set does not follow the clock, what the core sets does."""
        half = f"{int(self.numbers['soc.clock_khz']) // 2}"
        for workload, others, least, most in (("adds", SMALL_L2, 1, 1.15), ("loads", {"gm.l2_gb_per_s": 1000}, 1, 1.1),
                                              ("vadd", {}, 1.5, 2), ("products", {}, 1.5, 2)):
            tape = self.tape_of(workload)
            fixed = {**others, "scheduler.dispatch_ns": 0, "scheduler.complete_ns": 0, "scalar.start_cycles": 0}
            ratio = self.price(workload, tape, {**fixed, "soc.clock_khz": half}) / self.price(workload, tape, fixed)
            self.assertTrue(least <= ratio <= most, (workload, ratio))

    def test_3_a_wider_vector_unit_and_a_larger_cube_are_faster(self):
        tape = self.tape_of("vadd")
        wide = self.price("vadd", tape, {"vector.ub_repeats": 2, "insn.vector.vadd": "23 256 128"})
        self.assertLess(wide, 0.75 * self.price("vadd", tape, {}))
        tape = self.tape_of("products")
        self.assertLess(self.price("products", tape, {"cube.cube_k": 32}), 0.75 * self.price("products", tape, {}))

    def test_4_what_does_not_fit_is_told(self):
        for key, value, workload, text in (("memory.ub_bytes", 16384, "one add", "must fit UB"),
                                           ("memory.l1_bytes", 1024, "fractals", "fit L1")):
            soc = self.chip_of({key: value})
            name, params = ROWS[workload].split(",", 1)
            done = run("accuracy", self.write("row.csv", f"{HEAD}X,{soc},{name},{params},task_us,1,us,test\n"))
            self.assertIn(text, done.stdout, key)
            self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
