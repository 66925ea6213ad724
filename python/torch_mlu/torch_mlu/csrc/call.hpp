// SPDX-License-Identifier: Apache-2.0
// A call of CNNL with torch's tensors: run(cnnlAbs, in(x), out(y)). C++ only.
#pragma once

#include "runtime.hpp"

#include <ATen/ATen.h>

#include <array>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace torch_mlu
{

cnnlDataType_t data_type(at::ScalarType type);

/** A descriptor that dies with its owner; made by cnnlCreate..., set by the caller. */
template <class T, cnnlStatus_t (*Create)(T *), cnnlStatus_t (*Destroy)(T)> class Descriptor
{
  public:
    Descriptor()
    {
        check(Create(&desc_), "cnnlCreate...Descriptor");
    }
    ~Descriptor()
    {
        (void)Destroy(desc_);
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    T get() const
    {
        return desc_;
    }

  private:
    T desc_ = nullptr;
};

using TensorDescriptor =
    Descriptor<cnnlTensorDescriptor_t, cnnlCreateTensorDescriptor, cnnlDestroyTensorDescriptor>;
using OpTensorDescriptor = Descriptor<cnnlOpTensorDescriptor_t, cnnlCreateOpTensorDescriptor,
                                      cnnlDestroyOpTensorDescriptor>;
using ActivationDescriptor = Descriptor<cnnlActivationDescriptor_t, cnnlCreateActivationDescriptor,
                                        cnnlDestroyActivationDescriptor>;
using ReduceDescriptor =
    Descriptor<cnnlReduceDescriptor_t, cnnlCreateReduceDescriptor, cnnlDestroyReduceDescriptor>;
using DivDescriptor =
    Descriptor<cnnlDivDescriptor_t, cnnlCreateDivDescriptor, cnnlDestroyDivDescriptor>;
using TrigonDescriptor =
    Descriptor<cnnlTrigonDescriptor_t, cnnlCreateTrigonDescriptor, cnnlDestroyTrigonDescriptor>;
using ConvolutionDescriptor =
    Descriptor<cnnlConvolutionDescriptor_t, cnnlCreateConvolutionDescriptor,
               cnnlDestroyConvolutionDescriptor>;
using PoolingDescriptor =
    Descriptor<cnnlPoolingDescriptor_t, cnnlCreatePoolingDescriptor, cnnlDestroyPoolingDescriptor>;
using InterpDescriptor =
    Descriptor<cnnlInterpDescriptor_t, cnnlCreateInterpDescriptor, cnnlDestroyInterpDescriptor>;
using StdVarMeanDescriptor = Descriptor<cnnlStdVarMeanDescriptor_t, cnnlCreateStdVarMeanDescriptor,
                                        cnnlDestroyStdVarMeanDescriptor>;

/**
 * A tensor as an argument: descriptor and memory. A tensor of the host with one element is a number
 * that the call reads. An undefined one is NULL, NULL. Lives until the call returned.
 */
class Argument
{
  public:
    explicit Argument(const at::Tensor &tensor, cnnlTensorLayout_t layout = CNNL_LAYOUT_ARRAY);
    cnnlTensorDescriptor_t desc() const
    {
        return desc_ ? desc_->get() : nullptr;
    }
    void *ptr() const
    {
        return ptr_;
    }

  private:
    std::shared_ptr<TensorDescriptor> desc_;
    at::Tensor tensor_; ///< keeps memory
    void *ptr_ = nullptr;
};

/** A descriptor without memory. */
struct Shape {
    Argument argument;
};

/** Tensors as arguments: arrays of descriptors and of memory. */
class Arguments
{
  public:
    explicit Arguments(at::TensorList tensors);
    const cnnlTensorDescriptor_t *descs() const
    {
        return descs_.data();
    }
    void *const *ptrs() const
    {
        return ptrs_.data();
    }
    int64_t size() const
    {
        return static_cast<int64_t>(descs_.size());
    }

  private:
    std::vector<Argument> arguments_;
    std::vector<cnnlTensorDescriptor_t> descs_;
    std::vector<void *> ptrs_;
};

/** A workspace: none. libcnnl keeps temporaries in the handle. */
struct Workspace {
};

inline Argument in(const at::Tensor &tensor)
{
    return Argument(tensor);
}
inline Argument out(const at::Tensor &tensor)
{
    return Argument(tensor);
}
inline Argument in(const std::optional<at::Tensor> &tensor)
{
    return Argument(tensor.value_or(at::Tensor()));
}
/** A tensor whose second dimension has the channels. */
Argument channels(const at::Tensor &tensor);
inline Shape shape(const at::Tensor &tensor)
{
    return {Argument(tensor)};
}
inline Workspace work()
{
    return {};
}
/** Memory alone, NULL for none. */
void *memory(const std::optional<at::Tensor> &tensor);

inline auto flat(const Argument &argument)
{
    return std::make_tuple(argument.desc(), argument.ptr());
}
inline auto flat(const Shape &shape)
{
    return std::make_tuple(shape.argument.desc());
}
inline auto flat(const Arguments &list)
{
    return std::make_tuple(list.descs(), list.ptrs());
}
inline auto flat(const Workspace &)
{
    return std::make_tuple(static_cast<void *>(nullptr), size_t{0});
}
template <class T, cnnlStatus_t (*Create)(T *), cnnlStatus_t (*Destroy)(T)>
auto flat(const Descriptor<T, Create, Destroy> &desc)
{
    return std::make_tuple(desc.get());
}
template <class T> auto flat(const T &plain)
{
    return std::make_tuple(plain);
}

/** Calls a function of CNNL on the current stream; throws if it fails, after CNNL printed on stderr
 * why. */
template <class F, class... A> void run(F function, const A &...arguments)
{
    check(
        std::apply(function, std::tuple_cat(std::make_tuple(current_handle()), flat(arguments)...)),
        "CNNL");
}

/** x in that type on a card; a number of the host stays there. */
at::Tensor as(const at::Tensor &x, at::ScalarType type);
/** The type that operands of these have together. */
inline at::ScalarType common(const at::Tensor &a, const at::Tensor &b)
{
    return at::result_type(a, b);
}
/** A result to compute into: `y` itself if it has the type, else a new tensor; see give(). */
at::Tensor result(const at::Tensor &y, at::ScalarType type);
/** Copies what was computed into y unless it is y. */
void give(const at::Tensor &y, const at::Tensor &computed);

} // namespace torch_mlu
