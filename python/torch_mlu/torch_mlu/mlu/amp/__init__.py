# SPDX-License-Identifier: Apache-2.0
"""torch.mlu.amp: torch.amp on the device 'mlu'."""
import torch


class autocast(torch.amp.autocast):
    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        super().__init__("mlu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        super().__init__("mlu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
