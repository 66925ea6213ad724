/* SPDX-License-Identifier: Apache-2.0 */
/* vec_op: any vector instruction, packed from the row's parameters by the form of its configuration
 * word. */
#include "accuracy.h"

#include "device/vec_op.h"
#include <leo/dtype.h>
#include <leo/insn.h>
#include <string.h>

/** The vector instructions of isa/insn/vector.isa, in its order. */
enum vec_op {
#define VEC_WORD(name, opcode, f3, f2, is_u4, sub, config) VEC_OP_##name,
#include <vec_words.def>
#undef VEC_WORD
    VEC_OP_COUNT
};

enum config {
    CONFIG_none,
    CONFIG_vec3,
    CONFIG_vec2,
    CONFIG_vcvt,
    CONFIG_vred,
    CONFIG_rep,
    CONFIG_mrg4,
    CONFIG_spread,
    CONFIG_vdeq,
    CONFIG_prop,
    CONFIG_gmask,
    CONFIG_nchw
};

static const struct {
    const char *name;
    enum config config;
} words[VEC_OP_COUNT] = {
#define VEC_WORD(name, opcode, f3, f2, is_u4, sub, config) {#name, CONFIG_##config},
#include <vec_words.def>
#undef VEC_WORD
};

/** Numbers of a row, named as in all forms. */
struct given {
    uint32_t dtype, to, repeat, mod;
    uint32_t dst_blk, src0_blk, src1_blk, dst_rep, src0_rep, src1_rep;
};

static enum leo_dtype read_dtype(struct accuracy_params *params, const char *key,
                                 enum leo_dtype missing)
{
    const char *names[LEO_DTYPE_COUNT + 1] = {NULL};
    for (unsigned i = 0; i < LEO_DTYPE_COUNT; i++) {
        names[i] = leo_dtype_name((enum leo_dtype)i);
    }
    const char *word =
        accuracy_params_has(params, key) ? accuracy_params_word(params, key, names) : NULL;
    for (unsigned i = 0; word && names[i]; i++) {
        if (strcmp(word, names[i]) == 0) {
            return (enum leo_dtype)i;
        }
    }
    return missing;
}

static uint64_t pack_config(enum config config, const struct given *g)
{
    const uint8_t dtype = (uint8_t)g->dtype, repeat = (uint8_t)g->repeat, mod = (uint8_t)g->mod;
    switch (config) {
    case CONFIG_none:
        return 0;
    case CONFIG_vec3:
        return leo_cfg_vec3_pack(&(struct leo_cfg_vec3){
            repeat, (uint8_t)g->dst_blk, (uint8_t)g->src0_blk, (uint8_t)g->src1_blk,
            (uint8_t)g->dst_rep, (uint8_t)g->src0_rep, (uint8_t)g->src1_rep, dtype, mod});
    case CONFIG_vec2:
        return leo_cfg_vec2_pack(&(struct leo_cfg_vec2){repeat, (uint16_t)g->dst_blk,
                                                        (uint16_t)g->src0_blk, (uint8_t)g->dst_rep,
                                                        (uint8_t)g->src0_rep, dtype, mod});
    case CONFIG_vcvt:
        return leo_cfg_vcvt_pack(&(struct leo_cfg_vcvt){
            repeat, (uint16_t)g->dst_blk, (uint16_t)g->src0_blk, (uint8_t)g->dst_rep,
            (uint8_t)g->src0_rep, (uint8_t)g->to, dtype});
    case CONFIG_vred:
        return leo_cfg_vred_pack(&(struct leo_cfg_vred){repeat, (uint16_t)g->dst_rep,
                                                        (uint16_t)g->src0_blk,
                                                        (uint16_t)g->src0_rep, dtype, mod});
    case CONFIG_rep:
        return leo_cfg_rep_pack(&(struct leo_cfg_rep){repeat, dtype});
    case CONFIG_mrg4: // four lists of 32 elements a repeat
        return leo_cfg_mrg4_pack(
            &(struct leo_cfg_mrg4){repeat, 32, 32, 32, 32, 15, 0, leo_dtype_bytes(g->dtype) == 4});
    case CONFIG_spread:
        return leo_cfg_spread_pack(
            &(struct leo_cfg_spread){repeat, (uint16_t)g->dst_blk, (uint16_t)g->dst_rep, dtype});
    case CONFIG_vdeq:
        return leo_cfg_vdeq_pack(&(struct leo_cfg_vdeq){repeat, (uint16_t)g->dst_blk,
                                                        (uint16_t)g->src0_blk, (uint8_t)g->dst_rep,
                                                        (uint8_t)g->src0_rep, dtype, mod});
    case CONFIG_prop:
        return leo_cfg_prop_pack(&(struct leo_cfg_prop){repeat, mod, dtype});
    case CONFIG_gmask: // mod: the pattern, 1 if not given
        return leo_cfg_gmask_pack(&(struct leo_cfg_gmask){repeat, (uint8_t)g->src0_blk,
                                                          mod ? mod : 1, (uint16_t)g->src0_rep,
                                                          (uint8_t)g->src1_rep, dtype});
    case CONFIG_nchw:
        return leo_cfg_nchw_pack(&(struct leo_cfg_nchw){repeat, (uint16_t)g->dst_rep,
                                                        (uint16_t)g->src0_rep, dtype, 0, 0});
    }
    return 0;
}

