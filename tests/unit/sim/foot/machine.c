/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include "simd/simd.h"
#include <stdlib.h>
#include <string.h>

struct machine *machine_create(uint32_t arch, const char *simd)
{
    static const size_t bytes[LEO_MEM_SPACE_COUNT] = {
        [LEO_MEM_SPACE_UB] = MACHINE_UB,   [LEO_MEM_SPACE_L1] = MACHINE_L1,
        [LEO_MEM_SPACE_L0A] = MACHINE_L0,  [LEO_MEM_SPACE_L0B] = MACHINE_L0,
        [LEO_MEM_SPACE_L0C] = MACHINE_L0C, [LEO_MEM_SPACE_BT] = MACHINE_BT,
        [LEO_MEM_SPACE_FB] = MACHINE_FB,   [LEO_MEM_SPACE_GM] = MACHINE_GM_BYTES,
    };
    struct machine *machine = calloc(1, sizeof(*machine));
    if (sim_simd_select(simd, &machine->core.simd) != LEO_OK) {
        free(machine);
        return NULL;
    }
    machine->core.insns = sim_insns;
    machine->seed = 88172645463325252u;
    machine->config.arch = arch;
    machine->config.ub_repeats = 1;
    machine->config.cube_m = machine->config.cube_n = machine->config.cube_k = 16;
    machine->core.config = &machine->config;
    machine->memory = aligned_alloc(1024, MACHINE_BYTES);
    size_t at = 0;
    for (unsigned i = 0; i < LEO_MEM_SPACE_COUNT; i++) {
        machine->offset[i] = at;
        machine->bytes[i] = bytes[i];
        at += bytes[i];
        if (bytes[i] && i != LEO_MEM_SPACE_GM) {
            machine->core.local[i] =
                (struct sim_local){machine->memory + machine->offset[i], (uint32_t)bytes[i]};
        }
    }
    machine->core.gm = machine->memory + machine->offset[LEO_MEM_SPACE_GM];
    machine->core.gm_base = MACHINE_GM;
    machine->core.space = &machine->space;
    machine->core.scratch = aligned_alloc(64, 1 << 20);
    if (sim_space_map(&machine->space, MACHINE_GM, MACHINE_GM_BYTES, false) != LEO_OK) {
        abort();
    }
    return machine;
}

void machine_destroy(struct machine *machine)
{
    if (machine) {
        sim_space_finish(&machine->space);
        free(machine->core.scratch);
        free(machine->memory);
        free(machine);
    }
}

uint64_t machine_random(struct machine *machine)
{
    machine->seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = machine->seed;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint32_t machine_below(struct machine *machine, uint32_t limit)
{
    return (uint32_t)(machine_random(machine) >> 32) % limit;
}

enum style { STYLE_MIXED, STYLE_F32, STYLE_F16, STYLE_INTEGER, STYLE_SPARSE, STYLE_COUNT };

/* Any bits; numbers near 1 in f16 and f32; small integers; values at the edges of formats. */
static uint32_t random_word(struct machine *machine, enum style style)
{
    static const uint32_t edges[] = {0x00000000, 0x80008000, 0x7c007c00, 0xfc00fc00, 0x7e017e01,
                                     0x7f800000, 0xff800000, 0x7fc00001, 0x00010001, 0x80000001,
                                     0x7fffffff, 0x80000000, 0x7f7f7f7f, 0x03ff83ff, 0x7bfffbff,
                                     0xff7fffff, 0x80807f7f, 0x007fffff, 0x4f000000, 0xcf000000};
    const uint64_t bits = machine_random(machine);
    switch (style) {
    case STYLE_F32:
        return 0x3f800000 + ((uint32_t)bits & 0x80ffffff);
    case STYLE_F16:
        return 0x38003800 + ((uint32_t)bits & 0x87ff87ff);
    case STYLE_INTEGER:
        return bits >> 63 ? (uint32_t)bits & 0x007f007f : (uint32_t)(int8_t)bits;
    case STYLE_SPARSE:
        return bits >> 63 ? (uint32_t)bits : 0u - (uint32_t)(bits >> 62 & 1);
    case STYLE_MIXED:
    case STYLE_COUNT:
        break;
    }
    return bits >> 62 ? (uint32_t)bits : edges[bits % (sizeof(edges) / sizeof(edges[0]))];
}

static uint64_t random_scale(struct machine *machine)
{
    const uint64_t bits = machine_random(machine);
    const uint32_t factor = 0x37800000 + ((uint32_t)bits & 0x87ffe000); // 2^-16 .. 1
    return factor | (bits & UINT64_C(0x7fff00000000));
}

static void fill_scales(struct machine *machine, uint8_t *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t word = random_scale(machine);
        memcpy(to + i, &word, sizeof(word));
    }
}

