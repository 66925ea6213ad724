# SPDX-License-Identifier: Apache-2.0
"""import torch_mlu.core.mlu_model as ct: cards as programs for CATCH name them."""
import torch

from .. import mlu


def is_mlu_available():
    return mlu.is_available()


def device_count():
    return mlu.device_count()


def set_device(device):
    mlu.set_device(device)


def mlu_device():
    """The current card."""
    return torch.device("mlu", mlu.current_device())