static uint32_t blocks_of(struct accuracy_params *params, const char *key, uint32_t missing)
{
    return (uint32_t)accuracy_params_number(params, key, missing, 0, 255);
}

/* Types whose instructions take others than a row's f16 and f32 by width. */
static enum leo_dtype own_type(uint32_t op, enum config config, enum leo_dtype dtype)
{
    const bool wide = dtype == LEO_DTYPE_F32;
    const bool bits = op == VEC_OP_vcopy || op == VEC_OP_vreduce || config == CONFIG_gmask ||
                      config == CONFIG_spread;
    if (dtype != LEO_DTYPE_F16 && !wide) {
        return dtype;
    }
    return config == CONFIG_nchw                    ? wide ? LEO_DTYPE_B32 : LEO_DTYPE_B16
           : bits                                   ? wide ? LEO_DTYPE_U32 : LEO_DTYPE_U16
           : op == VEC_OP_vshl || op == VEC_OP_vshr ? wide ? LEO_DTYPE_S32 : LEO_DTYPE_S16
           : op == VEC_OP_vand || op == VEC_OP_vor || op == VEC_OP_vnot    ? LEO_DTYPE_S16
           : op == VEC_OP_vconv_deqs162b8 || op == VEC_OP_vconv_vdeqs162b8 ? LEO_DTYPE_S16
           : op == VEC_OP_vconv_deq                                        ? LEO_DTYPE_S32
                                                                           : dtype;
}

/* A second operand that is a number: what leaves values as they are, or the place of the data. */
static uint64_t third(uint32_t op, const struct given *g, uint64_t src1)
{
    switch (op) {
    case VEC_OP_vgather:
    case VEC_OP_vgatherb:
        return src1;
    case VEC_OP_vshl:
    case VEC_OP_vshr:
        return 1;
    default:
        return g->dtype == LEO_DTYPE_F32 ? 0x3f800000 : g->dtype == LEO_DTYPE_F16 ? 0x3c00 : 1;
    }
}

