# SPDX-License-Identifier: Apache-2.0
"""acl.rt: devices, contexts, streams, events, memory, callbacks, kernels. Most functions stand in functions.txt."""

import ctypes

from . import _library

_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.py_object)
_EXCEPTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# C holds their addresses until they are called: a callback ends its own entry.
_waiting = {}
_exception = []


def launch_callback(function, user_data, block_type, stream):
    """`function(user_data)` is called by the thread that processes the stream's reports, when the stream reaches it."""
    key = object()

    def run(_):
        try:
            function(user_data)
        finally:
            _waiting.pop(id(key), None)

    entry = _CALLBACK(run)
    _waiting[id(key)] = (entry, key)
    code = _library.call("aclrtLaunchCallback", "ptr ptr i32 ptr", entry, id(key), block_type, stream)
    if code:
        _waiting.pop(id(key), None)
    return code


def set_exception_info_callback(function):
    """`function(info)` is called when a task has failed; None: nobody is told."""
    entry = _EXCEPTION(lambda info: function(info or 0)) if function else _EXCEPTION(0)
    code = _library.call("aclrtSetExceptionInfoCallback", "ptr", entry)
    _exception[:] = [entry]
    return code


def _info(name):
    def get(info):
        return _library.call(name, "ptr -> u32", info)
    return get


get_task_id_from_exception_info = _info("aclrtGetTaskIdFromExceptionInfo")
get_stream_id_from_exception_info = _info("aclrtGetStreamIdFromExceptionInfo")
get_thread_id_from_exception_info = _info("aclrtGetThreadIdFromExceptionInfo")
get_device_id_from_exception_info = _info("aclrtGetDeviceIdFromExceptionInfo")
get_error_code_from_exception_info = _info("aclrtGetErrorCodeFromExceptionInfo")


def _export_key(name, first_type, first, length, flags, *more):
    key = _library.array("u8", [0] * length)
    types = " ".join([first_type, *("u64" for _ in more), "ptr u64 u64"])
    ret = _library.call(name, types, first, *more, key, length, flags)
    return bytes(key).split(b"\0")[0].decode(), ret


def ipc_mem_get_export_key(ptr, size, length, flags):
    return _export_key("aclrtIpcMemGetExportKey", "ptr", ptr, length, flags, size)


def notify_get_export_key(notify, length, flags):
    return _export_key("aclrtNotifyGetExportKey", "ptr", notify, length, flags)


def ipc_mem_set_import_pid(key, pids, count):
    return _library.call("aclrtIpcMemSetImportPid", "str ptr u64", key, _library.array("i32", pids), count)


def notify_set_import_pid(notify, pids, count):
    return _library.call("aclrtNotifySetImportPid", "ptr ptr u64", notify, _library.array("i32", pids), count)
