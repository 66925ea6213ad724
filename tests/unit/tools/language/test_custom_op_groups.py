#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_custom_op_groups.py TOOLKIT: a custom operator whose kernel asks for collectives itself, over two ranks in two processes."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CANN = None
HOST = """
#include "register/op_def_registry.h"
#include "tiling/tiling_api.h"
#include "mix_tiling.h"
namespace optiling
{
static ge::graphStatus Tile(gert::TilingContext *context)
{
    MixTiling *tiling = context->GetTilingData<MixTiling>();
    AscendC::Mc2CcTilingConfig config(context->GetAttrs()->GetStr(0), (uint32_t)HcclCMDType::HCCL_CMD_ALLREDUCE, "AllReduce=level0:doublering");
    if (config.GetTiling(tiling->init) != 0 || config.GetTiling(tiling->reduce) != 0) {
        return ge::GRAPH_FAILED;
    }
    tiling->count = context->GetInputShape(0)->GetStorageShape().GetShapeSize() / 4;
    tiling->mode = *context->GetAttrs()->GetInt(1);
    context->SetBlockDim(2);
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}
namespace ops
{
class GroupMix : public OpDef
{
  public:
    explicit GroupMix(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("group").String();
        this->Attr("mode").Int(0);
        this->Attr("second").AttrType(OPTIONAL).String("");
        this->AICore().SetTiling(optiling::Tile);
        this->AICore().AddConfig("ascend910b");
        this->MC2().HcclGroup({"group", "second"});
    }
};
OP_ADD(GroupMix);
}
"""
TILING = """
#pragma once
#include "kernel_tiling/kernel_tiling.h"
struct MixTiling {
    Mc2InitTiling init;
    Mc2CcTiling reduce;
    uint32_t count, mode;
};
"""
# x has 4 parts of n; z has 16. Each part of z is told by the collective that fills it.
KERNEL = """
#include "kernel_operator.h"
#include "../op_host/mix_tiling.h"
using namespace AscendC;

static __aicore__ void twice(GM_ADDR to, GM_ADDR from, uint32_t n)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    GlobalTensor<float> in, out;
    in.SetGlobalBuffer((__gm__ float *)from, n);
    out.SetGlobalBuffer((__gm__ float *)to, n);
    pipe.InitBuffer(queue, 1, n * sizeof(float));
    LocalTensor<float> x = queue.AllocTensor<float>();
    DataCopy(x, in, n);
    queue.EnQue(x);
    x = queue.DeQue<float>();
    Muls(x, x, 2.0f, n);
    PipeBarrier<PIPE_ALL>();
    DataCopy(out, x, n);
    PipeBarrier<PIPE_ALL>();
    queue.FreeTensor(x);
}

extern "C" __global__ __aicore__ void group_mix(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tilingGM)
{
    REGISTER_TILING_DEFAULT(MixTiling);
    GET_TILING_DATA_WITH_STRUCT(MixTiling, tiling, tilingGM);
    const uint64_t n = tiling.count, part = n * sizeof(float);
    const auto f32 = HcclDataType::HCCL_DATA_TYPE_FP32;
    Hccl<HCCL_SERVER_TYPE_AICPU> hccl;
    hccl.InitV2(GetHcclContext<0>(), &tiling);
    if (hccl.SetCcTilingV2(offsetof(MixTiling, reduce)) != HCCL_SUCCESS) {
        return;
    }
    const uint32_t own = hccl.GetRankId(), other = 1 - own;
    if (tiling.mode == 1) {
        hccl.AllReduce<true>(x, z, n, f32, HCCL_REDUCE_SUM); // and no Finalize
        return;
    }
    if (tiling.mode == 2) {
        const HcclHandle handle = hccl.AllReduce(x, z, n, f32, HCCL_REDUCE_SUM);
        hccl.Wait(handle); // without Commit
        return;
    }
    if (tiling.mode == 4) { // one rank
        if (!hccl.Wait(hccl.AllReduce<true>(x, z, n, f32, HCCL_REDUCE_SUM)) && !hccl.Wait(hccl.AlltoAll<true>(x + part, z + part, n, f32, 2 * n))) {
            hccl.Finalize();
        }
        return;
    }
    if (tiling.mode == 5) { // no such type
        hccl.Wait(hccl.AllReduce<true>(x, z, n, (HcclDataType)99, HCCL_REDUCE_SUM));
        hccl.Finalize();
        return;
    }
    if (tiling.mode == 3) { // more than there is
        const HcclHandle handle = hccl.AllReduce<true>(x, z, n << 40, f32, HCCL_REDUCE_SUM);
        hccl.Wait(handle);
        hccl.Finalize();
        return;
    }
    // z[0], z[1] = sums of x[0], x[1]; z[2] = greatest of x[2]
    const HcclHandle sum = hccl.AllReduce<true>(x, z, n, f32, HCCL_REDUCE_SUM, 2);
    const HcclHandle most = hccl.AllReduce(x + 2 * part, z + 2 * part, n, f32, HCCL_REDUCE_MAX);
    hccl.Commit(most);
    // z[3], z[5] = x[0] of the ranks, z[4], z[6] = x[1]
    const HcclHandle gather = hccl.AllGather<true>(x, z + 3 * part, n, f32, 2 * n, 2);
    // z[7] = sum of x[own * 2]
    const HcclHandle scatter = hccl.ReduceScatter<true>(x, z + 7 * part, n, f32, HCCL_REDUCE_SUM, 2 * n);
    // z[8] = x[own] of rank 0, z[9] of rank 1
    const HcclHandle all = hccl.AlltoAll<true>(x, z + 8 * part, n, f32);
    // z[10] = x[0], z[11] = x[1] of rank 0, z[12] = x[2] and x[3] of rank 1: to the other only
    uint64_t sent[2] = {0, 0}, from[2] = {0, 0}, got[2] = {0, 0}, to[2] = {0, 0};
    sent[other] = got[other] = 2 * n;
    from[other] = own * 2 * n;
    const HcclHandle parts = hccl.AlltoAllV<true>(x, sent, from, f32, z + 10 * part, got, to, f32);
    if (hccl.Wait(sum) || hccl.Wait(sum) || hccl.Wait(sum) != HCCL_FAILED || hccl.Query(sum) != 2) {
        return;
    }
    // z[14], z[15] = twice z[0], z[1]: each block waits for itself
    twice(z + (14 + GetBlockIdx()) * part, z + GetBlockIdx() * part, n);
    if (hccl.Wait(most) || hccl.Wait(gather) || hccl.Wait(gather) || hccl.Wait(scatter) || hccl.Wait(all) || hccl.Wait(parts)) {
        return;
    }
    SyncAll<true>();
    hccl.Finalize();
}
"""
# A rank: argument 1 is its number, 2 the mode, 3 how many there are, 4 a second group; the root's information goes through a file.
PROGRAM = """
#include <acl/acl.h>
#include <aclnn_group_mix.h>
#include <hccl/hccl.h>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>
int main(int argc, char **argv)
{
    const int rank = atoi(argv[1]);
    constexpr int64_t N = 256;
    HcclRootInfo root;
    HcclComm comm;
    char group[128];
    aclInit(nullptr);
    aclrtSetDevice(0);
    if (rank == 0) {
        HcclGetRootInfo(&root);
        FILE *file = fopen("root.tmp", "wb");
        fwrite(&root, sizeof(root), 1, file);
        fclose(file);
        rename("root.tmp", "root");
    }
    for (FILE *file = nullptr; rank && !(file = fopen("root", "rb")); usleep(1000)) {
    }
    if (rank) {
        FILE *file = fopen("root", "rb");
        if (!fread(&root, sizeof(root), 1, file)) {
            return 2;
        }
        fclose(file);
    }
    if (HcclCommInitRootInfo(atoi(argv[3]), &root, rank, &comm) || HcclGetCommName(comm, group)) {
        printf("%s\\n", aclGetRecentErrMsg());
        return 2;
    }
    aclrtStream stream;
    aclrtCreateStream(&stream);
    std::vector<float> x(4 * N), z(16 * N);
    for (int64_t i = 0; i < 4 * N; i++) {
        x[i] = (float)(rank * 10000 + i);
    }
    void *in, *out;
    aclrtMalloc(&in, x.size() * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&out, z.size() * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemset(out, z.size() * 4, 0, z.size() * 4);
    aclrtMemcpy(in, x.size() * 4, x.data(), x.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE);
    const int64_t xs = 4 * N, zs = 16 * N;
    for (int turn = 0; turn < 2; turn++) { // messages of a launch do not disturb the next
        uint64_t bytes;
        aclOpExecutor *executor;
        aclrtEvent begin, end;
        float ms = 0;
        aclrtCreateEvent(&begin);
        aclrtCreateEvent(&end);
        aclrtRecordEvent(begin, stream);
        int error = aclnnGroupMixGetWorkspaceSize(aclCreateTensor(&xs, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &xs, 1, in), group, atoi(argv[2]), argv[4],
                                                  aclCreateTensor(&zs, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &zs, 1, out), &bytes, &executor);
        error = error ? error : aclnnGroupMix(nullptr, 0, executor, stream);
        aclrtRecordEvent(end, stream);
        error = error ? error : aclrtSynchronizeStream(stream);
        if (error) {
            printf("%d: %s\\n", error, aclGetRecentErrMsg());
            fflush(stdout);
            if (*argv[4]) {
                return HcclCommDestroy(comm);
            }
            _exit(1);
        }
        aclrtEventElapsedTime(&ms, begin, end);
        printf("%.3f us\\n", ms * 1000);
    }
    aclrtMemcpy(z.data(), z.size() * 4, out, z.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    for (int i = 0; i < 16; i++) {
        printf("%g %g\\n", z[i * N], z[i * N + N - 1]);
    }
    HcclCommDestroy(comm);
    return aclFinalize();
}
"""
N, WHERE = 256, 10000
WAIT_S = 120


