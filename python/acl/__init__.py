# SPDX-License-Identifier: Apache-2.0
"""AscendCL for Python: the documented names and conventions, over libascendcl.so.

What the C function fills comes first, the error code last; a function that fills nothing gives the error code alone; handles and
addresses are integers. Constants are not in the module: scripts define them. Plain functions stand in functions.txt.
"""

from . import _library, mdl, media, op, rt, util


def init(config_path=None):
    """Starts the process's use of the devices; a JSON file may configure it."""
    return _library.call("aclInit", "str", config_path)


def create_tensor_desc(data_type, shape, data_format):
    dims = _library.array("i64", shape)
    return _library.call("aclCreateTensorDesc", "i32 i32 ptr i32 -> ptr", data_type, len(shape), dims, data_format)


def set_tensor_shape(desc, shape):
    return _library.call("aclSetTensorShape", "ptr i32 ptr", desc, len(shape), _library.array("i64", shape))


def set_tensor_origin_shape(desc, shape):
    return _library.call("aclSetTensorOriginShape", "ptr i32 ptr", desc, len(shape), _library.array("i64", shape))


def set_tensor_storage_shape(desc, shape):
    return _library.call("aclSetTensorStorageShape", "ptr i32 ptr", desc, len(shape), _library.array("i64", shape))


def app_log(level, func, file, line, text):
    """One line of the log, as the C macro writes it."""
    _library.call("aclAppLog", "i32 str str u32 str str -> none", level, func, file, line, "%s", str(text))


_library.define({"": globals(), "rt": vars(rt), "mdl": vars(mdl), "op": vars(op), "media": vars(media)})
