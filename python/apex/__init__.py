# SPDX-License-Identifier: Apache-2.0
"""The part of apex that scripts for the chip use: apex.amp and apex.optimizers, over torch and torch_npu.

Written for Leonardo from documented behaviour; not the vendor's apex, whose Python runs on Leonardo as it is
(docs/pytorch.md tells how) and comes first if it is installed.
"""

from . import amp, optimizers

__all__ = ["amp", "optimizers"]
