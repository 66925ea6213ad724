/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by <lib/matmul_intf.h>. Ascend C: products on the cube core. GM -> L1 (MTE2), L1 -> L0
 * (MTE1), L0 -> L0C (M), L0C -> GM (FIX), each with two halves that are used in turn.
 *
 * Flags: MTE2 -> MTE1 and back 0, 1: half of L1; MTE1 -> M and back 0, 1: halves of L0A and L0B;
 * M -> FIX and back 0, 1: half of L0C; M -> MTE1 2: the bias table.
 */
#pragma once

namespace AscendC
{

constexpr uint32_t LEO_CUBE_SIDE = 16, LEO_FRACTAL = 512; // rows and columns; bytes
constexpr uint32_t LEO_L0_HALF = 32768, LEO_L0C_HALF = 65536;
constexpr uint32_t LEO_BIAS_SLOT = 16384, LEO_BIAS_L1 = 524288 - 2 * LEO_BIAS_SLOT;
constexpr uint32_t LEO_L1_HALF = LEO_BIAS_L1 / 2;
constexpr uint32_t LEO_MAX_PITCH = 65535; // elements, of one copy into fractals

LEO_AC_INLINE uint32_t leo_sides(uint32_t size)
{
    return (size + LEO_CUBE_SIDE - 1) / LEO_CUBE_SIDE;
}

LEO_AC_INLINE uint32_t leo_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Where fractals along k and along the other direction lie: from and to. */
struct leo_fractals {
    uint32_t k, others;                  /**< how many */
    uint32_t from_k, from_o, to_k, to_o; /**< from one to the next */
};

/** A: type of both operands; C: of the result; Bias: half, bfloat16_t or float. */
template <typename A, typename C, typename Bias> class leo_matmul_engine
{
    static constexpr uint32_t unit = sizeof(A), wide = 32 / unit; // bytes, columns of a fractal
    static constexpr bool is_float = unit == 4;
    // A bias of 16 bits is a row that a column of ones is multiplied with; the table holds f32.
    static constexpr bool bias_is_row = sizeof(Bias) == 2;
    static_assert(IsSameType<A, half>::value || IsSameType<A, bfloat16_t>::value ||
                      IsSameType<A, float>::value,
                  "Matmul: operands are half, bfloat16_t or float here");
    static_assert(IsSameType<C, half>::value || IsSameType<C, bfloat16_t>::value ||
                      IsSameType<C, float>::value,
                  "Matmul: results are half, bfloat16_t or float here");
    static_assert(IsSameType<Bias, float>::value || IsSameType<Bias, A>::value,
                  "Matmul: a bias is float or has the type of the operands");

  public:
    static LEO_AC_SMALL void run(const leo_matmul_job &job)
    {
        leo_matmul_engine engine(job);
        engine.begin();
        engine.compute();
        engine.end();
    }

  private:
    LEO_AC_METHOD leo_matmul_engine(const leo_matmul_job &of) : job(of)
    {
        const uint32_t side = leo_sides(job.base_m > job.base_n ? job.base_m : job.base_n);
        step =
            leo_least(AlignUp(job.base_k, LEO_CUBE_SIDE),
                      LEO_L0_HALF / unit / (side * LEO_CUBE_SIDE) / LEO_CUBE_SIDE * LEO_CUBE_SIDE);
        const uint32_t both = (leo_sides(job.base_m) + leo_sides(job.base_n)) * LEO_CUBE_SIDE,
                       room = LEO_L1_HALF / unit / both / step * step;
        chunk = leo_least(AlignUp(job.chunk_k, step), room);
        twice = leo_sides(job.base_m) * leo_sides(job.base_n) * 1024 <= LEO_L0C_HALF;
    }

    LEO_AC_METHOD void begin()
    {
        for (int i = 0; i < 2; i++) {
            set_flag(PIPE_MTE1, PIPE_MTE2, i);
            set_flag(PIPE_M, PIPE_MTE1, i);
            set_flag(PIPE_FIX, PIPE_M, i);
        }
        set_flag(PIPE_M, PIPE_MTE1, 2);
        set_nd_para(1);
        if constexpr (is_float) {
            leo_set_hf32(job.flags & LEO_JOB_HF32 ? 1 : 0);
        }
        const uint32_t atomic = (job.flags & LEO_JOB_ATOMIC) >> LEO_JOB_ATOMIC_SHIFT;
        if (atomic) {
            SetAtomicType<C>();
            atomic == 1 ? set_atomic_add() : atomic == 2 ? set_atomic_max() : set_atomic_min();
        }
    }

    LEO_AC_METHOD void end()
    {
        for (int i = 0; i < 2; i++) {
            wait_flag(PIPE_MTE1, PIPE_MTE2, i);
            wait_flag(PIPE_M, PIPE_MTE1, i);
            wait_flag(PIPE_FIX, PIPE_M, i);
        }
        wait_flag(PIPE_M, PIPE_MTE1, 2);
        set_atomic_none();
    }

    /* Blocks of C, down the columns of blocks first; the next chunk is loaded before this one is
     * multiplied. */
    LEO_AC_METHOD void compute()
    {
        uint32_t m0 = 0, n0 = 0, k0 = 0;
        load(m0, n0, k0);
        while (n0 < job.n) {
            uint32_t next_m = m0, next_n = n0, next_k = k0 + chunk;
            if (next_k >= job.k) {
                next_k = 0;
                next_m += job.base_m;
            }
            if (next_m >= job.m) {
                next_m = 0;
                next_n += job.base_n;
            }
            if (next_n < job.n) {
                load(next_m, next_n, next_k);
            }
            multiply(m0, n0, k0);
            if (next_k == 0) {
                store(m0, n0);
            }
            m0 = next_m;
            n0 = next_n;
            k0 = next_k;
        }
    }

    /* Rows of a stored matrix as fractals; `padded` rows from one column of fractals to the next.
     */
    template <uint32_t bytes>
    LEO_AC_METHOD static void copy_rows(uint32_t l1, uint64_t gm, uint32_t rows, uint32_t columns,
                                        uint32_t pitch, uint32_t padded)
    {
        __cbuf__ void *to = (__cbuf__ void *)(uint64_t)l1;
        __gm__ void *from = (__gm__ void *)gm;
        if constexpr (bytes == 4) {
            copy_gm_to_cbuf_multi_nd2nz_b32s(to, from, 0, 1, (uint16_t)rows, (uint16_t)columns, 0,
                                             (uint16_t)pitch, (uint16_t)padded, 1, 0);
        } else {
            copy_gm_to_cbuf_multi_nd2nz_b16(to, from, 0, 1, (uint16_t)rows, (uint16_t)columns, 0,
                                            (uint16_t)pitch, (uint16_t)padded, 1, 0);
        }
    }

    LEO_AC_METHOD static void copy_in(uint32_t l1, uint64_t gm, uint32_t rows, uint32_t columns,
                                      uint32_t pitch, bool turned)
    {
        const uint32_t padded = AlignUp(rows, LEO_CUBE_SIDE), groups = (columns + wide - 1) / wide;
        if (is_float && turned && groups % 2) { // a square is turned that has no second half
            create_cbuf_matrix((__cbuf__ void *)(uint64_t)(l1 + groups * padded * 32),
                               leo_pack_create(1, padded, 0, 0), 0u);
        }
        if (pitch <= LEO_MAX_PITCH) {
            copy_rows<unit>(l1, gm, rows, columns, pitch, padded);
            return;
        }
        for (uint32_t row = 0; row < rows; row++) {
            copy_rows<unit>(l1 + row * 32, gm + (uint64_t)row * pitch * unit, 1, columns, columns,
                            padded);
        }
    }

    LEO_AC_METHOD uint32_t place_b(uint32_t half) const
    {
        return half * LEO_L1_HALF + leo_sides(job.base_m) * LEO_CUBE_SIDE * chunk * unit;
    }

    LEO_AC_METHOD void load(uint32_t m0, uint32_t n0, uint32_t k0)
    {
        const uint32_t half = loads++ & 1, rows = leo_least(job.base_m, job.m - m0),
                       columns = leo_least(job.base_n, job.n - n0),
                       depth = leo_least(chunk, job.k - k0);
        wait_flag(PIPE_MTE1, PIPE_MTE2, half);
        if (job.flags & LEO_JOB_TURN_A) {
            copy_in(half * LEO_L1_HALF, job.a + ((uint64_t)k0 * job.a_pitch + m0) * unit, depth,
                    rows, job.a_pitch, true);
        } else {
            copy_in(half * LEO_L1_HALF, job.a + ((uint64_t)m0 * job.a_pitch + k0) * unit, rows,
                    depth, job.a_pitch, false);
        }
        if (job.flags & LEO_JOB_TURN_B) {
            copy_in(place_b(half), job.b + ((uint64_t)n0 * job.b_pitch + k0) * unit, columns, depth,
                    job.b_pitch, false);
        } else {
            copy_in(place_b(half), job.b + ((uint64_t)k0 * job.b_pitch + n0) * unit, depth, columns,
                    job.b_pitch, true);
        }
        if (k0 == 0 && job.flags & LEO_JOB_BIAS) {
            copy_rows<sizeof(Bias)>(LEO_BIAS_L1 + half * LEO_BIAS_SLOT,
                                    job.bias + n0 * sizeof(Bias), 1, columns, columns,
                                    bias_is_row ? LEO_CUBE_SIDE : 1);
        }
        set_flag(PIPE_MTE2, PIPE_MTE1, half);
    }

    /* One load for each of the shorter direction. */
    template <bool to_a, bool turned>
    LEO_AC_METHOD static void fill(uint32_t l0, uint32_t l1, uint32_t first, const leo_fractals &f)
    {
        const bool down = f.k <= f.others;
        const uint32_t times = down ? f.k : f.others, repeat = down ? f.others : f.k;
        const uint32_t from_step = down ? f.from_k : f.from_o, to_step = down ? f.to_k : f.to_o;
        const uint16_t stride = (uint16_t)(down ? f.from_o : f.from_k),
                       gap = (uint16_t)((down ? f.to_o : f.to_k) - 1);
        for (uint32_t i = 0; i < times; i++) {
            const uint64_t to = l0 + i * to_step * LEO_FRACTAL;
            const uint16_t base = (uint16_t)(first + i * from_step);
            if constexpr (to_a) {
                load_cbuf_to_ca((__ca__ A *)to, (__cbuf__ const A *)(uint64_t)l1, base,
                                (uint8_t)repeat, stride, gap, 0, turned, inc);
            } else {
                load_cbuf_to_cb((__cb__ A *)to, (__cbuf__ const A *)(uint64_t)l1, base,
                                (uint8_t)repeat, stride, gap, 0, turned, inc);
            }
        }
    }

    /* Of 32 bits squares of two fractals are turned, `k_squares` by `others`: side by side the
     * halves of a square lie `apart` fractals in L1. The last ones first: half a square beyond k
     * is written over. */
    template <bool to_a>
    LEO_AC_METHOD static void turn(uint32_t l0, uint32_t l1, uint32_t k_squares, uint32_t others,
                                   uint32_t apart, uint32_t to_k, uint32_t to_o)
    {
        for (uint32_t i = k_squares; i-- > 0;) {
            if (to_a && i + 2 == k_squares) {
                pipe_barrier(PIPE_MTE1);
            }
            const uint64_t to = l0 + 2 * i * to_k * LEO_FRACTAL, from = l1 + i * LEO_FRACTAL;
            if constexpr (to_a) {
                load_cbuf_to_ca_transpose((__ca__ A *)to, (__cbuf__ const A *)from, 0,
                                          (uint8_t)others, apart, to_o - 1, inc, to_k - 1,
                                          apart - 1);
            } else {
                load_cbuf_to_cb_transpose((__cb__ A *)to, (__cbuf__ const A *)from, 0,
                                          (uint8_t)others, apart, to_o - 1, inc, to_k - 1,
                                          apart - 1);
            }
        }
    }

    LEO_AC_METHOD static uint32_t k_fractals(uint32_t k)
    {
        return (k + wide - 1) / wide;
    }

    /* A step of A, k0 into a chunk of `depth`, into L0A: rows of fractals. */
    LEO_AC_METHOD void fill_a(uint32_t l0, uint32_t l1, uint32_t k0, uint32_t k, uint32_t rows,
                              uint32_t depth) const
    {
        const uint32_t blocks = leo_sides(rows), deep = leo_sides(depth), across = k_fractals(k);
        if (!(job.flags & LEO_JOB_TURN_A)) {
            fill<true, false>(l0, l1, k0 / wide * blocks, {across, blocks, blocks, 1, 1, across});
        } else if constexpr (is_float) {
            turn<true>(l0, l1 + k0 / LEO_CUBE_SIDE * LEO_FRACTAL, leo_sides(k), blocks, deep, 1,
                       across);
        } else {
            fill<true, true>(l0, l1, k0 / LEO_CUBE_SIDE, {across, blocks, 1, deep, 1, across});
        }
    }

    /* The same of B into L0B: columns of fractals. */
    LEO_AC_METHOD void fill_b(uint32_t l0, uint32_t l1, uint32_t k0, uint32_t k, uint32_t columns,
                              uint32_t depth) const
    {
        const uint32_t blocks = leo_sides(columns), deep = leo_sides(depth);
        if (job.flags & LEO_JOB_TURN_B) {
            fill<false, false>(l0, l1, k0 / wide * blocks,
                               {k_fractals(k), blocks, blocks, 1, blocks, 1});
        } else if constexpr (is_float) {
            turn<false>(l0, l1 + k0 / LEO_CUBE_SIDE * LEO_FRACTAL, leo_sides(k), blocks, deep,
                        blocks, 1);
        } else {
            fill<false, true>(l0, l1, k0 / LEO_CUBE_SIDE,
                              {k_fractals(k), blocks, 1, deep, blocks, 1});
        }
    }

    LEO_AC_METHOD uint32_t c_half() const
    {
        return twice ? blocks_done & 1 : 0;
    }

    LEO_AC_METHOD void fill_table(uint32_t columns, uint32_t half)
    {
        wait_flag(PIPE_M, PIPE_MTE1, 2);
        copy_cbuf_to_bt(0, (__cbuf__ void *)(uint64_t)(LEO_BIAS_L1 + half * LEO_BIAS_SLOT), 0, 1,
                        (uint16_t)((columns * 4 + 63) / 64), 0, 0);
    }

    LEO_AC_METHOD void fill_row(uint32_t l0, uint32_t rows, uint32_t columns, uint32_t half)
    {
        create_ca_matrix((__ca__ A *)(uint64_t)l0, leo_pack_create(1, leo_sides(rows), 0, 0), (A)1);
        fill<false, true>(l0, LEO_BIAS_L1 + half * LEO_BIAS_SLOT, 0,
                          {1, leo_sides(columns), 1, 1, leo_sides(columns), 1});
    }

    /* One product into the block's sum; `first`: into nothing, or what the table says. */
    LEO_AC_METHOD void add_product(uint32_t l0, uint32_t rows, uint32_t k, uint32_t columns,
                                   bool first, bool from_table)
    {
        set_flag(PIPE_MTE1, PIPE_M, (int)l0);
        wait_flag(PIPE_MTE1, PIPE_M, (int)l0);
        if (first) {
            wait_flag(PIPE_FIX, PIPE_M, (int)c_half());
        } else if (leo_sides(rows) * leo_sides(columns) < 10) {
            pipe_barrier(PIPE_M); // a short sum outruns the Cube's own order
        }
        mad((__cc__ float *)(uint64_t)(c_half() * LEO_L0C_HALF),
            (__ca__ const A *)(uint64_t)(l0 * LEO_L0_HALF),
            (__cb__ const A *)(uint64_t)(l0 * LEO_L0_HALF),
            leo_pack_mad(rows, k, columns, 0, 0, from_table, first && !from_table, 1, 0));
        if (from_table) {
            set_flag(PIPE_M, PIPE_MTE1, 2);
        }
        set_flag(PIPE_M, PIPE_MTE1, (int)l0);
    }

    LEO_AC_METHOD void multiply(uint32_t m0, uint32_t n0, uint32_t k0)
    {
        const uint32_t half = chunks++ & 1, rows = leo_least(job.base_m, job.m - m0),
                       columns = leo_least(job.base_n, job.n - n0),
                       depth = leo_least(chunk, job.k - k0);
        const bool bias = k0 == 0 && job.flags & LEO_JOB_BIAS;
        wait_flag(PIPE_MTE2, PIPE_MTE1, half);
        if constexpr (bias_is_row) {
            if (bias) {
                const uint32_t l0 = steps++ & 1;
                wait_flag(PIPE_M, PIPE_MTE1, (int)l0);
                fill_row(l0 * LEO_L0_HALF, rows, columns, half);
                add_product(l0, rows, 1, columns, true, false);
            }
        }
        for (uint32_t at = 0; at < depth; at += step) {
            const uint32_t k = leo_least(step, depth - at), l0 = steps++ & 1;
            const bool first = k0 + at == 0, from_table = first && bias && !bias_is_row;
            wait_flag(PIPE_M, PIPE_MTE1, (int)l0);
            fill_a(l0 * LEO_L0_HALF, half * LEO_L1_HALF, at, k, rows, depth);
            fill_b(l0 * LEO_L0_HALF, place_b(half), at, k, columns, depth);
            if (from_table) {
                fill_table(columns, half);
            }
            add_product(l0, rows, k, columns, first && !(bias && bias_is_row), from_table);
        }
        set_flag(PIPE_MTE1, PIPE_MTE2, half);
    }

    LEO_AC_METHOD void store(uint32_t m0, uint32_t n0)
    {
        constexpr QuantMode_t quant = IsSameType<C, half>::value         ? F322F16
                                      : IsSameType<C, bfloat16_t>::value ? F322BF16
                                                                         : NoQuant;
        const uint32_t rows = leo_least(job.base_m, job.m - m0),
                       columns = leo_least(job.base_n, job.n - n0);
        const int part = (int)c_half();
        set_flag(PIPE_M, PIPE_FIX, part);
        wait_flag(PIPE_M, PIPE_FIX, part);
        copy_matrix_cc_to_gm((__gm__ C *)job.c + (uint64_t)m0 * job.c_pitch + n0,
                             (__cc__ float *)(uint64_t)(c_half() * LEO_L0C_HALF), 0,
                             (uint16_t)columns, (uint16_t)rows, job.c_pitch,
                             (uint16_t)AlignUp(rows, LEO_CUBE_SIDE), 0, quant, 0, false, true);
        set_flag(PIPE_FIX, PIPE_M, part);
        blocks_done++;
    }

    const leo_matmul_job &job;
    uint32_t step, chunk; // along k, in L0 and in L1
    bool twice;           // two blocks of C fit into L0C
    uint32_t loads = 0, chunks = 0, steps = 0, blocks_done = 0;
};

} // namespace AscendC
