# SPDX-License-Identifier: Apache-2.0
"""What goes wrong on a user's side: each case in a process of its own; the message names the cause and what to do."""

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HOME = Path(os.environ["ASCEND_HOME_PATH"])

TRAIN = """
import os, sys
import torch, torch_npu
import common, models

EPOCHS, STEPS, PATH = 3, 4, "state.pt"
common.seed(5)
model, batches, loss_of = models.lenet(STEPS)
model = torch.nn.Sequential(torch.nn.Dropout(0.1), model).to(common.DEVICE)
optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
first = 0
if os.path.exists(PATH):
    state = torch.load(PATH, map_location=common.DEVICE)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.npu.set_rng_state(state["random"].cpu())
    first = state["epoch"]
for epoch in range(first, EPOCHS):
    for step, batch in enumerate(batches):
        optimizer.zero_grad()
        loss = loss_of(model, *[part.to(common.DEVICE) for part in batch])
        loss.backward()
        optimizer.step()
        print("step", epoch, step, repr(loss.item()), flush=True)
        if sys.argv[1] == f"{epoch}.{step}":
            os.kill(os.getpid(), 9)
    torch.save({"epoch": epoch + 1, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "random": torch.npu.get_rng_state()}, PATH + ".new")
    os.replace(PATH + ".new", PATH)
"""


