// SPDX-License-Identifier: Apache-2.0
// c = a * b by hand on the Cube of the split core: a [m, k] and b [k, n] in half precision, c in
// f32, one tile of 64 x 64 a block and step. m, k and n are multiples of 64.
#include <kernel_operator.h>

using namespace AscendC;

constexpr uint32_t SIDE = 64, FRACTAL = 16; // elements

class Matmul
{
  public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m, uint32_t k, uint32_t n)
    {
        this->m = m;
        this->k = k;
        this->n = n;
        aGm.SetGlobalBuffer((__gm__ half *)a, (uint64_t)m * k);
        bGm.SetGlobalBuffer((__gm__ half *)b, (uint64_t)k * n);
        cGm.SetGlobalBuffer((__gm__ float *)c, (uint64_t)m * n);
        pipe.InitBuffer(a1, 2, SIDE * SIDE * sizeof(half));
        pipe.InitBuffer(b1, 2, SIDE * SIDE * sizeof(half));
        pipe.InitBuffer(a2, 2, SIDE * SIDE * sizeof(half));
        pipe.InitBuffer(b2, 2, SIDE * SIDE * sizeof(half));
        pipe.InitBuffer(co1, 1, SIDE * SIDE * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        const uint32_t across = n / SIDE, tiles = m / SIDE * across;
        for (uint32_t tile = GetBlockIdx(); tile < tiles; tile += GetBlockNum()) {
            LocalTensor<float> c = co1.AllocTensor<float>();
            for (uint32_t step = 0; step < k / SIDE; step++) {
                Load(tile / across * SIDE, step * SIDE, tile % across * SIDE);
                Split();
                Multiply(c, step == 0);
            }
            co1.EnQue(c);
            Store(tile / across * SIDE, tile % across * SIDE);
        }
    }

  private:
    // Rows of global memory become fractals in L1: columns of 16 side by side.
    __aicore__ inline void Load(uint32_t row, uint32_t inner, uint32_t column)
    {
        LocalTensor<half> a = a1.AllocTensor<half>();
        LocalTensor<half> b = b1.AllocTensor<half>();
        Nd2NzParams params;
        params.ndNum = 1;
        params.nValue = SIDE;
        params.dValue = SIDE;
        params.srcDValue = (uint16_t)k;
        params.dstNzC0Stride = SIDE;
        params.dstNzNStride = 1;
        DataCopy(a, aGm[(uint64_t)row * k + inner], params);
        params.srcDValue = (uint16_t)n;
        DataCopy(b, bGm[(uint64_t)inner * n + column], params);
        a1.EnQue(a);
        b1.EnQue(b);
    }

    // L0A wants fractals row by row, L0B wants them transposed.
    __aicore__ inline void Split()
    {
        LocalTensor<half> a = a1.DeQue<half>(), b = b1.DeQue<half>();
        LocalTensor<half> ca = a2.AllocTensor<half>(), cb = b2.AllocTensor<half>();
        LoadData2dParams params;
        params.repeatTimes = SIDE / FRACTAL;
        params.srcStride = SIDE / FRACTAL;
        for (uint32_t i = 0; i < SIDE / FRACTAL; i++) {
            params.ifTranspose = false;
            LoadData(ca[i * SIDE * FRACTAL], a[i * FRACTAL * FRACTAL], params);
            params.ifTranspose = true;
            LoadData(cb[i * SIDE * FRACTAL], b[i * FRACTAL * FRACTAL], params);
        }
        a2.EnQue(ca);
        b2.EnQue(cb);
        a1.FreeTensor(a);
        b1.FreeTensor(b);
    }

    __aicore__ inline void Multiply(const LocalTensor<float> &c, bool first)
    {
        LocalTensor<half> a = a2.DeQue<half>(), b = b2.DeQue<half>();
        MmadParams params;
        params.m = SIDE;
        params.n = SIDE;
        params.k = SIDE;
        params.cmatrixInitVal = first;
        Mmad(c, a, b, params);
        a2.FreeTensor(a);
        b2.FreeTensor(b);
    }

    __aicore__ inline void Store(uint32_t row, uint32_t column)
    {
        LocalTensor<float> c = co1.DeQue<float>();
        FixpipeParamsV220 params;
        params.nSize = SIDE;
        params.mSize = SIDE;
        params.srcStride = SIDE;
        params.dstStride = n;
        Fixpipe(cGm[(uint64_t)row * n + column], c, params);
        co1.FreeTensor(c);
    }

    TPipe pipe;
    TQue<TPosition::A1, 2> a1;
    TQue<TPosition::B1, 2> b1;
    TQue<TPosition::A2, 2> a2;
    TQue<TPosition::B2, 2> b2;
    TQue<TPosition::CO1, 1> co1;
    GlobalTensor<half> aGm, bGm;
    GlobalTensor<float> cGm;
    uint32_t m, k, n;
};

extern "C" __global__ __aicore__ __cube__ void matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t m,
                                                      uint32_t k, uint32_t n)
{
    Matmul op;
    op.Init(a, b, c, m, k, n);
    op.Process();
}
