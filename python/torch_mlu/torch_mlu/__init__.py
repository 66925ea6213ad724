# SPDX-License-Identifier: Apache-2.0
"""PyTorch's device 'mlu': import it, and tensors, modules and torch.mlu are there. docs/torch_mlu.md."""
import sys

import torch

torch.utils.rename_privateuse1_backend("mlu")

from . import _C  # noqa: E402  (registers operators for the device just named)
from . import mlu  # noqa: E402

torch._register_device_module("mlu", mlu)
sys.modules["torch.mlu"] = mlu
sys.modules["torch.mlu.amp"] = mlu.amp
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
torch.is_mlu_available = mlu.is_available
if torch.version.cuda is None:  # as with CATCH, mixed precision by its first name: from torch.cuda import amp
    for _name in ("autocast", "GradScaler"):
        setattr(torch.cuda.amp, _name, getattr(mlu.amp, _name))
from . import data_parallel  # noqa: E402,F401

if torch.distributed.is_available():
    from . import distributed  # noqa: E402,F401  (registers the backend cncl)

__version__ = "2.13.0"


def _autoload():
    """torch imports this package by itself (entry point torch.backends); importing did all there is to do."""
