# SPDX-License-Identifier: Apache-2.0
"""Casting of arguments: whole functions (half_function and its kin), and everything at once (O1)."""

import contextlib
import functools

import torch
from torch.utils import _pytree


def cast_tensors(value, dtype):
    """`value` with every floating-point tensor in it as `dtype`."""
    return _pytree.tree_map(lambda x: x.to(dtype) if torch.is_tensor(x) and x.is_floating_point() else x, value)


def _with_casts(function, choose):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if not torch.is_autocast_enabled("npu"):
            return function(*args, **kwargs)
        dtype = choose((args, kwargs))
        with disable_casts():
            return function(*cast_tensors(args, dtype), **cast_tensors(kwargs, dtype))
    return wrapper


def _widest(values):
    found = [x.dtype for x in _pytree.tree_leaves(values) if torch.is_tensor(x) and x.is_floating_point()]
    return functools.reduce(torch.promote_types, found, torch.float16)


def half_function(function):
    """The function always gets half tensors under O1."""
    return _with_casts(function, lambda _: torch.float16)


def float_function(function):
    return _with_casts(function, lambda _: torch.float32)


def promote_function(function):
    """The function gets all tensors in the widest type among them under O1."""
    return _with_casts(function, _widest)


def register_half_function(module, name):
    setattr(module, name, half_function(getattr(module, name)))


def register_float_function(module, name):
    setattr(module, name, float_function(getattr(module, name)))


def register_promote_function(module, name):
    setattr(module, name, promote_function(getattr(module, name)))


def enable_casts():
    """From here on torch's functions choose their type by torch_npu's autocast lists, in and outside of models."""
    torch.set_autocast_dtype("npu", torch.float16)
    torch.set_autocast_enabled("npu", True)
    # The cache of cast weights is only emptied when an autocast block ends, and this one does not: without it each use
    # casts the weight as it is then.
    torch.set_autocast_cache_enabled(False)


@contextlib.contextmanager
def disable_casts():
    before = torch.is_autocast_enabled("npu")
    torch.set_autocast_enabled("npu", False)
    try:
        yield
    finally:
        torch.set_autocast_enabled("npu", before)
