# SPDX-License-Identifier: Apache-2.0
"""All of test_ops_*.py in one process: by themselves most of their time is PyTorch's start. Each still runs alone."""

import importlib
from pathlib import Path

import common



class Seeded:
    """Each test has its own numbers, the same whatever ran before."""

    def run(self, result=None):
        common.seed()
        return super().run(result)


run, common.main = common.main, lambda: None
for path in sorted(Path(__file__).parent.glob("test_ops_*.py")):
    common.seed()
    module = importlib.import_module(path.stem)
    for name, value in vars(module).items():
        if isinstance(value, type) and issubclass(value, common.Case) and value is not common.Case:
            # unittest finds them here; the module stays in their names.
            globals()[f"{path.stem}_{name}"] = type(f"{path.stem}_{name}", (Seeded, value), {"__module__": "__main__"})
run()
