/* SPDX-License-Identifier: Apache-2.0 */
/* ScaleAdd: z = alpha * x + y, or alpha * x without y. */
#include "scale_add_tiling.h"
#include <algorithm>
#include <register/op_def_registry.h>
#include <tiling/platform/platform_ascendc.h>

namespace optiling
{
static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ub = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
    const uint64_t count = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    const uint64_t bytes = ge::GetSizeByDataType(context->GetInputDesc(0)->GetDataType());
    const uint64_t unit = 32 / bytes;
    const uint64_t units = (count + unit - 1) / unit;
    const uint64_t blocks =
        std::max<uint64_t>(1, std::min<uint64_t>(platform.GetCoreNumAiv(), units / 64));
    ScaleAddTilingData tiling;
    tiling.set_count(count);
    tiling.set_part((units + blocks - 1) / blocks * unit);
    tiling.set_tile(ub / 8 / bytes / unit * unit); // three queues of two buffers, and room to spare
    tiling.set_alpha(*context->GetAttrs()->GetFloat(0));
    context->SetTilingKey(context->GetOptionalInputShape(1) ? 2 : 1); // tensors that are read
    context->SetBlockDim(blocks);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops
{
class ScaleAdd : public OpDef
{
  public:
    explicit ScaleAdd(const char *name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("y")
            .ParamType(OPTIONAL)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("z")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("alpha").AttrType(OPTIONAL).Float(1.0);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};

OP_ADD(ScaleAdd);
} // namespace ops
