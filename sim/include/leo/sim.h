/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated chip as the world outside sees it:
 * a function with registers, DMA and an interrupt. */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct leo_debugger;
struct leo_image_desc;
struct leo_link_note;
struct leo_sim_chip;

/** Options of a chip. Set `size` to sizeof(struct leo_sim_opts);
 * zero elsewhere means the default. */
struct leo_sim_opts {
    size_t size;
    const char *soc_text; /**< Text of a SoC file (isa/soc); required. Borrowed during create. */
    const char *soc_text_name; /**< For messages; may be NULL. */
    unsigned host_threads;     /**< Host threads that simulate cores; 0 = all the host has. */
    const char *simd;          /**< Host path "generic", "avx2" or "avx512"; NULL = best. */
    void (*log)(void *user, int level, const char *text); /**< 0 error .. 3 debug; may be NULL. */
    void *log_user;
    /** First device address, and how many of them memory may be mapped to; both multiples of 4096.
     * Default: 4 GiB, and as many as the chip has bytes. Fewer make the chip's memory smaller. */
    uint64_t gm_base, gm_bytes;
    unsigned check; /**< LEO_SIM_CHECK_* bits: what kernels are checked for; 0 = nothing. */
    const char
        *tape;      /**< File that tells afterwards what was done, for leo/replay.h; NULL = none. */
    bool no_values; /**< Units compute nothing: only times and the tape are of use. */
    /** Stops kernels for a debugger, or counts their instructions; borrowed. NULL = none. Cores
     * that may be stopped run on the caller's thread. */
    const struct leo_debugger *debugger;
};

/** Checks of kernels; what they find are fault records of tasks (docs/hw/check.md). */
enum {
    LEO_SIM_CHECK_HAZARD = 1,
    LEO_SIM_CHECK_INIT = 2,
    LEO_SIM_CHECK_RACE = 4,
    LEO_SIM_CHECK_BOUNDS = 8,
    LEO_SIM_CHECK_POISON =
        16 /**< finds nothing: what was not written reads as NaN (all bits set) */
};

/**
 * Makes a chip. On failure `*chip` is NULL and `error` (if not NULL, `error_bytes` long) says what
 * is wrong. The chip runs only while a thread is inside leo_sim_chip_run: host speed never reaches
 * simulated time.
 */
leo_status leo_sim_chip_create(const struct leo_sim_opts *opts, struct leo_sim_chip **chip,
                               char *error, size_t error_bytes);
/** Frees the chip and all its memory. NULL is allowed. */
void leo_sim_chip_destroy(struct leo_sim_chip *chip);

/**
 * Writes a snapshot: all state of a chip that has nothing to do (else LEO_ERR_BUSY): mapped memory,
 * mappings, events, on-chip memories and registers, L2, clock. Not the rings and registers of the
 * function: what host and chip agreed on stays with the host.
 */
leo_status leo_sim_chip_save(struct leo_sim_chip *chip,
                             void (*write_fn)(void *user, const void *data, size_t bytes),
                             void *user);
/** Takes a chip of the same SoC and addresses to the state of a snapshot; it must have nothing to
 * do. LEO_ERR_INVALID_ARG: not a snapshot of such a chip. */
leo_status leo_sim_chip_restore(struct leo_sim_chip *chip, const void *data, size_t bytes);
/** The state as text, a line for each register or memory that is not zero. */
void leo_sim_chip_dump(struct leo_sim_chip *chip, void (*line_fn)(void *user, const char *text),
                       void *user);

/** A name for later tasks whose entries have this tag, for the tape. Nothing happens without one.
 * Thread-safe. */
void leo_sim_name_tag(struct leo_sim_chip *chip, uint32_t tag, const char *name);
/** What the host did with other cards, for the tape: before the entry of its second event.
 * Thread-safe. */
void leo_sim_note_link(struct leo_sim_chip *chip, const struct leo_link_note *note);

/** Register access, `bytes` 4 or 8. Thread-safe. An unknown offset reads 0 and ignores writes. */
uint64_t leo_sim_reg_read(struct leo_sim_chip *chip, uint32_t offset, unsigned bytes);
void leo_sim_reg_write(struct leo_sim_chip *chip, uint32_t offset, unsigned bytes, uint64_t value);

