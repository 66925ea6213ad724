// SPDX-License-Identifier: Apache-2.0
// z = x + y in half precision: the shape of a first kernel. Each block adds its share, tile by
// tile; two buffers a queue, so that copies run beside additions.
#include <kernel_operator.h>

using namespace AscendC;

constexpr uint32_t TILE = 1024; // elements
constexpr uint32_t BUFFERS = 2;

class VectorAdd
{
  public:
    __aicore__ inline VectorAdd()
    {
    }

    // `count` elements a block, a multiple of TILE.
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t count)
    {
        const uint64_t first = (uint64_t)count * GetBlockIdx();
        tiles = count / TILE;
        xGm.SetGlobalBuffer((__gm__ half *)x + first, count);
        yGm.SetGlobalBuffer((__gm__ half *)y + first, count);
        zGm.SetGlobalBuffer((__gm__ half *)z + first, count);
        pipe.InitBuffer(inX, BUFFERS, TILE * sizeof(half));
        pipe.InitBuffer(inY, BUFFERS, TILE * sizeof(half));
        pipe.InitBuffer(outZ, BUFFERS, TILE * sizeof(half));
    }

    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < tiles; i++) {
            CopyIn(i);
            Compute();
            CopyOut(i);
        }
    }

  private:
    __aicore__ inline void CopyIn(uint32_t i)
    {
        LocalTensor<half> x = inX.AllocTensor<half>();
        LocalTensor<half> y = inY.AllocTensor<half>();
        DataCopy(x, xGm[i * TILE], TILE);
        DataCopy(y, yGm[i * TILE], TILE);
        inX.EnQue(x);
        inY.EnQue(y);
    }

    __aicore__ inline void Compute()
    {
        LocalTensor<half> x = inX.DeQue<half>();
        LocalTensor<half> y = inY.DeQue<half>();
        LocalTensor<half> z = outZ.AllocTensor<half>();
        Add(z, x, y, TILE);
        outZ.EnQue(z);
        inX.FreeTensor(x);
        inY.FreeTensor(y);
    }

    __aicore__ inline void CopyOut(uint32_t i)
    {
        LocalTensor<half> z = outZ.DeQue<half>();
        DataCopy(zGm[i * TILE], z, TILE);
        outZ.FreeTensor(z);
    }

    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFERS> inX, inY;
    TQue<QuePosition::VECOUT, BUFFERS> outZ;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t tiles;
};

extern "C" __global__ __aicore__ void vector_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t count)
{
    VectorAdd op;
    op.Init(x, y, z, count);
    op.Process();
}
