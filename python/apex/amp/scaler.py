# SPDX-License-Identifier: Apache-2.0
"""The loss scale, and whether gradients overflowed."""

import torch
import torch_npu

# Documented defaults of apex.
FIRST_DYNAMIC_SCALE = 2.0**16
FACTOR = 2.0
WINDOW = 2000


def chip_has_infinities():
    """Else half arithmetic saturates and a sticky flag of the chip tells of it."""
    return torch_npu.npu.utils.is_support_inf_nan()


class LossScaler:
    def __init__(self, loss_scale, min_scale=None, max_scale=2.0**24):
        self.dynamic = loss_scale == "dynamic"
        self.min_scale, self.max_scale = min_scale, max_scale
        self.scale = min(max_scale, FIRST_DYNAMIC_SCALE) if self.dynamic else float(loss_scale)
        self.unskipped = 0
        self.overflow = False

    def begin(self):
        self.overflow = False
        if self.dynamic and not chip_has_infinities():
            torch_npu.npu.utils.clear_npu_overflow_flag()

    def unscale(self, grads):
        """Divides the gradients in place; with a dynamic scale notes whether one is not finite."""
        grads = [g for g in grads if g is not None]
        if not grads:
            return
        if self.dynamic and chip_has_infinities():
            found = torch.zeros(1, device=grads[0].device)
            inverse = torch.full((1,), 1.0 / self.scale, device=grads[0].device)
            torch._amp_foreach_non_finite_check_and_unscale_(grads, found, inverse)
            self.overflow = self.overflow or bool(found.item())
            return
        if self.scale != 1.0:
            torch._foreach_mul_(grads, 1.0 / self.scale)
        if self.dynamic:
            self.overflow = self.overflow or bool(torch_npu.npu.utils.get_npu_overflow_flag())

    def update(self):
        """After all gradients of a step; true if the step must be skipped."""
        if not self.dynamic:
            return False
        if self.overflow:
            self.scale = max(self.scale / FACTOR, self.min_scale or 0.0)
            self.unskipped = 0
            return True
        self.unskipped += 1
        if self.unskipped == WINDOW:
            self.scale = min(self.scale * FACTOR, self.max_scale)
            self.unskipped = 0
        return False
