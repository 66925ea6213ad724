/* SPDX-License-Identifier: Apache-2.0 */
/* Types of the interface and of operators. */
#include "objects.h"

#include <stddef.h>

static const struct {
    aclDataType acl;
    enum op_type op;
} data_types[] = {
    {ACL_FLOAT, OP_TYPE_F32},  {ACL_FLOAT16, OP_TYPE_F16},   {ACL_BF16, OP_TYPE_BF16},
    {ACL_DOUBLE, OP_TYPE_F64}, {ACL_INT8, OP_TYPE_I8},       {ACL_UINT8, OP_TYPE_U8},
    {ACL_INT16, OP_TYPE_I16},  {ACL_UINT16, OP_TYPE_U16},    {ACL_INT32, OP_TYPE_I32},
    {ACL_UINT32, OP_TYPE_U32}, {ACL_INT64, OP_TYPE_I64},     {ACL_UINT64, OP_TYPE_U64},
    {ACL_BOOL, OP_TYPE_BOOL},  {ACL_COMPLEX64, OP_TYPE_C64}, {ACL_COMPLEX128, OP_TYPE_C128},
};

enum op_type opapi_type(aclDataType type)
{
    for (size_t i = 0; i < sizeof(data_types) / sizeof(data_types[0]); i++) {
        if (data_types[i].acl == type) {
            return data_types[i].op;
        }
    }
    return (enum op_type)OP_TYPES;
}

aclDataType opapi_data_type(enum op_type type)
{
    for (size_t i = 0; i < sizeof(data_types) / sizeof(data_types[0]); i++) {
        if (data_types[i].op == type) {
            return data_types[i].acl;
        }
    }
    return ACL_DT_UNDEFINED;
}
