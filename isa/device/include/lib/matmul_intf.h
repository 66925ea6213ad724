/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The language's Matmul object (docs/ascend_c.md): a vector core asks, the cube core of its group
 * multiplies; in a kernel of cube cores alone (-DASCENDC_CUBE_ONLY) it multiplies itself. Operands
 * are rows in global memory or in UB, in half, bfloat16_t or float. Not on the 910A. C++ only.
 * Source of names and meanings: public documents and operator projects.
 */
#pragma once

#include <kernel_operator.h>
#include <kernel_tiling/kernel_tiling.h>

#ifdef LEO_ONE_FILE
#pragma clang force_cuda_host_device begin
#endif
#undef LEO_SYS_WORKSPACE
#define LEO_SYS_WORKSPACE (16u << 20)

#if LEO_HAS_2201
#include <ascendc/matmul/job.h>

#include <ascendc/matmul/engine.h>

#include <ascendc/matmul/service.h>
#endif

enum class CubeFormat { LEO_CUBE_FORMATS };

enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };

namespace AscendC
{

template <TPosition position, CubeFormat layout, typename Type, bool transposed = false,
          LayoutMode batches = LayoutMode::NONE, bool shared = false>
struct MatmulType {
    static constexpr TPosition pos = position;
    static constexpr CubeFormat format = layout;
    static constexpr bool isTrans = transposed;
    static_assert(batches == LayoutMode::NONE, "Matmul: batches are not there");
    using T = Type;
};

/** How a template of the vendor's is chosen: nothing here depends on it. */
struct MatmulConfig {
    bool doNorm = true, doMultiDataLoad = false;
};
constexpr MatmulConfig CFG_NORM{}, CFG_MDL{false, true}, CFG_IBSHARE_NORM{};

template <typename... Settings> constexpr MatmulConfig GetNormalConfig(Settings...)
{
    return CFG_NORM;
}
template <typename... Settings> constexpr MatmulConfig GetMDLConfig(Settings...)
{
    return CFG_MDL;
}
template <typename... Settings> constexpr MatmulConfig GetIBShareNormConfig(Settings...)
{
    return CFG_IBSHARE_NORM;
}

#if LEO_HAS_2201

/** C = A B + bias. A, B, C, Bias: MatmulType. One object is used by one core at a time. */
template <typename A, typename B, typename C, typename Bias = C, const auto &config = CFG_NORM>
class Matmul
{
    using OperandT = typename A::T;
    using ResultT = typename C::T;
    using BiasT = typename Bias::T;
    static_assert(IsSameType<OperandT, typename B::T>::value, "Matmul: operands have one type");
    static_assert(A::format == CubeFormat::ND || A::format == CubeFormat::VECTOR,
                  "Matmul: operands are ND or VECTOR here");
    static_assert(B::format == CubeFormat::ND, "Matmul: operands are ND here");
    static_assert(C::format == CubeFormat::ND || C::format == CubeFormat::ND_ALIGN,
                  "Matmul: results are ND or ND_ALIGN here");

  public:
    using leo_engine = leo_matmul_engine<OperandT, ResultT, BiasT>;

    /** Base sizes and shapes; object: its place among those registered together. */
    LEO_AC_METHOD void Init(const TCubeTiling *tiling, TPipe * = nullptr, uint32_t object = 0)
    {
        SetOrgShape(tiling->M, tiling->N, tiling->Ka, tiling->Kb);
        SetSingleShape(tiling->singleCoreM, tiling->singleCoreN, tiling->singleCoreK);
        job_.base_m = (uint32_t)tiling->baseM;
        job_.base_n = (uint32_t)tiling->baseN;
        job_.base_k = (uint32_t)tiling->baseK;
        job_.chunk_k = job_.base_k * (uint32_t)(tiling->stepKa > 1 ? tiling->stepKa : 1);
        job_.flags = object;
    }

    LEO_AC_METHOD void SetOrgShape(int m, int n, int k)
    {
        SetOrgShape(m, n, k, k, n);
    }
    LEO_AC_METHOD void SetOrgShape(int m, int n, int ka, int kb, int kc = 0)
    {
        rows_ = (uint32_t)m;
        columns_ = (uint32_t)n;
        deep_a_ = (uint32_t)ka;
        deep_b_ = (uint32_t)kb;
        pitch_ = (uint32_t)(kc ? kc : n);
    }

