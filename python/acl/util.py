# SPDX-License-Identifier: Apache-2.0
"""acl.util: addresses of numpy arrays and bytes, and threads for callbacks."""

import ctypes
import threading

_threads = {}


def numpy_to_ptr(array):
    """The address of its first element. The array must live as long as the address is used."""
    return array.ctypes.data


def numpy_contiguous_to_ptr(array):
    import numpy
    if not array.flags["C_CONTIGUOUS"]:
        raise ValueError("the array is not contiguous: pass numpy.ascontiguousarray(array)")
    return numpy_to_ptr(array)


def ptr_to_numpy(ptr, shape, npy_type):
    """An array over host memory, which stays whose it is. `npy_type` is numpy's number of the type."""
    import numpy
    kind = next(numpy.dtype(code) for code in numpy.typecodes["All"] if numpy.dtype(code).num == npy_type)
    count = 1
    for dim in shape:
        count *= dim
    raw = (ctypes.c_uint8 * (count * kind.itemsize)).from_address(ptr)
    return numpy.frombuffer(raw, dtype=kind).reshape(shape)


def bytes_to_ptr(data):
    """The address of what a bytes object holds. The object must live as long as the address is used."""
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value


def ptr_to_bytes(ptr, size):
    """A copy of host memory."""
    return ctypes.string_at(ptr, size)


def start_thread(function, args):
    """Runs function(args) on a thread; its number, as acl.rt.subscribe_report takes it."""
    thread = threading.Thread(target=function, args=(args,), daemon=True)
    thread.start()
    _threads[thread.ident] = thread
    return thread.ident, 0


def stop_thread(thread_id):
    """Waits for the thread: its function must come to an end."""
    thread = _threads.pop(thread_id, None)
    if thread is None:
        return 100000  # ACL_ERROR_INVALID_PARAM
    thread.join()
    return 0
