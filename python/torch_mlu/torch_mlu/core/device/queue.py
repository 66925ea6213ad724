# SPDX-License-Identifier: Apache-2.0
"""torch_mlu.core.device.queue: a queue is a stream, inside a with statement the current one."""
from ...mlu import Stream, StreamContext


class Queue:
    def __init__(self, device_index=-1):
        self.stream = Stream(device_index)
        self.context = StreamContext(self.stream)

    def synchronize(self):
        self.stream.synchronize()

    def __enter__(self):
        self.context.__enter__()
        return self

    def __exit__(self, *exception):
        self.context.__exit__(*exception)