void machine_fill(struct machine *machine, enum leo_insn insn, uint8_t *memory)
{
    const enum style style = (enum style)machine_below(machine, STYLE_COUNT);
    const bool offsets = insn == LEO_INSN_VGATHER || insn == LEO_INSN_VGATHERB;
    for (size_t i = 0; i < MACHINE_BYTES; i += 4) {
        uint32_t word = random_word(machine, style);
        if (offsets) {
            word = word % 128 * 32;
        } else if (insn == LEO_INSN_VLD_VA_REG) {
            word &= 0x01ff01ff;
        }
        memcpy(memory + i, &word, sizeof(word));
    }
    fill_scales(machine, memory + machine->offset[LEO_MEM_SPACE_FB], MACHINE_FB);
    const uint64_t at = machine->core.csr.deqscale;
    if (insn == LEO_INSN_VCONV_VDEQS162B8 && at <= MACHINE_UB - 128) {
        fill_scales(machine, memory + machine->offset[LEO_MEM_SPACE_UB] + at, 128);
    }
}

/* What an image is like (HW-DMA-50 to HW-DMA-54): every channel has its part in every result. */
static void fill_image_csrs(struct machine *machine)
{
    static const uint8_t formats[] = {LEO_IMAGE_FORMAT_YUV420SP, LEO_IMAGE_FORMAT_XRGB8888,
                                      LEO_IMAGE_FORMAT_RGB888, LEO_IMAGE_FORMAT_YUV400};
    uint64_t *spr = machine->core.csr.aipp_spr;
    const uint64_t bits = machine_random(machine);
    const struct leo_cfg_aipp_csc csc = {.on = bits & 1};
    const struct leo_cfg_aipp_image how = {
        .fill = (uint16_t)(bits >> 8),
        .swap_rb = bits >> 1 & 1,
        .swap_uv = bits >> 2 & 1,
        .swap_ax = bits >> 3 & 1,
        .format = formats[bits >> 24 & 3],
        .single = bits >> 4 & 1,
        .edge = bits >> 26 & 3,
        .four = bits >> 5 & 1,
    };
    spr[1] = leo_cfg_aipp_csc_pack(&csc) | (MACHINE_GM + machine_below(machine, MACHINE_GM_BYTES));
    spr[2] = UINT64_C(0x0040004000400100); // 1 for the channel itself, 1/4 of each other
    spr[3] = UINT64_C(0x0040004000400100);
    spr[4] = 0x0100;
    spr[7] = UINT64_C(0x3c003c003c00);
    spr[8] = machine_random(machine);
    spr[9] = leo_cfg_aipp_image_pack(&how);
}

