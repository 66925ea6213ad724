/* SPDX-License-Identifier: Apache-2.0 */
/* Tiling of the language's Matmul object on the host: sizes of blocks and of each core's part.
 * C++ only. */
#pragma once

#include <graph/types.h>
#include <kernel_tiling/kernel_tiling.h>
#include <kernel_tiling/names.h>
#include <tiling/hccl/hccl_tiling.h>
#include <tiling/platform/platform_ascendc.h>
#include <tiling/unpad.h>

#include <algorithm>
#include <cstdint>

namespace matmul_tiling
{

enum class TPosition : int32_t { LEO_TPOSITIONS };
enum class CubeFormat : int32_t { LEO_CUBE_FORMATS };
enum class DataType : int32_t {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_BF16 = 27,
    DT_BFLOAT16 = 27,
    DT_INT4 = 29
};
enum class MatrixTraverse { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class DequantType { SCALAR = 0, TENSOR = 1 };
struct PlatformInfo {
    platform_ascendc::SocVersion socVersion;
    uint64_t l1Size = 0, l0CSize = 0, ubSize = 0, l0ASize = 0, l0BSize = 0, btSize = 0;
};

/** One core's product. Operands are half, bfloat16 or float; what cannot be tiled gives -1. */
class MatmulApiTiling
{
  public:
    MatmulApiTiling() : MatmulApiTiling(*platform_ascendc::PlatformAscendCManager::GetInstance())
    {
    }
    explicit MatmulApiTiling(const platform_ascendc::PlatformAscendC &platform)
    {
        using platform_ascendc::CoreMemType;
        platform.GetCoreMemSize(CoreMemType::L0_A, l0a_);
        platform.GetCoreMemSize(CoreMemType::L0_B, l0b_);
        platform.GetCoreMemSize(CoreMemType::L0_C, l0c_);
    }
    explicit MatmulApiTiling(const PlatformInfo &platform)
        : l0a_(platform.l0ASize), l0b_(platform.l0BSize), l0c_(platform.l0CSize)
    {
    }
    virtual ~MatmulApiTiling() = default;

    int32_t SetAType(TPosition, CubeFormat format, DataType type, bool = false)
    {
        type_ = type;
        return supported(format);
    }
    int32_t SetBType(TPosition, CubeFormat format, DataType, bool = false)
    {
        return supported(format);
    }
    int32_t SetCType(TPosition, CubeFormat format, DataType)
    {
        return supported(format);
    }
    int32_t SetBiasType(TPosition, CubeFormat, DataType)
    {
        return 0;
    }
    int32_t SetShape(int32_t m, int32_t n, int32_t k)
    {
        m_ = m;
        n_ = n;
        k_ = k;
        return 0;
    }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t k)
    {
        return SetOrgShape(m, n, k, k);
    }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb)
    {
        whole_m_ = m;
        whole_n_ = n;
        whole_ka_ = ka;
        whole_kb_ = kb;
        return 0;
    }
    int32_t SetSingleShape(int32_t m, int32_t n, int32_t k)
    {
        single_m_ = m;
        single_n_ = n;
        single_k_ = k;
        return 0;
    }
    int32_t SetBias(bool on)
    {
        return EnableBias(on);
    }
    int32_t EnableBias(bool on)
    {
        bias_ = on;
        return 0;
    }
    int32_t SetFixSplit(int32_t m, int32_t n, int32_t k = -1)
    {
        fixed_m_ = m;
        fixed_n_ = n;
        fixed_k_ = k;
        return 0;
    }
    /** Room is what L0 has: other buffers are the object's own matter. */
    int32_t SetBufferSpace(int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1)
    {
        return 0;
    }
    int32_t SetTraverse(MatrixTraverse)
    {
        return 0;
    }
    int32_t SetDequantType(DequantType)
    {
        return -1;
    }
    int32_t SetMatmulConfigParams(int32_t = 0, bool = false)
    {
        return 0;
    }

    virtual int64_t GetTiling(optiling::TCubeTiling &tiling)
    {
        if (failed_ || m_ <= 0 || n_ <= 0 || k_ <= 0) {
            return -1;
        }
        split();
        const int32_t unit = type_ == DataType::DT_FLOAT ? 8 : 16; // of 32 bytes along k
        const int32_t bytes = type_ == DataType::DT_FLOAT ? 4 : 2;
        int32_t base_m = fixed_m_ > 0 ? fixed_m_ : std::min(up(single_m_, 16), 128);
        int32_t base_n = fixed_n_ > 0 ? fixed_n_ : std::min(up(single_n_, 16), 128);
        while (fixed_n_ <= 0 && 4ull * base_m * base_n * 2 <= l0c_ &&
               base_n * 2 <= up(single_n_, 16) && base_n < 256) {
            base_n *= 2;
        }
        // Two blocks of each operand in L0.
        const uint64_t most = std::min(l0a_ / 2 / bytes / base_m, l0b_ / 2 / bytes / base_n);
        int32_t base_k =
            fixed_k_ > 0 ? fixed_k_
                         : std::min(up(single_k_, unit), static_cast<int32_t>(most / unit * unit));
        if (base_k <= 0 || 4ull * base_m * base_n > l0c_) {
            return -1;
        }
        fill(tiling, base_m, base_n, base_k);
        return 0;
    }

