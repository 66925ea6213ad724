/* SPDX-License-Identifier: Apache-2.0 */
#include "sort.h"

#include <string.h>

#define MAX_GROUP 32u

struct vec_record vec_record_of(const struct sim_core *core, enum leo_dtype type)
{
    if (core->config->arch == 1001) {
        return (struct vec_record){.bytes = 16, .key_at = 8, .wide = false, .group = 16};
    }
    return (struct vec_record){
        .bytes = 8, .key_at = 0, .wide = type == LEO_DTYPE_F32, .group = MAX_GROUP};
}

/** Bits of a float of `width` bits to a number of the same order. */
static int64_t ordered(uint32_t bits, unsigned width, uint32_t infinity)
{
    const uint32_t sign = UINT32_C(1) << (width - 1), size = bits & (sign - 1);
    if (size > infinity) {
        return (int64_t)infinity + 1;
    }
    return bits & sign ? -(int64_t)size : (int64_t)size;
}

int64_t vec_key(const struct vec_record *record, const uint8_t *at)
{
    uint32_t bits = 0;
    memcpy(&bits, at + record->key_at, record->wide ? 4 : 2);
    return record->wide ? ordered(bits, 32, 0x7f800000) : ordered(bits, 16, 0x7c00);
}

/** Insertion: stable, and groups are short. */
static void sort_group(const struct vec_record *record, uint8_t *group)
{
    for (uint32_t i = 1; i < record->group; i++) {
        uint8_t moving[16];
        memcpy(moving, group + i * record->bytes, record->bytes);
        const int64_t key = vec_key(record, moving);
        uint32_t at = i;
        while (at > 0 && vec_key(record, group + (at - 1) * record->bytes) < key) {
            memcpy(group + at * record->bytes, group + (at - 1) * record->bytes, record->bytes);
            at--;
        }
        memcpy(group + at * record->bytes, moving, record->bytes);
    }
}

/** A group of the second generation: scores and indices side by side. */
static void make_pairs(const struct vec_record *record, uint8_t *group, const uint8_t *scores,
                       const uint8_t *indices)
{
    const uint32_t key_bytes = record->wide ? 4 : 2;
    memset(group, 0, (size_t)record->group * record->bytes);
    for (uint32_t i = 0; i < record->group; i++) {
        memcpy(group + i * record->bytes, scores + i * key_bytes, key_bytes);
        memcpy(group + i * record->bytes + 4, indices + i * sizeof(uint32_t), sizeof(uint32_t));
    }
}

bool sim_vec_sort(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_rep cfg = leo_cfg_rep_unpack(op->d);
    const struct vec_record record = vec_record_of(core, cfg.dtype);
    uint8_t *dst = op->foot->span[SIM_OPERAND_A].host;
    const uint8_t *src = op->foot->span[SIM_OPERAND_B].host;
    const struct sim_span *indices = &op->foot->span[SIM_OPERAND_C];
    for (uint32_t repeat = 0; repeat < cfg.repeat; repeat++) {
        uint8_t group[MAX_GROUP * 16];
        const size_t bytes = (size_t)record.group * record.bytes;
        if (indices->touch) {
            const size_t key_bytes = record.wide ? 4 : 2;
            make_pairs(&record, group, src + (size_t)repeat * record.group * key_bytes,
                       indices->host + (size_t)repeat * record.group * sizeof(uint32_t));
        } else {
            memcpy(group, src + repeat * bytes, bytes);
        }
        sort_group(&record, group);
        memcpy(dst + repeat * bytes, group, bytes);
    }
    return true;
}

