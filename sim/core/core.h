/* SPDX-License-Identifier: Apache-2.0 */
/* One AI core: its scalar unit, its memories, its pipes' timelines. Meaning lives in exec_*, time
 * in unit_*. */
#pragma once

#include "../config.h"
#include "../footprint.h"
#include "../op.h"
#include "../scalar/scalar.h"
#include "../simd/simd_cube.h"
#include "../time/log.h"
#include "caches.h"
#include "poll.h"
#include <leo/isa_enums.h>
#include <leo/map.h>

#define SIM_PRIVATE_IMAGE_BYTES UINT64_C(0x01000000) /* most writable bytes of an image */
/** A host thread's: what instructions use, then struct sim_deferred. */
#define SIM_SCRATCH_BYTES (SIM_CUBE_SCRATCH_BYTES + UINT64_C(0x00010000))

struct sim_simd;
struct sim_deferred;
struct sim_stores;
struct sim_space;
struct sim_extent;
struct sim_check;
struct sim_debug_core;
struct sim_host_pool;
struct sim_tape_track;

/** An on-chip buffer. */
struct sim_local {
    uint8_t *data;
    uint32_t bytes;
};

/** Control registers that instructions take their values from, and those they leave results in. All
 * are 0 at the start of a block, ctrl and the masks apart (isa/csr.csv). */
struct sim_csrs {
    uint64_t fmatrix, fmatrix_b, padding, l1_3d_size, l3d_rpt; /**< img2col */
    uint64_t nd_para, quant_pre, fpc, lrelu_alpha;             /**< fixpipe */
    uint64_t deqscale, mov_pad_val, ffts_base_addr, st_atomic_cfg, overflow;
    uint64_t data_exp[4], aipp_spr[22];
    uint64_t acc_val, max_min_cnt, rsvd_cnt, vms4_sr; /**< results */
};

enum { SIM_CROSS_FLAGS = 16 };

/** Flags between cores: what the running block did with each, by enum leo_cross. */
struct sim_cross {
    uint32_t set[LEO_CROSS_COUNT][SIM_CROSS_FLAGS];
    uint32_t raised[LEO_CROSS_COUNT][SIM_CROSS_FLAGS]; /**< here, as far as known */
    uint32_t taken[LEO_CROSS_COUNT][SIM_CROSS_FLAGS];  /**< by waits */
};

enum { SIM_UNIT_PLACES = 8 };

/** A result in L0C that was or is handed over by unit flags. */
struct sim_unit_place {
    uint64_t addr;
    uint32_t used;          /**< later ones are larger; 0 = the place was never used */
    uint32_t make, release; /**< numbers */
    bool is_made, is_released;
};

/** Unit flags of the running block (unit_flag.c). */
struct sim_unit_flags {
    uint32_t made, released, uses;
    struct sim_unit_place place[SIM_UNIT_PLACES];
};

/** What a core waits for before its values go on. */
enum sim_park {
    SIM_PARK_NONE,
    SIM_PARK_FLAG,   /**< park_flag is to be raised */
    SIM_PARK_RAISED, /**< it was: the wait is tried again */
    SIM_PARK_POLL    /**< a load that polls is due between rounds */
};

