/* SPDX-License-Identifier: Apache-2.0 */
/* Names, shapes and tensors: containers whose copies share what they hold. */
#include "ge.hpp"

#include <cstring>

namespace ge
{

AscendString::AscendString(const char *name)
    : name_(name ? std::make_shared<std::string>(name) : nullptr)
{
}

const char *AscendString::GetString() const
{
    return name_ ? name_->c_str() : "";
}

size_t AscendString::Hash() const
{
    return std::hash<std::string>()(GetString());
}

bool AscendString::operator==(const AscendString &other) const
{
    return strcmp(GetString(), other.GetString()) == 0;
}

bool AscendString::operator<(const AscendString &other) const
{
    return strcmp(GetString(), other.GetString()) < 0;
}

Shape::Shape() : dims_(std::make_shared<std::vector<int64_t>>())
{
}

Shape::Shape(const std::vector<int64_t> &dims) : dims_(std::make_shared<std::vector<int64_t>>(dims))
{
}

size_t Shape::GetDimNum() const
{
    return dims_ ? dims_->size() : 0;
}

graphStatus Shape::SetDim(size_t index, int64_t value)
{
    if (index >= GetDimNum()) {
        return GRAPH_FAILED;
    }
    (*dims_)[index] = value;
    return GRAPH_SUCCESS;
}

std::vector<int64_t> Shape::GetDims() const
{
    return dims_ ? *dims_ : std::vector<int64_t>();
}

int64_t Shape::GetDim(size_t index) const
{
    return index < GetDimNum() ? (*dims_)[index] : 0;
}

int64_t Shape::GetShapeSize() const
{
    int64_t count = 1;
    for (int64_t dim : GetDims()) {
        if (dim < 0) {
            return -1;
        }
        count *= dim;
    }
    return count;
}

struct TensorDescData {
    Shape shape, origin_shape;
    Format format = FORMAT_ND, origin_format = FORMAT_ND;
    DataType type = static_cast<DataType>(0); // float, the documented default
    Placement placement = static_cast<Placement>(0);
    int64_t real_dim_count = 0;
    std::vector<std::pair<int64_t, int64_t>> range;
};

TensorDesc::TensorDesc() : data_(std::make_shared<TensorDescData>())
{
}

TensorDesc::TensorDesc(Shape shape, Format format, DataType type) : TensorDesc()
{
    data_->shape = data_->origin_shape = shape;
    data_->format = data_->origin_format = format;
    data_->type = type;
}

TensorDesc::TensorDesc(const TensorDesc &other)
    : data_(std::make_shared<TensorDescData>(*other.data_))
{
}

TensorDesc::TensorDesc(TensorDesc &&other) : TensorDesc(static_cast<const TensorDesc &>(other))
{
}

TensorDesc &TensorDesc::operator=(const TensorDesc &other)
{
    *data_ = *other.data_;
    return *this;
}

TensorDesc &TensorDesc::operator=(TensorDesc &&other)
{
    return *this = static_cast<const TensorDesc &>(other);
}

void TensorDesc::SetShape(const Shape &shape)
{
    data_->shape = Shape(shape.GetDims());
}

Shape TensorDesc::GetShape() const
{
    return data_->shape;
}

void TensorDesc::SetOriginShape(const Shape &shape)
{
    data_->origin_shape = Shape(shape.GetDims());
}

Shape TensorDesc::GetOriginShape() const
{
    return data_->origin_shape;
}

graphStatus TensorDesc::SetShapeRange(const std::vector<std::pair<int64_t, int64_t>> &range)
{
    data_->range = range;
    return GRAPH_SUCCESS;
}

graphStatus TensorDesc::GetShapeRange(std::vector<std::pair<int64_t, int64_t>> &range) const
{
    range = data_->range;
    return GRAPH_SUCCESS;
}

void TensorDesc::SetFormat(Format format)
{
    data_->format = format;
}

Format TensorDesc::GetFormat() const
{
    return data_->format;
}

void TensorDesc::SetOriginFormat(Format format)
{
    data_->origin_format = format;
}

Format TensorDesc::GetOriginFormat() const
{
    return data_->origin_format;
}

void TensorDesc::SetDataType(DataType type)
{
    data_->type = type;
}

DataType TensorDesc::GetDataType() const
{
    return data_->type;
}

void TensorDesc::SetPlacement(Placement placement)
{
    data_->placement = placement;
}

Placement TensorDesc::GetPlacement() const
{
    return data_->placement;
}

void TensorDesc::SetRealDimCnt(int64_t count)
{
    data_->real_dim_count = count;
}

int64_t TensorDesc::GetRealDimCnt() const
{
    return data_->real_dim_count;
}

struct TensorData {
    TensorDesc desc;
    std::unique_ptr<uint8_t[], Tensor::Delete> bytes;
    size_t size = 0;
};

Tensor::Tensor() : data_(std::make_shared<TensorData>())
{
}

Tensor::Tensor(const TensorDesc &desc) : Tensor()
{
    data_->desc = desc;
}

Tensor::Tensor(const TensorDesc &desc, const uint8_t *data, size_t size) : Tensor(desc)
{
    (void)SetData(data, size);
}

graphStatus Tensor::SetTensorDesc(const TensorDesc &desc)
{
    data_->desc = desc;
    return GRAPH_SUCCESS;
}

TensorDesc Tensor::GetTensorDesc() const
{
    return data_->desc;
}

uint8_t *Tensor::GetData()
{
    return data_->bytes.get();
}

const uint8_t *Tensor::GetData() const
{
    return data_->bytes.get();
}

size_t Tensor::GetSize() const
{
    return data_->size;
}

std::unique_ptr<uint8_t[], Tensor::Delete> Tensor::ResetData()
{
    data_->size = 0;
    return std::move(data_->bytes);
}

graphStatus Tensor::SetData(uint8_t *data, size_t size, const Delete &remove)
{
    data_->bytes = std::unique_ptr<uint8_t[], Delete>(data, remove);
    data_->size = size;
    return GRAPH_SUCCESS;
}

graphStatus Tensor::SetData(const uint8_t *data, size_t size)
{
    if (!data && size) {
        return GRAPH_FAILED;
    }
    uint8_t *copy = new uint8_t[size ? size : 1];
    if (size) {
        memcpy(copy, data, size);
    }
    return SetData(copy, size, [](uint8_t *bytes) { delete[] bytes; });
}

graphStatus Tensor::SetData(const std::string &data)
{
    return SetData(reinterpret_cast<const uint8_t *>(data.data()), data.size());
}

// Chips have no tensors of strings.
graphStatus Tensor::SetData(const std::vector<std::string> &)
{
    return GRAPH_FAILED;
}

TensorType::TensorType(const std::initializer_list<DataType> &types)
    : types_(std::make_shared<std::vector<DataType>>(types))
{
}

Promote::Promote(const std::initializer_list<const char *> &names)
    : names_(std::make_shared<std::vector<std::string>>(names.begin(), names.end()))
{
}

} // namespace ge
