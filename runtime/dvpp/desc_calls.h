/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make, destroy, write and read descriptions. */
#pragma once

#include "dvpp_internal.h"

#define SETTER(name, type, field, value_type)                                                      \
    aclError name(type *desc, value_type value)                                                    \
    {                                                                                              \
        if (!desc) {                                                                               \
            return leo_acl_fail(ACL_ERROR_INVALID_PARAM, #name, "the description is NULL");        \
        }                                                                                          \
        desc->field = value;                                                                       \
        return ACL_SUCCESS;                                                                        \
    }
#define GETTER(name, type, field, value_type)                                                      \
    value_type name(const type *desc)                                                              \
    {                                                                                              \
        return desc ? (value_type)desc->field : (value_type)0;                                     \
    }
#define MAKER(make, destroy, type)                                                                 \
    type *make(void)                                                                               \
    {                                                                                              \
        type *desc = leo_calloc(1, sizeof(*desc));                                                 \
        if (!desc) {                                                                               \
            leo_acl_fail(ACL_ERROR_BAD_ALLOC, #make, "out of host memory");                        \
        }                                                                                          \
        return desc;                                                                               \
    }                                                                                              \
    aclError destroy(type *desc)                                                                   \
    {                                                                                              \
        if (!desc) {                                                                               \
            return leo_acl_fail(ACL_ERROR_INVALID_PARAM, #destroy, "the description is NULL");     \
        }                                                                                          \
        leo_free(desc);                                                                            \
        return ACL_SUCCESS;                                                                        \
    }
