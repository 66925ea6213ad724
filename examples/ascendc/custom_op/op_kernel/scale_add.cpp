/* SPDX-License-Identifier: Apache-2.0 */
/* ScaleAdd: the kernel is compiled for each type (DTYPE_X); tiling key 2 has y, 1 has not. */
#include <kernel_operator.h>

using namespace AscendC;

template <typename T, bool has_y> class ScaleAdd
{
  public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, const ScaleAddTilingData &tiling)
    {
        const uint64_t first = (uint64_t)tiling.part * GetBlockIdx();
        count_ = first < tiling.count ? min((uint64_t)tiling.part, tiling.count - first) : 0;
        tile_ = tiling.tile;
        alpha_ = (T)tiling.alpha;
        x_.SetGlobalBuffer((__gm__ T *)x + first, count_);
        z_.SetGlobalBuffer((__gm__ T *)z + first, count_);
        pipe_.InitBuffer(in_x_, 2, tile_ * sizeof(T));
        pipe_.InitBuffer(out_, 2, tile_ * sizeof(T));
        if constexpr (has_y) {
            y_.SetGlobalBuffer((__gm__ T *)y + first, count_);
            pipe_.InitBuffer(in_y_, 2, tile_ * sizeof(T));
        }
    }

    __aicore__ inline void Process()
    {
        for (uint64_t at = 0; at < count_; at += tile_) {
            const uint32_t length = min((uint64_t)tile_, count_ - at);
            CopyIn(in_x_, x_[at], length);
            if constexpr (has_y) {
                CopyIn(in_y_, y_[at], length);
            }
            Compute(length);
            CopyOut(at, length);
        }
    }

  private:
    using Queue = TQue<QuePosition::VECIN, 1>;

    __aicore__ inline void CopyIn(Queue &queue, const GlobalTensor<T> &from, uint32_t length)
    {
        LocalTensor<T> local = queue.AllocTensor<T>();
        DataCopyPad(local, from, {1, (uint32_t)(length * sizeof(T)), 0, 0, 0}, {false, 0, 0, 0});
        queue.EnQue(local);
    }

    __aicore__ inline void Compute(uint32_t length)
    {
        LocalTensor<T> x = in_x_.DeQue<T>(), z = out_.AllocTensor<T>();
        Muls(z, x, alpha_, length);
        if constexpr (has_y) {
            LocalTensor<T> y = in_y_.DeQue<T>();
            Add(z, z, y, length);
            in_y_.FreeTensor(y);
        }
        out_.EnQue(z);
        in_x_.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t length)
    {
        LocalTensor<T> z = out_.DeQue<T>();
        DataCopyPad(z_[at], z, {1, (uint32_t)(length * sizeof(T)), 0, 0, 0});
        out_.FreeTensor(z);
    }

    TPipe pipe_;
    Queue in_x_, in_y_;
    TQue<QuePosition::VECOUT, 1> out_;
    GlobalTensor<T> x_, y_, z_;
    uint64_t count_;
    uint32_t tile_;
    T alpha_;
};

extern "C" __global__ __aicore__ void scale_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace,
                                                GM_ADDR tiling)
{
    GET_TILING_DATA(tiling_data, tiling);
    if (TILING_KEY_IS(1)) {
        ScaleAdd<DTYPE_X, false> op;
        op.Init(x, y, z, tiling_data);
        op.Process();
    } else if (TILING_KEY_IS(2)) {
        ScaleAdd<DTYPE_X, true> op;
        op.Init(x, y, z, tiling_data);
        op.Process();
    }
}
