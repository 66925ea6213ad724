# SPDX-License-Identifier: Apache-2.0
"""acl.mdl: data sets, and what models' descriptions tell as dictionaries. Most functions are lines of functions.txt."""

import ctypes

from . import _library

_DIMS, _GEARS, _SHAPES = 128, 128, 128  # ACL_MAX_DIM_CNT; ACL_MAX_BATCH_NUM and ACL_MAX_HW_NUM; ACL_MAX_SHAPE_COUNT
_I8, _I32, _F32, _SIZE = ctypes.c_int8, ctypes.c_int32, ctypes.c_float, ctypes.c_size_t


class _Dims(ctypes.Structure):
    """aclmdlIODims."""

    _fields_ = [("name", ctypes.c_char * 128), ("count", ctypes.c_size_t), ("dims", ctypes.c_int64 * _DIMS)]

    def told(self):
        return {"name": self.name.decode(errors="replace"), "dimCount": self.count, "dims": list(self.dims[:self.count])}


class _AippDims(ctypes.Structure):
    """aclAippDims."""

    _fields_ = [("srcDims", _Dims), ("srcSize", _SIZE), ("aippOutdims", _Dims), ("aippOutSize", _SIZE)]

    def told(self):
        return {"srcDims": self.srcDims.told(), "srcSize": self.srcSize, "aippOutdims": self.aippOutdims.told(),
                "aippOutSize": self.aippOutSize}


class _AippInfo(ctypes.Structure):
    """aclAippInfo."""

    _fields_ = [
        *((name, _I32) for name in ("inputFormat", "srcImageSizeW", "srcImageSizeH")), ("cropSwitch", _I8),
        *((name, _I32) for name in ("loadStartPosW", "loadStartPosH", "cropSizeW", "cropSizeH")), ("resizeSwitch", _I8),
        ("resizeOutputW", _I32), ("resizeOutputH", _I32), ("paddingSwitch", _I8),
        *((f"{side}PaddingSize", _I32) for side in ("left", "right", "top", "bottom")),
        *((name, _I8) for name in ("cscSwitch", "rbuvSwapSwitch", "axSwapSwitch", "singleLineMode")),
        *((f"matrixR{row}C{column}", _I32) for row in range(3) for column in range(3)),
        *((f"{name}{i}", _I32) for name, count in (("outputBias", 3), ("inputBias", 3), ("meanChn", 4)) for i in range(count)),
        *((f"{name}{i}", _F32) for name in ("minChn", "varReciChn") for i in range(4)),
        ("srcFormat", _I32), ("srcDatatype", _I32), ("srcDimNum", _SIZE), ("shapeCount", _SIZE), ("outDims", _AippDims * _SHAPES),
        ("aippExtend", ctypes.c_void_p)]

    def told(self):
        told = {name: getattr(self, name) for name, _ in self._fields_[:-2]}
        told["outDims"] = [shape.told() for shape in self.outDims[:self.shapeCount]]
        return told


def _address(structure):
    return ctypes.cast(ctypes.pointer(structure), ctypes.c_void_p).value


def _dims_of(c_name):
    def get(desc, index):
        dims = _Dims()
        ret = _library.call(c_name, "ptr u64 ptr", desc, index, _address(dims))
        return dims.told(), ret
    return get


get_input_dims = _dims_of("aclmdlGetInputDims")
get_input_dims_v2 = _dims_of("aclmdlGetInputDimsV2")
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


def get_first_aipp_info(model_id, index):
    info = _AippInfo()
    ret = _library.call("aclmdlGetFirstAippInfo", "u32 u64 ptr", model_id, index, _address(info))
    return info.told(), ret


_PRIORITY, _PATHS = 0, (2, 14)  # ACL_MDL_PRIORITY_INT32; ACL_MDL_PATH_PTR, ACL_MDL_WEIGHT_PATH_PTR


def set_config_opt(config_handle, attr, attr_value):
    value = (ctypes.c_int32(attr_value) if attr == _PRIORITY else ctypes.c_char_p(str(attr_value).encode()) if attr in _PATHS
             else ctypes.c_uint64(attr_value))
    return _library.call("aclmdlSetConfigOpt", "ptr i32 ptr u64", config_handle, attr, _address(value), ctypes.sizeof(value))
