// SPDX-License-Identifier: Apache-2.0
// The custom operator as torch.ops.example.scale_add, by its two aclnn functions: the first one
// here, the second where torch_npu submits work to the stream.
#include <torch/library.h>

#include <acl/acl.h>
#include <aclnn_scale_add.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>
#include <torch_npu/csrc/framework/OpCommand.h>

static aclTensor *described(const at::Tensor &tensor)
{
    const aclDataType type = tensor.scalar_type() == at::kFloat  ? ACL_FLOAT
                             : tensor.scalar_type() == at::kHalf ? ACL_FLOAT16
                             : tensor.scalar_type() == at::kInt  ? ACL_INT32
                                                                 : ACL_DT_UNDEFINED;
    const int64_t elements = static_cast<int64_t>(tensor.storage().nbytes() / tensor.itemsize());
    return aclCreateTensor(tensor.sizes().data(), tensor.dim(), type, tensor.strides().data(),
                           tensor.storage_offset(), ACL_FORMAT_ND, &elements, 1,
                           const_cast<void *>(tensor.storage().data()));
}

static at::Tensor scale_add(const at::Tensor &x, const std::optional<at::Tensor> &y, double alpha)
{
    at::Tensor z = at::empty(x.sizes(), x.options()); // rows, whatever the strides of x
    aclTensor *tensors[] = {described(x), y ? described(*y) : nullptr, described(z)};
    uint64_t bytes = 0;
    aclOpExecutor *executor = nullptr;
    const aclnnStatus error =
        aclnnScaleAddGetWorkspaceSize(tensors[0], tensors[1], alpha, tensors[2], &bytes, &executor);
    TORCH_CHECK(error == ACL_SUCCESS, "scale_add: ", aclGetRecentErrMsg());
    at::Tensor workspace = at::empty({static_cast<int64_t>(bytes)}, x.options().dtype(at::kByte));
    const aclrtStream stream = c10_npu::getCurrentNPUStream().stream(false);
    at_npu::native::OpCommand::RunOpApiV2("ScaleAdd", [=] {
        const int result = aclnnScaleAdd(workspace.data_ptr(), bytes, executor, stream);
        for (const aclTensor *tensor : tensors) {
            aclDestroyTensor(tensor);
        }
        return result;
    });
    return z;
}

TORCH_LIBRARY(example, library)
{
    library.def("scale_add(Tensor x, Tensor? y, float alpha) -> Tensor");
}

TORCH_LIBRARY_IMPL(example, PrivateUse1, library)
{
    library.impl("scale_add", scale_add);
}