    LEO_AC_METHOD void SetSingleShape(int m, int n, int k)
    {
        SetTail(m, n, k);
    }
    /** -1: as it was. */
    LEO_AC_METHOD void SetTail(int m = -1, int n = -1, int k = -1)
    {
        job_.m = m < 0 ? job_.m : (uint32_t)m;
        job_.n = n < 0 ? job_.n : (uint32_t)n;
        job_.k = k < 0 ? job_.k : (uint32_t)k;
    }

    LEO_AC_METHOD void SetHF32(bool on, int32_t = 0)
    {
        set(LEO_JOB_HF32, on);
    }

    LEO_AC_METHOD void SetTensorA(const GlobalTensor<OperandT> &a, bool transposed = A::isTrans)
    {
        begin(&job_.a, (uint64_t)a.GetPhyAddr(), LEO_JOB_TURN_A, transposed);
        job_.a_pitch = transposed ? rows_ : deep_a_;
    }
    LEO_AC_METHOD void SetTensorB(const GlobalTensor<OperandT> &b, bool transposed = B::isTrans)
    {
        begin(&job_.b, (uint64_t)b.GetPhyAddr(), LEO_JOB_TURN_B, transposed);
        job_.b_pitch = transposed ? deep_b_ : columns_;
    }

    /** Rows in UB, dense: copied to the workspace, at most 92 KiB. */
    LEO_AC_METHOD void SetTensorA(const LocalTensor<OperandT> &a, bool transposed = A::isTrans)
    {
        const uint32_t bytes = job_.m * job_.k * sizeof(OperandT);
        begin(&job_.a, leave(LEO_SHARE_A, a, bytes), LEO_JOB_TURN_A, transposed);
        job_.a_pitch = transposed ? job_.m : job_.k;
    }
    LEO_AC_METHOD void SetTensorB(const LocalTensor<OperandT> &b, bool transposed = B::isTrans)
    {
        const uint32_t bytes = job_.n * job_.k * sizeof(OperandT);
        begin(&job_.b, leave(LEO_SHARE_B, b, bytes), LEO_JOB_TURN_B, transposed);
        job_.b_pitch = transposed ? job_.k : job_.n;
    }

    LEO_AC_METHOD void SetBias(const GlobalTensor<BiasT> &bias)
    {
        begin(&job_.bias, (uint64_t)bias.GetPhyAddr(), LEO_JOB_BIAS, true);
    }
    LEO_AC_METHOD void ClearBias()
    {
        set(LEO_JOB_BIAS, false);
    }
    LEO_AC_METHOD void DisableBias()
    {
        ClearBias();
    }

    /** Tiles go through the system workspace; this one is not needed. */
    template <typename T> LEO_AC_METHOD void SetWorkspace(const GlobalTensor<T> &)
    {
    }
    LEO_AC_METHOD void SetLocalWorkspace(const LocalTensor<uint8_t> &)
    {
    }
    LEO_AC_METHOD void SetSubBlockIdx(uint8_t)
    {
    }

    /** The whole of what SetSingleShape says. enAtomic: 0, or add, maximum, minimum (1, 2, 3). */
    template <bool sync = true>
    LEO_AC_METHOD void IterateAll(const GlobalTensor<ResultT> &c, uint8_t enAtomic = 0,
                                  bool enSequentialWrite = false, bool = false, bool = false)
    {
        leo_matmul_job job = job_;
        job.c = (uint64_t)c.GetPhyAddr();
        job.c_pitch = enSequentialWrite ? job.n : c_pitch(pitch_);
        give<sync>(job, enAtomic);
    }
    template <bool sync = true>
    LEO_AC_METHOD void IterateAll(const LocalTensor<ResultT> &c, uint8_t enAtomic = 0)
    {
        fetch(c, job_, enAtomic);
    }
    LEO_AC_METHOD void WaitIterateAll()
    {
        wait();
    }

    /** The next block of base sizes, down the columns of blocks first; false: there is none. */
    template <bool sync = true> LEO_AC_METHOD bool Iterate(bool = false)
    {
        if (!begun_) {
            begun_ = true;
            block_m_ = block_n_ = 0;
        } else {
            block_m_ += job_.base_m;
            if (block_m_ >= job_.m) {
                block_m_ = 0;
                block_n_ += job_.base_n;
            }
        }
        begun_ = block_n_ < job_.n;
        return begun_;
    }

