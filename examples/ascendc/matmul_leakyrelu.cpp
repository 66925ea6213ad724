// SPDX-License-Identifier: Apache-2.0
// c = leaky_relu(a * b + bias) with the language's Matmul object: the cube core multiplies blocks,
// the vector cores take them in turn. a [m, k] and b [k, n] in half precision, bias [n] and c in
// f32; each vector core has m / (2 * blocks) rows, n and k are any numbers.
#include <kernel_operator.h>
#include <lib/matmul_intf.h>

using namespace AscendC;
using namespace matmul;

constexpr uint32_t BASE_M = 32, BASE_N = 128, BASE_K = 64;

class MatmulLeakyRelu
{
  public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c,
                                const TCubeTiling &tiling, TPipe *pipe)
    {
        const uint64_t first = (uint64_t)GetBlockIdx() * tiling.singleCoreM;
        this->tiling = tiling;
        aGm.SetGlobalBuffer((__gm__ half *)a + first * tiling.Ka);
        bGm.SetGlobalBuffer((__gm__ half *)b);
        biasGm.SetGlobalBuffer((__gm__ float *)bias);
        cGm.SetGlobalBuffer((__gm__ float *)c + first * tiling.N);
        pipe->InitBuffer(out, 2, BASE_M * BASE_N * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        product.SetTensorA(aGm);
        product.SetTensorB(bGm);
        product.SetBias(biasGm);
        // Blocks come down the columns of blocks first.
        const uint32_t down = (tiling.singleCoreM + BASE_M - 1) / BASE_M;
        for (uint32_t block = 0; product.Iterate(); block++) {
            LocalTensor<float> tile = out.AllocTensor<float>();
            product.GetTensorC(tile);
            LeakyRelu(tile, tile, 0.125f, BASE_M * BASE_N);
            out.EnQue(tile);
            Store(block % down * BASE_M, block / down * BASE_N);
        }
        product.End();
    }

    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half>,
           MatmulType<TPosition::GM, CubeFormat::ND, half>,
           MatmulType<TPosition::VECIN, CubeFormat::ND, float>,
           MatmulType<TPosition::GM, CubeFormat::ND, float>>
        product;

  private:
    // Rows of a block are padded to whole 32 bytes in UB.
    __aicore__ inline void Store(uint32_t row, uint32_t column)
    {
        LocalTensor<float> tile = out.DeQue<float>();
        const uint32_t rows = min(BASE_M, tiling.singleCoreM - row),
                       columns = min(BASE_N, tiling.N - column);
        DataCopyExtParams params((uint16_t)rows, columns * sizeof(float), 0,
                                 (tiling.N - columns) * sizeof(float), 0);
        DataCopyPad(cGm[(uint64_t)row * tiling.N + column], tile, params);
        out.FreeTensor(tile);
    }

    __aicore__ static inline uint32_t min(uint32_t a, uint32_t b)
    {
        return a < b ? a : b;
    }

    TCubeTiling tiling;
    TQue<TPosition::VECOUT, 2> out;
    GlobalTensor<half> aGm, bGm;
    GlobalTensor<float> biasGm, cGm;
};

extern "C" __global__ __aicore__ void matmul_leakyrelu(GM_ADDR a, GM_ADDR b, GM_ADDR bias,
                                                       GM_ADDR c, GM_ADDR workspace, uint32_t m,
                                                       uint32_t k, uint32_t n)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    SetSysWorkspace(workspace);
    TPipe pipe;
    TCubeTiling tiling{};
    tiling.M = m;
    tiling.N = tiling.singleCoreN = n;
    tiling.Ka = tiling.Kb = tiling.singleCoreK = k;
    tiling.singleCoreM = m / (GetBlockNum() * 2);
    tiling.baseM = BASE_M;
    tiling.baseN = BASE_N;
    tiling.baseK = BASE_K;
    tiling.stepKa = tiling.stepKb = 4;
    MatmulLeakyRelu op;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), op.product, &tiling);
    op.Init(a, b, bias, c, tiling, &pipe);
    op.Process();
}
