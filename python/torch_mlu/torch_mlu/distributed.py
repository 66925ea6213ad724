# SPDX-License-Identifier: Apache-2.0
"""The backend 'cncl' of torch.distributed: collectives between cards."""
import torch.distributed

from . import _C


def _make(store, rank, size, timeout):
    return _C.process_group(store, rank, size)


torch.distributed.Backend.register_backend("cncl", _make, devices=["mlu"])