void machine_fill_csrs(struct machine *machine)
{
    struct sim_core *core = &machine->core;
    const uint64_t bits = machine_random(machine);
    const struct leo_cfg_ctrl ctrl = {
        .counter = bits % 4 == 0,
        .atomic = (uint8_t)(bits >> 4) % 8 == 0 ? LEO_ATOMIC_ADD : LEO_ATOMIC_NONE,
        .atomic_type =
            (uint8_t)(machine->config.arch == 1001 ? 0 : (bits >> 12) % LEO_ATOMIC_TYPE_COUNT),
        .saturate = bits >> 20 & 1,
        .hf32 = bits >> 21 & 1,
        .hf32_to_zero = bits >> 22 & 1,
    };
    const struct leo_cfg_fmatrix map = {
        .width = (uint16_t)(1 + (bits >> 24) % 9),
        .height = (uint16_t)(1 + (bits >> 28) % 9),
        .pad_l = bits >> 32 & 1,
        .pad_r = bits >> 33 & 1,
        .pad_t = bits >> 34 & 1,
        .pad_b = bits >> 35 & 1,
    };
    memset(&core->csr, 0, sizeof(core->csr));
    core->ctrl = leo_cfg_ctrl_pack(&ctrl);
    for (unsigned i = 0; i < 2; i++) {
        core->vmask[i] = bits >> 40 & 1 ? UINT64_MAX : machine_random(machine);
        core->cmpmask[i] = machine_random(machine);
    }
    if (ctrl.counter) {
        core->vmask[0] = machine_below(machine, 400);
    }
    core->selmask_addr = machine_below(machine, MACHINE_UB / 32) * 32u;
    core->csr.fmatrix = leo_cfg_fmatrix_pack(&map);
    core->csr.fmatrix_b = core->csr.fmatrix;
    core->csr.padding = machine_random(machine) & 0xffff;
    core->csr.mov_pad_val = machine_random(machine);
    core->csr.l1_3d_size = 0;
    core->csr.lrelu_alpha = 0x3e800000;
    core->csr.quant_pre = random_scale(machine);
    core->csr.fpc = machine_below(machine, 4) << 8;
    core->csr.deqscale =
        bits >> 41 & 1 ? random_scale(machine) : machine_below(machine, MACHINE_UB / 32) * 32u;
    core->csr.nd_para = 1 + (bits >> 42 & 1) + (bits >> 43 & 3) * 65536 * 64;
    core->csr.l3d_rpt = machine_below(machine, 3) | (uint64_t)machine_below(machine, 3) << 16 |
                        (bits >> 45 & 1) << 24;
    fill_image_csrs(machine);
    for (unsigned i = 0; i < 64; i++) {
        core->va[i / 8][i % 8] = (uint16_t)machine_below(machine, MACHINE_UB / 32 - 16);
    }
}

