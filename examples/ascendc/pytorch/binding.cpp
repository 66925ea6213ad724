// SPDX-License-Identifier: Apache-2.0
// The kernel as an operator of PyTorch (torch.ops.example.add) and as a function of a Python
// module.
#include <torch/extension.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>

void launch_add(void *stream, void *x, void *y, void *z, uint32_t count);

static at::Tensor add(const at::Tensor &x, const at::Tensor &y)
{
    TORCH_CHECK(x.sizes() == y.sizes() && x.scalar_type() == at::kFloat &&
                    y.scalar_type() == at::kFloat,
                "add: two float tensors of one shape");
    const at::Tensor left = x.contiguous(), right = y.contiguous();
    at::Tensor z = at::empty_like(left);
    if (z.numel() > 0) {
        // stream(true): what the adapter has queued is submitted before.
        launch_add(c10_npu::getCurrentNPUStream().stream(true), left.data_ptr(), right.data_ptr(),
                   z.data_ptr(), static_cast<uint32_t>(z.numel()));
    }
    return z;
}

TORCH_LIBRARY(example, library)
{
    library.def("add(Tensor x, Tensor y) -> Tensor");
}

TORCH_LIBRARY_IMPL(example, PrivateUse1, library)
{
    library.impl("add", add);
}

PYBIND11_MODULE(add_extension, module)
{
    module.def("add", &add);
}
