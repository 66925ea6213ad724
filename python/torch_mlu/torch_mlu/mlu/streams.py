# SPDX-License-Identifier: Apache-2.0
"""Streams and events: torch's own, on the device 'mlu'."""
import torch

from .. import _C


class Stream(torch.Stream):
    """Work in order, beside that of other streams. priority: a smaller number goes first."""

    def __new__(cls, device=None, priority=0, **given):
        if given:
            return super().__new__(cls, priority=priority, **given)
        from . import _index

        return super().__new__(cls, device=f"mlu:{_index(device)}", priority=priority)

    @property
    def mlu_stream(self):
        """The cnrtQueue_t as a number."""
        return _C.queue_of(self.device_index, self.stream_id)


def Event(enable_timing=False, blocking=False, interprocess=False):
    """A place in a stream, with the time when it was reached if enable_timing: torch.Event of the device 'mlu'."""
    return torch.Event("mlu", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)


def _as_stream(plain):
    return Stream(stream_id=plain.stream_id, device_index=plain.device_index, device_type=plain.device_type)


def current_stream(device=None):
    from . import _index

    return _as_stream(torch.accelerator.current_stream(f"mlu:{_index(device)}"))


def default_stream(device=None):
    from . import _index

    index = _index(device)
    return Stream(stream_id=0, device_index=index, device_type=current_stream(index).device_type)


def set_stream(stream):
    if stream is not None:
        torch.accelerator.set_stream(stream)


class StreamContext:
    """Makes a stream and its card the current ones inside a with statement; None changes nothing."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is None:
            return
        self.card = _C.current_device()
        self.before = current_stream(self.stream.device_index)
        _C.set_device(self.stream.device_index)
        set_stream(self.stream)

    def __exit__(self, *exception):
        if self.stream is not None:
            set_stream(self.before)
            _C.set_device(self.card)


def stream(stream):
    return StreamContext(stream)
