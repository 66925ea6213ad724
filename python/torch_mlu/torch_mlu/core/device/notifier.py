# SPDX-License-Identifier: Apache-2.0
"""torch_mlu.core.device.notifier: a notifier is an event that takes the time."""
from ...mlu import Event, current_stream


def _stream(queue):
    return current_stream() if queue is None else getattr(queue, "stream", queue)


class Notifier:
    def __init__(self):
        self.event = Event(enable_timing=True)

    def place(self, queue=None):
        self.event.record(_stream(queue))

    def wait(self, queue=None):
        self.event.wait(_stream(queue))

    def query(self):
        return self.event.query()

    def synchronize(self):
        self.event.synchronize()

    def elapsed_time(self, end):
        """Milliseconds from this notifier to that one."""
        return self.event.elapsed_time(end.event)

    def hardware_time(self, end):
        """Microseconds of the card from this notifier to that one."""
        return self.event.elapsed_time(end.event) * 1000