def part(*ranks_and_parts):
    """First and last element of a sum of parts."""
    return [sum(rank * WHERE + p * N + i for rank, p in ranks_and_parts) for i in (0, N - 1)]


def expected(own):
    other = 1 - own
    both = [[(0, p), (1, p)] for p in range(4)]
    received = [[(other, 2 * other)], [(other, 2 * other + 1)]]
    rows = [both[0], both[1], [(1, 2)], [(0, 0)], [(0, 1)], [(1, 0)], [(1, 1)], both[2 * own], [(0, own)], [(1, own)], *received]
    values = [part(*row) for row in rows] + [[0, 0], [0, 0]]
    return values + [[2 * v for v in values[0]], [2 * v for v in values[1]]]


class Groups(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        cls.addClassCleanup(cls.folder.cleanup)
        for name, text in (("op_host/group_mix.cpp", HOST), ("op_host/mix_tiling.h", TILING), ("op_kernel/group_mix.cpp", KERNEL), ("main.cpp", PROGRAM)):
            (cls.path / name).parent.mkdir(exist_ok=True)
            (cls.path / name).write_text(text, encoding="ascii")
        cls.run_tool(sys.executable, "-B", CANN / "share/leo/custom_op/build.py", "--host", "op_host", "--kernel", "op_kernel", "--out", "out")
        vendor = cls.path / "out/packages/vendors/customize/op_api"
        cls.run_tool("g++", "main.cpp", f"-I{CANN}/include", f"-I{vendor}/include", f"-L{vendor}/lib", "-lcust_opapi", f"-L{CANN}/lib64", "-lhccl",
                     "-lopapi", "-lascendcl", f"-Wl,-rpath,{vendor}/lib:{CANN}/lib64", "-o", "main")

    @classmethod
    def run_tool(cls, *words):
        done = subprocess.run(list(map(str, words)), cwd=cls.path, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)

    def ranks(self, mode, count=2, second=""):
        (self.path / "root").unlink(missing_ok=True)
        env = {**os.environ, "LEO_SOC": "ascend910b1", "LEO_CHECK": "all"}
        both = [subprocess.Popen([self.path / "main", str(rank), str(mode), str(count), second], cwd=self.path, env=env, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True) for rank in range(count)]
        try:
            return [process.communicate(timeout=WAIT_S)[0].splitlines() for process in both]
        finally:
            for process in both:
                process.kill()

    def test_collectives_are_right_and_timed(self):
        said = self.ranks(0)
        for own in (0, 1):
            self.assertEqual([list(map(float, line.split())) for line in said[own][2:]], expected(own), said[own])
        self.assertEqual([lines[:2] for lines in said], [lines[:2] for lines in self.ranks(0)])
        # Seven exchanges of one rank's N floats or more, one after the other: none is free, and each begins when it can.
        self.assertGreater(float(said[0][1].split()[0]), 7 * 10)

    def test_one_rank_copies(self):
        self.assertEqual(self.ranks(4, 1)[0][2:5], ["0 255", "256 511", "0 0"])

    def test_one_rank_is_checked_too(self):
        self.assertIn("data type", "\n".join(self.ranks(5, 1)[0]))

    def test_finalize_is_missed(self):
        for lines in self.ranks(1):
            self.assertIn("ended without Finalize", "\n".join(lines))

    def test_a_wait_without_commit_is_a_deadlock(self):
        for lines in self.ranks(2):
            self.assertIn("deadlock", "\n".join(lines))

    def test_a_group_that_is_not_there(self):
        # The first group is served already: it must end, or the communicator waits for it for ever.
        lines, = self.ranks(4, 1, "nowhere")
        self.assertRegex(lines[0], "nowhere")

    def test_groups_are_texts(self):
        (self.path / "other").mkdir()
        host = HOST.replace('HcclGroup({"group", "second"})', 'HcclGroup({"grup", "mode", "second"})').replace("mix_tiling.h", "../op_host/mix_tiling.h")
        (self.path / "other/group_mix.cpp").write_text(host, encoding="ascii")
        with self.assertRaises(AssertionError) as caught:
            self.run_tool(sys.executable, "-B", CANN / "share/leo/custom_op/build.py", "--host", "other", "--kernel", "op_kernel", "--out", "out2")
        for text in ("a kernel has at most two groups", 'HcclGroup("grup"): no attribute of this name is a String',
                     'HcclGroup("mode"): no attribute of this name is a String'):
            self.assertIn(text, str(caught.exception))

    def test_what_cannot_be_done_is_told(self):
        for lines in self.ranks(3):
            self.assertRegex("\n".join(lines), "count|buffer")


if __name__ == "__main__":
    CANN = Path(sys.argv.pop(1)).resolve()
    unittest.main()
