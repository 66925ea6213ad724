# SPDX-License-Identifier: Apache-2.0
"""The part of apex that scripts for the chip use: apex.amp and apex.optimizers, over torch and torch_npu.

Written for Leonardo from documented behaviour; not the vendor's apex, whose Python runs on Leonardo as it is
(docs/pytorch.md tells how) and comes first if it is installed.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _installed():
    """Another apex on Python's path that has amp: it is the one the user wants."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    others = [place for place in sys.path if os.path.abspath(place) != here]
    spec = importlib.machinery.PathFinder.find_spec("apex", others)
    folders = list(spec.submodule_search_locations or []) if spec else []
    return spec if any(os.path.isdir(os.path.join(folder, "amp")) for folder in folders) else None


_spec = _installed()
if _spec:
    sys.modules["apex"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["apex"])
else:
    from . import amp, optimizers

    __all__ = ["amp", "optimizers"]
