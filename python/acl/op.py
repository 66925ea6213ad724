# SPDX-License-Identifier: Apache-2.0
"""acl.op: operators by name, and their attributes."""

import ctypes

from . import _library


def _set_list(name, kind):
    def set_values(attr, attr_name, values):
        return _library.call(name, "ptr str i32 ptr", attr, attr_name, len(values), _library.array(kind, values))
    return set_values


set_attr_list_bool = _set_list("aclopSetAttrListBool", "u8")
set_attr_list_int = _set_list("aclopSetAttrListInt", "i64")
set_attr_list_float = _set_list("aclopSetAttrListFloat", "f32")
set_attr_list_data_type = _set_list("aclopSetAttrListDataType", "i32")


def set_attr_list_string(attr, attr_name, values):
    texts = (ctypes.c_char_p * max(1, len(values)))(*[value.encode() for value in values])
    return _library.call("aclopSetAttrListString", "ptr str i32 ptr", attr, attr_name, len(values), texts)


def _lists(*lists):
    """Count and array of descriptions, array of buffers: what the C calls take for inputs and for outputs."""
    parameters = []
    for descs, buffers in lists:
        parameters += [len(descs), _library.array("ptr", descs), _library.array("ptr", buffers)]
    return parameters


def execute_v2(op_type, input_desc, inputs, output_desc, outputs, attr, stream):
    return _library.call("aclopExecuteV2", "str i32 ptr ptr i32 ptr ptr ptr ptr", op_type,
                         *_lists((input_desc, inputs), (output_desc, outputs)), attr, stream)


def compile_and_execute(op_type, input_desc, inputs, output_desc, outputs, attr, engine_type, compile_flag, op_path, stream):
    return _library.call("aclopCompileAndExecute", "str i32 ptr ptr i32 ptr ptr ptr i32 i32 str ptr", op_type,
                         *_lists((input_desc, inputs), (output_desc, outputs)), attr, engine_type, compile_flag, op_path or "",
                         stream)


def compile(op_type, input_desc, output_desc, attr, engine_type, compile_flag, op_path):  # noqa: A001
    return _library.call("aclopCompile", "str i32 ptr i32 ptr ptr i32 i32 str", op_type, len(input_desc),
                         _library.array("ptr", input_desc), len(output_desc), _library.array("ptr", output_desc), attr, engine_type,
                         compile_flag, op_path or "")
