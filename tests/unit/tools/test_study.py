# SPDX-License-Identifier: Apache-2.0
"""leo study: every variant has the time that leo replay or another run gives, whatever is stopped, shared out or found wrong."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import ranks

LEO, KERNELS, PAGE, MEMBER = sys.argv[1:5]

ROW = """id,soc,workload,params,metric,value,unit,source
X,ascend910b1,"matmul_tiled,dtype=f16 m=256 n=512 k=256 base=128x256x64 l1_depth=2 l0_buffers=2 cores=4 split=2x2",task_us,1,us,test
""".replace('"', "")
TIMES = """name,gm.hbm_read_gb_per_s,scheduler.dispatch_ns,queue.mte2
slow HBM,30,,
late,,9000,
short queue,,,1
all of it,30,9000,1
"""


def run(*command, **env):
    return subprocess.run([LEO, *command], env={**os.environ, **env}, capture_output=True, text=True, check=False)


class Study(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        pathlib.Path(self.path(name)).write_text(text, encoding="utf-8")
        return self.path(name)

    def tape(self):
        done = run("accuracy", self.write("row.csv", ROW), LEO_TAPE=self.path("tape"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path("tape")

    def study(self, *options, out="out"):
        done = run("study", *options, "--json", "--out", self.path(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def variants(self, *options, out="out"):
        return {one["name"]: one for one in self.study(*options, out=out)["variants"]}

    def refused(self, text, *options):
        done = run("study", *options, "--out", self.path("refused"))
        self.assertIn(done.returncode, (1, 2))
        self.assertIn(text, done.stderr)

    def replay(self, *options):
        done = run("replay", self.path("tape"), "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_priced_as_by_replay(self):
        told = self.variants(self.tape(), "--vary", self.write("v.csv", TIMES + "half clock,,,\n"))
        self.assertEqual(told["base"]["ps"], round(self.replay()["recorded_us"] * 1e6))
        keys = ["gm.hbm_read_gb_per_s", "scheduler.dispatch_ns", "queue.mte2"]
        for line in TIMES.splitlines()[1:]:
            name, *cells = line.split(",")
            settings = [word for key, cell in zip(keys, cells) if cell for word in ("--set", f"{key}={cell}")]
            there = self.replay(*settings)
            self.assertEqual(told[name]["ps"], round(there["us"] * 1e6), name)
            self.assertEqual(told[name]["kernels_ps"], round(sum(t["us"] for t in there["task"] if t["blocks"]) * 1e6), name)
            self.assertEqual((told[name]["mark"], told[name]["estimated_by"]), ("exact", ""))
            self.assertEqual({c["key"]: c["to"] for c in told[name]["changes"]}, {k: c for k, c in zip(keys, cells) if c})
        self.assertGreater(told["slow HBM"]["ps"], told["base"]["ps"])
        self.assertLess(told["launch free"]["ps"], told["base"]["ps"])
        self.assertTrue(all(told[name]["mark"] == "exact" for name in ("HBM infinite", "launch free", "flags free")))
        for one in told.values():
            self.assertEqual(sum(one["bound_ps"].values()), one["kernels_ps"])
            self.assertEqual(sum(op["ps"] for op in one["operators"].values()), one["kernels_ps"])

    def test_marks_of_a_tape(self):
        told = self.variants(self.tape(), "--vary", self.write("v.csv", "name,soc.clock_khz\nhalf clock,925000\n"), "--baseline", "ascend910b2")
        self.assertEqual((told["half clock"]["mark"], told["half clock"]["estimated_by"]), ("estimate", "soc.clock_khz"))
        self.assertEqual(told["ascend910b2"]["kind"], "baseline")
        self.refused("does not hold what these numbers change: scalar.scalar_alu", self.path("tape"), "--vary",
                     self.write("w.csv", "name,scalar.scalar_alu\nslow,9\n"))

    def test_a_command_is_run_anew_where_it_must_be(self):
        done = run("cc", os.path.join(KERNELS, "cross_kernels.c"), "--soc", "ascend910b1", "-o", self.path("k.elf"))
        self.assertEqual(done.returncode, 0, done.stderr)
        table = self.write("v.csv", "name,soc.clock_khz,scalar.scalar_alu,sync.flag_set\nhalf clock,925000,,\nslow scalar,,20,\nflags,,,40\n")
        words = [LEO, "--chip", "ascend910b1", "--vary", table]
        command = ["--", "run", self.path("k.elf"), "--kernel", "sum_all", "--blocks", "8", "--check", "none", "--arg", "out:65536",
                   "--arg", "out:65536"]
        done = run("study", *words, "--json", "--out", self.path("out"), *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = {one["name"]: one for one in json.loads(done.stdout)["variants"]}
        self.assertEqual({name: told[name]["mark"] for name in ("half clock", "slow scalar", "flags")},
                         {"half clock": "re-planned", "slow scalar": "re-planned", "flags": "exact"})
        for name, text in (("half clock", "clock_khz = 925000"), ("slow scalar", "[scalar]\nscalar_alu = 20"), ("flags", "[sync]\nflag_set = 40")):
            chip = self.write("chip.ini", f"[soc]\nbase = ascend910b1\nname = ascend910b1\n{text}\n")
            self.assertEqual(run(*command[1:], LEO_SOC=chip, LEO_TAPE=self.path("tape")).returncode, 0)
            self.assertEqual(told[name]["ps"], round(self.replay()["recorded_us"] * 1e6), name)
        other = run("study", *words, "--out", self.path("out"), *command, "--arg", "1")
        self.assertIn("holds the record of another command", other.stderr)
        self.assertEqual(other.returncode, 1)

    def test_steps(self):
        """The two launches are two like steps; from the end of the one to that of the other."""
        tape = self.tape()
        kernels = [t for t in self.replay()["task"] if t["blocks"]]
        self.assertEqual(len(kernels), 2)
        one, two = (self.study(tape, "--step", str(step), out=f"step{step}") for step in (1, 2))
        self.assertEqual((one["steps"], one["step_kernels"]), (2, 1))
        ends = [round((t["start_us"] + t["us"]) * 1e6) for t in kernels]
        self.assertEqual(two["variants"][0]["ps"], ends[1] - ends[0])
        self.assertEqual([s["variants"][0]["kernels_ps"] for s in (one, two)], [round(t["us"] * 1e6) for t in kernels])
        self.refused("2 like steps of 1 kernels", tape, "--step", "3")

    def test_stopped_and_gone_on_with(self):
        """Lines that are there are kept, cut ones and those of other chips are made again; the answer is the same bytes."""
        tape, table = self.tape(), self.write("v.csv", TIMES)
        whole = self.study(tape, "--vary", table)
        results = pathlib.Path(self.path("out/results.jsonl"))
        lines = [line for line in results.read_text(encoding="utf-8").split("\n") if line]
        self.assertEqual(len(lines), 8)
        results.write_text("\n".join(lines[:3]) + "\n" + lines[3][:99], encoding="utf-8")
        self.assertEqual(self.study(tape, "--vary", table), whole)
        again = [line for line in results.read_text(encoding="utf-8").split("\n") if line]
        self.assertEqual(again[:3], lines[:3])
        self.assertEqual(len(again), 9)  # three, the cut one, five
        self.study(tape, "--vary", table)
        self.assertEqual(len([line for line in results.read_text(encoding="utf-8").split("\n") if line]), 9)
        other = self.variants(tape, "--vary", self.write("v.csv", TIMES.replace("late,,9000", "late,,9001")))
        self.assertEqual(other["late"]["ps"], {v["name"]: v for v in whole["variants"]}["late"]["ps"] + 2 * 1000)

    def test_a_worker_that_is_killed(self):
        """One is stopped as soon as it is there: its variants are made by the others or again."""
        tape = self.tape()
        rows = "".join(f"v{i},{30 + i}\n" for i in range(200))
        table = self.write("v.csv", "name,gm.hbm_read_gb_per_s\n" + rows)
        whole = self.study(tape, "--vary", table, out="whole")
        with subprocess.Popen([LEO, "study", tape, "--vary", table, "--json", "--jobs", "2", "--out", self.path("out")],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as study:
            children, end = [], time.monotonic() + 20
            place = pathlib.Path(f"/proc/{study.pid}/task/{study.pid}/children")
            while not children and study.poll() is None and time.monotonic() < end:
                children = place.read_text(encoding="ascii").split() if place.exists() else []
            self.assertTrue(children)
            os.kill(int(children[0]), 9)
            out, told = study.communicate(timeout=60)
            self.assertEqual(study.returncode, 0, told)
            self.assertIn("killed by signal 9", told)
            self.assertEqual(json.loads(out), whole)

    def test_shards(self):
        tape, table = self.tape(), self.write("v.csv", TIMES)
        whole = self.study(tape, "--vary", table, out="whole")
        for shard in ("1/3", "2/3"):
            self.assertEqual(run("study", tape, "--vary", table, "--shard", shard, "--out", self.path("parts")).returncode, 0)
        self.assertFalse(os.path.exists(self.path("parts/study.json")))
        self.assertEqual(self.study(tape, "--vary", table, out="parts"), whole)  # the third was lost: made now
        self.assertEqual(*(pathlib.Path(self.path(f"{name}/study.json")).read_bytes() for name in ("whole", "parts")))
        self.refused("--shard 4/3", tape, "--shard", "4/3")

    def test_several_processes(self):
        tape = pathlib.Path(self.tape())
        os.mkdir(self.path("ranks"))
        for name in ("10.tape", "11.tape"):
            pathlib.Path(self.path(f"ranks/{name}")).write_bytes(tape.read_bytes())
        told = self.study(self.path("ranks"), "--vary", self.write("v.csv", TIMES))
        self.assertEqual(told["processes"], 2)
        base, *_, last = told["variants"]
        self.assertEqual(base["ranks_ps"], [base["ps"]] * 2)
        self.assertEqual((base["mark"], last["mark"]), ("exact", "exact"))  # they have nothing to do with each other
        pathlib.Path(self.path("ranks/12.tape")).write_bytes(tape.read_bytes()[:-8])
        self.refused("12.tape", self.path("ranks"))

    def test_ranks_that_meet(self):
        """Each waits for the last as in a run, on this chip and on others; one rank alone is an estimate."""
        tapes = ranks.record(MEMBER, self.path("base"), 3, 6, "ascend910b1")
        chip = self.write("chip.ini", "[soc]\nbase = ascend910b1\nname = varied\n[copy]\nhost_latency_ns = 30000\nhost_gb_per_s = 3\n")
        truth = ranks.record(MEMBER, self.path("varied"), 3, 6, chip)
        table = self.write("v.csv", "name,copy.host_latency_ns,copy.host_gb_per_s\nslow host,30000,3\n")
        told = self.variants(str(tapes), "--vary", table)
        recorded = self.variants(str(truth), out="truth")["base"]
        self.assertEqual((told["base"]["mark"], told["slow host"]["mark"]), ("exact", "exact"))
        self.assertGreater(told["slow host"]["ps"], told["base"]["ps"])
        self.assertEqual((told["slow host"]["ps"], told["slow host"]["links"], told["slow host"]["links_ps"]),
                         (recorded["ps"], 6, recorded["links_ps"]))
        for tape in truth.iterdir():
            shutil.copy(tape, self.path("tape"))
            self.assertEqual(recorded["ps"], round(self.replay()["recorded_us"] * 1e6))
        chip = self.write("links.ini", "[soc]\nbase = ascend910b1\nname = links\n[link]\ncollective_gb_per_s = 7\nboard_latency_ns = 9000\nstart_ns = 1000\n")
        links = self.write("l.csv", "name,link.collective_gb_per_s,link.board_latency_ns,link.start_ns\nlinks,7,9000,1000\n")
        told = self.variants(str(tapes), "--vary", links, out="links")["links"]
        recorded = self.variants(str(ranks.record(MEMBER, self.path("links.tapes"), 3, 6, chip)), out="links.truth")["base"]
        self.assertEqual((told["mark"], told["ps"], told["links_ps"]), ("exact", recorded["ps"], recorded["links_ps"]))
        self.refused("link.start_ns", self.tape(), "--vary", links)
        next(tapes.iterdir()).unlink()
        told = self.variants(str(tapes), "--vary", table, out="two")
        self.assertEqual((told["slow host"]["mark"], told["slow host"]["estimated_by"]), ("estimate", "waits for ranks that were not recorded"))

    def test_many_cards(self):
        tapes = ranks.record(MEMBER, self.path("ranks"), 2, 6, "ascend910b1")
        topology = self.write("t.ini", "[topology]\nname = boards\n[level.board]\nlinks = mesh\nunits = 8\ngb_per_s = 19.3\nlatency_ns = 1500\n"
                              "[level.net]\nlinks = switch\ngb_per_s = 25\nlatency_ns = 6000\nunits = 128\n")
        plain = self.variants(str(tapes), "--cards", "2,8,1024")
        # As many as there were: as recorded, for the [link] of a chip is what the runtime prices.
        self.assertEqual(plain["2 cards"]["ps"], plain["base"]["ps"])
        self.assertLess(plain["base"]["ps"], plain["1024 cards"]["ps"])
        self.assertEqual(plain["1024 cards"]["kernels_ps"], plain["base"]["kernels_ps"])
        eight = ranks.record(MEMBER, self.path("eight"), 8, 6, "ascend910b1")
        self.assertEqual(self.variants(str(eight), out="eight.out")["base"]["links_ps"], plain["8 cards"]["links_ps"])
        other = self.variants(str(tapes), "--cards", "2,8,1024", "--topology", topology, out="other")
        self.assertEqual({other[f"{n} cards"]["topology"] for n in (2, 8, 1024)}, {"boards"})
        self.assertLess(other["8 cards"]["ps"], other["1024 cards"]["ps"])
        self.refused("has 1024 cards, not 2048", str(tapes), "--cards", "2048", "--topology", topology)
        self.refused("a multiple of that is wanted", str(tapes), "--cards", "3")
        self.refused("--cards many", str(tapes), "--cards", "many")
        self.refused("has no collectives", self.tape(), "--cards", "8")

    def test_chakra(self):
        """A node a task and a collective, in ranks' files; the messages are read back as protobuf."""
        def fields(data):
            at, out = 0, []
            def whole():
                nonlocal at
                value = shift = 0
                while True:
                    byte = data[at]
                    at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
                    if byte < 128:
                        return value
            while at < len(data):
                key = whole()
                if key & 7 == 2:
                    size = whole()
                    out.append((key >> 3, bytes(data[at:at + size])))
                    at += size
                else:
                    out.append((key >> 3, whole()))
            return out

        tapes = ranks.record(MEMBER, self.path("ranks"), 2, 4, "ascend910b1")
        done = subprocess.run([sys.executable, "-B", pathlib.Path(PAGE).with_name("chakra.py"), tapes, "-o", self.path("run")],
                              env={**os.environ, "LEO_COMMAND": LEO}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), [self.path("run.0.et"), self.path("run.1.et")])
        data, at, nodes = pathlib.Path(self.path("run.1.et")).read_bytes(), 0, []
        while at < len(data):  # each message has its length in front: of one or two bytes here
            size, width = (data[at], 1) if data[at] < 128 else (data[at] & 127 | data[at + 1] << 7, 2)
            nodes.append(fields(data[at + width:at + width + size]))
            at += width + size
        self.assertEqual(nodes[0], [(1, b"0.0.4")])
        told = [dict((number, value) for number, value in node if number != 10) for node in nodes[1:]]
        self.assertEqual([node[1] for node in told], list(range(1, len(told) + 1)))
        self.assertEqual((sum(node[3] == 7 for node in told), sum(node[3] == 4 for node in told)), (4, 8))
        for node in nodes[1:]:
            self.assertTrue(all(value < dict(node)[1] for number, value in node if number == 5))
        sizes = [dict(fields(value)).get(9) for node in nodes[1:] if dict(node)[3] == 7 for number, value in node
                 if number == 10 and b"comm_size" in value]
        self.assertEqual(sizes, [4, 128, 4096, 131072])

    def test_chakra_traces_are_priced(self):
        """Computing as the traces say, one node at a time; operations between cards as the topology says, when the last rank is there."""
        page = pathlib.Path(PAGE)
        sys.path.insert(0, str(page.parent))
        import chakra  # what it needs lies beside it
        def trace(name, *nodes):
            path = pathlib.Path(self.path(name))
            path.write_bytes(b"".join([chakra.message(chakra.field(1, "0.0.4")), *nodes]))
            return str(path)
        def compute(number, after, us):
            return chakra.node(number, f"kernel {number}", chakra.COMP, after, 0, us, {"is_cpu_op": False, "num_ops": 5})
        def collective(number, after, group, kind=0, size=1 << 20):
            return chakra.node(number, "all_reduce", chakra.COLL, after, 0, 0, {"comm_type": kind, "comm_size": size, "pg_name": group})
        def message(number, after, kind, source, target):
            return chakra.node(number, "p2p", kind, after, 0, 0, {"comm_size": 4096, "comm_src": source, "comm_dst": target, "comm_tag": 3})
        def price(*traces, topology="ascend910b1"):
            return subprocess.run([sys.executable, "-B", page.with_name("chakra.py"), *traces, "--topology", topology],
                                  env={**os.environ, "LEO_COMMAND": LEO}, capture_output=True, text=True, check=False)
        def ns(*words):
            return int(subprocess.run([LEO, "topology", "ascend910b1", *words], capture_output=True, text=True, check=True).stdout)
        traces = [trace("a.0.et", compute(1, (), 100), collective(2, (1,), "dp"), message(3, (2,), chakra.SEND, 0, 1)),
                  # Two nodes that depend on nothing run one behind the other; the second one, of the rank, beside the all-reduce.
                  trace("a.1.et", compute(1, (), 300), compute(2, (), 10), collective(3, (1,), "dp"), message(4, (2, 3), chakra.RECV, 0, 1))]
        done = price(*traces)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split() for line in done.stdout.splitlines()[1:]]
        both = (300000 + ns("all_reduce", "2", "1048576") + ns("point_to_point", "2", "4096")) / 1000
        self.assertEqual([row[1:] for row in rows], [[f"{both:.3f}", "100.000", "2", "3"], [f"{both:.3f}", "310.000", "2", "4"]])
        for traces, text in ((traces[:1], "a message between ranks 0 and 1 of 1"), ([trace("b.et", collective(1, (), "dp", kind=77))], "comm_type 77 is not known"),
                             ([trace("c.et", compute(1, (5,), 1))], "depends on 5, which is not there"), ([trace("d.et", compute(1, (2,), 1), compute(2, (1,), 1))], "wait for each other"),
                             ([traces[0], trace("e.et", collective(1, (), "dp", size=5))], "other ranks do"), ([PAGE], "no Chakra execution trace")):
            done = price(*traces)
            self.assertEqual((done.returncode, done.stdout.count("Traceback")), (1, 0), done.stdout)
            self.assertIn(text, done.stderr)
        for words, text in (("all_reduce 2 inf", "whole numbers"), ("all_reduce 1.5 4", "whole numbers"), ("all_reduce 1e300 4", "whole numbers"), ("all_reduce 2 4 0", "whole numbers"),
                            ("gather 2 4", "--help has the kinds"), ("all_reduce 2", "--help has the kinds")):
            done = subprocess.run([LEO, "topology", "ascend910b1", *words.split()], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(text, done.stderr)
        self.assertEqual(ns("all_gather", "4000000000", "9000000000000000"), 2 ** 64 - 1)  # longer than can be said
        # What was recorded here comes back: each collective takes what the runtime charged.
        tapes = ranks.record(MEMBER, self.path("ranks"), 2, 4, "ascend910b1")
        env = {**os.environ, "LEO_COMMAND": LEO}
        subprocess.run([sys.executable, "-B", page.with_name("chakra.py"), tapes, "-o", self.path("run")], env=env, check=True, capture_output=True)
        done = price(self.path("run.0.et"), self.path("run.1.et"))
        self.assertEqual(done.returncode, 0, done.stderr)
        ends = [float(line.split()[1]) for line in done.stdout.splitlines()[1:]]
        least = sum(ns("all_reduce", "2", size) for size in ("4", "128", "4096", "131072")) / 1000
        self.assertTrue(all(end >= least for end in ends), (ends, least))

    def test_damaged_chakra_traces_are_refused(self):
        """A trace that ends early or has other bits is read or refused by its reader, and nothing else happens."""
        sys.path.insert(0, str(pathlib.Path(PAGE).parent))
        import chakra
        from chakra_price import Error, meetings_of, play, read
        path = pathlib.Path(self.path("damaged.et"))
        def is_read(data):
            path.write_bytes(data)
            try:
                ranks = [read(path, 0)]
                of, asks = meetings_of(ranks)
                play(ranks, of, asks, {ask: 1 for ask, _ in asks.values()})
            except Error as problem:
                self.assertRegex(str(problem), "damaged.et: |rank 0, node ")
                return False
            return True
        first = chakra.message(chakra.field(1, "0.0.4"))
        compute = {"is_cpu_op": False, "num_ops": 5, "duration_ns": 900}
        # The first node's number is 0, which protobuf leaves out.
        nodes = [chakra.message(chakra.field(2, "zero") + chakra.field(3, chakra.COMP)), chakra.node(1, "kernel", chakra.COMP, (0,), 0, 300, compute),
                 chakra.node(2, "all", chakra.COLL, (0, 1), 0, 0, {"comm_type": 0, "comm_size": 1 << 20, "pg_name": "dp"}),
                 chakra.node(3, "p2p", chakra.SEND, (2,), 0, 0, {"comm_size": 4096, "comm_src": 0, "comm_dst": 0, "comm_tag": 3})]
        whole = first + b"".join(nodes)
        self.assertTrue(is_read(whole))
        ends = [len(first) + sum(map(len, nodes[:count])) for count in range(len(nodes) + 1)]
        self.assertEqual([size for size in range(len(whole) + 1) if is_read(whole[:size])], ends)
        for at in range(len(whole)):
            for bit in range(8):
                is_read(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1:])
            is_read(whole[:at] + b"\xff" * 12 + whole[at + 12:])
        for node, text in ((chakra.field(1, b"a"), "field 1 of a node"), (chakra.field(10, 7), "field 10 of a node"), (b"\x08" + b"\x80" * 10 + b"\1", "more than ten bytes"),
                           (chakra.field(10, chakra.field(1, 5)), "name is a number"), (chakra.field(10, chakra.field(1, "duration_ns") + chakra.field(15, 9)), "it takes -5 ns"),
                           (chakra.field(1, 1) + chakra.field(3, chakra.COMP), "two nodes 1 (kernel and )")):
            path.write_bytes(whole + chakra.message(node))
            with self.assertRaises(Error) as refused:
                read(path, 0)
            self.assertIn(text, str(refused.exception))

    def test_the_table_is_checked_first(self):
        tape = self.tape()
        for table, text in (("name,gm.hbm_reed\na,1\n", "gm.hbm_reed is no number of the chip"), ("name,queue.v\na,many\n", "a number is wanted"),
                            ("name,queue.v\na,1\na,2\n", "two variants 'a'"), ("name,queue.v\nbase,1\n", "two variants 'base'"),
                            ("name,queue.v\n", "no rows"), ("name,queue.v\na,1,2\n", "1 numbers are wanted")):
            self.refused(text, tape, "--vary", self.write("v.csv", table))
        self.refused("v must be between 1 and 64", tape, "--vary", self.write("v.csv", "name,queue.v\na,1000\n"))
        self.refused("the command failed", self.path("nothing"), "--chip", "ascend910b1")
        said = pathlib.Path(self.path("refused/record/output")).read_text(encoding="utf-8")
        self.assertIn("cannot start", said)

    def test_the_page(self):
        self.study(self.tape(), "--vary", self.write("v.csv", TIMES.replace("late", "<late & last>")))
        done = subprocess.run([sys.executable, "-B", PAGE, self.path("out")], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = pathlib.Path(self.path("out/index.html")).read_text(encoding="utf-8")
        self.assertIn("&lt;late &amp; last&gt;", page)
        self.assertNotRegex(page, r"https?://|<late(?! & last>\",)")
        self.assertRegex(page, r"const variants = \[\{\"name\":\"base\",\"joule\":0\.\d+,\"parts\":\{\"Cube units\":68\.8")
        for one in json.loads(pathlib.Path(self.path("out/study.json")).read_text(encoding="utf-8"))["variants"]:
            self.assertIn(f"{one['ps'] / 1e6:,.3f}", page)
        rows = re.findall(r"<tr>", page)
        self.assertGreaterEqual(len(rows), 1 + 8 + 1 + 1)
        pathlib.Path(self.path("out/study.json")).unlink()
        done = subprocess.run([sys.executable, "-B", PAGE, self.path("out")], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
