# SPDX-License-Identifier: Apache-2.0
"""initialize, scale_loss and the rest of what scripts call."""

import contextlib
import functools
import types
import warnings

import torch

from . import casts, weights
from .scaler import LossScaler

LEVELS = {
    "O0": dict(cast_model_type=torch.float32, patch_torch_functions=False, keep_batchnorm_fp32=None,
               master_weights=False, loss_scale=1.0),
    "O1": dict(cast_model_type=None, patch_torch_functions=True, keep_batchnorm_fp32=None, master_weights=None,
               loss_scale="dynamic"),
    "O2": dict(cast_model_type=torch.float16, patch_torch_functions=False, keep_batchnorm_fp32=True,
               master_weights=True, loss_scale="dynamic"),
    "O3": dict(cast_model_type=torch.float16, patch_torch_functions=False, keep_batchnorm_fp32=False,
               master_weights=False, loss_scale=1.0),
}


class _State:
    """What initialize chose, for the process: the calls that follow take no handle."""
    enabled = False
    verbosity = 1
    scalers = ()
    optimizers = ()


class _Optimizer:
    """An optimiser as amp drives it: whose gradients are scaled, which step is skipped."""

    def __init__(self, optimizer, options):
        self.optimizer, self.skip = optimizer, False
        combine = options["combine_grad"]
        self.masters = weights.Masters(optimizer, combine) if options["master_weights"] else None
        stepped = [p for group in optimizer.param_groups for p in group["params"] if p.requires_grad]
        owned = set(self.masters.full) if self.masters else set()
        direct = [p for p in stepped if p not in owned]
        by_type = {}
        for param in direct:
            by_type.setdefault(param.dtype, []).append(param)
        # A fused optimiser lays gradients of its parameters together itself, and moves them for that.
        combine = combine and not getattr(optimizer, "is_fused_optimizer", False)
        self.gradients = [weights.Gradients(params, combine) for params in by_type.values()]
        self._patch(optimizer)

    def _patch(self, optimizer):
        step, zero_grad = optimizer.step, optimizer.zero_grad

        @functools.wraps(step)
        def patched_step(_, closure=None):
            if closure is not None:
                raise RuntimeError("apex.amp: optimizer.step(closure) is not supported")
            if self.skip:
                self.skip = False
                return None
            result = step()
            if self.masters:
                self.masters.write_back()
            return result

        @functools.wraps(zero_grad)
        def patched_zero_grad(_, set_to_none=None):
            fused = getattr(optimizer, "is_fused_optimizer", False)
            if set_to_none is None:
                set_to_none = not fused
            for gradients in self.gradients:
                gradients.zero(set_to_none)
            if self.masters:
                self.masters.zero(set_to_none)
            if self.masters or fused:
                zero_grad(set_to_none=set_to_none and not fused)

        # Methods, not functions: learning rate schedulers look for the function below one.
        optimizer.step = types.MethodType(patched_step, optimizer)
        optimizer.zero_grad = types.MethodType(patched_zero_grad, optimizer)

    def begin(self):
        for part in [*self.gradients, *([self.masters] if self.masters else [])]:
            part.begin()

    def end(self, scaler):
        for gradients in self.gradients:
            scaler.unscale(gradients.gather())
            gradients.end()
        if self.masters:
            self.masters.end(scaler)


def _options(opt_level, overrides):
    if opt_level not in LEVELS:
        raise RuntimeError(f"apex.amp: unexpected opt_level {opt_level!r}: it must be O0, O1, O2 or O3 (the letter O, not zero)")
    options = dict(LEVELS[opt_level], combine_grad=False, cast_model_outputs=None)
    for name, value in overrides.items():
        if value is None:
            continue
        if name == "keep_batchnorm_fp32" and value in ("True", "False"):
            value = value == "True"
        if name == "loss_scale" and value != "dynamic":
            value = "dynamic" if float(value) == -1 else float(value)
        if opt_level == "O1" and name in ("keep_batchnorm_fp32", "master_weights") and value:
            raise RuntimeError(f"apex.amp: {name} has no meaning with O1: the model stays in float32")
        options[name] = value
    if options["combine_grad"] and opt_level not in ("O1", "O2"):
        warnings.warn("apex.amp: combine_grad is for O1 and O2 only and is ignored")
        options["combine_grad"] = False
    return options


