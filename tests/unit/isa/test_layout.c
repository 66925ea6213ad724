/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include <leo/csr.h>
#include <leo/layout.h>
#include <leo/regs.h>
#include <string.h>

static void entries_have_their_sizes(void)
{
    CU_ASSERT_EQUAL(sizeof(struct leo_sqe), 64);
    CU_ASSERT_EQUAL(sizeof(struct leo_cqe), 32);
    CU_ASSERT_EQUAL(sizeof(struct leo_fault_record), 64);
    CU_ASSERT_EQUAL(sizeof(struct leo_task_record), 576);
    CU_ASSERT_EQUAL(sizeof(struct leo_trace_record), 48);
    CU_ASSERT_EQUAL(sizeof(struct leo_image_desc), 64);
}

static void bodies_fill_the_entry(void)
{
    const size_t body = sizeof(((struct leo_sqe *)NULL)->body);

    CU_ASSERT_EQUAL(offsetof(struct leo_sqe, body), 16);
    CU_ASSERT_EQUAL(body, 48);
    CU_ASSERT_EQUAL(sizeof(struct leo_sqe_kernel), body);
    CU_ASSERT_EQUAL(sizeof(struct leo_sqe_copy), body);
    CU_ASSERT_EQUAL(sizeof(struct leo_sqe_event), body);
    CU_ASSERT_EQUAL(sizeof(struct leo_sqe_queue), body);
    CU_ASSERT_EQUAL(sizeof(struct leo_sqe_map), body);
    CU_ASSERT_EQUAL(sizeof(struct leo_sqe_profile), body);
}

static void doorbells_are_behind_the_registers(void)
{
    for (size_t i = 0; i < LEO_REG_COUNT; i++) {
        const struct leo_reg_info *info = leo_reg_info(i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(info);
        CU_ASSERT_TRUE(info->offset + info->width_bits / 8 <= LEO_DOORBELL_BASE);
    }
    CU_ASSERT_PTR_NULL(leo_reg_info(LEO_REG_COUNT));
    CU_ASSERT_EQUAL(LEO_DOORBELL_BASE + LEO_DOORBELL_STRIDE * 3 + LEO_DOORBELL_CQ_HEAD, 0x1001c);
}

static void registers_keep_their_places(void)
{
    CU_ASSERT_EQUAL(LEO_REG_ID, 0);
    CU_ASSERT_EQUAL(LEO_REG_ID_RESET, 0x4c454f01);
    CU_ASSERT_EQUAL(LEO_REG_HBM_BASE, 0x18);
    CU_ASSERT_EQUAL(LEO_REG_ADMIN_SQ_BASE, 0x80);
    CU_ASSERT_STRING_EQUAL(leo_reg_info(0)->name, "id");
    CU_ASSERT_EQUAL(leo_reg_info(0)->access, LEO_ACCESS_RO);
}

static void csr_names_are_found_by_number(void)
{
    CU_ASSERT_STRING_EQUAL(leo_csr_name(0x800), "vmask0");
    CU_ASSERT_STRING_EQUAL(leo_csr_name(LEO_CSR_SYS_CNT), "sys_cnt");
    CU_ASSERT_EQUAL(LEO_CSR_VMASK0_RESET, UINT64_MAX);
    CU_ASSERT_PTR_NULL(leo_csr_name(0x7ff));
    // Planned registers do not exist for a core.
    CU_ASSERT_PTR_NULL(leo_csr_name(0x8ff));
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"entries_have_their_sizes", entries_have_their_sizes},
        {"bodies_fill_the_entry", bodies_fill_the_entry},
        {"doorbells_are_behind_the_registers", doorbells_are_behind_the_registers},
        {"registers_keep_their_places", registers_keep_their_places},
        {"csr_names_are_found_by_number", csr_names_are_found_by_number},
    };

    return leo_test_main("isa_layout", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
