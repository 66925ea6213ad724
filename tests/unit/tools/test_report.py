#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""leo report over the small profile of test_msprof: one page that needs nothing else, with the profile's numbers in it."""

import csv
import json
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import test_msprof

REPORT = Path(__file__).resolve().parents[3] / "tools" / "toolkit" / "report" / "report.py"


class Report(test_msprof.Profiled):
    def report(self, place, *options, code=0):
        done = subprocess.run([sys.executable, "-B", REPORT, place, *options], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout.strip() or done.stderr

    def test_output_that_is_lost_is_a_failure(self):
        for name, places in (("report.py", ()), ("diff.py", ()), ("diff.py", (self.folder, self.folder))):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([sys.executable, "-B", REPORT.with_name(name), *(places or ("--help",))], stdout=full,
                                      stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("No space left on device", done.stderr)

    def test_two_runs_differ(self):
        other = Path(self.folder).with_name("PROF_000002_other")
        shutil.copytree(self.folder, other)
        done = subprocess.run([sys.executable, "-B", REPORT.with_name("diff.py"), self.folder, other], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"kernels +1\.501 +1\.501 us +\+0\.0 %")
        self.assertRegex(done.stdout, r"Matmul +\S+ +1 +1 .*\+0\.000")
        self.assertIn("chips: not compared", done.stdout)
        for folder, rate in ((self.folder, 935), (other, 1870)):
            (folder / "device_0" / "data" / "soc.ini").write_text(f"[gm]\nhbm_read_gb_per_s = {rate} ; [F]\nl2_gb_per_s = 5 ; [A]\n")
        done = subprocess.run([sys.executable, "-B", REPORT.with_name("diff.py"), self.folder, other], capture_output=True, text=True,
                              check=False)
        self.assertRegex(done.stdout, r"numbers differ\n +gm\.hbm_read_gb_per_s +935 +1870\n  from")
        missing = subprocess.run([sys.executable, "-B", REPORT.with_name("diff.py"), self.folder, "/nowhere"], capture_output=True,
                                 text=True, check=False)
        self.assertEqual(missing.returncode, 1)
        self.assertIn("no profile here", missing.stderr)

    def test_the_page_holds_the_numbers(self):
        (self.folder / "device_0" / "data" / "soc.ini").write_text("[gm]\nhbm_read_gb_per_s = 935 ; [F]\n")
        page = Path(self.report(self.folder.parent)).read_text()
        data = json.loads(re.search(r"const data = (\{.*\});", page).group(1))
        device = data["devices"][0]
        self.assertEqual((device["tasks"], device["span"], device["hbm"]), (4, 4.901, 935))
        self.assertAlmostEqual(device["busy"], 1.501)
        self.assertEqual([(o["type"], o["count"]) for o in device["operators"]], [("Matmul", 1), ("Add", 1), ("user_kernel", 1)])
        matmul = device["operators"][0]
        self.assertAlmostEqual(matmul["units"]["mac"], 50)
        self.assertAlmostEqual(matmul["intensity"], 800 * 8192 / 5120)
        self.assertAlmostEqual(matmul["gbs"], 5.12)
        self.assertAlmostEqual(sum(device["bound"].values()), device["busy"])
        self.assertEqual(len(device["drawn"]), 4)
        self.assertEqual(device["memory"], [[0.0, 1.0]])

    def test_time_by_node_of_a_model(self):
        self.assertEqual(self.page_data()["devices"][0]["nodes"], [])
        path = self.folder / "device_0" / "data" / "task.csv"
        rows = path.read_text().splitlines()
        at = next(i for i, row in enumerate(rows) if "aclnnMatmul" in row)
        rows[at] = re.sub(r'"(aclnnMatmul[^"]*)"', lambda m: '"' + "|".join((m.group(1).split("|") + ["", ""])[:3]) + '|fc/one"', rows[at])
        path.write_text("\n".join(rows) + "\n")
        node, = self.page_data()["devices"][0]["nodes"]
        self.assertEqual((node["node"], node["types"], node["tasks"], node["share"]), ("fc/one", ["Matmul"], 1, 100))
        self.assertAlmostEqual(node["units"]["mac"], 50)

    def test_memory_plan_of_a_model(self):
        tensor = lambda place, index, offset, dims, strides: {"in": place, "index": index, "offset": offset, "type": "f16", "dims": dims,
                                                              "strides": strides}
        a, b = tensor("work", 0, 0, [4, 8], [8, 1]), tensor("work", 1, 64, [32], [1])
        view = tensor("work", 0, 14, [2, 8], [16, -1]) # of a: every other row, from behind
        again = tensor("work", 2, 0, [16], [1])        # where a was
        calls = [{"op": "Cast", "node": "", "args": [tensor("input", 0, 0, [32], [1]), a]},
                 {"op": "Relu", "node": "relu", "args": [a, None, 1.5, [2, 3], b]},
                 {"op": "Cat", "node": "cat", "args": [[view, b], 0, tensor("output", 0, 0, [48], [1])]},
                 {"op": "Neg", "node": "neg", "args": [b, again]}]
        nodes = [{"name": "conv", "type": "Conv", "into": "conv"}, {"name": "bn", "type": "BatchNormalization", "into": "conv"},
                 {"name": "unused", "type": "Neg", "into": ""}]
        body = {"inputs": [], "outputs": [], "nodes": nodes, "calls": calls}
        model = {"soc": "Ascend910A", "work_bytes": 128, "weight_bytes": 7, **body, "gears": []}
        path = self.folder.with_name("net.json")
        path.write_text(json.dumps(model))
        plan = self.page_data("--model", path)["model"]
        self.assertEqual(plan["plan"], [[0, 64, 0, 2, ""], [64, 128, 1, 3, "relu"], [0, 32, 3, 3, "neg"]])
        self.assertEqual((plan["sum"], plan["most"], plan["work"], plan["weights"], plan["gear"]), (160, 128, 128, 7, None))
        self.assertEqual(plan["fused"], {"conv": ["bn (BatchNormalization)"]})
        path.write_text(json.dumps({**model, **{"calls": []}, "gears": [{"sizes": [2], **body}]}))
        plan = self.page_data("--model", path)["model"]
        self.assertEqual((len(plan["plan"]), plan["gear"]), (3, [2]))
        for text in ("{", "{}", json.dumps({**model, "calls": [{"op": "Neg"}]})):
            path.write_text(text)
            self.assertIn("not what atc --mode=1 writes", self.report(self.folder.parent, "--model", path, code=1))
        self.assertIsNone(self.page_data()["model"])

    def page_data(self, *options):
        page = Path(self.report(self.folder.parent, *options)).read_text()
        return json.loads(re.search(r"const data = (\{.*\});", page).group(1))

    def test_energy_rates_and_origins(self):
        (self.folder / "device_0" / "data" / "soc.ini").write_text(
            "[gm]\nhbm_read_gb_per_s = 1000 ; [F] A07\nhbm_refresh_ns = 100 ; [W] a page\nhbm_refresh_every_ns = 1000 ; [W] same\n"
            ";base other\n[gm]\ngm_write_ns = 5 ; [P]\n[energy]\ncube_pj_per_op = 2 ; [A]\nl2_pj_per_byte = 3\nidle_w = 10\n")
        page = Path(self.report(self.folder)).read_text()
        data = json.loads(re.search(r"const data = (\{.*\});", page).group(1))
        device = data["devices"][0]
        self.assertAlmostEqual(device["hbm"], 900)
        energy = {row["unit"]: row["joule"] for row in device["energy"]}
        self.assertAlmostEqual(energy["cube"], 800 * 8192 * 2e-12)
        self.assertAlmostEqual(energy["all the time"], device["span"] * 1e-6 * 10)
        moved = sum(o["gbs"] * o["us"] * 1000 for o in device["operators"])
        self.assertAlmostEqual(sum(device["rates"]["gbs"]) * device["rates"]["width"] * 1000, moved, delta=0.02 * moved)
        counts = device["provenance"]["counts"]
        self.assertEqual((counts["published"], counts["fitted"], counts["third parties"]), (1, 1, 2))
        self.assertEqual(device["provenance"]["numbers"][0], {"key": "gm.hbm_read_gb_per_s", "value": "1000", "origin": "fitted", "remark": "A07"})
        drawn = self.run_script(page, "elements.energy.innerHTML, elements.provenance.innerHTML, elements.stalls.innerHTML")
        self.assertIn("gm.gm_write_ns", drawn)

    def test_errors_to_expect_are_those_of_the_document(self):
        page = (REPORT.parents[3] / "docs" / "accuracy.md").read_text()
        with open(REPORT.with_name("expected.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        self.assertGreaterEqual(len(rows), 10)
        for row in rows:
            self.assertIn(f"| {row['class']} | {row['rows']} {row['of']} | {row['median']} % | {row['worst']} % |", page)

    def test_operators_have_the_class_of_the_longest_start(self):
        sys.path.insert(0, str(REPORT.parent))
        from chip_notes import class_of
        for name, kind in (("MatMulV3", "products"), ("ConvolutionBackward", "convolutions"), ("MaxPool2d", "pooling"), ("Max", "reductions"),
                           ("BatchMatMul", "products"), ("Maximum", "elementwise"), ("FlashAttentionScore", "attention"),
                           ("LayerNormBackward", "norms"), ("AddRmsNorm", "norms"), ("Add", "elementwise"), ("IndexAdd", "indexing"),
                           ("my_kernel", "other")):
            self.assertEqual(class_of(name), kind, name)

    def add_link(self, folder, *rows):
        lines = ["device,name,group,rank,ranks,bytes,begin,ready,end", *rows]
        (folder / "host" / "data" / "link.csv").write_text("\n".join(lines) + "\n")

    def test_ranks_stand_on_one_page(self):
        other = self.folder.parent / "PROF_000002_of_another_rank"
        stranger = self.folder.parent / "PROF_000003_of_another_run"
        shutil.copytree(self.folder, other)
        shutil.copytree(self.folder, stranger)
        # The profile's kernels: see test_msprof. The collective covers all of them.
        with open(self.folder / "device_0" / "data" / "task.csv", encoding="utf-8") as file:
            begin = min(int(row["start_ns"]) for row in csv.DictReader(file))
        end = begin + 10000
        self.add_link(self.folder, f'0,"HcclAllReduce","g",0,2,4096,{begin},{begin + 4000},{end}')
        self.add_link(other, f'0,"HcclAllReduce","g",1,2,4096,{begin + 4000},{begin + 4000},{end}')
        self.add_link(stranger, f'0,"HcclAllReduce","another",1,2,4096,{begin},{begin},{end}')
        page = Path(self.report(self.folder)).read_text()
        ranks = json.loads(re.search(r"const data = (\{.*\});", page).group(1))["ranks"]
        self.assertEqual([rank["rank"] for rank in ranks], [0, 1])
        one, two = (rank["links"][0] for rank in ranks)
        self.assertAlmostEqual(one["ready"] - one["begin"], 4)
        self.assertAlmostEqual(two["ready"], two["begin"])
        self.assertAlmostEqual(one["end"], two["end"])
        # Beside all kernels of its card, which took 1.501 us in all.
        self.assertAlmostEqual(one["hidden"], ranks[0]["busy"])
        self.assertAlmostEqual(ranks[0]["busy"], 1.501)
        drawn = self.run_script(page, "elements.lanes.innerHTML, elements.collectives.innerHTML")
        self.assertEqual((drawn.count("rank 0<"), drawn.count("rank 1<")), (1, 1))
        self.assertIn("waits 4 us, takes 6 us", drawn)

    def test_the_page_needs_no_other_file(self):
        page = Path(self.report(self.folder)).read_text()
        self.assertNotRegex(page, r'(src|href)\s*=|url\(|import\s*\(|fetch\(')
        for part in ("timeline", "ranks", "operators", "units", "roofline", "memory", "whatif"):
            self.assertIn(f'id="{part}"', page)

    def run_script(self, page, show):
        """What the page's script leaves, if there is a node to run it."""
        if not shutil.which("node"):
            self.skipTest("no node to read the page's script with")
        script = re.search(r"<script>(.*)</script>", page, flags=re.S).group(1)
        # The little of a browser that it uses.
        browser = """
const element = () => new Proxy(function () {}, {
  get: (t, k) => k === "innerHTML" || k === "textContent" ? t["_" + k] || "" : k === Symbol.toPrimitive ? () => 900 :
    k === "clientWidth" ? 900 : k === "value" ? t.value ?? "1" : k === "querySelectorAll" ? () => [] : k in t ? t[k] : element(),
  set: (t, k, v) => { t[k === "innerHTML" || k === "textContent" ? "_" + k : k] = v; return true; }, apply: () => element()});
const elements = {};
globalThis.document = {getElementById: id => elements[id] ??= element()};
globalThis.window = {devicePixelRatio: 1};
globalThis.Option = function () {};
"""
        check = f"\nconsole.log({show});"
        done = subprocess.run(["node", "-e", browser + script + check], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_script_runs(self):
        page = Path(self.report(self.folder)).read_text()
        self.assertIn("x true 1.5 us instead of 1.5 us", self.run_script(
            page, "elements.soc.textContent, elements.operators.innerHTML.includes('Matmul'), elements.whatif.textContent"))

    def test_a_folder_without_a_profile_is_told(self):
        self.assertIn("no profile here", self.report("/nowhere", code=1))


if __name__ == "__main__":
    unittest.main()
