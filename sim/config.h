/* SPDX-License-Identifier: Apache-2.0 */
/* One SoC file as a struct: chip shape, sizes, rates, latencies. Every number the simulator's time
 * depends on is here. */
#pragma once

#include <leo/insn.h>
#include <leo/isa_enums.h>
#include <leo/status.h>
#include <stddef.h>
#include <stdint.h>

/** Time of one unit instruction: head + ceil(elements / rate). Rates by element size; 0 = same as
 * the other. */
struct sim_insn_time {
    double head;   /**< cycles before the first element */
    double rate16; /**< elements per cycle, 8- and 16-bit types (bytes per cycle for moves) */
    double rate32; /**< elements per cycle, 32- and 64-bit types */
};

struct sim_config {
    char name[32];
    uint32_t arch;         /**< 1001 coupled, 2201 split */
    uint32_t cube_cores;   /**< coupled or cube cores */
    uint32_t vector_cores; /**< separate vector cores, 0 on a coupled chip */
    uint32_t clock_khz;
    /* [memory] bytes */
    uint32_t l1_bytes, l0a_bytes, l0b_bytes, l0c_bytes, ub_bytes, bt_bytes, fb_bytes, l2_bytes;
    uint64_t hbm_bytes;
    /* [scheduler] */
    uint32_t queues, queue_depth;
    double dispatch_ns;        /**< entry fetched to first instruction of the first core */
    double complete_ns;        /**< last core done to completion visible */
    double block_spread_ns;    /**< extra start delay of each further core */
    double stream_gap_ns;      /**< end of a task to start of the next in one stream */
    uint32_t default_limit_us; /**< watchdog */
    /* [copy] SDMA and host link */
    double host_latency_ns, host_gb_per_s, device_latency_ns, device_gb_per_s;
    /* [link] between cards. Checked here, used by the collectives of the runtime. */
    uint32_t link_board_cards, link_board_mesh;
    double link_collective_gb_per_s;
    double link_board_gb_per_s, link_board_latency_ns, link_net_gb_per_s, link_net_latency_ns;
    double link_start_ns;
    /** Media engines, one channel of each: pixels a microsecond, overhead of an operation. */
    double dvpp_start_ns, dvpp_vpc_mpixel_per_s, dvpp_jpegd_mpixel_per_s, dvpp_jpege_mpixel_per_s,
        dvpp_vdec_mpixel_per_s;
    /* [scalar] cycles */
    double start_cycles; /**< cold start of a block: instruction fetch, stack, arguments */
    double scalar_alu, scalar_mul, scalar_div, scalar_branch, scalar_float, scalar_float_div;
    double scalar_load_ub, scalar_store_ub, scalar_load_gm, scalar_store_gm, scalar_load_private;
    uint32_t icache_bytes, icache_line_bytes, dcache_bytes, dcache_line_bytes;
    double scalar_issue; /**< handing one instruction to a unit */
    /* [sync] cycles */
    double flag_set, flag_wait, barrier;
    double cross_core_ns; /**< from a set to the flag at another core */
    uint32_t queue_depth_pipe[LEO_PIPE_COUNT];
    /* [gm] one core's view of global memory */
    double gm_read_hit_ns, gm_read_miss_ns; /**< from a request to its answer: L2, HBM */
    double gm_write_ns;                     /**< from the last byte sent to its being there */
    double gm_read_requests;                /**< most a core has in flight */
    uint32_t gm_request_bytes;              /**< largest request */
    double gm_read_rate, gm_write_rate;     /**< bytes per cycle of one core's port */
    double gm_same_line_ns;                 /**< a line of the L2 needs for one request */
    double gm_small_interval; /**< least cycles between two DMA instructions of one pipe */
    double nd2nz_row;         /**< least cycles of a row in the layout change */
    double l2_gb_per_s;       /**< L2 to all cores */
    double l2_written_part;   /**< of the L2, that may hold what HBM has not */
    double hbm_read_gb_per_s, hbm_write_gb_per_s; /**< whole chip */
    double hbm_refresh_ns, hbm_refresh_every_ns;  /**< HBM stands so long, so often */
    double hbm_turn_bytes, hbm_run_bytes; /**< bytes HBM could have read while it turns to writing
                                             and back; while it opens another page */
    /* [cube] */
    double mmad_head;                /**< cycles before the first tile when the pipe was idle */
    double mmad_gap;                 /**< cycles between back-to-back mmads */
    uint32_t cube_m, cube_n, cube_k; /**< of one step; k of 16-bit operands */
    /* [vector] */
    double ub_repeats;   /**< repeats of 256 bytes the buffer serves a cycle */
    double ub_bank_wait; /**< extra cycles of a repeat that reads a bank being written */
    /* [insn] by name */
    struct sim_insn_time insn[LEO_INSN_COUNT];
};

/** Parses and checks a SoC file (inih). On failure `error` names line, key and what is expected. */
leo_status sim_config_parse(const char *text, const char *text_name, struct sim_config *config,
                            char *error, size_t error_bytes);
