# SPDX-License-Identifier: Apache-2.0
"""import torch_mlu.core.mlu_model as ct: cards as programs for CATCH name them; beside these names, those of torch.mlu."""
import torch

from .. import mlu
from ..mlu import *  # noqa: F401,F403


def is_mlu_available():
    return mlu.is_available()


def mlu_device():
    """The current card."""
    return torch.device("mlu", mlu.current_device())
