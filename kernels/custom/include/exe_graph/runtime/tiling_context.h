/* SPDX-License-Identifier: Apache-2.0 */
/* What a tiling function is asked with, and where it leaves its answer. C++ only. */
#pragma once

#include <exe_graph/runtime/runtime_attrs.h>
#include <exe_graph/runtime/shape.h>
#include <platform/platform_infos_def.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace gert
{

/** The bytes that go to the kernel. */
class TilingData
{
  public:
    explicit TilingData(size_t capacity = 0) : bytes_((capacity + 7) / 8)
    {
    }
    void *GetData()
    {
        return bytes_.data();
    }
    const void *GetData() const
    {
        return bytes_.data();
    }
    size_t GetCapacity() const
    {
        return bytes_.size() * 8;
    }
    size_t GetDataSize() const
    {
        return size_;
    }
    void SetDataSize(size_t size)
    {
        size_ = size;
    }
    template <typename T> ge::graphStatus Append(const T &value)
    {
        return Append(&value, 1);
    }
    template <typename T> ge::graphStatus Append(const T *values, size_t count)
    {
        if (size_ + count * sizeof(T) > GetCapacity()) {
            return ge::GRAPH_FAILED;
        }
        memcpy(reinterpret_cast<char *>(bytes_.data()) + size_, values, count * sizeof(T));
        size_ += count * sizeof(T);
        return ge::GRAPH_SUCCESS;
    }

  private:
    std::vector<uint64_t> bytes_;
    size_t size_ = 0;
};

/** Tensors of one parameter: none of an optional one that is not given, several of a list. */
using LeoParameter = std::vector<Tensor>;

/** What tiling, shape and type functions may ask about the operator. */
class LeoNodeContext
{
  public:
    const char *GetNodeType() const
    {
        return type.c_str();
    }
    const char *GetNodeName() const
    {
        return type.c_str();
    }
    const RuntimeAttrs *GetAttrs() const
    {
        return &attrs;
    }
    size_t GetComputeNodeInputNum() const
    {
        return count(inputs);
    }
    size_t GetComputeNodeOutputNum() const
    {
        return count(outputs);
    }

    /* Indices count the tensors that are given; of the Optional and Dynamic forms, the parameters.
     */
    const Tensor *GetInputTensor(size_t index) const
    {
        return flat(inputs, index);
    }
    const Tensor *GetRequiredInputTensor(size_t index) const
    {
        return one(inputs, index, 0);
    }
    const Tensor *GetOptionalInputTensor(size_t index) const
    {
        return one(inputs, index, 0);
    }
    const Tensor *GetDynamicInputTensor(size_t index, size_t relative) const
    {
        return one(inputs, index, relative);
    }

    std::string type;
    RuntimeAttrs attrs;
    std::vector<LeoParameter> inputs, outputs;

  protected:
    static const Tensor *one(const std::vector<LeoParameter> &all, size_t index, size_t relative)
    {
        return index < all.size() && relative < all[index].size() ? &all[index][relative] : nullptr;
    }
    static const Tensor *flat(const std::vector<LeoParameter> &all, size_t index)
    {
        for (const LeoParameter &parameter : all) {
            if (index < parameter.size()) {
                return &parameter[index];
            }
            index -= parameter.size();
        }
        return nullptr;
    }
    static size_t count(const std::vector<LeoParameter> &all)
    {
        size_t sum = 0;
        for (const LeoParameter &parameter : all) {
            sum += parameter.size();
        }
        return sum;
    }
    static const StorageShape *shape(const Tensor *tensor)
    {
        return tensor ? &tensor->GetShape() : nullptr;
    }
};

class TilingContext : public LeoNodeContext
{
  public:
    const StorageShape *GetInputShape(size_t index) const
    {
        return shape(flat(inputs, index));
    }
    const StorageShape *GetRequiredInputShape(size_t index) const
    {
        return shape(one(inputs, index, 0));
    }
    const StorageShape *GetOptionalInputShape(size_t index) const
    {
        return shape(one(inputs, index, 0));
    }
    const StorageShape *GetDynamicInputShape(size_t index, size_t relative) const
    {
        return shape(one(inputs, index, relative));
    }
    const StorageShape *GetOutputShape(size_t index) const
    {
        return shape(flat(outputs, index));
    }
    const CompileTimeTensorDesc *GetInputDesc(size_t index) const
    {
        return desc(flat(inputs, index));
    }
    const CompileTimeTensorDesc *GetRequiredInputDesc(size_t index) const
    {
        return desc(one(inputs, index, 0));
    }
    const CompileTimeTensorDesc *GetOptionalInputDesc(size_t index) const
    {
        return desc(one(inputs, index, 0));
    }
    const CompileTimeTensorDesc *GetDynamicInputDesc(size_t index, size_t relative) const
    {
        return desc(one(inputs, index, relative));
    }
    const CompileTimeTensorDesc *GetOutputDesc(size_t index) const
    {
        return desc(flat(outputs, index));
    }

    fe::PlatFormInfos *GetPlatformInfo() const
    {
        return &platform;
    }
    int32_t GetDeterministic() const
    {
        return 1;
    }
    TilingData *GetRawTilingData()
    {
        return &tiling;
    }
    /** A plain structure in the tiling data; nullptr if there is no room for it. */
    template <typename T> T *GetTilingData()
    {
        if (sizeof(T) > tiling.GetCapacity()) {
            return nullptr;
        }
        tiling.SetDataSize(sizeof(T));
        return static_cast<T *>(tiling.GetData());
    }
    /** What the function TilingParse left: nothing, it is not called. */
    template <typename T> const T *GetCompileInfo() const
    {
        return nullptr;
    }
    const void *GetCompileInfo() const
    {
        return nullptr;
    }
    ge::graphStatus SetBlockDim(uint32_t count)
    {
        blocks = count;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetBlockDim() const
    {
        return blocks;
    }
    ge::graphStatus SetTilingKey(uint64_t value)
    {
        key = value;
        return ge::GRAPH_SUCCESS;
    }
    uint64_t GetTilingKey() const
    {
        return key;
    }
    size_t *GetWorkspaceSizes(size_t count)
    {
        workspaces.resize(count);
        return workspaces.data();
    }
    size_t GetWorkspaceNum() const
    {
        return workspaces.size();
    }
    /** All blocks of a launch run at the same time in any case if there are cores for them. */
    ge::graphStatus SetScheduleMode(uint32_t)
    {
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus SetNeedAtomic(bool)
    {
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus SetLocalMemorySize(uint32_t)
    {
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus SetTilingCond(int32_t)
    {
        return ge::GRAPH_SUCCESS;
    }

    TilingData tiling;
    mutable fe::PlatFormInfos platform;
    uint32_t blocks = 0;
    uint64_t key = 0;
    std::vector<size_t> workspaces;

  private:
    static const CompileTimeTensorDesc *desc(const Tensor *tensor)
    {
        return tensor ? &tensor->leo_desc() : nullptr;
    }
};

} // namespace gert