/** Host memory the chip may reach at `dma_addr`. Ranges must not overlap. Unmap names the first
 * address. */
leo_status leo_sim_dma_map(struct leo_sim_chip *chip, uint64_t dma_addr, void *host_ptr,
                           size_t bytes);
void leo_sim_dma_unmap(struct leo_sim_chip *chip, uint64_t dma_addr);

/** Host memory behind device addresses, for another chip's DMA (a PCIe window); NULL: not all of
 * the range is device memory. Valid as long as the chip. */
void *leo_sim_window(struct leo_sim_chip *chip, uint64_t addr, uint64_t bytes);

/**
 * Keeps device memory in whole pages of the host that the caller has mapped at `host`, as memory
 * shared with another process, until the mapping they lie in ends. The pages move away from `host`.
 * `keep`: they take over the contents, else the device finds what is in them.
 */
leo_status leo_sim_adopt(struct leo_sim_chip *chip, uint64_t addr, uint64_t bytes, void *host,
                         bool keep);

/**
 * Lets simulated time go on until an unmasked interrupt is pending (LEO_OK), the chip has nothing
 * to do (LEO_ERR_NOT_READY), or about `timeout_ns` of wall time have passed (LEO_ERR_TIMEOUT), or
 * all that is left are cores that poll memory nothing on the chip changes (LEO_ERR_BUSY). With
 * UINT64_MAX these end in a deadlock instead: no more will be submitted. Thread-safe: a second
 * caller waits for the first.
 */
leo_status leo_sim_chip_run(struct leo_sim_chip *chip, uint64_t timeout_ns);
/** The same, but the chip also stands still (LEO_ERR_NOT_READY) when a kernel has run for
 * `kernel_ns` of simulated time: at the same place whatever the speed of the computer. */
leo_status leo_sim_chip_run_within(struct leo_sim_chip *chip, uint64_t timeout_ns,
                                   uint64_t kernel_ns);

/**
 * Computes what submitted entries will compute and copy, as far as that can be known before their
 * time, and lets no simulated time go on: their times come out as if this call had not been made.
 * LEO_OK: all values are there; LEO_ERR_NOT_READY: the rest has to wait for its time;
 * LEO_ERR_TIMEOUT: `timeout_ns` of wall time have passed; LEO_ERR_BUSY: another thread lets time go
 * on. Thread-safe.
 */
leo_status leo_sim_chip_run_ahead(struct leo_sim_chip *chip, uint64_t timeout_ns);
/**
 * Whether the text of a kernel image has loops that wait for memory
 * (docs/decisions/0026-polling.md). Of what cannot be told, for want of host memory, the answer is
 * yes.
 */
bool leo_sim_image_polls(const struct leo_image_desc *desc, const void *image);
/** From now on somebody may wait for what kernels and copies store: their stores are noted, so that
 * none is seen before its time, and leo_sim_chip_run_ahead computes nothing. Thread-safe. */
void leo_sim_chip_watch(struct leo_sim_chip *chip);

/** Result of leo_sim_bare_run. */
struct leo_sim_bare_result {
    int exit_code;         /**< Argument of exit; -1 after a fault. */
    uint64_t instructions; /**< Scalar instructions executed. */
    uint16_t fault;        /**< enum leo_fault, 0 = none. */
    uint64_t fault_pc;
    uint64_t fault_addr;
    uint32_t fault_word; /**< The instruction at fault_pc; of a bad jump the jump. 0 = none. */
    char text[256];      /**< What is wrong with the file, or what the fault was; else empty. */
};

/**
 * Runs a static RV64 ELF on one scalar unit: the Linux calls write (64) and exit (93), nothing
 * else, so that the same file runs under qemu-riscv64. `write_fn` receives what the program writes.
 * `max_instructions` 0 = no limit. The stack has 1 MiB. Files with compressed instructions,
 * position-independent ones and those with writable code are refused.
 */
leo_status leo_sim_bare_run(const void *elf, size_t elf_bytes,
                            void (*write_fn)(void *user, int fd, const void *data, size_t bytes),
                            void *user, uint64_t max_instructions,
                            struct leo_sim_bare_result *result);

#ifdef __cplusplus
}
#endif
