// SPDX-License-Identifier: Apache-2.0
// The k largest of each row and where they stand, largest first. A row of f32, a multiple of 32 and
// at most 2048 columns, is sorted whole; blocks take rows in turn.
#include <kernel_operator.h>

using namespace AscendC;

class TopK
{
  public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR values, GM_ADDR indices, uint32_t rows,
                                uint32_t columns, uint32_t k, TPipe *pipe)
    {
        this->rows = rows;
        this->columns = columns;
        this->k = k;
        xGm.SetGlobalBuffer((__gm__ float *)x, (uint64_t)rows * columns);
        valueGm.SetGlobalBuffer((__gm__ float *)values, (uint64_t)rows * k);
        indexGm.SetGlobalBuffer((__gm__ int32_t *)indices, (uint64_t)rows * k);
        // A record is a value and an index.
        pipe->InitBuffer(in, 2, columns * sizeof(float));
        pipe->InitBuffer(out, 1, 2 * columns * sizeof(float));
        pipe->InitBuffer(order, columns * sizeof(int32_t));
        pipe->InitBuffer(records, 2 * columns * sizeof(float));
        pipe->InitBuffer(room, 2 * columns * sizeof(float));
        CreateVecIndex(order.Get<int32_t>(), 0, columns);
    }

    __aicore__ inline void Process()
    {
        for (uint32_t row = GetBlockIdx(); row < rows; row += GetBlockNum()) {
            LocalTensor<float> x = in.AllocTensor<float>();
            DataCopy(x, xGm[(uint64_t)row * columns], columns);
            in.EnQue(x);
            Compute();
            Store(row);
        }
    }

  private:
    __aicore__ inline void Compute()
    {
        LocalTensor<float> x = in.DeQue<float>(), result = out.AllocTensor<float>();
        LocalTensor<float> sorted = records.Get<float>(), tmp = room.Get<float>(), concat;
        Concat(concat, x, tmp, columns / 16);
        Sort<float, true>(sorted, concat, order.Get<uint32_t>(), tmp, columns / 32);
        Extract(result, result[columns].ReinterpretCast<uint32_t>(), sorted, (k + 31) / 32);
        out.EnQue(result);
        in.FreeTensor(x);
    }

    __aicore__ inline void Store(uint32_t row)
    {
        LocalTensor<float> result = out.DeQue<float>();
        const DataCopyExtParams params(1, k * sizeof(float), 0, 0, 0);
        DataCopyPad(valueGm[(uint64_t)row * k], result, params);
        DataCopyPad(indexGm[(uint64_t)row * k], result[columns].ReinterpretCast<int32_t>(), params);
        out.FreeTensor(result);
    }

    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> order, records, room;
    GlobalTensor<float> xGm, valueGm;
    GlobalTensor<int32_t> indexGm;
    uint32_t rows, columns, k;
};

extern "C" __global__ __aicore__ void topk(GM_ADDR x, GM_ADDR values, GM_ADDR indices,
                                           uint32_t rows, uint32_t columns, uint32_t k)
{
    TPipe pipe;
    TopK op;
    op.Init(x, values, indices, rows, columns, k, &pipe);
    op.Process();
}