    /** The block of the last Iterate; sequential: as a matrix of its own. */
    template <bool sync = true>
    LEO_AC_METHOD void GetTensorC(const GlobalTensor<ResultT> &c, uint8_t enAtomic = 0,
                                  bool enSequentialWrite = false)
    {
        leo_matmul_job job = block();
        const uint64_t at = (uint64_t)block_m_ * c_pitch(pitch_) + block_n_;
        job.c = (uint64_t)c.GetPhyAddr(enSequentialWrite ? 0 : at);
        job.c_pitch = enSequentialWrite ? job_.base_n : c_pitch(pitch_);
        give<sync>(job, enAtomic);
    }
    template <bool sync = true>
    LEO_AC_METHOD void GetTensorC(const LocalTensor<ResultT> &c, uint8_t enAtomic = 0, bool = false)
    {
        fetch(c, block(), enAtomic);
    }
    LEO_AC_METHOD void WaitGetTensorC()
    {
        wait();
    }

    /** The object may be used anew; what it was asked for is done. */
    LEO_AC_METHOD void End()
    {
        wait();
        begun_ = false;
    }

  private:
    LEO_AC_METHOD void set(uint32_t flag, bool on)
    {
        job_.flags = on ? job_.flags | flag : job_.flags & ~flag;
    }

    LEO_AC_METHOD void begin(uint64_t *place, uint64_t address, uint32_t flag, bool on)
    {
        *place = address;
        set(flag, on);
        begun_ = false;
    }

    LEO_AC_METHOD static uint32_t c_pitch(uint32_t columns)
    {
        return C::format == CubeFormat::ND_ALIGN ? AlignUp(columns, 32 / sizeof(ResultT)) : columns;
    }

    LEO_AC_METHOD leo_matmul_job block() const
    {
        leo_matmul_job job = job_;
        job.a +=
            (uint64_t)block_m_ * (job.flags & LEO_JOB_TURN_A ? 1 : job.a_pitch) * sizeof(OperandT);
        job.b +=
            (uint64_t)block_n_ * (job.flags & LEO_JOB_TURN_B ? job.b_pitch : 1) * sizeof(OperandT);
        job.bias += block_n_ * sizeof(BiasT);
        job.m = leo_least(job.base_m, job.m - block_m_);
        job.n = leo_least(job.base_n, job.n - block_n_);
        return job;
    }

    template <bool sync> LEO_AC_METHOD void give(leo_matmul_job &job, uint8_t atomic)
    {
        job.flags |= (uint32_t)atomic << LEO_JOB_ATOMIC_SHIFT;
#ifdef ASCENDC_CUBE_ONLY
        leo_engine::run(job);
        pipe_barrier(PIPE_ALL);
#else
        last_ = leo_matmul_service->post(job);
        if (sync) {
            leo_matmul_service->wait(last_);
        }
#endif
    }

    LEO_AC_METHOD void wait()
    {
#ifndef ASCENDC_CUBE_ONLY
        leo_matmul_service->wait(last_);
#endif
    }

#ifndef ASCENDC_CUBE_ONLY
    /* A tensor of UB in the workspace. */
    LEO_AC_SMALL uint64_t leave(uint32_t place, const LocalTensor<OperandT> &from, uint32_t bytes)
    {
        if (bytes > LEO_SHARE_B - LEO_SHARE_A) {
            leo_print("Matmul: %u bytes of UB are more than the workspace has room for\n", bytes);
            trap();
        }
        GM_ADDR to = leo_matmul_service->share() + place;
        wait(); // the job before has read it
        leo_before_store();
        copy_ubuf_to_gm_align_b8((__gm__ void *)to, (__ubuf__ void *)from.GetPhyAddr(), 0, 1, bytes,
                                 0, 0, 0, 0);
        return (uint64_t)to;
    }

    /* A result to UB, its rows padded to 32 bytes. */
    LEO_AC_SMALL void fetch(const LocalTensor<ResultT> &c, leo_matmul_job job, uint8_t atomic)
    {
        const uint32_t pitch = AlignUp(job.n, 32 / sizeof(ResultT)),
                       bytes = job.m * pitch * sizeof(ResultT);
        if (bytes > LEO_SHARE_A - LEO_SHARE_C || atomic) {
            leo_print("Matmul: a result in UB of %u bytes, atomic %d: not possible\n", bytes,
                      (int)atomic);
            trap();
        }
        job.c = (uint64_t)(leo_matmul_service->share() + LEO_SHARE_C);
        job.c_pitch = pitch;
        give<true>(job, 0);
        leo_before_load();
        copy_gm_to_ubuf_align_b8((__ubuf__ void *)c.GetPhyAddr(), (__gm__ void *)job.c, 0,
                                 (uint16_t)job.m, job.n * sizeof(ResultT), 0, 0,
                                 (pitch - job.n) * sizeof(ResultT), 0);
        SetFlag<HardEvent::MTE2_S>(LEO_SYNC_EVENT);
        WaitFlag<HardEvent::MTE2_S>(LEO_SYNC_EVENT);
    }
#endif

