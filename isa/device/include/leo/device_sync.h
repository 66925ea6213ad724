/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <leo/device.h>: order between units, and the state units look at. */
#pragma once

/*
 * set_flag(source pipe, waiting pipe, event), wait_flag(same), pipe_barrier(pipe). Macros, because
 * the pipes are part of the instruction word at every optimisation level; the event may vary.
 */
#define set_flag(src, dst, event)  LEO_FLAG(0, src, dst, event)
#define wait_flag(src, dst, event) LEO_FLAG(1, src, dst, event)
#define pipe_barrier(pipe)         LEO_I(0x7b, 2, 0, (int)(pipe))
/* A constant event goes into the word, another into the register. */
#define LEO_FLAG(f3, src, dst, event)                                                              \
    do {                                                                                           \
        leo_check_event((int)(event));                                                             \
        LEO_I(0x7b, f3, __builtin_constant_p(event) ? 0 : (event),                                 \
              (int)(src) | (int)(dst) << 4 |                                                       \
                  (__builtin_constant_p(event) ? ((int)(event) & 7) << 8 : 0));                    \
    } while (0)
#if LEO_HAS_2201
LEO_INTRIN void leo_check_event(int event)
    __attribute__((diagnose_if(event < 0 || event > 7, "an event id is 0 to 7", "error")));
#else
LEO_INTRIN void leo_check_event(int event)
    __attribute__((diagnose_if(event < 0 || event > 3, "an event id of this chip is 0 to 3",
                               "error")));
#endif
LEO_INTRIN void leo_check_event(int event)
{
    (void)event;
}

/* Lanes that vector instructions write: `high` lanes 64..127 (16-bit types), `low` lanes 0..63. */
LEO_INTRIN void set_vector_mask(uint64_t high, uint64_t low)
{
    LEO_CSR_WRITE(LEO_CSR_VMASK1, high);
    LEO_CSR_WRITE(LEO_CSR_VMASK0, low);
}

/* Counter mode: the low word of the mask is a number of elements. */
LEO_INTRIN void set_mask_count(void)
{
    LEO_CSR_SET(LEO_CSR_CTRL, 1);
}

LEO_INTRIN void set_mask_norm(void)
{
    LEO_CSR_CLEAR(LEO_CSR_CTRL, 1);
}

/* Loads the compare mask from 16 bytes of UB. */
LEO_INTRIN void set_cmpmask(__ubuf__ const void *mask)
{
    LEO_I(0x7b, 3, mask, 0);
}

/* Where vsel in modes 1 and 2 finds its mask bits. */
LEO_INTRIN void set_selmask_addr(__ubuf__ const void *mask)
{
    LEO_CSR_WRITE(LEO_CSR_SELMASK_ADDR, (uint64_t)mask);
}

/* Everybody sees what the scalar unit stores at once: these keep the program's order and check
 * their operands. */
typedef enum { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE } cache_line_t;
typedef enum { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC } dcci_dst_t;
typedef enum { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ } mem_dsb_t;
typedef enum { MEM_UB, MEM_L1, MEM_L0A, MEM_L0B, MEM_L0C } mem_t;

LEO_INTRIN void dcci(__gm__ void *line, cache_line_t lines)
{
    LEO_U4(0x7b, 6, 1, 0, lines, line, 0);
}

LEO_INTRIN void dcci(__gm__ void *line, cache_line_t lines, dcci_dst_t where)
{
    (void)where;
    LEO_U4(0x7b, 6, 1, 0, lines, line, 0);
}

LEO_INTRIN void dc_preload(__gm__ uint64_t *line, int64_t offset)
{
    LEO_U4(0x7b, 6, 1, 1, offset, line, 0);
}

LEO_INTRIN void preload(const void *code, int64_t lines)
{
    LEO_U4(0x7b, 6, 1, 2, lines, code, 0);
}

LEO_INTRIN void dsb(mem_dsb_t what)
{
    LEO_U4(0x7b, 6, 1, 3, what, 0, 0);
}

#if LEO_HAS_2201
/* set_flag and wait_flag for one memory; the flags are those of set_flag. */
LEO_INTRIN void hset_flag(pipe_t src, pipe_t dst, unsigned event, mem_t memory, bool from_v)
{
    LEO_U4(0x7b, 6, 0, 0, (uint64_t)src | (uint64_t)dst << 4 | (uint64_t)event << 8,
           (uint64_t)memory | (uint64_t)from_v << 4, 0);
}

LEO_INTRIN void hwait_flag(pipe_t src, pipe_t dst, unsigned event, mem_t memory, bool from_v)
{
    LEO_U4(0x7b, 6, 0, 1, (uint64_t)src | (uint64_t)dst << 4 | (uint64_t)event << 8,
           (uint64_t)memory | (uint64_t)from_v << 4, 0);
}
#endif

/* Stops the kernel with the fault kernel_trap. */
LEO_INTRIN void trap(void)
{
    LEO_I(0x7b, 7, 0, 0);
}
