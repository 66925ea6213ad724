#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_docs.py BUILD: the tutorials do what they say when a reader copies them, block by block.

A ```c block goes to the file named last before it in backquotes; a plain block that begins with a command of the tutorial is
run by bash in a folder that has the build as `build`. Each command must succeed, and each --golden must be good.
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(sys.argv.pop()) if len(sys.argv) > 1 else ROOT / "build"
COMMAND = re.compile(r"^(build/tools/leo/leo|python3|head|cmake --build build --target leo |\. build/toolkit/set_env.sh\n)")
BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.S)


def steps(text):
    """(kind, name or None, content) of each block that a reader writes or runs."""
    end = 0
    name = None
    for match in BLOCK.finditer(text):
        names = re.findall(r"`([\w.]+\.c)`", text[end:match.start()])
        name = names[-1] if names else name
        end = match.end()
        language, content = match.groups()
        if language == "c":
            yield "file", name, content
        elif not language and COMMAND.match(content):
            yield "run", None, content


class Docs(unittest.TestCase):
    def follow(self, page, text=None, soc=None):
        commands = goldens = 0
        text = text if text is not None else (ROOT / page).read_text()
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "build").symlink_to(BUILD)
            (Path(folder) / "examples").symlink_to(ROOT / "examples")
            for kind, name, content in steps(text):
                if kind == "file":
                    self.assertIsNotNone(name, f"{page}: a program has no file name")
                    (Path(folder) / name).write_text(content)
                    continue
                # What the reader has built already.
                content = re.sub(r"^cmake .*\n", "", content, flags=re.M)
                result = subprocess.run(["bash", "-e", "-c", content], cwd=folder, capture_output=True, text=True)
                self.assertEqual(result.returncode, 0, f"{page}:\n{content}\n{result.stdout}{result.stderr}")
                commands += 1
                goldens += len(re.findall(r"largest error [\w.]+: good", result.stdout))
        return commands, goldens

    def test_write_a_kernel(self):
        self.assertEqual(self.follow("docs/write_a_kernel.md"), (3, 1 + 3))

    def test_write_a_cube_kernel(self):
        self.assertEqual(self.follow("docs/write_a_cube_kernel.md"), (1, 1))

    def test_cross_core(self):
        self.assertEqual(self.follow("docs/cross_core.md"), (2, 2))

    def test_toolchain(self):
        self.assertEqual(self.follow("docs/toolchain.md"), (1, 1))

    def test_kernel_output(self):
        self.assertEqual(self.follow("docs/kernel_output.md"), (1, 0))

    def test_models_tutorial(self):
        if not (BUILD / "toolkit" / "set_env.sh").exists():
            self.skipTest("the toolkit is not built")
        if re.search(r"^LEO_SANITIZE:\w+=\w", (BUILD / "CMakeCache.txt").read_text(encoding="utf-8"), re.M):
            self.skipTest("a program of one's own does not begin with the sanitizer's library")
        self.assertEqual(self.follow("docs/models_tutorial.md"), (5, 0))

    def test_readme_kernel(self):
        text = (ROOT / "docs/quickstart.md").read_text()
        section = text[text.index("## Quickstart: a kernel"):text.index("## Quickstart: an architecture study")]
        self.assertEqual(self.follow("docs/quickstart.md", section), (1, 1))

    def test_readme_is_short_and_its_links_lead_somewhere(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text().splitlines()), 90)
        for page in ["README.md", "CONTRIBUTING.md", *(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))]:
            text = (ROOT / page).read_text()
            for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", BLOCK.sub("", text)):
                self.assertTrue((ROOT / page).parent.joinpath(target).exists(), f"{page}: {target} does not exist")

    def test_the_split_chip_twice(self):
        """The first kernel of the page's tails, with the option that its comment asks for."""
        text = (ROOT / "docs/write_a_kernel.md").read_text()
        tails = text[text.index("## 6. Tails"):]
        first, _, rest = tails.partition("**910A** copies")
        run = rest[rest.rindex("```\nbuild/tools/leo/leo cc twice.c"):]
        run = run.replace("leo cc ", "leo cc --soc ascend910b1 ").replace("leo run ", "leo run --soc ascend910b1 ")
        self.assertEqual(self.follow("docs/write_a_kernel.md", first + run), (1, 3))

    def test_broken_page_is_noticed(self):
        with self.assertRaises(AssertionError):
            self.follow("a page", "```\nbuild/tools/leo/leo cc none.c -o none.elf\n```\n")


class Printed(unittest.TestCase):
    """Blocks of output are what the programs print."""

    def expect_printed(self, page, command, cwd, first):
        """Every line of the block that begins with `first`, but for wall times, is printed by the command."""
        def plain(text):
            return re.sub(r"wall [\d.]+ s", "wall", text)
        block = next(content for _, content in BLOCK.findall((ROOT / page).read_text()) if content.startswith(first))
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = plain(done.stdout).splitlines()
        for line in block.splitlines():
            if line not in ("", "..."):
                self.assertIn(plain(line), printed, f"{page}: not what {command[0]} prints")

    def test_readme_shows_what_the_demo_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            self.expect_printed("README.md", [str(BUILD.resolve() / "training/c/leo-train-digits")], folder, "chip ascend910a")

    def test_quickstart_shows_what_accuracy_prints(self):
        leo = str(BUILD.resolve() / "tools/leo/leo")
        text = (ROOT / "docs/quickstart.md").read_text()
        done = subprocess.run([leo, "accuracy", "tests/accuracy/published.csv", "--only", "A01,A08,A19,A33"], cwd=ROOT, capture_output=True, text=True)
        for line in done.stdout.splitlines()[1:5]:
            self.assertIn(line, text)


if __name__ == "__main__":
    unittest.main()
