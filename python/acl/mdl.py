# SPDX-License-Identifier: Apache-2.0
"""acl.mdl: data sets, and what models' descriptions tell as dictionaries. Most functions are lines of functions.txt."""

import ctypes

from . import _library

_DIMS, _GEARS = 128, 128  # ACL_MAX_DIM_CNT; ACL_MAX_BATCH_NUM and ACL_MAX_HW_NUM


class _Dims(ctypes.Structure):
    """aclmdlIODims."""

    _fields_ = [("name", ctypes.c_char * 128), ("count", ctypes.c_size_t), ("dims", ctypes.c_int64 * _DIMS)]

    def told(self):
        return {"name": self.name.decode(errors="replace"), "dimCount": self.count, "dims": list(self.dims[:self.count])}


def _address(structure):
    return ctypes.cast(ctypes.pointer(structure), ctypes.c_void_p).value


def _dims_of(c_name):
    def get(desc, index):
        dims = _Dims()
        ret = _library.call(c_name, "ptr u64 ptr", desc, index, _address(dims))
        return dims.told(), ret
    return get


get_input_dims = _dims_of("aclmdlGetInputDims")
get_output_dims = _dims_of("aclmdlGetOutputDims")
get_cur_output_dims = _dims_of("aclmdlGetCurOutputDims")


def get_dynamic_batch(desc):
    numbers = (ctypes.c_uint64 * (1 + _GEARS))()
    ret = _library.call("aclmdlGetDynamicBatch", "ptr ptr", desc, _address(numbers))
    return {"batchCount": numbers[0], "batch": list(numbers[1:1 + numbers[0]])}, ret


def get_dynamic_hw(desc, index):
    numbers = (ctypes.c_uint64 * (1 + 2 * _GEARS))()
    ret = _library.call("aclmdlGetDynamicHW", "ptr u64 ptr", desc, index, _address(numbers))
    return {"hwCount": numbers[0], "hw": [list(numbers[1 + 2 * i:3 + 2 * i]) for i in range(numbers[0])]}, ret


def get_input_dynamic_dims(desc, index, gear_count):
    gears = (_Dims * max(1, gear_count))()
    ret = _library.call("aclmdlGetInputDynamicDims", "ptr u64 ptr u64", desc, index, _address(gears), gear_count)
    return [gear.told() for gear in gears[:gear_count]], ret


def set_input_dynamic_dims(model_id, dataset, index, dims):
    told = _Dims(name=str(dims.get("name", "")).encode()[:127], count=dims["dimCount"])
    for i, size in enumerate(dims["dims"][:_DIMS]):
        told.dims[i] = size
    return _library.call("aclmdlSetInputDynamicDims", "u32 ptr u64 ptr", model_id, dataset, index, _address(told))


def add_dataset_buffer(dataset, buffer):
    return dataset, _library.call("aclmdlAddDatasetBuffer", "ptr ptr", dataset, buffer)


def set_dataset_tensor_desc(dataset, desc, index):
    return dataset, _library.call("aclmdlSetDatasetTensorDesc", "ptr ptr u64", dataset, desc, index)
