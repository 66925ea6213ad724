#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each check of tools/check is quiet on a good tree and names the line of a seeded violation."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[3] / "tools" / "check"
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"

GOOD = {
    ".clang-format": (CHECK.parents[1] / ".clang-format").read_text(encoding="utf-8"),
    "isa/include/leo/soc.h": SPDX + "#pragma once\n\nint leo_isa_soc(void);\n",
    "sim/include/leo/sim.h": SPDX + "#pragma once\n\nint leo_sim_run(void);\n",
    "sim/core/core.h": SPDX + "#pragma once\n\n#include <leo/soc.h>\n",
    "sim/core/core.c": SPDX + '#include "core/core.h"\n\n#include <leo/sim.h>\n#include <stdio.h>\n',
    "driver/include/leo/driver.h": SPDX + "#pragma once\n\n#include <leo/soc.h>\n",
    "driver/transport_sim.c": SPDX + "#include <leo/driver.h>\n#include <leo/sim.h>\n",
    "runtime/include/leo/runtime.h": SPDX + "#pragma once\n\n#include <leo/soc.h>\n",
    "kernels/norm/norm_device.c": SPDX + "#include <leo/soc.h>\n",
}


class Checks(unittest.TestCase):
    def check(self, script, *args, **extra):
        """Runs a check on the good tree plus `extra` files; returns its exit code and output."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**GOOD, **extra.get("files", {})}.items():
                path = Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            for command in extra.get("commands", []):
                subprocess.run(command, cwd=root, check=True)
            runner = ["sh"] if script.endswith(".sh") else [sys.executable, "-B"]
            done = subprocess.run([*runner, str(CHECK / script), *args, "."], cwd=root, capture_output=True,
                                  text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def expect_good(self, script, *args, **extra):
        self.assertEqual(self.check(script, *args, **extra)[0], 0, self.check(script, *args, **extra)[1])

    def expect_bad(self, text, script, *args, **extra):
        code, out = self.check(script, *args, **extra)
        self.assertEqual(code, 1, out)
        self.assertIn(text, out)

    def test_idioms(self):
        self.expect_good("idioms.py", files={"sim/x.c": "status = status_of(status != 0 ? 1 : 2);\nname = name ? name : other;\n"})
        for code in ("status = status != LEO_OK ? status : f();", "error = error ? error : f();", "status = status == LEO_OK ? f() : status;",
                     "status =\n    status ? status : f();", "enum { MOST_ROWS = 4 };", "enum { ROWS_MOST = 4 };", "int x = LEO_MOST_ROWS;", "x = task->led;", "int sim_lead_task(void);", "// A fault is told."):
            self.expect_bad("sim/x.c:2: ", "idioms.py", files={"sim/x.c": "\n" + code + "\n"})

    def test_prose(self):
        self.expect_good("prose.py", files={"docs/x.md": "# X\n\n" + "A short sentence. " * 30 + "\n\n```\n" + "word " * 200 + "\n```\n"})
        for text, message in (("A sentence of " + "many " * 40 + "words.", "a sentence of 44 words"), ("Four words are here. " * 31, "a paragraph of 124 words"),
                              ("What nobody reads.", "'nobody': no thread"), ("| cell | A cell of " + "many " * 40 + "words. |", "a sentence of 44 words")):
            self.expect_bad(f"docs/x.md:3: {message}", "prose.py", files={"docs/x.md": "# X\n\n" + text + "\n"})
        self.expect_good("prose.py", files={"docs/add_an_operator.md": "# X\n\nA sentence of " + "many " * 40 + "words.\n"})  # as prose.csv allows

    def test_sections(self):
        head = ("struct sim_x {\n    int a, b[2];\n    void (*log)(void *user, int level);\n    struct {\n        int c;\n    } inner;\n};\n"
                "#define SECTION(what, member) SIM_SECTION(struct sim_x, what, member)\n")
        full = "SECTION(STATE, a), SECTION(STATE, b),\nSECTION(WIRED, log),\nSECTION(STATE, inner)\n#undef SECTION\n"
        self.expect_good("sections.py", files={"sim/x.c": head + full})
        for text, message in (
            (full.replace("SECTION(STATE, b),", ""), "member b has no entry"),
            (full.replace("SECTION(STATE, inner)", ""), "member inner has no entry"),
            (full.replace("SECTION(STATE, a), SECTION(STATE, b),", "SECTION(STATE, b), SECTION(STATE, a),"), "order of the members"),
            (full.replace("SECTION(WIRED, log)", "SECTION(WIRED, log), SECTION(WIRED, log)"), "there twice"),
        ):
            self.expect_bad(message, "sections.py", files={"sim/x.c": head + text})
        self.expect_bad("no lists of sections", "sections.py")

    def test_layers(self):
        self.expect_good("layers.py")
        for name, text, message in (
            ("driver/ring.c", "#include <leo/sim.h>\n", "driver/ring.c:1: includes leo/sim.h"),
            ("sim/chip.c", "\n#include <leo/driver.h>\n", "sim/chip.c:2: includes leo/driver.h"),
            ("isa/x.c", "#include <leo/sim.h>\n", "isa must not see sim"),
            ("runtime/x.c", '#include "core/core.h"\n', "a private header of another folder"),
            ("runtime/x.c", '#include "../sim/core/core.h"\n', "a private header of another folder"),
            ("kernels/device/x.h", "#include <leo/runtime.h>\n", "device programs see isa alone"),
            ("kernels/norm/x_device_2201.c", "#include <leo/runtime.h>\n", "device programs see isa alone"),
            ("kernels/norm/x.c", "#include <leo/driver.h>\n", "kernels must not see driver"),
            ("tools/leo/x.c", "#include <leo/sim.h>\n", "tools must not see sim"),
            ("runtime/x.c", "#define HEADER <leo/sim.h>\n#include HEADER\n", "runtime/x.c:2: includes HEADER: a macro"),
            ("runtime/include/leo/other.h", "#include <leo/driver.h>\n", "kernels would see driver through it"),
            ("sim/scheduler/x.c", "struct leo_sim_chip;\n", "sim/scheduler/x.c:1: struct leo_sim_chip: only sim/chip knows"),
            ("examples/x.c", "#include <leo/nothing.h>\n", "no public header of that name"),
        ):
            self.expect_bad(message, "layers.py", files={name: text})

    def test_layers_skip_comments(self):
        self.expect_good("layers.py", files={"driver/ring.c": "/*\n#include <leo/sim.h>\n*/\n"})

    def test_spdx(self):
        self.expect_good("spdx.py")
        self.expect_bad("sim/x.c:1: no SPDX", "spdx.py", files={"sim/x.c": "int x;\n"})

    def test_times(self):
        row = "| Abs | size | f32 | aclnn_abs.h | pointwise | 4x256 | 5.2 | 3.4 | 9 |\n"

        def tree(table, calls="Abs 4x256 4x256\n"):
            return {"docs/api/aclnn.md": table, "tests/bench/op_calls.txt": calls}

        self.expect_good("times.py", files=tree(row))
        self.expect_good("times.py", files=tree(row.replace("f32", "f32; 910A: no").replace("5.2", "")))
        self.expect_bad("Abs has no 910A", "times.py", files=tree(row.replace("5.2", "")))
        self.expect_good("times.py", files=tree(row.replace("4x256", "")))
        self.expect_bad("Abs has the times of 1 elements", "times.py", files=tree(row.replace("4x256", ""), calls=""))

    def test_paths(self):
        self.expect_good("paths.py", files={"docs/a.md": "see https://x.org/home/page and /tmp/x\n"})
        self.expect_bad("docs/a.md:2: path", "paths.py", files={"docs/a.md": "\ncd /ho" "me/me\n"})

    def test_format(self):
        self.expect_good("format.sh")
        self.expect_bad("sim/x.c:1: not formatted", "format.sh", files={"sim/x.c": SPDX + "int  x( void ) ;\n"})

    def test_headers(self):
        self.expect_good("headers.py", "build")
        self.expect_bad("sim/core/x.h:1: does not compile alone as C", "headers.py", "build",
                        files={"sim/core/x.h": "#pragma once\n\nuint32_t x;\n"})
        self.expect_bad("driver/include/leo/x.h:1: does not compile alone as C++", "headers.py", "build",
                        files={"driver/include/leo/x.h": "#pragma once\n\nint leo_x(int class);\n"})

    def symbols(self, code, header=""):
        library = {"files": {"isa/isa.c": code, "isa/include/leo/more.h": header,
                             "sim/sim.c": "int leo_sim_run(void) { return 0; }\n"},
                   "commands": [["mkdir", "build"], ["gcc", "-c", "isa/isa.c", "-o", "build/isa.o"],
                                ["gcc", "-c", "sim/sim.c", "-o", "build/sim.o"],
                                ["ar", "rcs", "build/libleo_isa.a", "build/isa.o", "build/sim.o"]]}
        return "symbols.py", "build", library

    def test_symbols(self):
        good = "int leo_isa_soc(void) { return 1; }\n"
        script, build, tree = self.symbols(good)
        self.expect_good(script, build, **tree)
        for code, header, message in (
            (good + "int leo_isa_hidden(void) { return 1; }\n", "", "leo_isa_hidden is global but in no public header"),
            (good, "int leo_isa_promised(int x);\n", "leo_isa_promised is declared but no library defines it"),
            (good + "static int count;\nint *isa_count(void) { return &count; }\n", "", "count is a writable global"),
        ):
            script, build, tree = self.symbols(code, header)
            self.expect_bad(message, script, build, **tree)

    def test_arrows(self):
        """Objects of a small tree: a call up, and one between rooms of sim/, are reported whatever is included."""
        def build(**code):
            sources = {"isa/a.c": "int leo_isa_a(void) { return 1; }", "sim/host/pool.c": "int sim_pool(void) { return 1; }",
                       "sim/core/core.c": "int sim_pool(void);\nint sim_core(void) { return sim_pool(); }",
                       "sim/number/number.c": "int sim_number(void) { return 1; }",
                       "runtime/core/r.c": "int leo_rt_r(void) { return 1; }", **code}
            commands = []
            for name in sources:
                first, *inner = name.split("/")
                target = f"build/{first}/CMakeFiles/leo_{first}.dir/{'/'.join(inner)}.o"
                commands += [["mkdir", "-p", str(Path(target).parent)], ["cc", "-c", "-o", target, name]]
            return {"files": sources, "commands": commands}
        self.expect_good("arrows.py", "build", **build())
        extern = "int sim_core(void);\nint sim_number(void) { return sim_core(); }"
        self.expect_bad("room number must not use sim_core of core", "arrows.py", "build", **build(**{"sim/number/number.c": extern}))
        extern = "int leo_rt_r(void);\nint leo_isa_a(void) { return leo_rt_r(); }"
        self.expect_bad("isa must not use leo_rt_r of runtime", "arrows.py", "build", **build(**{"isa/a.c": extern}))
        self.expect_bad("build first", "arrows.py", "build")

    def test_exports_of_a_facade(self):
        for code, message in (("int aclOpen(int x) { return x; }\nint aclHidden(void) { return 1; }\n",
                               "aclHidden is exported but in no header of acl"),
                              ("int aclOther(int x) { return x; }\n", "aclOpen is declared but not exported")):
            tree = self.symbols("int leo_isa_soc(void) { return 1; }\n")[2]
            tree["files"].update({"runtime/include/acl/acl.h": "ACL_FUNC_VISIBILITY int aclOpen(int x);\n", "runtime/acl.c": code})
            tree["commands"] += [["mkdir", "-p", "build/runtime/acl"],
                                 ["gcc", "-shared", "-fPIC", "runtime/acl.c", "-o", "build/runtime/acl/libx.so"]]
            self.expect_bad(message, "symbols.py", "build", **tree)

    def test_symbols_without_libraries(self):
        self.expect_bad("build first", "symbols.py", "build")


if __name__ == "__main__":
    unittest.main()
