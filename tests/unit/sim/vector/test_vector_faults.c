/* SPDX-License-Identifier: Apache-2.0 */
/* What the vector unit refuses (HW-VEC-05 HW-VEC-06 HW-VEC-07 HW-VEC-08). */
#include "fake_core.h"
#include "harness.h"

#include <string.h>

static uint64_t vec3(unsigned type, unsigned repeat, unsigned blk, unsigned rep, unsigned mod)
{
    const struct leo_cfg_vec3 cfg = {
        .repeat = (uint8_t)repeat,
        .dst_blk = (uint8_t)blk,
        .src0_blk = (uint8_t)blk,
        .src1_blk = (uint8_t)blk,
        .dst_rep = (uint8_t)rep,
        .src0_rep = (uint8_t)rep,
        .src1_rep = (uint8_t)rep,
        .dtype = (uint8_t)type,
        .mod = (uint8_t)mod,
    };
    return leo_cfg_vec3_pack(&cfg);
}

/** Runs on a fresh core; a fault must leave the buffer as it was. */
static enum leo_fault fault_of(uint32_t arch, struct sim_op op, uint64_t ctrl, uint64_t vmask)
{
    struct fake_core *fake = fake_core_create(arch, NULL);
    CU_ASSERT_FATAL(fake != NULL);
    uint8_t *ub = fake->core.local[LEO_MEM_SPACE_UB].data;
    memset(ub, 0x3c, FAKE_UB_BYTES);
    fake->core.ctrl = ctrl;
    fake->core.vmask[0] = vmask;
    const bool good = sim_core_execute(&fake->core, &op);
    const enum leo_fault code = fake->core.scalar.fault.code;
    CU_ASSERT(good == (code == LEO_FAULT_NONE));
    for (size_t i = 0; !good && i < FAKE_UB_BYTES; i++) {
        if (ub[i] != 0x3c) {
            CU_FAIL("a refused instruction wrote");
            break;
        }
    }
    fake_core_destroy(fake);
    return code;
}

static enum leo_fault fault_vadd(uint64_t a, uint64_t b, uint64_t c, uint64_t cfg)
{
    return fault_of(2201, (struct sim_op){.insn = LEO_INSN_VADD, .a = a, .b = b, .c = c, .d = cfg},
                    0, UINT64_MAX);
}

static void addresses_must_be_blocks(void)
{
    const uint64_t cfg = vec3(LEO_DTYPE_F16, 1, 1, 8, 0);
    CU_ASSERT(fault_vadd(0, 0x100, 0x200, cfg) == LEO_FAULT_NONE);
    CU_ASSERT(fault_vadd(16, 0x100, 0x200, cfg) == LEO_FAULT_MISALIGNED_LOCAL);
    CU_ASSERT(fault_vadd(0, 0x101, 0x200, cfg) == LEO_FAULT_MISALIGNED_LOCAL);
    CU_ASSERT(fault_vadd(0, 0x100, 0x202, cfg) == LEO_FAULT_MISALIGNED_LOCAL);
}

static void every_operand_stays_in_the_buffer(void)
{
    const uint64_t cfg = vec3(LEO_DTYPE_F16, 2, 1, 8, 0);
    const uint64_t last = FAKE_UB_BYTES - 512;
    CU_ASSERT(fault_vadd(last, 0, last, cfg) == LEO_FAULT_NONE);
    CU_ASSERT(fault_vadd(last + 32, 0, 0, cfg) == LEO_FAULT_LOCAL_OUT_OF_RANGE);
    CU_ASSERT(fault_vadd(0, last + 32, 0, cfg) == LEO_FAULT_LOCAL_OUT_OF_RANGE);
    CU_ASSERT(fault_vadd(0, 0, last + 32, cfg) == LEO_FAULT_LOCAL_OUT_OF_RANGE);
    CU_ASSERT(fault_vadd(0, 0, FAKE_UB_BYTES, cfg) == LEO_FAULT_LOCAL_OUT_OF_RANGE);
    CU_ASSERT(fault_vadd(UINT64_MAX - 31, 0, 0, cfg) == LEO_FAULT_LOCAL_OUT_OF_RANGE);
    CU_ASSERT(fault_vadd(0, UINT64_C(1) << 40, 0, cfg) == LEO_FAULT_LOCAL_OUT_OF_RANGE);
    // the farthest strides of the word
    CU_ASSERT(fault_vadd(0, 0, 0, vec3(LEO_DTYPE_F16, 255, 255, 255, 0)) ==
              LEO_FAULT_LOCAL_OUT_OF_RANGE);
    const struct leo_cfg_vec2 far = {
        .repeat = 255, .dst_blk = 0xffff, .src_blk = 1, .dst_rep = 255, .src_rep = 8};
    const struct sim_op op = {.insn = LEO_INSN_VABS, .d = leo_cfg_vec2_pack(&far)};
    CU_ASSERT(fault_of(2201, op, 0, UINT64_MAX) == LEO_FAULT_LOCAL_OUT_OF_RANGE);
}

