# SPDX-License-Identifier: Apache-2.0
"""torch.nn.DataParallel on one card; for several there is DistributedDataParallel: torch's scattering is compiled for CUDA alone."""
import torch
from torch.utils._pytree import tree_map

_forward = torch.nn.DataParallel.forward


def _on_one_card(self, *inputs, **kwargs):
    if not self.device_ids or self.src_device_obj.type != "mlu":
        return _forward(self, *inputs, **kwargs)
    if len(self.device_ids) > 1:
        raise RuntimeError(f"DataParallel over {len(self.device_ids)} cards is not possible on an MLU: use DistributedDataParallel")
    inputs, kwargs = tree_map(lambda part: part.to(self.src_device_obj) if torch.is_tensor(part) else part, (inputs, kwargs))
    return self.module(*inputs, **kwargs)


torch.nn.DataParallel.forward = _on_one_card
