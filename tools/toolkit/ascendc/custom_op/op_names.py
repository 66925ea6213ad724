# SPDX-License-Identifier: Apache-2.0
"""Names of custom operators, and the words of their types: what the generator of projects and the build share."""

# Numbers of ge::DataType (kernels/custom/include/graph/types.h): (word in a description, type in a kernel).
TYPES = {0: ("DT_FLOAT", "float"), 1: ("DT_FLOAT16", "half"), 2: ("DT_INT8", "int8_t"), 3: ("DT_INT32", "int32_t"),
         4: ("DT_UINT8", "uint8_t"), 6: ("DT_INT16", "int16_t"), 7: ("DT_UINT16", "uint16_t"), 8: ("DT_UINT32", "uint32_t"),
         9: ("DT_INT64", "int64_t"), 10: ("DT_UINT64", "uint64_t"), 11: ("DT_DOUBLE", "double"), 12: ("DT_BOOL", "bool"),
         27: ("DT_BF16", "bfloat16_t"), 28: ("DT_UNDEFINED", None), 29: ("DT_INT4", "int4b_t")}
FORMATS = {0: "FORMAT_NCHW", 1: "FORMAT_NHWC", 2: "FORMAT_ND", 3: "FORMAT_NC1HWC0", 4: "FORMAT_FRACTAL_Z", 29: "FORMAT_FRACTAL_NZ",
           30: "FORMAT_NCDHW", 27: "FORMAT_NDHWC", 32: "FORMAT_NDC1HWC0", 33: "FORMAT_FRACTAL_Z_3D"}

# What the words of a project's ASCEND_COMPUTE_UNIT mean: chip for the compiler, architecture of the images.
SOCS = {"ascend910b": ("ascend910b1", "2201"), "ascend910_93": ("ascend910b1", "2201"), "ascend910": ("ascend910a", "1001")}


def snake(name):
    """AbcDef: abc_def, AbcAAc: abc_a_ac, BatchMatMulV2: batch_mat_mul_v2."""
    result = ""
    for i, letter in enumerate(name):
        before, after = name[i - 1:i], name[i + 1:i + 2]
        starts = letter.isupper() and (before.islower() or before.isdigit() or (before.isupper() and after.islower()))
        result += ("_" if i and starts else "") + letter.lower()
    return result
