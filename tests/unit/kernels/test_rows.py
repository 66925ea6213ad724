#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_rows.py KERNELS: the generator tells mistakes in rows with the line and what is wrong."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KERNELS = Path(sys.argv.pop(1))
GOOD = {"params": "self:T other:T alpha:S out:T*", "types": "F3", "expr": "self + alpha * other", "doc": "out = self + alpha * other"}


def row(name="Add", **changes):
    """A row as text: a good one with changes; None takes a word out."""
    words = GOOD | {key.replace("__", "."): value for key, value in changes.items()}
    return f"op {name}\n" + "".join(f"    {key} {value}\n" for key, value in words.items() if value is not None)


def generate(text, file="pointwise", names="", look=lambda out: None):
    """(whether it went well, what the generator prints); `names`: header_names.txt, `look` is given the folder made."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows"
        for room in ("aclnn", "pointwise"):
            (rows / room).mkdir(parents=True)
        shutil.copy(KERNELS / "aclnn/signatures.txt", rows / "aclnn")
        if names:
            (rows / "aclnn/header_names.txt").write_text(names, encoding="utf-8")
        (rows / f"pointwise/{file}.op").write_text(text, encoding="utf-8")
        run = subprocess.run([sys.executable, "-B", KERNELS / "gen/gen.py", "--rows", rows, "--out", Path(folder) / "out", "all"],
                             capture_output=True, text=True, check=False)
        look(Path(folder) / "out/include/aclnnop")
        return run.returncode == 0, run.stderr


class Rows(unittest.TestCase):
    def told(self, text, *parts, file="pointwise"):
        good, printed = generate(text, file)
        self.assertFalse(good)
        self.assertNotIn("Traceback", printed)
        for part in (f"pointwise/{file}.op:", *parts):
            self.assertIn(part, printed)

    def test_good(self):
        self.assertEqual(generate(row()), (True, ""))
        self.assertEqual(generate(row(params=None, types__other="f32", types__other__910a="f16", types__910a="f16 f32")), (True, ""))

    def test_header_names(self):
        texts = {}

        def look(folder):
            texts.update((path.name, path.read_text(encoding="utf-8")) for path in folder.glob("*.h"))
        self.assertEqual(generate(row(), names="# why\nAdd plus\n", look=look), (True, ""))
        self.assertEqual(sorted(texts), ["aclnn_add.h", "aclnn_plus.h"])
        self.assertIn("aclnnAddGetWorkspaceSize", texts["aclnn_plus.h"])
        self.assertNotIn("aclnnAdd", texts["aclnn_add.h"])
        self.assertIn("#include <aclnnop/aclnn_plus.h>", texts["aclnn_add.h"])
        for line in ("Add", "Foo plus", "Add plus minus"):
            good, printed = generate(row(), names=f"# why\n{line}\n")
            self.assertFalse(good)
            self.assertIn(f"header_names.txt:2: '{line}' is not a public operator and its header", printed)

    def test_interface(self):
        for params in ("self:T other:T alpha:f64 out:T*", "self:T alpha:S other:T out:T*", "self:T other:T out:T*",
                       "self:T other:T beta:S out:T*", "self:T other:T alpha:S out:T* more:i64", "self:TL other:T alpha:S out:T*"):
            self.told(row(params=params), "params of Add differ from signatures.txt:", "self:T other:T alpha:S out:T")
        self.told(row(params="self:T other:T alpha:X out:T*"), "params of Add differ")
        self.told(row("Foo"), "Foo is not in signatures.txt", "internal yes")
        self.told(row("Foo", params=None), "Foo is not in signatures.txt")
        for name in ("aclnnAdd", "add", "Add:", "Add Sub"):
            self.told(row(name), f"'{name}' is no name of an operator")
        self.told(row("Foo", internal="yes", params="self:T other:Q out:T*"), "'other:Q' is no parameter")
        self.told(row(inplace="InplaceFoo"), "InplaceFoo is not in signatures.txt")

    def test_words(self):
        self.told(row(typs="F3"), "operator Add", "'typs'")
        self.told(row(types="F33"), "'F33' is no type", "there are F3 ", " f16 ")
        self.told(row(types=""), "'types' has no value")
        self.told(row(test="ulps=4"), "test is ulp=N")
        self.told(row(native="mine"), "native is own or same")
        self.told(row(header="add.h"), "header is a word")
        self.told("family nothing\n" + row(), "op_plan_nothing")
        self.told(row(inplace="InplaceAdd") + row("InplaceAdd", params="selfRef:T& other:T alpha:S", expr="selfRef + other"),
                  "InplaceAdd is defined twice: here as the twin of Add, and at pointwise/pointwise.op:7")
        for line in ("source pointwise/none.c", "program none pointwise/none_device.c"):
            good, printed = generate(line + "\n" + row())
            self.assertFalse(good)
            self.assertIn(f"kernels/{line.split()[-1]} of a 'source' or 'program' line does not exist", printed)
        self.told(row(types__slef="F3"), "'types.slef' names no parameter", "self other alpha out")
        self.told(row(types__self__910c="F3"), "'types.self.910c'")
        self.told(row(absent__slef="lowest"), "'absent.slef' names no parameter")
        self.told(row(expr__self="1"), "'expr.self'")
        self.told(row(single="slef"), "single slef names no parameter")
        self.told(row(chips="910c"), "'910c' is no chip")
        self.told(row(compute="half"), "compute half")
        self.told(row(doc=None), "no doc")
        self.told("op\n" + row(), "'op' needs a name")
        self.told("program foo\n" + row(), "program foo has no source")
        self.told(row() + row(), "defined twice")

    def test_expressions(self):
        self.told(row(expr=None), "no expr")
        self.told(row(expr="(self + alpha * other"), "expression '(self + alpha * other'")
        self.told(row(expr="self + alpha other"), "nothing may follow, but there is other")
        self.told(row(expr="self +"), "a value expected, the end found")
        self.told(row(expr="max(self, other"), "',' expected, the end found")
        self.told(row(expr="max(self other)"), "',' expected, other found")
        self.told(row(expr="out = self"), "cannot read '= self'")
        self.told(row(expr="max(self)"), "max() takes 2 arguments, there are 1")
        self.told(row(expr="exp(self, other)"), "exp() takes 1 arguments, there are 2")
        self.told(row(expr="self + alpha * othr"), "'othr' in its expression")
        self.told(row(expr="self + alpha * out"), "'out' in its expression")
        self.told(row(expr="sinus(self)"), "pw_sinus_f")
        self.told(row(types="N10", expr="gamma_of(self)"), "pw_gamma_of_")
        self.told(row(expr="self @ other"), "expression 'self @ other'")
        self.told(row(let="s=self * 2", expr="s + other"), "let name = expression")

    def test_rows(self):
        def softmax(text, name="Softmax"):
            return "family softmax\n" + row(name, params=None, expr=None, rows=text)
        self.assertEqual(generate(softmax("x = self - max(self); x - log(sum(exp(x)))")), (True, ""))
        for text, part in (("exp(self) / sum(e)", "e is neither a tensor of Softmax nor a value"),
                           ("tan(self) * sum(self)", "there is no tan in rows"),
                           ("self - max(exp(self))", "max is the first number of a row, of an input"),
                           ("self * self", "0 numbers of a row and 1 inputs"),
                           ("e = exp(self); s = sum(e); e", "the last part makes no elements of its own"),
                           ("e = exp(self); sum(e)", "the last part makes no elements of its own"),
                           ("(self - sum(self)) * sum(self)", "a number of a row is taken in two ways"),
                           ("self - sum(exp(self)", "',' expected, the end found")):
            self.told(softmax(text), "rows: ", part)
        self.told(softmax("(output - max(output)) * gradOutput", "SoftmaxBackward"), "rows: max is of the first of the tensors")

    def test_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            rows, made = Path(folder) / "rows", Path(folder) / "made"
            (rows / "aclnn").mkdir(parents=True)
            (rows / "x").mkdir()
            (rows / "aclnn/signatures.txt").touch()
            (rows / "x/x.op").write_text("source x/x.c\n\nop Mine\n    params self:T other:T? out:T*\n    types F3\n    doc out = self\n", encoding="utf-8")
            for name, printed in (("slef", "x/x.c:3: error: no row that is planned here has a parameter 'slef'"), ("self", "")):
                (rows / "x/x.c").write_text("leo_status op_plan_x(const struct op_call *call)\n{\n"
                                            f"    return work(op_call_tensor(call, \"{name}\"));\n}}\n", encoding="utf-8")
                run = subprocess.run([sys.executable, "-B", KERNELS / "gen/gen.py", "--rows", rows, "--out", made, "arguments"],
                                     capture_output=True, text=True, check=False)
                self.assertEqual((run.returncode == 0, made.exists()), (not printed, not printed), run.stderr)
                self.assertIn(printed, run.stderr)


unittest.main()
