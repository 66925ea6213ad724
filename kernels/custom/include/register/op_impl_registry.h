/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of operators apart from their descriptions: IMPL_OP_OPTILING(Name).Tiling(f).
 * C++ only. */
#pragma once

#include <register/op_def.h>

#include <initializer_list>
#include <map>
#include <string>

namespace gert
{

inline std::map<std::string, LeoTilingFunc> &leo_tiling_functions()
{
    static std::map<std::string, LeoTilingFunc> functions;
    return functions;
}

class OpImplRegisterV2
{
  public:
    explicit OpImplRegisterV2(const char *type) : type_(type)
    {
    }
    OpImplRegisterV2 &Tiling(LeoTilingFunc function, size_t = 0)
    {
        leo_tiling_functions()[type_] = function;
        return *this;
    }
    template <typename T, typename F> OpImplRegisterV2 &TilingParse(F)
    {
        return *this;
    }
    OpImplRegisterV2 &InferShape(LeoInferShapeFunc)
    {
        return *this;
    }
    OpImplRegisterV2 &InferDataType(LeoInferTypeFunc)
    {
        return *this;
    }
    template <typename T> OpImplRegisterV2 &InferShapeRange(T)
    {
        return *this;
    }
    OpImplRegisterV2 &InputsDataDependency(std::initializer_list<int32_t>)
    {
        return *this;
    }
    OpImplRegisterV2 &TilingInputsDataDependency(std::initializer_list<int32_t>)
    {
        return *this;
    }

  private:
    std::string type_;
};

} // namespace gert

#define LEO_IMPL_OP_NAME_(type, line) leo_impl_of_##type##line
#define LEO_IMPL_OP_NAME(type, line)  LEO_IMPL_OP_NAME_(type, line)
#define IMPL_OP(type)                                                                              \
    static const auto LEO_IMPL_OP_NAME(type, __LINE__) = gert::OpImplRegisterV2(#type)
#define IMPL_OP_OPTILING(type)   IMPL_OP(type)
#define IMPL_OP_INFERSHAPE(type) IMPL_OP(type)
