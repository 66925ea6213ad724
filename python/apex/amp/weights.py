# SPDX-License-Identifier: Apache-2.0
"""Models in half, and the float32 master weights an optimiser steps on in their place."""

import functools

import torch
import torch_npu

from .casts import cast_tensors

NORMS = (torch.nn.modules.batchnorm._BatchNorm,)


def cast_model(model, dtype, keep_batchnorm_fp32):
    for module in model.modules():
        if keep_batchnorm_fp32 and isinstance(module, NORMS):
            continue
        for param in module.parameters(recurse=False):
            if param.is_floating_point():
                param.data = param.data.to(dtype)
                if param.grad is not None:
                    param.grad.data = param.grad.data.to(dtype)
        for name, buffer in module.named_buffers(recurse=False):
            if buffer.is_floating_point():
                setattr(module, name, buffer.to(dtype))


def cast_forward(model, inputs, outputs):
    """The model takes floating-point inputs of any type and answers in `outputs` (None: as they come)."""
    forward = model.forward

    @functools.wraps(forward)
    def wrapper(*args, **kwargs):
        if inputs is not None:
            args, kwargs = cast_tensors(args, inputs), cast_tensors(kwargs, inputs)
        result = forward(*args, **kwargs)
        return cast_tensors(result, outputs) if outputs is not None else result

    model.forward = wrapper


def add_up(target, fresh, keep):
    """Gradients `fresh` become those of the parameters, or are added to what is there if it is to be kept. Written into
    the tensors that are there: a fused optimiser holds on to them."""
    old = [(p.grad, g) for p, g in zip(target, fresh) if p.grad is not None]
    for param, grad in zip(target, fresh):
        if param.grad is None:
            # Fused optimisers take a gradient's whole storage for the gradient: a part of a flat tensor will not do.
            param.grad = grad if grad.untyped_storage().nbytes() == grad.nbytes else grad.clone()
    if old:
        (torch._foreach_add_ if keep else torch._foreach_copy_)([o for o, _ in old], [g for _, g in old])


class Gradients:
    """Gradients of some parameters of one type; `combine`: they lie in one flat tensor after the first backward pass."""

    def __init__(self, params, combine):
        self.params, self.combine = params, combine
        self.flat, self.kept, self.used = None, [], []

    def begin(self, keep=True):
        """Puts gradients of earlier passes aside: they are not scaled, those to come are."""
        if self.flat is not None:
            self.kept = [self.flat.clone()] if keep else []
            self.flat.zero_()
            return
        self.kept = [p.grad if keep else None for p in self.params]
        for param in self.params:
            param.grad = None

    def gather(self):
        """The new gradients, as few tensors."""
        if self.flat is not None:
            return [self.flat]
        self.used = [p for p in self.params if p.grad is not None]
        if self.combine and self.used and all(k is None for k in self.kept):
            self.flat = torch_npu.utils.npu_combine_tensors([p.grad for p in self.used])
            self.kept = []
            return [self.flat]
        return [p.grad for p in self.used]

    def split(self, tensors):
        """The parameters' parts of what gather gave, or of a copy of it."""
        if self.flat is None:
            return tensors
        parts = torch.split(tensors[0], [p.grad.numel() for p in self.used])
        return [part.view_as(p) for part, p in zip(parts, self.used)]

    def end(self):
        """Adds what begin put aside."""
        if self.flat is not None:
            if self.kept:
                self.flat.add_(self.kept[0])
            return
        for param, kept in zip(self.params, self.kept):
            if kept is not None:
                param.grad = kept if param.grad is None else kept.add_(param.grad)

    def zero(self, set_to_none):
        if self.flat is not None:
            self.flat.zero_()
            return
        grads = [p.grad for p in self.params if p.grad is not None]
        if set_to_none:
            for param in self.params:
                param.grad = None
        elif grads:
            torch._foreach_zero_(grads)


class Masters:
    """Half parameters of an optimiser and their float32 masters, which take their places in its groups."""

    def __init__(self, optimizer, combine):
        self.half, self.full = [], []
        for group in optimizer.param_groups:
            for i, param in enumerate(group["params"]):
                if param.requires_grad and param.dtype == torch.float16:
                    master = torch.nn.Parameter(param.detach().float().clone())
                    group["params"][i] = master
                    if param in optimizer.state:
                        optimizer.state[master] = optimizer.state.pop(param)
                    self.half.append(param)
                    self.full.append(master)
        self.by_half = dict(zip(self.half, self.full))
        self.gradients = Gradients(self.half, combine)
        self.keep = False

    def begin(self):
        self.gradients.begin(keep=False)

    def end(self, scaler):
        """The masters get the half gradients, unscaled as float32 so that small ones survive."""
        fresh = [g.float() for g in self.gradients.gather()]
        scaler.unscale(fresh)
        add_up([self.by_half[p] for p in self.gradients.used], self.gradients.split(fresh), self.keep)
        self.keep = True

    def zero(self, set_to_none):
        self.gradients.zero(set_to_none)
        self.keep = False

    @torch.no_grad()
    def write_back(self):
        if self.half:
            torch._foreach_copy_(self.half, self.full)

    def save_and_load_with(self, model):
        """The model's state holds the masters' values, so that nothing is lost in a checkpoint."""
        def on_save(module, state, prefix, _):
            for name, param in module.named_parameters():
                if param in self.by_half and prefix + name in state:
                    state[prefix + name] = self.by_half[param].detach().clone()

        def on_load(module, state, prefix, *_):
            for name, param in module.named_parameters():
                value = state.get(prefix + name)
                if param in self.by_half and value is not None and value.shape == param.shape:
                    with torch.no_grad():
                        self.by_half[param].copy_(value)

        model._register_state_dict_hook(on_save)
        model._register_load_state_dict_pre_hook(on_load, with_module=True)
