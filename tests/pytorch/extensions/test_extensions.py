#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_extensions.py TOOLKIT VENV: custom operators under torch_npu: the example's binding, and a library in ASCEND_CUSTOM_OPP_PATH
that replaces what one of the adapter's own operators calls."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples/ascendc/custom_op"
SCRIPT = "import torch, torch_npu; print(torch_npu.fast_gelu(torch.ones(8).npu()).cpu()[0].item())"
# FastGelu that adds 1000.
KERNEL = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void fast_gelu(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(t, tiling);
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float *)x);
    to.SetGlobalBuffer((__gm__ float *)y);
    for (uint32_t i = 0; i < t.count; i++) {
        to.SetValue(i, from.GetValue(i) + 1000);
    }
    DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(to);
}
"""
FAST_GELU = """
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
namespace optiling
{
BEGIN_TILING_DATA_DEF(FastGeluTiling)
TILING_DATA_FIELD_DEF(uint32_t, count);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(FastGelu, FastGeluTiling)
static ge::graphStatus Tile(gert::TilingContext *context)
{
    FastGeluTiling tiling;
    tiling.set_count(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(1);
    return ge::GRAPH_SUCCESS;
}
}
namespace ops
{
class FastGelu : public OpDef
{
  public:
    explicit FastGelu(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(optiling::Tile);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(FastGelu);
}
"""


class Extensions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def good(self, *command, **variables):
        done = subprocess.run([str(word) for word in command], cwd=self.path, capture_output=True, text=True, check=False,
                              env={**os.environ, "ASCEND_HOME_PATH": str(CANN), **variables})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def operators(self, host, kernel):
        self.good(sys.executable, "-B", CANN / "share/leo/custom_op/build.py", "--host", host, "--kernel", kernel, "--out", "out")
        return self.path / "out/packages/vendors/customize"

    def script(self, *words, **variables):
        return self.good(CANN / "bin/leo", "exec", "--soc", "ascend910b1", "--", PYTHON, *words, **variables)

    def test_the_example(self):
        vendor = self.operators(EXAMPLE / "op_host", EXAMPLE / "op_kernel")
        self.script(EXAMPLE / "pytorch/build.py", vendor, self.path)
        said = self.script(EXAMPLE / "pytorch/use.py", self.path / "scale_add.so").splitlines()
        self.assertEqual((len(said), [line.split(": ")[1] for line in said]), (7, ["True"] * 7))

    def test_a_library_before_the_toolkits(self):
        for folder, text in (("op_host", FAST_GELU), ("op_kernel", KERNEL)):
            (self.path / folder).mkdir()
            (self.path / folder / "fast_gelu.cpp").write_text(text, encoding="ascii")
        vendor = self.operators("op_host", "op_kernel")
        self.assertAlmostEqual(float(self.script("-c", SCRIPT, ASCEND_CUSTOM_OPP_PATH="")), 0.8458, places=3)
        self.assertEqual(self.script("-c", SCRIPT, ASCEND_CUSTOM_OPP_PATH=str(vendor)), "1001.0\n")


if __name__ == "__main__":
    CANN, PYTHON = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).absolute() / "bin/python"
    if not PYTHON.exists():
        print(f"no {PYTHON}: tools/setup-pytorch.sh makes it")
        sys.exit(77)
    unittest.main()