/* Sizes in elements, also those that fill fractals. */
static bool is_size(const char *name)
{
    static const char *const names[] = {"m",          "k",          "n",        "m_ext",
                                        "k_ext",      "len_bytes",  "channels", "d_value",
                                        "dst_stride", "src_stride", "src_d"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Fields of windows, which are hardly ever legal by chance. */
static bool is_window(const char *name, uint64_t bits, uint64_t *value)
{
    static const struct {
        const char *name;
        unsigned first, count;
    } ranges[] = {
        {"filter_w", 1, 3},   {"filter_h", 1, 3}, {"stride_w", 1, 2}, {"stride_h", 1, 2},
        {"dilation_w", 1, 2}, {"fetch_w", 0, 2},  {"fetch_h", 0, 2},  {"csize", 0, 1},
        {"left_top_w", 0, 2}, {"jump", 1, 2},     {"element", 0, 3},  {"dilation_h", 1, 2},
        {"left_top_h", 0, 2},
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (strcmp(name, ranges[i].name) == 0) {
            *value = ranges[i].first + (bits >> 8) % ranges[i].count;
            return true;
        }
    }
    return false;
}

/* A value of an enum that it knows. */
static uint64_t enum_value(const struct leo_insn_field *field, uint64_t value, uint64_t mask)
{
    for (unsigned i = 0; i < 64; i++) {
        const char *name = leo_insn_field_text(field, (unsigned)(value & mask));
        if (name && strcmp(name, "?") != 0) {
            return value & mask;
        }
        value++;
    }
    return 0;
}

static uint64_t field_value(struct machine *machine, const struct leo_insn_field *field)
{
    const uint64_t bits = machine_random(machine), mask = (UINT64_C(1) << field->bits) - 1;
    uint64_t value;
    if (field->values) {
        return enum_value(field, bits >> 8, mask);
    }
    if (is_window(field->name, bits, &value)) {
        return value & mask;
    }
    if (is_size(field->name)) {
        const uint64_t sizes[] = {64, (1 + (bits >> 16) % 6) * 16, 1 + (bits >> 16) % 70};
        return sizes[(bits >> 32) % 3] & mask;
    }
    switch (bits & 7) {
    case 0:
        return 0;
    case 1:
        return 8 & mask;
    case 2:
    case 3:
        return (bits >> 8 & 15) & mask;
    default:
        return (1 + (bits >> 8 & 1)) & mask;
    }
}

static uint64_t random_config(struct machine *machine, const char *config)
{
    size_t count;
    const struct leo_insn_field *fields = leo_insn_config_fields(config, &count);
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++) {
        word |= field_value(machine, &fields[i]) << fields[i].low;
    }
    return word;
}

static uint64_t random_address(struct machine *machine, enum leo_insn_operand operand)
{
    const enum leo_mem_space space = sim_operand_space(operand);
    const uint32_t align = 32u << machine_below(machine, 6);
    const uint32_t at = machine_below(machine, (uint32_t)machine->bytes[space]);
    return space == LEO_MEM_SPACE_GM ? MACHINE_GM + at : at / align * align;
}

/* Scalar operands that are not any bits: register numbers, bases, lists of addresses. */
static uint64_t random_scalar(struct machine *machine, enum leo_insn insn, unsigned place)
{
    const uint64_t bits = machine_random(machine);
    switch ((int)insn) {
    case LEO_INSN_VMRGSORT4:
        return (bits & 0x7f) | (bits & 0x7f00) << 8 | (bits & 0x7f0000) << 16 |
               (bits & 0x7f000000) << 24;
    case LEO_INSN_VGATHER:
    case LEO_INSN_VGATHERB:
        return bits % 64 * 32;
    case LEO_INSN_SCATTER_VNCHWCONV:
        return bits % 4 * 2;
    case LEO_INSN_VLD_VA_REG:
        return place == 2 ? bits & 1 : bits & 7;
    default:
        return place == 2 && bits & 1 ? bits >> 1 & 15 : random_word(machine, STYLE_MIXED);
    }
}

struct sim_op machine_operands(struct machine *machine, enum leo_insn insn)
{
    const struct leo_insn_info *info = leo_insn_info(insn);
    struct sim_op op = {.insn = insn, .row = &sim_insns[insn]};
    uint64_t *const value[] = {&op.a, &op.b, &op.c, &op.d};
    unsigned configs = 0;
    for (unsigned i = 0; i < 4; i++) {
        const enum leo_insn_operand kind = (enum leo_insn_operand)info->operand[i];
        if (kind == LEO_INSN_OPERAND_CFG) {
            *value[i] = random_config(machine, info->config[configs++]);
        } else if (kind == LEO_INSN_OPERAND_VAL) {
            *value[i] = random_scalar(machine, insn, i);
        } else if (kind != LEO_INSN_OPERAND_NONE) {
            *value[i] = random_address(machine, kind);
        }
    }
    if (info->form == LEO_INSN_FORM_U4) {
        do {
            op.sub = (uint8_t)machine_below(machine, 32);
        } while (!(info->sub_mask >> op.sub & 1));
    }
    if (insn == LEO_INSN_MMAD && op.d >> 39 & 1) { // the address of the bias
        op.a |= (uint64_t)machine_below(machine, MACHINE_BT / 64) * 64 << 32;
    }
    return op;
}

void machine_rescale(struct machine *machine, struct sim_op *op, uint32_t word)
{
    const struct leo_insn_info *info = leo_insn_info(op->insn);
    if (info->operand[2] == LEO_INSN_OPERAND_VAL && op->row->pipe == LEO_PIPE_V) {
        const bool same = op->row->traits & SIM_TRAIT_BITS && machine_below(machine, 2);
        op->c = same ? word : random_scalar(machine, op->insn, 2);
    }
    machine->core.csr.quant_pre = random_scale(machine);
    machine->core.cmpmask[0] = machine_random(machine);
    machine->core.cmpmask[1] = machine_random(machine);
    if (op->insn != LEO_INSN_VCONV_VDEQS162B8) { // there it is an address
        machine->core.csr.deqscale =
            op->insn == LEO_INSN_VCONV_DEQ ? 0x3c00 : random_scale(machine);
    }
}

struct machine_results machine_results(const struct machine *machine)
{
    const struct sim_csrs *csr = &machine->core.csr;
    struct machine_results results;
    memset(&results, 0, sizeof(results));
    memcpy(results.cmpmask, machine->core.cmpmask, sizeof(results.cmpmask));
    memcpy(results.va, machine->core.va, sizeof(results.va));
    results.acc_val = csr->acc_val;
    results.max_min_cnt = csr->max_min_cnt;
    results.rsvd_cnt = csr->rsvd_cnt;
    results.vms4_sr = csr->vms4_sr;
    results.overflow = csr->overflow;
    return results;
}
