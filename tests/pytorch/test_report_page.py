# SPDX-License-Identifier: Apache-2.0
"""leo exec --profile --what-if and leo report as a user types them: the page has the run and its price on other chips."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LEO = Path(os.environ["ASCEND_HOME_PATH"]) / "bin" / "leo"
# The vector does not fit the L2 of either chip.
RUN = """
import torch, torch_npu
a, b = torch.randn(512, 512).half().npu(), torch.randn(1 << 25).npu()
for _ in range(3):
    c, b = a @ a, torch.relu(b * 1.01)
print(float(c.float().sum()) == float(c.float().sum()))
"""


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        folder = Path(place.name) / "run"
        subprocess.run([LEO, "exec", "--soc", os.environ["LEO_TEST_SOC"], "--profile", folder, "--what-if", "--",
                        sys.executable, "-c", RUN], check=True, stdout=subprocess.PIPE)
        # Each number alone: all combinations would take a minute on a busy computer.
        subprocess.run([LEO, "report", folder, "--what-if-seconds", "0.001"], check=True, stdout=subprocess.PIPE)
        cls.page = (folder / "report.html").read_text()
        cls.device = json.loads(re.search(r"const data = (\{.*\});", cls.page).group(1))["devices"][0]

    def price(self, clock=1, hbm=1, cores=1):
        return next(point[1:] for point in self.device["sweep"]["points"] if point[0] == [clock, hbm, cores])

    def test_operators_are_there(self):
        self.assertLessEqual({"Muls", "Relu"}, {row["type"] for row in self.device["operators"]})
        self.assertGreater(self.device["peak"], 0)
        self.assertGreater(self.device["hbm"], 0)
        self.assertTrue(self.device["memory"])

    def test_other_chips_are_priced(self):
        sweep = self.device["sweep"]
        self.assertFalse(sweep["full"])
        self.assertEqual(len(sweep["points"]), len({tuple(point[0]) for point in sweep["points"]}))
        us, kernels, by_name, mark = self.price()
        self.assertEqual([mark, self.price(hbm=0.5)[3], self.price(clock=2)[3]], ["exact", "exact", "estimate: soc.clock_khz"])
        self.assertAlmostEqual(sum(by_name), kernels, delta=0.01 * kernels)
        # The same kernels as in the profile, and profiling has no price.
        self.assertAlmostEqual(kernels, self.device["busy"], delta=0.02 * kernels)
        self.assertGreater(self.price(clock=0.5)[1], kernels)
        self.assertLess(self.price(clock=2)[1], kernels)
        self.assertGreater(self.price(hbm=0.5)[1], kernels)
        self.assertGreater(self.price(cores=0.25)[1], kernels)
        self.assertLess(us, self.price(clock=0.5)[0])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