class Faults(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def run_python(self, script, *arguments, limit=None, **variables):
        """Exit code and all that was printed."""
        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        done = subprocess.run([sys.executable, "-B", "-c", script, *arguments], cwd=self.place, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                              env={**os.environ, **variables}, preexec_fn=limit_files if limit else None)
        return done.returncode, done.stdout

    def expect_told(self, script, *texts, **variables):
        code, out = self.run_python("import torch, torch_npu\n" + script, **variables)
        self.assertEqual(code, 1, out)
        for text in texts:
            self.assertRegex(out, text)

    def test_an_unknown_chip(self):
        self.expect_told("torch.zeros(3).npu()", 'chip "ascend9"', "LEO_SOC", "there are ascend910a, ascend910b1",
                         LEO_SOC="ascend9")

    def test_a_device_that_does_not_exist(self):
        self.expect_told("torch.npu.set_device(1)", "no device 1: ids go from 0 to 0", "LEO_DEVICES")

    def test_a_wrong_home(self):
        self.expect_told("", "/nowhere does not exist", "set_env.sh", ASCEND_HOME_PATH="/nowhere")

    def test_a_wrong_library_path(self):
        self.expect_told("", "libhccl.so: cannot open shared object file", LD_LIBRARY_PATH="/nowhere")

    def test_a_library_of_another_build(self):
        build = re.search(r"^leonardo=(.*)$", (HOME / "ascend_toolkit_install.info").read_text(), re.M)[1]
        library = (HOME / "lib64" / "libopapi.so").read_bytes()
        self.assertIn(build.encode(), library)
        (self.place / "libopapi.so").write_bytes(library.replace(build.encode(), b"9" * len(build)))
        self.expect_told("(torch.zeros(3).npu() + 1).cpu()", "two versions of Leonardo in one process", f"build {build}",
                         f"{self.place}/libopapi.so of build 9999", "from one toolkit",
                         LD_LIBRARY_PATH=f"{self.place}:{HOME}/lib64")

    def test_a_home_of_another_build(self):
        home = self.place / "cann"
        home.mkdir()
        for item in HOME.iterdir():
            (home / item.name).symlink_to(item)
        (home / "ascend_toolkit_install.info").unlink()
        (home / "ascend_toolkit_install.info").write_text(
            re.sub("leonardo=.*", "leonardo=0.0.1-old", (HOME / "ascend_toolkit_install.info").read_text()))
        code, out = self.run_python("import torch, torch_npu\nprint((torch.ones(3).npu() * 2).cpu().sum())",
                                    ASCEND_HOME_PATH=str(home))
        self.assertEqual(code, 0, out)
        self.assertIn("tensor(6.)", out)
        self.assertRegex(out, r"leonardo: two versions: .*0\.0\.1-old.*pip uninstall leonardo")

    def test_a_forked_child_is_told_and_the_parent_goes_on(self):
        code, out = self.run_python("import os, torch, torch_npu\nx = torch.ones(3).npu()\nchild = os.fork()\n"
                                    "if child == 0:\n    try:\n        x + 1\n    except RuntimeError as error:\n"
                                    "        os.write(1, str(error).encode())\n    os._exit(0)\n"
                                    "os.waitpid(child, 0)\nprint((x + 1).cpu().sum())")
        self.assertEqual(code, 0, out)
        self.assertRegex(out, "process was forked.*start processes with spawn")
        self.assertIn("tensor(6.)", out)

    def test_an_index_that_does_not_exist(self):
        self.expect_told("table = torch.zeros(10, 4).npu()\n"
                         "torch.nn.functional.embedding(torch.tensor([3, 100]).npu(), table).cpu()",
                         "index_device.c:[0-9]+", "index 100 of a dimension of 10")

    def test_a_label_that_does_not_exist(self):
        self.expect_told("torch.nn.functional.cross_entropy(torch.zeros(4, 10).npu(), torch.tensor([1, 2, 10, 3]).npu()).cpu()",
                         "class 10 of 10")

    @unittest.skipIf(os.environ["LEO_TEST_SOC"] != "ascend910a", "the first 910 only")
    def test_a_part_of_a_tensor_in_the_chips_own_format(self):
        self.expect_told("x = torch_npu.npu_format_cast(torch.randn(2, 24, 6, 6).half().npu(), 3)\nx[:, 1::2] = 1.5\nprint(x.cpu())",
                         "cannot be changed in place", "npu_format_cast", "allow_internal_format = False",
                         ASCEND_LAUNCH_BLOCKING="1")

    def test_what_follows_a_fault_is_told_too(self):
        script = ("import torch, torch_npu\n"
                  "table, one = torch.zeros(10, 4).npu(), torch.ones(1).npu()\n"
                  "table[torch.tensor([99]).npu()]\n"
                  "for x in (one + 1, one + 2):\n"
                  "    try:\n"
                  "        print('got', x.cpu())\n"
                  "    except RuntimeError as error:\n"
                  "        print('refused')\n")
        _, out = self.run_python(script)
        self.assertNotIn("got", out)
        # The next process has a chip that works.
        self.assertIn("7", self.run_python("import torch, torch_npu\nprint((torch.ones(1).npu() + 6).int().item())")[1])

    def test_a_full_disk_while_everything_is_profiled(self):
        code, out = self.run_python("import torch, torch_npu\nx = torch.ones(64).npu()\nfor _ in range(200): x = x * 1.5\n"
                                    "print('sum', torch.isfinite(x.cpu()).any())", limit=8000, LEO_PROFILE="profile")
        self.assertEqual(code, 0, out)
        self.assertIn("sum tensor", out)
        self.assertRegex(out, r"LEO_PROFILE: cannot write profile/\S+: File too large: .*run again")

    def test_a_full_disk_while_torch_npu_profiles(self):
        code, out = self.run_python("import torch, torch_npu\nfrom torch_npu import profiler\nx = torch.ones(64).npu()\n"
                                    "with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler('out')):\n"
                                    "    for _ in range(200): x = x * 0.5\n"
                                    "print('sum', x.cpu().sum())", limit=8000)
        self.assertEqual(code, 0, out)
        self.assertIn("sum tensor(0.)", out)
        self.assertRegex(out, r"leonardo: profile: cannot write \S+: File too large: .*run again")

    def test_a_killed_training_goes_on_with_the_same_losses(self):
        def steps(out):
            return re.findall(r"^step (.*)$", out, re.M)
        code, whole = self.run_python(TRAIN, "never")
        self.assertEqual((code, len(steps(whole))), (0, 12), whole)
        (self.place / "state.pt").unlink()
        code, begin = self.run_python(TRAIN, "1.2")
        self.assertEqual((code, len(steps(begin))), (-signal.SIGKILL, 7), begin)
        code, rest = self.run_python(TRAIN, "never")
        self.assertEqual(code, 0, rest)
        # From the checkpoint at the end of epoch 0 on.
        self.assertEqual(steps(begin) + steps(rest)[3:], steps(whole))
        self.assertEqual(steps(rest)[:3], steps(begin)[4:])


unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
