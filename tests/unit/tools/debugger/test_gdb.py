# SPDX-License-Identifier: Apache-2.0
"""test_gdb.py LEO: leo gdb with gdb itself, and the session that docs/debugger.md shows. `test_gdb.py LEO --show` prints that session as it is
now. Without a gdb that knows RISC-V there is nothing to test."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from remote import compile_kernel

LEO = str(Path(sys.argv[1]).resolve())
ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "docs" / "debugger.md"
GDB = shutil.which("gdb-multiarch")
BLOCK = re.compile(r"```gdb\n(.*?)```", re.S)
SCRIPT = ROOT / "tools" / "toolkit" / "gdb" / "leo_gdb.py"


def session(folder, commands, kernel="examples/ascendc/vector_add.cpp", options=("-O0",), arguments=None):
    """What gdb answers to each command, as a user sees it."""
    elf = Path(folder) / (Path(kernel).stem + ".elf")
    if not elf.exists():
        subprocess.run([LEO, "cc", "--soc", "ascend910b1", *options, kernel, "-o", elf], check=True, cwd=ROOT, timeout=120)
    x = Path(folder) / "x.bin"
    x.write_bytes(b"<" * 32768)
    arguments = arguments or ["--blocks", "4", "--arg", f"in:{x}", "--arg", f"in:{x}", "--arg", "out:32768", "--arg", "4096"]
    # The printers of the sources, not of a toolkit folder that may be older.
    run = subprocess.run([LEO, "gdb", "-x", SCRIPT, "-ex", "echo ready\\n", elf, "--soc", "ascend910b1", *arguments],
                         input="\n".join([*commands, "quit"]) + "\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT,
                         timeout=300, check=False)
    answers = run.stdout.split("ready\n", 1)[-1].split("(gdb) ")[1:]
    return [answer.rstrip("\n") for answer in answers[:len(commands)]], run.stdout


def plain(text):
    """Without what differs from build to build: addresses of code and buffers, and folders."""
    text = re.sub(r"0x[0-9a-f]{5,}", "0x...", re.sub(r"(?<=[ \"])/\S*/", "", text))
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def show(commands, answers):
    told = [(command, answer.strip("\n")) for command, answer in zip(commands, answers)]
    return "".join(f"(gdb) {command}\n" + (f"{answer}\n" if answer else "") for command, answer in told)


@unittest.skipUnless(GDB, "gdb-multiarch is not installed")
class Gdb(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_page(self):
        expected = BLOCK.search(PAGE.read_text(encoding="utf-8"))[1]
        commands = re.findall(r"^\(gdb\) (.*)$", expected, re.M)
        answers, everything = session(self.folder.name, commands)
        self.assertEqual(len(answers), len(commands), everything)
        self.assertEqual(plain(show(commands, answers)), plain(expected), everything)

    def test_optimised_code(self):
        commands = ["break vector_add.cpp:57", "continue", "print z", "print zGm", "finish"]
        answers, everything = session(self.folder.name, commands, options=("-O2",))
        self.assertRegex(answers[2], r"LocalTensor<half>\[\? elements\] in UB at 0x2000 \(VECOUT\) = \{", everything)

    def test_run_again(self):
        commands = ["break vector_add.cpp:57", "continue", "info registers", "run", "info registers"]
        answers, everything = session(self.folder.name, commands)
        self.assertIn("vector_add.cpp:57", answers[3], everything)
        self.assertIn("block_idx", answers[2])
        self.assertEqual(answers[2], answers[4])

    def test_conditions_and_finish(self):
        commands = ["break CopyIn if i == 2", "continue", "print i", "finish", "info threads"]
        answers, everything = session(self.folder.name, commands)
        self.assertEqual(answers[2], "$1 = 2", everything)
        self.assertIn("VectorAdd::Process", answers[3], everything)
        self.assertEqual(len(re.findall(r"block \d", answers[4])), 4, everything)

    def test_hazard_names_the_line(self):
        kernel = str(Path(__file__).parent / "stops.c")
        answers, everything = session(self.folder.name, ["continue", "print in[3]", "x/2fw &out", "continue"], kernel=kernel, options=("-O1",),
                                      arguments=["--arg", f"in:{self.folder.name}/x.bin", "--arg", "out:32768", "--arg", "1"])
        self.assertIn("the product", answers[0], everything)
        self.assertIn("hazard", everything)
        self.assertNotIn("Cannot access", answers[1] + answers[2])
        self.assertIn("exited with code 01", answers[3], everything)

    def test_no_debug_information(self):
        answers, everything = session(self.folder.name, ["backtrace", "stepi", "continue"], options=("--strip",))
        self.assertIn("in vector_add ()", answers[0], everything)
        self.assertIn("exited normally", answers[2], everything)

    def test_misuse(self):
        for words, text in (([], "a kernel file, -- PROGRAM or --port PORT is missing"), (["no.elf"], "No such file"),
                            (["-foo"], "unknown option -foo"), (["-ex"], "a value is missing after -ex"),
                            (["--port", "1", "--", "true"], "with --port nothing is started")):
            run = subprocess.run([LEO, "gdb", *words], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(run.returncode, 2)
            self.assertIn(text, run.stderr)
        elf = Path(self.folder.name) / "stops.elf"
        compile_kernel(LEO, Path(__file__).parent / "stops.c", elf)
        run = subprocess.run([LEO, "gdb", elf], capture_output=True, text=True, timeout=60, check=False, env={**os.environ, "GDB": "no-gdb"})
        self.assertEqual(run.returncode, 1)
        self.assertIn("apt-get install gdb-multiarch", run.stderr)


if __name__ == "__main__":
    if "--show" in sys.argv:
        page_commands = re.findall(r"^\(gdb\) (.*)$", BLOCK.search(PAGE.read_text(encoding="utf-8"))[1], re.M)
        with tempfile.TemporaryDirectory() as place:
            print(show(page_commands, session(place, page_commands)[0]), end="")
    else:
        unittest.main(argv=sys.argv[:1])
