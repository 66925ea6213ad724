# SPDX-License-Identifier: Apache-2.0
"""torch.mlu: cards, streams, events, memory and random numbers, with the names that torch.cuda has."""
import torch

from .. import _C
from . import amp  # noqa: F401
from .random import (  # noqa: F401
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .streams import Event, Stream, StreamContext, current_stream, default_stream, set_stream, stream  # noqa: F401


def _index(device=None):
    """The number of a card: of None the current one's."""
    if device is None:
        return _C.current_device()
    if isinstance(device, int):
        return device if device >= 0 else _C.current_device()
    device = torch.device(device)
    if device.type != "mlu":
        raise ValueError(f"a card of type mlu is needed, not {device}")
    return _C.current_device() if device.index is None else device.index


def is_available():
    return device_count() > 0


def device_count():
    return _C.device_count()


def is_initialized():
    return True


def init():
    """Nothing: the first call that needs a card opens it."""


_lazy_init = init


def _is_in_bad_fork():
    return False


def current_device():
    return _C.current_device()


def set_device(device):
    index = _index(device)
    if not 0 <= index < device_count():
        raise RuntimeError(f"there is no card {index}: {device_count()} are there")
    _C.set_device(index)


class device:
    """Makes a card the current one inside a with statement; None and negative numbers change nothing."""

    def __init__(self, device):
        self.index = _index(device)

    def __enter__(self):
        self.before = _C.current_device()
        _C.set_device(self.index)

    def __exit__(self, *exception):
        _C.set_device(self.before)


class device_of(device):
    """The card of a tensor."""

    def __init__(self, tensor):
        super().__init__(tensor.device if tensor.device.type == "mlu" else None)


def get_device_name(device=None):
    return _C.device_name(_index(device))


def get_device_properties(device=None):
    return _C.device_properties(_index(device))


def get_device_capability(device=None):
    properties = get_device_properties(device)
    return properties.major, properties.minor


def synchronize(device=None):
    """Waits for all streams of a card."""
    _C.synchronize(_index(device))


def is_bf16_supported():
    return True


def get_amp_supported_dtype():
    return [torch.float16, torch.bfloat16]


def memory_stats(device=None):
    return torch.accelerator.memory_stats(_index(device))


def memory_allocated(device=None):
    return torch.accelerator.memory_allocated(_index(device))


def max_memory_allocated(device=None):
    return torch.accelerator.max_memory_allocated(_index(device))


def memory_reserved(device=None):
    return torch.accelerator.memory_reserved(_index(device))


def max_memory_reserved(device=None):
    return torch.accelerator.max_memory_reserved(_index(device))


memory_cached = memory_reserved
max_memory_cached = max_memory_reserved


def reset_peak_memory_stats(device=None):
    torch.accelerator.reset_peak_memory_stats(_index(device))


def reset_accumulated_memory_stats(device=None):
    torch.accelerator.reset_accumulated_memory_stats(_index(device))


reset_max_memory_allocated = reset_peak_memory_stats
reset_max_memory_cached = reset_peak_memory_stats


def mem_get_info(device=None):
    """Free and total bytes of a card."""
    return torch.accelerator.get_memory_info(_index(device))


def empty_cache():
    torch.accelerator.empty_cache()


def ipc_collect():
    """Nothing: no memory of other processes is held."""
