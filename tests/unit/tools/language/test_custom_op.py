#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_custom_op.py TOOLKIT: custom operators from msopgen's JSON to a program that calls their aclnn functions, and what is refused."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
EXAMPLE = ROOT / "examples/ascendc/custom_op"
CANN = None

# A list of tensors, an array on the host that the tiling function reads, an output that is the input, structures within
# structures, attributes of all kinds, kinds of cores by tiling key.
HOST = """
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "tiling/tiling_api.h"
using namespace AscendC; // as public code has it
namespace optiling
{
BEGIN_TILING_DATA_DEF(Inner)
TILING_DATA_FIELD_DEF(uint8_t, small);
TILING_DATA_FIELD_DEF_ARR(uint16_t, 3, numbers);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(InnerOp, Inner)
BEGIN_TILING_DATA_DEF(MixTiling)
TILING_DATA_FIELD_DEF(uint8_t, first);
TILING_DATA_FIELD_DEF_STRUCT(Inner, inner);
TILING_DATA_FIELD_DEF(int32_t, total);
TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);
TILING_DATA_FIELD_DEF_STRUCT(UnPadTiling, unpad);
TILING_DATA_FIELD_DEF(uint64_t, last);
END_TILING_DATA_DEF
REGISTER_TILING_DATA_CLASS(ListMix, MixTiling)
static ge::graphStatus Tile(gert::TilingContext *context)
{
    MixTiling tiling;
    const int64_t *values = context->GetInputTensor(2)->GetData<int64_t>(); // two tensors of the list before it
    const gert::RuntimeAttrs *attrs = context->GetAttrs();
    uint16_t numbers[] = {(uint16_t)values[0], (uint16_t)values[1], (uint16_t)attrs->GetListInt(2)->GetData()[1]};
    if (*attrs->GetBool(1) != true || strcmp(attrs->GetStr(3), "word") || context->GetInputTensor(2)->GetShapeSize() != 2) {
        return ge::GRAPH_FAILED;
    }
    matmul_tiling::MatmulApiTiling cube;
    cube.SetShape(100, 200, 300);
    if (cube.GetTiling(tiling.cube) != 0) {
        return ge::GRAPH_FAILED;
    }
    uint32_t most, least;
    const ge::Shape rows(std::vector<int64_t>{2, 3, 40});
    AscendC::GetUnPadMaxMinTmpSize(platform_ascendc::PlatformAscendC(context->GetPlatformInfo()), rows, 4, most, least);
    AscendC::UnPadTilingFunc(rows, least, 4, tiling.unpad);
    tiling.set_first(7);
    tiling.inner.set_small(5);
    tiling.inner.set_numbers(numbers);
    tiling.set_total(context->GetDynamicInputShape(0, 1)->GetStorageShape().GetDim(0));
    tiling.set_last(*attrs->GetInt(0));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetTilingKey(*attrs->GetInt(0));
    context->SetBlockDim(1);
    context->GetWorkspaceSizes(1)[0] = 64;
    return ge::GRAPH_SUCCESS;
}
IMPL_OP_OPTILING(ListMix).Tiling(Tile);
}
namespace ops
{
class ListMix : public OpDef
{
  public:
    explicit ListMix(const char *name) : OpDef(name)
    {
        this->Input("xs").ParamType(DYNAMIC).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
        this->Input("sizes").ParamType(REQUIRED).DataType({ge::DT_INT64}).Format({ge::FORMAT_ND}).ValueDepend(REQUIRED);
        this->Input("z").ParamType(REQUIRED).DataTypeList({ge::DT_INT32, ge::DT_UINT32}).FormatList({ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataTypeList({ge::DT_INT32, ge::DT_UINT32}).FormatList({ge::FORMAT_ND});
        this->Attr("key").Int(0);
        this->Attr("flag").Bool(false);
        this->Attr("list").ListInt({});
        this->Attr("text").String("");
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(ListMix);
}
"""
KERNEL = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void list_mix(GM_ADDR xs, GM_ADDR sizes, GM_ADDR z, GM_ADDR zOut, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(t, tiling);
    GlobalTensor<int32_t> out, x;
    out.SetGlobalBuffer((__gm__ int32_t *)z, 16);
    const uint64_t *words = (__gm__ uint64_t *)xs;
    x.SetGlobalBuffer((__gm__ int32_t *)words[words[0] / 8 + 1], 4);
    int kind = 0;
    if (TILING_KEY_IS(2)) {
        KERNEL_TASK_TYPE(2, KERNEL_TYPE_MIX_AIC_1_2);
        kind = 2;
        if (!ASCEND_IS_AIC) {
            return;
        }
    } else if (TILING_KEY_IS(3)) {
        kind = 3;
    } else if (TILING_KEY_IS(4)) {
        kind = 4;
    }
    int32_t values[] = {t.first, t.inner.small, t.inner.numbers[0], t.inner.numbers[1], t.inner.numbers[2], t.total, t.cube.baseK, (int32_t)t.last,
                        x.GetValue(3), kind, z == zOut, workspace != nullptr, (int32_t)((__gm__ int64_t *)sizes)[1], out.GetValue(13), (int32_t)words[1],
                        (int32_t)(t.unpad.srcHeight * 100 + t.unpad.srcWidth)};
    for (int i = 0; i < 16; i++) {
        out.SetValue(i, values[i]);
    }
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(out);
}
"""
PROGRAM = """
#include <acl/acl.h>
#include <aclnn_list_mix.h>
#include <cstdio>
int main()
{
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    for (int key = 2; key < 5; key++) {
        char *data;
        int32_t host[16] = {0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 77};
        aclrtMalloc((void **)&data, 192, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMemset(data, 192, 0, 192);
        aclrtMemcpy(data + 64, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE);
        aclrtMemcpy(data + 128, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE);
        const int64_t four = 4, sixteen = 16, sizes[] = {11, 12}, list[] = {13, 14};
        aclTensor *xs[] = {aclCreateTensor(&four, 1, ACL_INT32, nullptr, 0, ACL_FORMAT_ND, &four, 1, data),
                           aclCreateTensor(&four, 1, ACL_INT32, nullptr, 0, ACL_FORMAT_ND, &four, 1, data + 64)};
        aclTensor *z = aclCreateTensor(&sixteen, 1, ACL_INT32, nullptr, 0, ACL_FORMAT_ND, &sixteen, 1, data + 128);
        uint64_t bytes;
        void *workspace;
        aclOpExecutor *executor;
        int first = aclnnListMixGetWorkspaceSize(aclCreateTensorList(xs, 2), aclCreateIntArray(sizes, 2), z, key, true, aclCreateIntArray(list, 2),
                                                 "word", &bytes, &executor);
        aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        int second = aclnnListMix(workspace, bytes, executor, stream), third = aclrtSynchronizeStream(stream);
        int again = aclnnListMix(workspace, bytes, executor, stream);
        aclrtMemcpy(host, 64, data + 128, 64, ACL_MEMCPY_DEVICE_TO_HOST);
        printf("%d %d %d %d:", first, second, third, again);
        for (int i = 0; i < 16; i++) {
            printf(" %d", host[i]);
        }
        printf("\\n");
    }
    return aclFinalize();
}
"""
# 128 is baseK: two blocks of 128 by 128 halves fill an operand's L0.
SAID = "".join(f"0 0 0 161002: 7 5 11 12 14 4 128 {key} 40 {key} 1 1 12 77 1 640\n" for key in (2, 3, 4))


class CustomOp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def gen(self, *words):
        return subprocess.run([CANN / "bin/msopgen", "gen", *map(str, words)], capture_output=True, text=True, check=False)

    def build(self, *words):
        return subprocess.run([sys.executable, "-B", CANN / "share/leo/custom_op/build.py", "--host", "op_host", "--kernel", "op_kernel", "--out", "out",
                               *words], cwd=self.path, capture_output=True, text=True, check=False)

    def write(self, name, host, kernel):
        for folder, text in (("op_host", host), ("op_kernel", kernel)):
            (self.path / folder).mkdir(exist_ok=True)
            (self.path / folder / f"{name}.cpp").write_text(text, encoding="ascii")

    def run_program(self, source, vendor):
        """Compiled and run as the vendor's documents do it."""
        lib = vendor / "op_api/lib"
        done = subprocess.run(["g++", source, f"-I{CANN}/include", f"-I{vendor}/op_api/include", f"-L{lib}", "-lcust_opapi", f"-L{CANN}/lib64", "-lopapi",
                               "-lascendcl", f"-Wl,-rpath,{lib}:{CANN}/lib64", "-o", self.path / "program"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return subprocess.run([self.path / "program"], env={**os.environ, "LEO_SOC": "ascend910b1", "LEO_CHECK": "all"}, capture_output=True,
                              text=True, check=False)

    def test_the_example(self):
        project = self.path / "project"
        made = self.gen("-i", EXAMPLE / "scale_add.json", "-c", "ai_core-Ascend910B1", "-lan", "cpp", "-out", project)
        self.assertEqual(made.returncode, 0, made.stderr)
        described = (EXAMPLE / "op_host/scale_add.cpp").read_text(encoding="ascii").partition("namespace ops")[2]
        self.assertEqual((project / "op_host/scale_add.cpp").read_text(encoding="ascii").partition("namespace ops")[2], described)
        for folder in ("op_host", "op_kernel"):
            shutil.copytree(EXAMPLE / folder, project / folder, dirs_exist_ok=True)
        built = subprocess.run([project / "build.sh"], capture_output=True, text=True, check=False)
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        runs = list((project / "build_out").glob("custom_opp_*.run"))
        installed = subprocess.run([runs[0], f"--install-path={self.path}/opp"], capture_output=True, text=True, check=False)
        self.assertIn("set_env.bash", installed.stdout)
        vendor = self.path / "opp/vendors/customize"
        self.assertIn(str(vendor), (vendor / "bin/set_env.bash").read_text(encoding="ascii"))
        run = self.run_program(EXAMPLE / "main.cpp", vendor)
        lines = run.stdout.splitlines()
        for what in ("float with y", "float without y", "half with y", "transposed x"):
            self.assertIn(f"{what}: 0 wrong", lines, run.stdout + run.stderr)
        self.assertIn("has no combination of these types: x 3 y 3 z 3", run.stdout)
        opp = self.path / "toolkit_opp"
        (opp / "vendors").mkdir(parents=True)
        (opp / "vendors/config.ini").write_text("load_priority=other\n", encoding="ascii")
        subprocess.run([runs[0]], env={**os.environ, "ASCEND_OPP_PATH": str(opp)}, capture_output=True, check=True)
        self.assertEqual((opp / "vendors/config.ini").read_text(encoding="ascii"), "load_priority=customize,other\n")

    def test_what_a_description_may_hold(self):
        self.write("list_mix", HOST, KERNEL)
        built = self.build()
        self.assertEqual(built.returncode, 0, built.stderr)
        # The kernel names no type: one image for both, and one for the key with a kind of its own.
        self.assertEqual(sorted(path.name for path in (self.path / "out/work").glob("*.elf")),
                         ["ListMix_ascend910b_0.elf", "ListMix_ascend910b_0_2.elf"])
        program = self.path / "program.cpp"
        program.write_text(PROGRAM, encoding="ascii")
        run = self.run_program(program, self.path / "out/packages/vendors/customize")
        self.assertEqual(run.stdout, SAID, run.stderr)

    def test_what_is_refused(self):
        host = HOST.replace("IMPL_OP_OPTILING(ListMix).Tiling(Tile);", "").replace(".ValueDepend(REQUIRED)", ".InitValue(0)")
        self.write("list_mix", host, KERNEL)
        said = self.build("--soc", "ascend910").stderr
        for text in ("operator ListMix: no tiling function", "operator ListMix: parameter sizes: InitValue is not there",
                     "AddConfig names ascend910b; the project is built for ascend910"):
            self.assertIn(text, said)
        self.assertIn("no chip is called ascend310", self.build("--soc", "ascend310").stderr)
        source = self.path / "op.json"
        for change, text in (({"op": "small"}, "upper camel case"), ({"input_desc": [{"name": "x", "type": ["fp17"]}]}, "no type is called fp17")):
            source.write_text(json.dumps([{"op": "Big", "input_desc": [{"name": "x", "type": ["fp16"]}], **change}]), encoding="ascii")
            self.assertIn(text, self.gen("-i", source, "-c", "ai_core-Ascend910B1", "-out", self.path / "new").stderr)
        self.assertIn("the chips are", self.gen("-i", source, "-c", "ai_core-Ascend310P3", "-out", self.path / "new").stderr)


if __name__ == "__main__":
    CANN = Path(sys.argv.pop(1)).resolve()
    unittest.main()