uint32_t vec_merge_run(struct vec_merge *merge, uint8_t *dst)
{
    const struct vec_record *record = &merge->record;
    uint32_t written = 0;
    memset(merge->taken, 0, sizeof(merge->taken));
    for (;;) {
        int best = -1;
        int64_t best_key = 0;
        for (unsigned i = 0; i < VEC_LISTS; i++) {
            if (merge->taken[i] == merge->length[i]) {
                continue;
            }
            const int64_t key =
                vec_key(record, merge->list[i] + (size_t)merge->taken[i] * record->bytes);
            if (best < 0 || key > best_key) { // the first list wins a tie
                best = (int)i;
                best_key = key;
            }
        }
        if (best < 0) {
            return written;
        }
        if (dst) {
            memmove(dst + (size_t)written * record->bytes,
                    merge->list[best] + (size_t)merge->taken[best] * record->bytes, record->bytes);
        }
        written++;
        merge->taken[best]++;
        if (merge->exhaust && merge->taken[best] == merge->length[best]) {
            return written;
        }
    }
}

bool vec_merge_unpack(const struct sim_core *core, const struct sim_op *op, struct vec_merge *merge,
                      uint32_t *repeats)
{
    const struct leo_cfg_mrg4 cfg = leo_cfg_mrg4_unpack(op->d);
    const uint32_t length[VEC_LISTS] = {cfg.len0, cfg.len1, cfg.len2, cfg.len3};
    *merge = (struct vec_merge){.exhaust = cfg.exhaust};
    merge->record = vec_record_of(core, cfg.wide ? LEO_DTYPE_F32 : LEO_DTYPE_F16);
    for (unsigned i = 0; i < VEC_LISTS; i++) {
        merge->length[i] = cfg.valid >> i & 1 ? length[i] : 0;
    }
    *repeats = cfg.repeat;
    // Lists from the first one on, at least two; a merge that may stop early is not repeated.
    return !(op->d & LEO_CFG_MRG4_RESERVED) &&
           (cfg.valid == 3 || cfg.valid == 7 || cfg.valid == 15) &&
           !(cfg.exhaust && cfg.repeat > 1) && !(cfg.wide && core->config->arch == 1001);
}

bool sim_vec_merge(struct sim_core *core, const struct sim_op *op)
{
    struct vec_merge merge;
    uint32_t repeats;
    (void)vec_merge_unpack(core, op, &merge, &repeats);
    const struct sim_span *list = &op->foot->span[SIM_OPERAND_EXTRA];
    uint64_t total = 0;
    for (unsigned i = 0; i < VEC_LISTS; i++) {
        total += (uint64_t)merge.length[i] * merge.record.bytes;
    }
    for (uint32_t repeat = 0; repeat < repeats; repeat++) {
        // The lists of a repeat are read before its first record is written: how many are, the
        // footprint knows from them.
        uint8_t *copy = core->scratch;
        unsigned present = 0;
        for (unsigned i = 0; i < VEC_LISTS; i++) {
            const size_t bytes = (size_t)merge.length[i] * merge.record.bytes;
            if (bytes) {
                memcpy(copy, list[present++].host + repeat * total, bytes);
            }
            merge.list[i] = copy;
            copy += bytes;
        }
        vec_merge_run(&merge, op->foot->span[SIM_OPERAND_A].host + repeat * total);
    }
    core->csr.vms4_sr = merge.taken[0] | (uint64_t)merge.taken[1] << 16 |
                        (uint64_t)merge.taken[2] << 32 | (uint64_t)merge.taken[3] << 48;
    return true;
}

/** Fields of 16 proposals and 16 values side by side. */
bool sim_vec_field(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_prop cfg = leo_cfg_prop_unpack(op->d);
    const struct vec_record record = vec_record_of(core, cfg.dtype);
    const bool inserts = op->insn == LEO_INSN_VCONCAT;
    uint8_t *dst = op->foot->span[SIM_OPERAND_A].host;
    const uint8_t *src = op->foot->span[SIM_OPERAND_B].host;
    for (size_t i = 0; i < (size_t)cfg.repeat * record.group; i++) {
        if (inserts) {
            memcpy(dst + i * record.bytes, src + i * 2, 2); // the span starts at the field
        } else {
            memcpy(dst + i * 2, src + i * record.bytes, 2);
        }
    }
    return true;
}