static void set_operands(struct vec_shape *s, enum config config, const struct given *g,
                         uint64_t dst, uint64_t src0, uint64_t src1)
{
    s->a = dst;
    s->b = src0;
    s->c = config == CONFIG_vec3 || config == CONFIG_rep || config == CONFIG_gmask
               ? src1
               : third(s->op, g, src1);
    if (config == CONFIG_mrg4) {
        // Four lists behind each other; their addresses in blocks are one register.
        const uint64_t step = 32 * 8 / 32, first = src0 / 32;
        s->b = first | (first + step) << 16 | (first + 2 * step) << 32 | (first + 3 * step) << 48;
    }
    for (unsigned i = 0; i < 8; i++) {
        s->va[0][i] = dst + i * 32;
        s->va[1][i] = dst + (8 + i) * 32;
        s->va[2][i] = src0 + i * 32;
        s->va[3][i] = src0 + (8 + i) * 32;
    }
    if (config == CONFIG_nchw) {
        s->a = 0;
        s->b = 2;
    } else if (s->op == VEC_OP_vld_va_reg) {
        s->a = s->c = 0;
    }
}

bool accuracy_read_vec_op(struct accuracy_params *params, uint32_t ub_bytes, struct vec_shape *s)
{
    const char *names[VEC_OP_COUNT + 1] = {NULL};
    memset(s, 0, sizeof(*s));
    for (uint32_t i = 0; i < VEC_OP_COUNT; i++) {
        names[i] = words[i].name;
    }
    const char *op = accuracy_params_word(params, "op", names);
    for (uint32_t i = 0; op && names[i]; i++) {
        s->op = strcmp(op, names[i]) == 0 ? i : s->op;
    }
    const enum config config = words[s->op].config;
    struct given g = {0};
    g.dtype = own_type(s->op, config, read_dtype(params, "dtype", LEO_DTYPE_F16));
    g.to = read_dtype(params, "to", g.dtype == LEO_DTYPE_F16 ? LEO_DTYPE_F32 : LEO_DTYPE_F16);
    const uint32_t from_bytes = leo_dtype_bytes(g.dtype), to_bytes = leo_dtype_bytes(g.to);
    const bool converts = config == CONFIG_vcvt, deq = s->op == VEC_OP_vconv_deq;
    const uint32_t widest = converts && to_bytes > from_bytes ? to_bytes
                            : from_bytes < 2                  ? 2
                                                              : from_bytes;
    const uint32_t lanes = 256 / widest;
    const uint64_t most = ub_bytes - 32;
    s->elems = (uint32_t)accuracy_params_number(params, "elems", 0, 1, 255 * 128);
    g.repeat = (uint32_t)accuracy_params_number(params, "repeat",
                                                s->elems % lanes ? 1 : s->elems / lanes, 1, 255);
    // Whole repeats go without the counter mode.
    s->elems = s->elems == g.repeat * lanes ? 0 : s->elems;
    s->count = (uint32_t)accuracy_params_number(params, "count", 1000, 1, 1u << 20);
    s->barrier = (uint32_t)accuracy_params_number(params, "barrier", 1, 0, 1);
    const uint64_t dst = accuracy_params_number(params, "dst", 0x20000, 0, most);
    const uint64_t src0 = accuracy_params_number(params, "src0", 0, 0, most);
    const uint64_t src1 = accuracy_params_number(params, "src1", 0x10100, 0, most);
    g.mod = (uint32_t)accuracy_params_number(params, "mod", 0, 0, 15);
    g.dst_blk = blocks_of(params, "dst_blk", 1);
    g.src0_blk = blocks_of(params, "src0_blk", 1);
    g.src1_blk = blocks_of(params, "src1_blk", 1);
    const uint32_t to_rep = converts ? lanes * to_bytes / 32 : deq ? 4 : 8;
    g.dst_rep = blocks_of(params, "dst_rep", config == CONFIG_vred ? 1 : to_rep);
    g.src0_rep = blocks_of(params, "src0_rep", converts ? lanes * from_bytes / 32 : 8);
    g.src1_rep = blocks_of(params, "src1_rep", 8);
    s->d = pack_config(config, &g);
    set_operands(s, config, &g, dst, src0, src1);
    return accuracy_params_end(params);
}
