// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

namespace torch_mlu
{

cnnlDataType_t data_type(at::ScalarType type)
{
    switch (type) {
    case at::kHalf:
        return CNNL_DTYPE_HALF;
    case at::kFloat:
        return CNNL_DTYPE_FLOAT;
    case at::kBFloat16:
        return CNNL_DTYPE_BFLOAT16;
    case at::kDouble:
        return CNNL_DTYPE_DOUBLE;
    case at::kChar:
        return CNNL_DTYPE_INT8;
    case at::kByte:
        return CNNL_DTYPE_UINT8;
    case at::kShort:
        return CNNL_DTYPE_INT16;
    case at::kInt:
        return CNNL_DTYPE_INT32;
    case at::kLong:
        return CNNL_DTYPE_INT64;
    case at::kBool:
        return CNNL_DTYPE_BOOL;
    default:
        TORCH_CHECK(false, "tensors of ", type, " are not possible on an MLU");
    }
}

namespace
{

cnnlTensorLayout_t channel_layout(int64_t rank)
{
    switch (rank) {
    case 2:
        return CNNL_LAYOUT_NC;
    case 3:
        return CNNL_LAYOUT_NCL;
    case 4:
        return CNNL_LAYOUT_NCHW;
    case 5:
        return CNNL_LAYOUT_NCDHW;
    default:
        TORCH_CHECK(false, "channels of a tensor of ", rank, " dimensions: 2 to 5 are possible");
    }
}

} // namespace

Argument::Argument(const at::Tensor &tensor, cnnlTensorLayout_t layout)
{
    if (!tensor.defined()) {
        return;
    }
    const bool number = tensor.device().is_cpu();
    TORCH_CHECK(!number || tensor.numel() == 1, "a tensor of the host among those of a card");
    TORCH_CHECK(tensor.dim() <= CNNL_DIM_MAX, tensor.dim(), " dimensions, at most ",
                static_cast<int>(CNNL_DIM_MAX), " are possible");
    const std::array<int64_t, 1> one = {1};
    const bool scalar = tensor.dim() == 0;
    const int64_t *const sizes = scalar ? one.data() : tensor.sizes().data();
    const int64_t *const strides = scalar ? one.data() : tensor.strides().data();
    desc_ = std::make_shared<TensorDescriptor>();
    check(cnnlSetTensorDescriptorEx_v2(desc_->get(), layout, data_type(tensor.scalar_type()),
                                       scalar ? 1 : static_cast<int>(tensor.dim()), sizes, strides),
          "cnnlSetTensorDescriptorEx_v2");
    if (number) {
        check(cnnlSetTensorDescriptorPointerMode(desc_->get(), CNNL_POINTER_MODE_HOST),
              "cnnlSetTensorDescriptorPointerMode");
    }
    tensor_ = tensor;
    ptr_ = const_cast<void *>(tensor.const_data_ptr());
}

Arguments::Arguments(at::TensorList tensors)
{
    for (const at::Tensor &tensor : tensors) {
        arguments_.emplace_back(tensor);
        descs_.push_back(arguments_.back().desc());
        ptrs_.push_back(arguments_.back().ptr());
    }
}

Argument channels(const at::Tensor &tensor)
{
    return tensor.defined() ? Argument(tensor, channel_layout(tensor.dim())) : Argument(tensor);
}

void *memory(const std::optional<at::Tensor> &tensor)
{
    return tensor.has_value() && tensor->defined() ? const_cast<void *>(tensor->const_data_ptr())
                                                   : nullptr;
}

at::Tensor as(const at::Tensor &x, at::ScalarType type)
{
    return x.scalar_type() == type ? x : x.to(type);
}

at::Tensor result(const at::Tensor &y, at::ScalarType type)
{
    return y.scalar_type() == type ? y : at::empty_like(y, y.options().dtype(type));
}

void give(const at::Tensor &y, const at::Tensor &computed)
{
    if (!y.is_same(computed)) {
        y.copy_(computed);
    }
}

} // namespace torch_mlu
