// SPDX-License-Identifier: Apache-2.0
// Softmax over rows of f32: y = exp(x - max) / sum. A block takes rows in turn; a row fits in a
// buffer.
#include <kernel_operator.h>

using namespace AscendC;

class Softmax
{
  public:
    __aicore__ inline Softmax(TPipe *pipe) : pipe(pipe)
    {
    }

    // `columns` is a multiple of 8.
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t columns)
    {
        this->rows = rows;
        this->columns = columns;
        xGm.SetGlobalBuffer((__gm__ float *)x, (uint64_t)rows * columns);
        yGm.SetGlobalBuffer((__gm__ float *)y, (uint64_t)rows * columns);
        pipe->InitBuffer(in, 2, columns * sizeof(float));
        pipe->InitBuffer(out, 2, columns * sizeof(float));
        pipe->InitBuffer(work, (columns / 32 + 8) * sizeof(float)); // two numbers a repeat of 64
    }

    __aicore__ inline void Process()
    {
        for (uint32_t row = GetBlockIdx(); row < rows; row += GetBlockNum()) {
            LocalTensor<float> x = in.AllocTensor<float>();
            DataCopy(x, xGm[(uint64_t)row * columns], columns);
            in.EnQue(x);
            Compute();
            LocalTensor<float> y = out.DeQue<float>();
            DataCopy(yGm[(uint64_t)row * columns], y, columns);
            out.FreeTensor(y);
        }
    }

  private:
    __aicore__ inline void Compute()
    {
        LocalTensor<float> x = in.DeQue<float>();
        LocalTensor<float> y = out.AllocTensor<float>();
        LocalTensor<float> tmp = work.Get<float>();
        ReduceMax(tmp, x, tmp, columns);
        Adds(y, x, -tmp.GetValue(0), columns);
        Exp(y, y, columns);
        ReduceSum(tmp, y, tmp, columns);
        Muls(y, y, 1.0f / tmp.GetValue(0), columns);
        out.EnQue(y);
        in.FreeTensor(x);
    }

    TPipe *pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> work;
    GlobalTensor<float> xGm, yGm;
    uint32_t rows, columns;
};

extern "C" __global__ __aicore__ void softmax(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t columns)
{
    TPipe pipe;
    Softmax op(&pipe);
    op.Init(x, y, rows, columns);
    op.Process();
}
