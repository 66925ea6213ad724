/* SPDX-License-Identifier: Apache-2.0 */
/* OP_ADD: the operator's description becomes known to the library that holds it. C++ only. */
#pragma once

#include <register/op_def.h>
#include <register/op_impl_registry.h>
#include <register/tilingdata_base.h>

#include <memory>

namespace ops
{

inline std::map<std::string, std::unique_ptr<OpDef>> &leo_operators()
{
    static std::map<std::string, std::unique_ptr<OpDef>> operators;
    return operators;
}

template <typename T> struct LeoOperator {
    explicit LeoOperator(const char *type)
    {
        leo_operators()[type].reset(new T(type));
    }
};

} // namespace ops

#define OP_ADD(type, ...) static const ops::LeoOperator<type> leo_operator_##type(#type)