struct sim_core {
    struct sim_scalar scalar;
    const struct sim_config *config;
    const struct sim_simd *simd;
    const struct sim_insn *insns; /**< by enum leo_insn */
    unsigned id;
    enum leo_core_kind kind;
    /* What the running block sees. */
    uint32_t block_idx, block_num, sub_block_idx, sub_block_num;
    uint32_t group_vectors; /**< vector cores that run the block with a cube core; 0 = none do */
    uint64_t vmask[2], ctrl, cmpmask[2], selmask_addr;
    struct sim_csrs csr;
    uint16_t va[8][8]; /**< VA registers: UB addresses in blocks of 32 bytes */
    struct sim_local
        local[LEO_MEM_SPACE_COUNT]; /**< by enum leo_mem_space; GM and PRIVATE unused */
    uint8_t *sparse; /**< beside L0B: where elements of sparse fractals belong, a quarter of its
                        bytes; then room for what mmad_sp multiplies, twice its bytes */
    struct sim_space *space;       /**< mappings of the owner; read-only while cores run */
    struct sim_footprint foot;     /**< of the instruction being executed */
    struct sim_deferred *deferred; /**< what it has put off; NULL = nothing is put off */
    uint8_t *scratch; /**< 1 MiB for exec functions, 64-byte aligned; the host thread's that runs
                         the core */
    /* What it does that takes time. Its own clock counts the scalar unit's cycles alone; when they
     * are, the event engine finds out from the log. */
    struct sim_time_log log;
    uint64_t log_end; /**< places of the log this run may fill */
    double logged;    /**< the scalar unit's cycles that are in the log */
    enum { SIM_CLOCK_UNKNOWN, SIM_CLOCK_ASKED, SIM_CLOCK_KNOWN } clock;
    uint64_t clock_ps;            /**< KNOWN: the chip's time at this instruction */
    double limit;                 /**< cycles the block may run; 0 = as many as it wants */
    double spent[LEO_PIPE_COUNT]; /**< least cycles of the large moves so far (execute.c) */
    /* Memory of the block (address.c). */
    uint64_t gm_base;                        /**< first device address */
    uint8_t *gm;                             /**< its host address */
    const struct sim_extent *last_extent;    /**< of `space`, may be NULL */
    uint8_t *image;                          /**< link address 0, in global memory */
    uint64_t image_read_only, image_bytes;   /**< sizes: shared part; everything with .bss */
    uint8_t *image_private, *private_window; /**< private copy of the writable part; 0x30000000 */
    uint64_t stack_end,
        private_end;      /**< core addresses: lowest of the stack, end of the arguments */
    uint64_t stack_clear; /**< the block has cleared its stack from here up (address.c) */
    uint64_t entry;       /**< link address the block began at */
    bool wrote_text;      /**< wrote where an image lies */
    /* Flags (flags.c), by source and destination pipe. */
    uint8_t flag_set[LEO_PIPE_COUNT][LEO_PIPE_COUNT];
    struct sim_cross cross;
    struct sim_unit_flags unit_flags;
    struct sim_caches caches;
    enum sim_park park;
    uint8_t park_flag;
    uint64_t park_pc; /**< link address of the wait */
    struct sim_poll poll;
    struct sim_stores *stores;    /**< what is written is noted there; NULL = nobody polls */
    uint64_t stored;              /**< stores noted, in all blocks */
    struct sim_check *check;      /**< NULL = off */
    struct sim_tape_track *track; /**< NULL: nobody records what it does */
    struct sim_unknown *unknown;  /**< NULL: units compute values */
    bool holds_unknown;           /**< the block's buffers may hold what was not computed */
    bool looked;                  /**< the program saw what was not computed */
    struct sim_debug_core *debug; /**< NULL: no debugger */
    bool runs_ahead;              /**< its block's time has not come (scheduler/run_ahead.h) */
    bool run_ahead_stop;          /**< and what comes next depends on when it will */
    /* Order among cores (host_pool.h). */
    struct sim_host_pool *pool;
    unsigned first_turn, turn;
};

/**
 * Host pointer to [addr, addr + bytes) of an on-chip buffer. `addr` is a bare offset or an address
 * in the buffer's window. NULL with scalar.fault set (code, space, addr, bytes) if it leaves the
 * buffer or is not a multiple of `align`.
 */
uint8_t *sim_core_local(struct sim_core *core, enum leo_mem_space space, uint64_t addr,
                        uint64_t bytes, unsigned align);
/** Host pointer to [addr, addr + bytes) of global memory (or of the core's image / private
 * windows), or NULL + fault. */
uint8_t *sim_core_gm(struct sim_core *core, uint64_t addr, uint64_t bytes, bool write);
/** Sets scalar.fault and returns false: `return sim_core_fault(...)`. pc, word and unit are filled
 * in by the issuer. */
bool sim_core_fault(struct sim_core *core, enum leo_fault code, enum leo_mem_space space,
                    uint64_t addr, uint64_t bytes);

/** What a block is given at its start. Memory fields of the core are set before
 * (scheduler/kernel.c). */
struct sim_block {
    uint64_t entry; /**< link address */
    uint64_t sp;    /**< core address */
    uint64_t argument[8];
    uint32_t block_idx, block_num;
    uint32_t group_vectors; /**< as of struct sim_core */
    double limit_cycles;    /**< it may run */
    bool saturate;          /**< CSR ctrl at its start */
};

