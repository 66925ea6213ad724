// SPDX-License-Identifier: Apache-2.0
// y = softmax(q * k^T / sqrt(64)) * v for one head of 64 numbers, without the matrix of scores in
// global memory. q, k, v, y: rows of 64 halves; a vector core takes 16 queries at a time and goes
// over the keys in tiles of 128. Queries are a multiple of 16, keys of 128.
#include <kernel_operator.h>
#include <lib/matmul_intf.h>

using namespace AscendC;

constexpr uint32_t HEAD = 64, QUERIES = 16, KEYS = 128;

template <TPosition position, typename T, bool turned = false>
using Operand = MatmulType<position, CubeFormat::ND, T, turned>;

class FlashAttention
{
  public:
    // s = q * k^T, o = p * v: one tile each.
    Matmul<Operand<TPosition::GM, half>, Operand<TPosition::GM, half, true>,
           Operand<TPosition::VECCALC, float>>
        scores;
    Matmul<Operand<TPosition::VECCALC, half>, Operand<TPosition::GM, half>,
           Operand<TPosition::VECCALC, float>>
        values;

    __aicore__ static inline TCubeTiling Tiling(uint32_t n, uint32_t k)
    {
        TCubeTiling tiling{};
        tiling.M = tiling.singleCoreM = tiling.baseM = QUERIES;
        tiling.N = tiling.singleCoreN = tiling.baseN = n;
        tiling.Ka = tiling.Kb = tiling.singleCoreK = tiling.baseK = k;
        tiling.stepKa = 1;
        return tiling;
    }

    __aicore__ inline void Init(GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR y, uint32_t queries,
                                uint32_t keys, TPipe *pipe)
    {
        this->queries = queries;
        this->keys = keys;
        qGm.SetGlobalBuffer((__gm__ half *)q);
        kGm.SetGlobalBuffer((__gm__ half *)k);
        vGm.SetGlobalBuffer((__gm__ half *)v);
        yGm.SetGlobalBuffer((__gm__ half *)y);
        pipe->InitBuffer(tile, QUERIES * KEYS * sizeof(float));
        pipe->InitBuffer(weights, QUERIES * KEYS * sizeof(half));
        pipe->InitBuffer(part, QUERIES * HEAD * sizeof(float));
        pipe->InitBuffer(sum, QUERIES * HEAD * sizeof(float));
        pipe->InitBuffer(work, 256);
        pipe->InitBuffer(out, 1, QUERIES * HEAD * sizeof(half));
    }

    __aicore__ inline void Process()
    {
        const uint32_t step = QUERIES * GetBlockNum() * GetTaskRatio();
        for (uint32_t first = QUERIES * GetBlockIdx(); first < queries; first += step) {
            LocalTensor<float> o = sum.Get<float>();
            Duplicate(o, 0.0f, QUERIES * HEAD);
            for (uint32_t i = 0; i < QUERIES; i++) {
                largest[i] = -65504.0f;
                total[i] = 0;
            }
            for (uint32_t key = 0; key < keys; key += KEYS) {
                Tile(first, key, o);
            }
            Store(first, o);
        }
        scores.End();
        values.End();
    }

  private:
    // What was summed so far is scaled when a larger score comes.
    __aicore__ inline void Tile(uint32_t first, uint32_t key, LocalTensor<float> &o)
    {
        LocalTensor<float> s = tile.Get<float>(), part_o = part.Get<float>();
        LocalTensor<half> p = weights.Get<half>();
        scores.SetTensorA(qGm[first * HEAD]);
        scores.SetTensorB(kGm[key * HEAD], true);
        scores.IterateAll(s);
        Muls(s, s, 0.125f, QUERIES * KEYS);
        for (uint32_t i = 0; i < QUERIES; i++) {
            Row(i, s[i * KEYS], o[i * HEAD]);
        }
        Cast(p, s, RoundMode::CAST_NONE, QUERIES * KEYS);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        values.SetTensorA(p);
        values.SetTensorB(vGm[key * HEAD]);
        values.IterateAll(part_o);
        Add(o, o, part_o, QUERIES * HEAD);
    }

    __aicore__ inline void Row(uint32_t i, LocalTensor<float> s, LocalTensor<float> o)
    {
        LocalTensor<float> tmp = work.Get<float>();
        ReduceMax(tmp, s, tmp, KEYS);
        const float now = tmp.GetValue(0), before = largest[i];
        const float top = now > before ? now : before;
        Duplicate(tmp, before - top, 8);
        Exp(tmp, tmp, 8);
        const float scale = tmp.GetValue(0);
        Muls(o, o, scale, HEAD);
        Adds(s, s, -top, KEYS);
        Exp(s, s, KEYS);
        ReduceSum(tmp, s, tmp, KEYS);
        total[i] = total[i] * scale + tmp.GetValue(0);
        largest[i] = top;
    }

    __aicore__ inline void Store(uint32_t first, LocalTensor<float> &o)
    {
        LocalTensor<half> y = out.AllocTensor<half>();
        for (uint32_t i = 0; i < QUERIES; i++) {
            Muls(o[i * HEAD], o[i * HEAD], 1.0f / total[i], HEAD);
        }
        Cast(y, o, RoundMode::CAST_NONE, QUERIES * HEAD);
        out.EnQue(y);
        y = out.DeQue<half>();
        DataCopy(yGm[first * HEAD], y, QUERIES * HEAD);
        out.FreeTensor(y);
    }

    TBuf<TPosition::VECCALC> tile, weights, part, sum, work;
    TQue<TPosition::VECOUT, 1> out;
    GlobalTensor<half> qGm, kGm, vGm, yGm;
    uint32_t queries, keys;
    float largest[QUERIES], total[QUERIES];
};

extern "C" __global__ __aicore__ void flash_attention(GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR y,
                                                      GM_ADDR workspace, uint32_t queries,
                                                      uint32_t keys)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    SetSysWorkspace(workspace);
    TPipe pipe;
    FlashAttention op;
    const TCubeTiling scores = FlashAttention::Tiling(KEYS, HEAD),
                      values = FlashAttention::Tiling(HEAD, KEYS);
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), op.scores, &scores, op.values, &values);
    op.Init(q, k, v, y, queries, keys, &pipe);
    op.Process();
}
