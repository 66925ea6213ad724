// SPDX-License-Identifier: Apache-2.0
// torchvision's operators on boxes. Registered by name: torchvision itself need not be there.
#include "elementwise.hpp"

#include <torch/library.h>

#include <limits>

namespace torch_mlu
{
namespace
{

using NmsDescriptor =
    Descriptor<cnnlNmsDescriptor_t, cnnlCreateNmsDescriptor, cnnlDestroyNmsDescriptor>;
using RoiAlignDescriptor = Descriptor<cnnlRoiAlignDescriptor_t, cnnlCreateRoiAlignDescriptor,
                                      cnnlDestroyRoiAlignDescriptor>;

constexpr int MEAN = 1; // of a cell's samples

template <class T> void set(const NmsDescriptor &desc, cnnlNmsDescAttribute_t attr, T value)
{
    check(cnnlSetNmsDescAttr(desc.get(), attr, &value, sizeof(value)), "cnnlSetNmsDescAttr");
}

at::Tensor nms(const at::Tensor &boxes, const at::Tensor &scores, double overlap)
{
    TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 4 && scores.dim() == 1 &&
                    scores.size(0) == boxes.size(0),
                "nms: boxes are rows of 4 numbers, with a score each: ", boxes.sizes(), " and ",
                scores.sizes());
    const at::Tensor chosen = at::empty({boxes.size(0)}, boxes.options().dtype(at::kLong)),
                     count = at::empty({1}, boxes.options().dtype(at::kInt));
    if (!boxes.numel()) {
        return chosen;
    }
    const NmsDescriptor desc;
    set(desc, CNNL_NMS_DESC_IOU_THRESHOLD, static_cast<float>(overlap));
    set(desc, CNNL_NMS_DESC_CONFIDENCE_THRESHOLD, -std::numeric_limits<float>::infinity());
    set(desc, CNNL_NMS_DESC_MAX_OUTPUT_SIZE, -1);
    run(cnnlNms_v2, desc, in(boxes), in(scores), work(), out(chosen), memory(count));
    return chosen.slice(0, 0, count.item<int>());
}

at::Tensor roi_align(const at::Tensor &x, const at::Tensor &regions, double scale, int64_t height,
                     int64_t width, int64_t samples, bool aligned)
{
    TORCH_CHECK(regions.dim() == 2 && regions.size(1) == 5,
                "roi_align: regions are rows of 5 numbers, not ", regions.sizes());
    const at::Tensor y = at::empty({regions.size(0), x.size(1), height, width}, x.options());
    if (!y.numel()) {
        return y;
    }
    const RoiAlignDescriptor desc;
    check(cnnlSetRoiAlignDescriptor_v2(desc.get(), static_cast<int>(height),
                                       static_cast<int>(width), static_cast<int>(samples),
                                       static_cast<float>(scale), MEAN, aligned),
          "cnnlSetRoiAlignDescriptor_v2");
    run(cnnlRoiAlign_v2, desc, channels(x), in(regions), channels(y), in(at::Tensor()),
        in(at::Tensor()));
    return y;
}

at::Tensor roi_align_backward(const at::Tensor &diff, const at::Tensor &regions, double scale,
                              int64_t, int64_t, int64_t images, int64_t planes, int64_t height,
                              int64_t width, int64_t samples, bool aligned)
{
    const at::Tensor y = at::empty({images, planes, height, width}, diff.options());
    if (!diff.numel()) {
        return y.zero_();
    }
    run(cnnlRoiAlignBackward_v2, channels(diff), in(regions), in(at::Tensor()), in(at::Tensor()),
        static_cast<float>(scale), static_cast<int>(samples), aligned, MEAN, channels(y));
    return y;
}

} // namespace

TORCH_LIBRARY_IMPL(torchvision, PrivateUse1, m)
{
    m.impl("nms", nms);
    m.impl("roi_align", roi_align);
    m.impl("_roi_align_backward", roi_align_backward);
}

} // namespace torch_mlu