    leo_matmul_job job_{};
    uint32_t rows_ = 0, columns_ = 0, deep_a_ = 0, deep_b_ = 0, pitch_ = 0;
    uint32_t block_m_ = 0, block_n_ = 0, last_ = 0;
    bool begun_ = false;
};

LEO_AC_INLINE void leo_init_objects(uint32_t)
{
}

/** Objects and their tilings in turn. */
template <typename Object, typename... Others>
LEO_AC_INLINE void leo_init_objects(uint32_t first, Object &object, const TCubeTiling *tiling,
                                    Others &&...others)
{
    object.Init(tiling, nullptr, first);
    leo_init_objects(first + 1, others...);
}

/* The objects among objects and tilings. */
LEO_AC_INLINE void leo_serve_objects(GM_ADDR workspace)
{
    leo_matmul_serve(workspace);
}
template <typename O1, typename T1> LEO_AC_INLINE void leo_serve_objects(GM_ADDR w, O1 &o1, T1 &&)
{
    leo_matmul_serve(w, o1);
}
template <typename O1, typename T1, typename O2, typename T2>
LEO_AC_INLINE void leo_serve_objects(GM_ADDR w, O1 &o1, T1 &&, O2 &o2, T2 &&)
{
    leo_matmul_serve(w, o1, o2);
}
template <typename O1, typename T1, typename O2, typename T2, typename O3, typename T3>
LEO_AC_INLINE void leo_serve_objects(GM_ADDR w, O1 &o1, T1 &&, O2 &o2, T2 &&, O3 &o3, T3 &&)
{
    leo_matmul_serve(w, o1, o2, o3);
}
template <typename O1, typename T1, typename O2, typename T2, typename O3, typename T3, typename O4,
          typename T4>
LEO_AC_INLINE void leo_serve_objects(GM_ADDR w, O1 &o1, T1 &&, O2 &o2, T2 &&, O3 &o3, T3 &&, O4 &o4,
                                     T4 &&)
{
    leo_matmul_serve(w, o1, o2, o3, o4);
}

/*
 * Objects with their tilings, at most four: REGIST_MATMUL_OBJ(&pipe, workspace, mm, &tiling, ...).
 * The cube core serves the vector cores of its group and leaves the function; they go on. The
 * vector core's side ends with the block that this stands in.
 */
#ifdef ASCENDC_CUBE_ONLY
#define REGIST_MATMUL_OBJ(pipe, workspace, ...) AscendC::leo_init_objects(0, __VA_ARGS__)
#else
#define REGIST_MATMUL_OBJ(pipe, workspace, ...)                                                    \
    LEO_KIND(LEO_KERNEL_TYPE_MIX_UNLESS_SAID);                                                     \
    if (leo_is_cube()) {                                                                           \
        AscendC::leo_serve_objects(workspace, __VA_ARGS__);                                        \
        return;                                                                                    \
    }                                                                                              \
    AscendC::leo_matmul_client leo_client(workspace);                                              \
    AscendC::leo_matmul_service = &leo_client;                                                     \
    AscendC::leo_init_objects(0, __VA_ARGS__)
#endif
#define REGIST_CUBE_OBJ REGIST_MATMUL_OBJ

#else

template <typename... Types>
class __attribute__((
    unavailable("not on this chip: the Matmul object is of the split core"))) Matmul;

#endif

} // namespace AscendC

namespace AscendC
{
/** The object of kernels of cube cores alone. */
template <typename A, typename B, typename C, typename Bias = C, const auto &config = CFG_NORM>
using MatmulImpl = Matmul<A, B, C, Bias, config>;
} // namespace AscendC

namespace matmul = AscendC;
// Public code names them without the namespace.
using AscendC::CFG_IBSHARE_NORM;
using AscendC::CFG_MDL;
using AscendC::CFG_NORM;

#ifdef LEO_ONE_FILE
#pragma clang force_cuda_host_device end
#endif