/** HW-VEC-06: lanes that are not active are not accesses. */
static void masked_lanes_may_hang_over_the_end(void)
{
    const struct sim_op op = {
        .insn = LEO_INSN_VADD, .a = FAKE_UB_BYTES - 32, .d = vec3(LEO_DTYPE_F32, 1, 1, 8, 0)};
    CU_ASSERT(fault_of(2201, op, 0, 0xff) == LEO_FAULT_NONE);
    CU_ASSERT(fault_of(2201, op, 0, 0x1ff) == LEO_FAULT_LOCAL_OUT_OF_RANGE);
    CU_ASSERT(fault_of(2201, op, 1, 8) == LEO_FAULT_NONE);
    CU_ASSERT(fault_of(2201, op, 1, 9) == LEO_FAULT_LOCAL_OUT_OF_RANGE);
    CU_ASSERT(fault_of(2201, op, 1, UINT64_MAX) == LEO_FAULT_LOCAL_OUT_OF_RANGE);
}

static void nothing_to_do_is_no_access(void)
{
    const struct sim_op op = {
        .insn = LEO_INSN_VADD, .a = UINT64_MAX - 31, .d = vec3(LEO_DTYPE_F32, 0, 1, 8, 0)};
    CU_ASSERT(fault_of(2201, op, 0, UINT64_MAX) == LEO_FAULT_NONE);
    CU_ASSERT(fault_of(2201, op, 1, 0) == LEO_FAULT_NONE);
}

/** HW-VEC-05: type by type and chip by chip, vconv apart. */
static void types_follow_the_tables(void)
{
    for (unsigned insn = 1; insn < LEO_INSN_COUNT; insn++) {
        const struct leo_insn_info *info = leo_insn_info(insn);
        if (info->pipe != LEO_PIPE_V || info->config[0] == NULL ||
            strncmp(info->config[0], "v", 1) != 0 || insn == LEO_INSN_VCONV) {
            continue;
        }
        for (unsigned type = 0; type < 16; type++) {
            for (unsigned arch = 1001; arch <= 2201; arch += 1200) {
                const struct sim_op op = {.insn = insn, .d = (uint64_t)type << 56}; // repeat 0
                const bool legal = type < LEO_DTYPE_COUNT && leo_insn_has_type(insn, arch, type);
                CU_ASSERT(fault_of(arch, op, 0, 1) ==
                          (legal ? LEO_FAULT_NONE : LEO_FAULT_ILLEGAL_INSTRUCTION));
            }
        }
    }
}

/** HW-VEC-20. */
static void conversions_follow_their_pairs(void)
{
    unsigned legal[2] = {0, 0};
    for (unsigned pair = 0; pair < 256; pair++) {
        const struct sim_op op = {.insn = LEO_INSN_VCONV, .d = (uint64_t)pair << 56};
        legal[0] += fault_of(1001, op, 0, 1) == LEO_FAULT_NONE;
        legal[1] += fault_of(2201, op, 0, 1) == LEO_FAULT_NONE;
    }
    CU_ASSERT(legal[0] == 9);
    CU_ASSERT(legal[1] == 24);
    const uint64_t narrow = (uint64_t)LEO_DTYPE_F32 << 60 | (uint64_t)LEO_DTYPE_F16 << 56;
    const struct sim_op bad_round = {.insn = LEO_INSN_VCONV, .sub = LEO_ROUND_COUNT, .d = narrow};
    CU_ASSERT(fault_of(2201, bad_round, 0, 1) == LEO_FAULT_ILLEGAL_INSTRUCTION);
}