def _as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _prepare_model(model, options):
    dtype = options["cast_model_type"]
    if dtype is None:
        return
    for param in model.parameters():
        if param.device.type == "cpu":
            raise RuntimeError("apex.amp: a parameter is on the CPU: move the model to the npu before amp.initialize")
    weights.cast_model(model, dtype, options["keep_batchnorm_fp32"])
    outputs = options["cast_model_outputs"]
    if outputs is None and dtype == torch.float16 and options["master_weights"]:
        outputs = torch.float32
    weights.cast_forward(model, dtype if dtype == torch.float16 else None, outputs)


def initialize(models, optimizers=None, enabled=True, opt_level="O1", cast_model_type=None, patch_torch_functions=None,
               keep_batchnorm_fp32=None, master_weights=None, loss_scale=None, cast_model_outputs=None, num_losses=1,
               verbosity=1, min_loss_scale=None, max_loss_scale=2.0**24, combine_grad=None, check_combined_tensors=None):
    """Makes models and optimisers fit for mixed precision; gives them back in the form they came."""
    del check_combined_tensors  # ours cannot come apart: gradients are gathered from where they lie
    _State.enabled, _State.verbosity = enabled, verbosity
    if not enabled:
        return models if optimizers is None else (models, optimizers)
    options = _options(opt_level, dict(
        cast_model_type=cast_model_type, patch_torch_functions=patch_torch_functions,
        keep_batchnorm_fp32=keep_batchnorm_fp32, master_weights=master_weights, loss_scale=loss_scale,
        cast_model_outputs=cast_model_outputs, combine_grad=combine_grad))
    if verbosity:
        print("After processing overrides, optimization options are:")
        for name, value in dict(enabled=True, opt_level=opt_level, **options).items():
            print(f"{name:22} : {value}")
    for model in _as_list(models):
        _prepare_model(model, options)
    if options["patch_torch_functions"]:
        casts.enable_casts()
    _State.scalers = [LossScaler(options["loss_scale"], min_loss_scale, max_loss_scale) for _ in range(num_losses)]
    _State.optimizers = []
    for optimizer in _as_list(optimizers) if optimizers is not None else []:
        if getattr(optimizer, "_amp", None):
            raise RuntimeError("apex.amp: this optimizer went through amp.initialize already")
        optimizer._amp = _Optimizer(optimizer, options)
        _State.optimizers.append(optimizer)
        if optimizer._amp.masters:
            for model in _as_list(models):
                optimizer._amp.masters.save_and_load_with(model)
    return models if optimizers is None else (models, optimizers)


@contextlib.contextmanager
def scale_loss(loss, optimizers, loss_id=0, model=None, delay_unscale=False, delay_overflow_check=False):
    """Gives the scaled loss; at the end gradients are unscaled, and after an overflow the next step is skipped."""
    del model, delay_overflow_check
    if not _State.enabled:
        yield loss
        return
    if not _State.scalers:
        raise RuntimeError("apex.amp: call amp.initialize before amp.scale_loss")
    scaler = _State.scalers[loss_id]
    if delay_unscale:
        raise RuntimeError("apex.amp: delay_unscale is not supported: gradients add up without it")
    driven = [optimizer._amp for optimizer in _as_list(optimizers)]
    scaler.begin()
    for optimizer in driven:
        optimizer.begin()
    yield loss.float() * scaler.scale
    with torch.no_grad():
        for optimizer in driven:
            optimizer.end(scaler)
    before = scaler.scale
    if scaler.update():
        for optimizer in driven:
            optimizer.skip = True
        if _State.verbosity:
            print(f"Gradient overflow. Skipping step\nLoss scaler reducing loss scale to {scaler.scale}")
    elif scaler.scale != before and _State.verbosity:
        print(f"Loss scaler increasing loss scale to {scaler.scale}")


def master_params(optimizer):
    """The parameters the optimiser steps on."""
    for group in optimizer.param_groups:
        yield from group["params"]


def state_dict():
    return {f"loss_scaler{i}": {"loss_scale": s.scale, "unskipped": s.unskipped} for i, s in enumerate(_State.scalers)}


def load_state_dict(state):
    if len(state) != len(_State.scalers):
        warnings.warn(f"apex.amp: the state has {len(state)} loss scalers, initialize made {len(_State.scalers)}")
    for i, scaler in enumerate(_State.scalers):
        saved = state.get(f"loss_scaler{i}")
        if saved is not None:
            scaler.scale, scaler.unskipped = saved["loss_scale"], saved["unskipped"]