/** Wires a core up. Its memories come from `arena`, SIM_CORE_ARENA_BYTES(config) long and zero. */
void sim_core_init(struct sim_core *core, const struct sim_config *config,
                   const struct sim_simd *simd, const struct sim_insn *insns, unsigned id,
                   uint8_t *arena);
/** Buffers of a core start on pages of their own. */
static inline uint64_t sim_core_pages(uint64_t bytes)
{
    return (bytes + 4095) & ~UINT64_C(4095);
}
/** Bytes of host address space a core needs (only touched pages cost memory). */
uint64_t sim_core_arena_bytes(const struct sim_config *config);
/** Of these, those of `sparse`. */
static inline uint64_t sim_core_sparse_bytes(const struct sim_config *config)
{
    return sim_core_pages(config->l0b_bytes / 4 + 2 * (uint64_t)config->l0b_bytes);
}
/** Starts a block: registers, CSRs, flags and timelines as after reset. */
void sim_core_begin(struct sim_core *core, const struct sim_block *block);
/**
 * Runs until `until` cycles of the scalar unit, or `places` more places of the log, or an
 * instruction that asks for the time (clock ASKED) or waits for another core (park FLAG):
 * SIM_SCALAR_TIME; else what stopped it. At
 * SIM_SCALAR_FAULT scalar.fault is complete.
 */
enum sim_scalar_stop sim_core_run(struct sim_core *core, double until, unsigned places);
/** Appends to the log, for which there is room, with the scalar cycles since the record before. */
void sim_core_log(struct sim_core *core, struct sim_time_record *record,
                  const struct sim_time_gm *gm);
/** Appends what the caches of the scalar unit missed; there is room. */
void sim_core_log_missed(struct sim_core *core);
/** Prices an instruction whose footprint is in core->foot, and appends it. */
void sim_core_log_unit(struct sim_core *core, const struct sim_op *op);
/** Which results of others an instruction of M or FIX follows, and which it hands on. */
void sim_core_mark_hand(struct sim_core *core, const struct sim_op *op,
                        struct sim_time_record *record);
/** Whether the core must not go on before its block's time has come; notes it. */
static inline bool sim_core_must_wait(struct sim_core *core)
{
    core->run_ahead_stop = core->runs_ahead;
    return core->runs_ahead;
}
/** Exchanges what two cores of one kind do, with their memories: each stays the core it is. */
void sim_core_exchange(struct sim_core *one, struct sim_core *other);
/** Forgets pointers into the mappings: they changed. */
void sim_core_forget(struct sim_core *core);

void sim_core_load_line(struct sim_scalar *scalar, uint64_t addr);
bool sim_core_find(struct sim_scalar *scalar, uint64_t addr, unsigned bytes, enum sim_access access,
                   struct sim_region *region);
bool sim_core_issue(struct sim_scalar *scalar, struct sim_op *op);
bool sim_core_csr_read(struct sim_scalar *scalar, unsigned csr, uint64_t *value);
bool sim_core_csr_write(struct sim_scalar *scalar, unsigned csr, uint64_t value);

/** caller.c: link address that the function at link address `pc` returns to; 0 = it is the kernel,
 * or none was found. */
uint32_t sim_core_caller(const struct sim_core *core, uint64_t pc);
/** Of what the checker found at this instruction: its findings from number `first` on. */
void sim_core_name_callers(const struct sim_core *core, unsigned first);

/* execute.c: the effect of one instruction without its time. */
/** Whether this core has the instruction. */
bool sim_core_has(const struct sim_core *core, enum leo_insn insn);
/** What it touches (op->row is set). False: fault set, not legal.
 * Nothing is mapped or checked yet. */
bool sim_core_outline(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot);
/** Checks bounds and alignment of all local spans and finds their host memory: sources first. False
 * = fault set. Global memory is checked as it is accessed. */
bool sim_footprint_map(struct sim_core *core, struct sim_footprint *foot);
/** Sets row and foot of the instruction (which core has it is sim_core_has), outlines it to
 * core->foot, checks bounds and executes. */
bool sim_core_execute(struct sim_core *core, struct sim_op *op);
/** What an instruction costs its unit; row and foot are set. */
void sim_core_price(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost);
