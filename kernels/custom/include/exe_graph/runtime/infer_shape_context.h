/* SPDX-License-Identifier: Apache-2.0 */
/* What shape and type functions of a graph are asked with. Operators called through aclnn functions
 * bring their outputs: the functions are kept and not called. C++ only. */
#pragma once

#include <exe_graph/runtime/tiling_context.h>

namespace gert
{

class InferShapeContext : public LeoNodeContext
{
  public:
    const Shape *GetInputShape(size_t index) const
    {
        return origin(flat(inputs, index));
    }
    const Shape *GetRequiredInputShape(size_t index) const
    {
        return origin(one(inputs, index, 0));
    }
    const Shape *GetOptionalInputShape(size_t index) const
    {
        return origin(one(inputs, index, 0));
    }
    const Shape *GetDynamicInputShape(size_t index, size_t relative) const
    {
        return origin(one(inputs, index, relative));
    }
    Shape *GetOutputShape(size_t index)
    {
        return index < results.size() ? &results[index] : nullptr;
    }

    std::vector<Shape> results;

  private:
    static const Shape *origin(const Tensor *tensor)
    {
        return tensor ? &tensor->GetOriginShape() : nullptr;
    }
};

class InferDataTypeContext : public LeoNodeContext
{
  public:
    ge::DataType GetInputDataType(size_t index) const
    {
        return type_of(flat(inputs, index));
    }
    ge::DataType GetRequiredInputDataType(size_t index) const
    {
        return type_of(one(inputs, index, 0));
    }
    ge::DataType GetOptionalInputDataType(size_t index) const
    {
        return type_of(one(inputs, index, 0));
    }
    ge::DataType GetDynamicInputDataType(size_t index, size_t relative) const
    {
        return type_of(one(inputs, index, relative));
    }
    ge::DataType GetOutputDataType(size_t index) const
    {
        return index < results.size() ? results[index] : ge::DT_UNDEFINED;
    }
    ge::graphStatus SetOutputDataType(size_t index, ge::DataType type)
    {
        if (index >= results.size()) {
            return ge::GRAPH_FAILED;
        }
        results[index] = type;
        return ge::GRAPH_SUCCESS;
    }

    std::vector<ge::DataType> results;

  private:
    static ge::DataType type_of(const Tensor *tensor)
    {
        return tensor ? tensor->GetDataType() : ge::DT_UNDEFINED;
    }
};

class InferShapeRangeContext;

/** Of the function that reads a compile info: not called. */
class TilingParseContext : public LeoNodeContext
{
  public:
    template <typename T> T *GetCompiledInfo()
    {
        return nullptr;
    }
    fe::PlatFormInfos *GetPlatformInfo() const
    {
        return &platform;
    }
    mutable fe::PlatFormInfos platform;
};

} // namespace gert
