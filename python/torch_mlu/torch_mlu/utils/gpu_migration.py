# SPDX-License-Identifier: Apache-2.0
"""import torch_mlu.utils.gpu_migration: a script written for 'cuda' runs on 'mlu', unchanged.

Devices named cuda become mlu in every call of torch, torch.cuda has the functions of torch.mlu, .cuda() is .mlu(), the
distributed backend nccl is cncl. Is not undone while the program runs."""
import sys

import torch
from torch.overrides import TorchFunctionMode

import torch_mlu


def _moved(value):
    """A device argument with mlu in the place of cuda."""
    if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
        return "mlu" + value[4:]
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("mlu", value.index) if value.index is not None else torch.device("mlu")
    return value


class _Migration(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*map(_moved, args), **{name: _moved(value) for name, value in (kwargs or {}).items()})


def _with_moved(function):
    def moved(*args, **kwargs):
        return function(*map(_moved, args), **{name: _moved(value) for name, value in kwargs.items()})
    return moved


def _patch():
    for name in dir(torch_mlu.mlu):
        if not name.startswith("__"):
            setattr(torch.cuda, name, getattr(torch_mlu.mlu, name))
    sys.modules["torch.cuda.amp"] = torch_mlu.mlu.amp
    for owner in (torch.Tensor, torch.nn.Module):
        owner.cuda = owner.mlu
    torch.Tensor.is_cuda = torch.Tensor.is_mlu
    torch.nn.Module.to = _with_moved(torch.nn.Module.to)
    torch.load = _with_moved(torch.load)
    torch.Generator = _with_moved(torch.Generator)
    torch.autocast.__init__ = _with_moved(torch.autocast.__init__)
    torch.amp.GradScaler.__init__ = _with_moved(torch.amp.GradScaler.__init__)
    if torch.distributed.is_available():
        start = torch.distributed.init_process_group

        def init_process_group(backend=None, *args, **kwargs):
            return start("cncl" if backend == "nccl" else backend, *args, **kwargs)
        torch.distributed.init_process_group = init_process_group


_patch()
_mode = _Migration()
_mode.__enter__()
