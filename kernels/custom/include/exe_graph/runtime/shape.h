/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes and tensors as tiling functions see them. C++ only. */
#pragma once

#include <graph/types.h>

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace gert
{

class Shape
{
  public:
    static constexpr size_t kMaxDimNum = 25;

    Shape() = default;
    Shape(std::initializer_list<int64_t> dims)
    {
        for (int64_t dim : dims) {
            AppendDim(dim);
        }
    }
    bool operator==(const Shape &other) const
    {
        bool same = count_ == other.count_;
        for (size_t i = 0; same && i < count_; i++) {
            same = dims_[i] == other.dims_[i];
        }
        return same;
    }
    bool operator!=(const Shape &other) const
    {
        return !(*this == other);
    }
    size_t GetDimNum() const
    {
        return count_;
    }
    void SetDimNum(size_t count)
    {
        count_ = count < kMaxDimNum ? count : kMaxDimNum;
    }
    int64_t GetDim(size_t index) const
    {
        return index < count_ ? dims_[index] : 0;
    }
    int64_t operator[](size_t index) const
    {
        return dims_[index];
    }
    int64_t &operator[](size_t index)
    {
        return dims_[index];
    }
    void SetDim(size_t index, int64_t value)
    {
        if (index < count_) {
            dims_[index] = value;
        }
    }
    Shape &AppendDim(int64_t value)
    {
        if (count_ < kMaxDimNum) {
            dims_[count_++] = value;
        }
        return *this;
    }
    /** Product of the dimensions: 1 without any. */
    int64_t GetShapeSize() const
    {
        int64_t size = 1;
        for (size_t i = 0; i < count_; i++) {
            size *= dims_[i];
        }
        return size;
    }
    bool IsScalar() const
    {
        return count_ == 0;
    }
    void SetScalar()
    {
        count_ = 0;
    }

  private:
    size_t count_ = 0;
    int64_t dims_[kMaxDimNum] = {};
};

class StorageShape
{
  public:
    StorageShape() = default;
    StorageShape(const Shape &origin, const Shape &storage) : origin_(origin), storage_(storage)
    {
    }
    const Shape &GetOriginShape() const
    {
        return origin_;
    }
    const Shape &GetStorageShape() const
    {
        return storage_;
    }
    Shape &MutableOriginShape()
    {
        return origin_;
    }
    Shape &MutableStorageShape()
    {
        return storage_;
    }

  private:
    Shape origin_, storage_;
};

class CompileTimeTensorDesc
{
  public:
    CompileTimeTensorDesc(ge::DataType type = ge::DT_UNDEFINED, ge::Format origin = ge::FORMAT_ND,
                          ge::Format storage = ge::FORMAT_ND)
        : type_(type), origin_(origin), storage_(storage)
    {
    }
    ge::DataType GetDataType() const
    {
        return type_;
    }
    ge::Format GetOriginFormat() const
    {
        return origin_;
    }
    ge::Format GetStorageFormat() const
    {
        return storage_;
    }
    const CompileTimeTensorDesc &GetFormat() const
    {
        return *this;
    }
    void SetDataType(ge::DataType type)
    {
        type_ = type;
    }

  private:
    ge::DataType type_;
    ge::Format origin_, storage_;
};

/** A tensor; its values are there only where the operator's description says ValueDepend. */
class Tensor
{
  public:
    Tensor(const StorageShape &shape, const CompileTimeTensorDesc &desc, const void *data)
        : shape_(shape), desc_(desc), data_(data)
    {
    }
    const StorageShape &GetShape() const
    {
        return shape_;
    }
    const Shape &GetStorageShape() const
    {
        return shape_.GetStorageShape();
    }
    const Shape &GetOriginShape() const
    {
        return shape_.GetOriginShape();
    }
    int64_t GetShapeSize() const
    {
        return shape_.GetStorageShape().GetShapeSize();
    }
    ge::DataType GetDataType() const
    {
        return desc_.GetDataType();
    }
    ge::Format GetOriginFormat() const
    {
        return desc_.GetOriginFormat();
    }
    ge::Format GetStorageFormat() const
    {
        return desc_.GetStorageFormat();
    }
    size_t GetSize() const
    {
        return static_cast<size_t>(GetShapeSize()) *
               static_cast<size_t>(ge::GetSizeByDataType(GetDataType()));
    }
    template <typename T> const T *GetData() const
    {
        return static_cast<const T *>(data_);
    }
    const void *GetAddr() const
    {
        return data_;
    }
    const CompileTimeTensorDesc &leo_desc() const
    {
        return desc_;
    }

  private:
    StorageShape shape_;
    CompileTimeTensorDesc desc_;
    const void *data_;
};

} // namespace gert

namespace ge
{

/** The shape that functions of the language's own objects take. */
class Shape : public gert::Shape
{
  public:
    Shape() = default;
    explicit Shape(const std::vector<int64_t> &dims)
    {
        for (int64_t dim : dims) {
            AppendDim(dim);
        }
    }
    std::vector<int64_t> GetDims() const
    {
        std::vector<int64_t> dims;
        for (size_t i = 0; i < GetDimNum(); i++) {
            dims.push_back(GetDim(i));
        }
        return dims;
    }
};

} // namespace ge