  protected:
    static int32_t up(int32_t value, int32_t unit)
    {
        return (value + unit - 1) / unit * unit;
    }
    int32_t supported(CubeFormat format)
    {
        failed_ = failed_ || (format != CubeFormat::ND && format != CubeFormat::ND_ALIGN &&
                              format != CubeFormat::VECTOR);
        return failed_ ? -1 : 0;
    }
    virtual void split()
    {
        single_m_ = single_m_ > 0 ? single_m_ : m_;
        single_n_ = single_n_ > 0 ? single_n_ : n_;
        single_k_ = single_k_ > 0 ? single_k_ : k_;
    }
    void fill(optiling::TCubeTiling &tiling, int32_t base_m, int32_t base_n, int32_t base_k) const
    {
        tiling.set_usedCoreNum(used_);
        tiling.set_M(whole_m_ > 0 ? whole_m_ : m_);
        tiling.set_N(whole_n_ > 0 ? whole_n_ : n_);
        tiling.set_Ka(whole_ka_ > 0 ? whole_ka_ : k_);
        tiling.set_Kb(whole_kb_ > 0 ? whole_kb_ : k_);
        tiling.set_singleCoreM(single_m_);
        tiling.set_singleCoreN(single_n_);
        tiling.set_singleCoreK(single_k_);
        tiling.set_baseM(base_m);
        tiling.set_baseN(base_n);
        tiling.set_baseK(base_k);
        for (auto set :
             {&optiling::TCubeTiling::set_depthA1, &optiling::TCubeTiling::set_depthB1,
              &optiling::TCubeTiling::set_stepM, &optiling::TCubeTiling::set_stepN,
              &optiling::TCubeTiling::set_stepKa, &optiling::TCubeTiling::set_stepKb,
              &optiling::TCubeTiling::set_dbL0C, &optiling::TCubeTiling::set_batchM,
              &optiling::TCubeTiling::set_batchN, &optiling::TCubeTiling::set_singleBatchM,
              &optiling::TCubeTiling::set_singleBatchN}) {
            (tiling.*set)(1);
        }
        tiling.set_dbL0A(2);
        tiling.set_dbL0B(2);
        tiling.set_isBias(bias_);
    }

    uint64_t l0a_ = 0, l0b_ = 0, l0c_ = 0;
    DataType type_ = DataType::DT_FLOAT16;
    int32_t m_ = 0, n_ = 0, k_ = 0, whole_m_ = 0, whole_n_ = 0, whole_ka_ = 0, whole_kb_ = 0;
    int32_t single_m_ = 0, single_n_ = 0, single_k_ = 0, fixed_m_ = 0, fixed_n_ = 0, fixed_k_ = 0,
            used_ = 1;
    bool bias_ = false, failed_ = false;
};

/** A product over several cores: each gets a part of rows and columns. */
class MultiCoreMatmulTiling : public MatmulApiTiling
{
  public:
    using MatmulApiTiling::MatmulApiTiling;
    int32_t SetDim(int32_t cores)
    {
        cores_ = cores;
        return 0;
    }
    int32_t GetCoreNum(int32_t &cores, int32_t &m_cores, int32_t &n_cores)
    {
        cores = used_;
        m_cores = m_cores_;
        n_cores = n_cores_;
        return 0;
    }
    int32_t GetSingleShape(int32_t &m, int32_t &n, int32_t &k)
    {
        m = single_m_;
        n = single_n_;
        k = single_k_;
        return 0;
    }

  protected:
    /** The split whose largest part is smallest, in whole blocks of 16. */
    void split() override
    {
        int64_t best = INT64_MAX;
        for (int32_t m = 1; m <= cores_; m++) {
            for (int32_t n = 1; m * n <= cores_; n++) {
                const int32_t part_m = up((m_ + m - 1) / m, 16), part_n = up((n_ + n - 1) / n, 16);
                if (1ll * part_m * part_n < best) {
                    best = 1ll * part_m * part_n;
                    single_m_ = std::min(part_m, m_);
                    single_n_ = std::min(part_n, n_);
                }
            }
        }
        single_k_ = k_;
        m_cores_ = (m_ + single_m_ - 1) / single_m_;
        n_cores_ = (n_ + single_n_ - 1) / single_n_;
        used_ = m_cores_ * n_cores_;
    }

  private:
    int32_t cores_ = 1, m_cores_ = 1, n_cores_ = 1;
};

} // namespace matmul_tiling
