# SPDX-License-Identifier: Apache-2.0
"""levels.py CASE: f(x) = 2 x + exp(x), compiled as CASE says: graph-O0, graph-O1, graph-O2, jit (what is marked @jit, PyNative) or
jit-ms (the same with the backend that runs operator by operator). levels.py alone: each case in a process of its own; it must give
the values, or end with a text of Leonardo's that says what to set. Exit code 1: not so."""

import os
import subprocess
import sys

# The chip (LEO_SOC), the case, and what the text must name; other cases give the values.
REFUSED = {
    ("ascend910a", "graph-O2"): "jit_level",
    ("ascend910a", "jit"): "MS_JIT=0",
    ("ascend910b1", "graph-O1"): "jit_level O1: set O0",
    ("ascend910b1", "graph-O2"): "jit_level",
}


def run(case):
    import mindspore as ms
    import numpy as np
    from mindspore import jit, nn, ops

    def formula(x):
        return 2 * x + ops.exp(x)

    class Network(nn.Cell):
        def construct(self, x):
            return 2 * x + ops.exp(x)

    ms.set_device("Ascend")
    mode, _, level = case.partition("-")
    if mode == "graph":
        ms.set_context(mode=ms.GRAPH_MODE, jit_config={"jit_level": level})
        function = Network()
    else:
        function = jit(formula, backend="ms_backend") if level else jit(formula)
    x = np.arange(6, dtype=np.float32)
    if not np.allclose(function(ms.Tensor(x)).asnumpy(), 2 * x + np.exp(x), rtol=1e-5):
        sys.exit("wrong values")


def main():
    if len(sys.argv) > 1:
        run(sys.argv[1])
        return
    bad = 0
    for case in ("graph-O0", "graph-O1", "graph-O2", "jit", "jit-ms"):
        done = subprocess.run([sys.executable, "-B", __file__, case], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
        text = REFUSED.get((os.environ["LEO_SOC"], case))
        said = [line for line in done.stdout.splitlines() if line.startswith("leonardo:")]
        # Behind its exception MindSpore may crash while it ends: a thread of its own outlives what it reports to.
        refused = done.returncode != 0 and "RuntimeError" in done.stdout and any(text and text in line for line in said)
        good = done.returncode == 0 if text is None else refused
        print(f"{case}: {'good' if good else 'FAILED'}, exit code {done.returncode}", *said, sep="\n  ")
        if not good:
            bad = 1
            print(done.stdout)
    sys.exit(bad)


main()