static enum leo_fault fault_of_mod(enum leo_insn insn, unsigned mod)
{
    const struct sim_op op = {.insn = insn, .d = vec3(LEO_DTYPE_F16, 0, 1, 8, mod)};
    return fault_of(2201, op, 0, 1);
}

/** HW-VEC-07. */
static void modes_beyond_the_last_are_refused(void)
{
    CU_ASSERT(fault_of_mod(LEO_INSN_VADD, 1) == LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT(fault_of_mod(LEO_INSN_VADDS, 1) == LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT(fault_of_mod(LEO_INSN_VEXP, 15) == LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT(fault_of_mod(LEO_INSN_VDUP, 1) == LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT(fault_of_mod(LEO_INSN_VSEL, 2) == LEO_FAULT_NONE);
    CU_ASSERT(fault_of_mod(LEO_INSN_VSEL, 3) == LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT(fault_of_mod(LEO_INSN_VCMPV, 5) == LEO_FAULT_NONE);
    CU_ASSERT(fault_of_mod(LEO_INSN_VCMPV, 6) == LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT(fault_of_mod(LEO_INSN_VCMPVS, 6) == LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT(fault_of_mod(LEO_INSN_VCMP, 6) == LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT(fault_of_mod(LEO_INSN_VAXPY, 1) == LEO_FAULT_NONE);
    CU_ASSERT(fault_of_mod(LEO_INSN_VAXPY, 2) == LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT(fault_of_mod(LEO_INSN_VCADD, 1) == LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT(fault_of_mod(LEO_INSN_VCMAX, 3) == LEO_FAULT_NONE);
    CU_ASSERT(fault_of_mod(LEO_INSN_VCMAX, 4) == LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT(fault_of_mod(LEO_INSN_VCGADD, 1) == LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT(fault_of_mod(LEO_INSN_VCPADD, 1) == LEO_FAULT_ILLEGAL_CONFIG);
}

/** HW-VEC-33: results of reductions are aligned to what they are. */
static void reductions_check_their_destination(void)
{
    const struct leo_cfg_vred cfg = {
        .repeat = 1, .dst_rep = 1, .src_blk = 1, .src_rep = 8, .dtype = LEO_DTYPE_F16};
    struct sim_op op = {.insn = LEO_INSN_VCADD, .b = 0x1000, .d = leo_cfg_vred_pack(&cfg)};
    op.a = 2;
    CU_ASSERT(fault_of(2201, op, 0, UINT64_MAX) == LEO_FAULT_NONE);
    op.a = 1;
    CU_ASSERT(fault_of(2201, op, 0, UINT64_MAX) == LEO_FAULT_MISALIGNED_LOCAL);
    op.a = FAKE_UB_BYTES - 2;
    CU_ASSERT(fault_of(2201, op, 0, UINT64_MAX) == LEO_FAULT_NONE);
    op.insn = LEO_INSN_VCMAX; // value and index
    CU_ASSERT(fault_of(2201, op, 0, UINT64_MAX) == LEO_FAULT_LOCAL_OUT_OF_RANGE);
    op.insn = LEO_INSN_VCGADD;
    op.a = 16;
    CU_ASSERT(fault_of(2201, op, 0, UINT64_MAX) == LEO_FAULT_NONE);
    op.a = 8;
    CU_ASSERT(fault_of(2201, op, 0, UINT64_MAX) == LEO_FAULT_MISALIGNED_LOCAL);
    op.insn = LEO_INSN_VCPADD;
    op.a = FAKE_UB_BYTES - 96;
    CU_ASSERT(fault_of(2201, op, 0, UINT64_MAX) == LEO_FAULT_LOCAL_OUT_OF_RANGE);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"addresses_must_be_blocks", addresses_must_be_blocks},
        {"every_operand_stays_in_the_buffer", every_operand_stays_in_the_buffer},
        {"masked_lanes_may_hang_over_the_end", masked_lanes_may_hang_over_the_end},
        {"nothing_to_do_is_no_access", nothing_to_do_is_no_access},
        {"types_follow_the_tables", types_follow_the_tables},
        {"conversions_follow_their_pairs", conversions_follow_their_pairs},
        {"modes_beyond_the_last_are_refused", modes_beyond_the_last_are_refused},
        {"reductions_check_their_destination", reductions_check_their_destination},
    };
    return leo_test_main("vector_faults", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
