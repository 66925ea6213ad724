/* SPDX-License-Identifier: Apache-2.0 */
/* Registers as gdb numbers them. */
#include "parts.h"

#include <leo/csr.h>
#include <string.h>

/* Reading these changes nothing. */
static const unsigned special[] = {
    LEO_CSR_BLOCK_IDX, LEO_CSR_BLOCK_NUM, LEO_CSR_SUB_BLOCK_IDX, LEO_CSR_SUB_BLOCK_NUM,
    LEO_CSR_CORE_ID,   LEO_CSR_VMASK0,    LEO_CSR_VMASK1,        LEO_CSR_CTRL,
    LEO_CSR_CMPMASK0,  LEO_CSR_CMPMASK1,  LEO_CSR_SELMASK_ADDR,  LEO_CSR_QUANT_PRE,
    LEO_CSR_DEQSCALE,
};
enum { SPECIALS = sizeof(special) / sizeof(special[0]), FCSR_BYTES = 4 };

static const char *const names[32] = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};
static const char *const float_names[32] = {
    "ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1",  "fa0",
    "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4",  "fs5",
    "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
};

unsigned gdb_register_count(void)
{
    return GDB_REG_SPECIAL + SPECIALS;
}

static void describe(struct rt_text *text, const char *name, unsigned bits, const char *type,
                     unsigned number)
{
    rt_text_append(text, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\" regnum=\"%u\"/>", name, bits,
                   type, number);
}

void gdb_target_xml(struct rt_text *text)
{
    rt_text_append(text, "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
                         "<target version=\"1.0\"><architecture>riscv:rv64</architecture>"
                         "<feature name=\"org.gnu.gdb.riscv.cpu\">");
    for (unsigned i = 0; i < GDB_REG_PC; i++) {
        describe(text, names[i], 64, i == 1 ? "code_ptr" : i == 2 ? "data_ptr" : "int", i);
    }
    describe(text, "pc", 64, "code_ptr", GDB_REG_PC);
    rt_text_append(text, "</feature><feature name=\"org.gnu.gdb.riscv.fpu\">");
    for (unsigned i = 0; i < 32; i++) {
        describe(text, float_names[i], 64, "ieee_double", GDB_REG_F + i);
    }
    describe(text, "fcsr", 32, "int", GDB_REG_FCSR);
    rt_text_append(text, "</feature><feature name=\"leo.npu\">");
    for (unsigned i = 0; i < SPECIALS; i++) {
        describe(text, leo_csr_name(special[i]), 64, "int", GDB_REG_SPECIAL + i);
    }
    rt_text_append(text, "</feature></target>");
}

/* Where a register lies; NULL: it is special, or there is none. */
static void *place_of(const struct leo_debug_registers *registers, unsigned number, size_t *bytes)
{
    *bytes = number == GDB_REG_FCSR ? FCSR_BYTES : sizeof(uint64_t);
    return number < GDB_REG_PC      ? &registers->x[number]
           : number == GDB_REG_PC   ? registers->pc
           : number < GDB_REG_FCSR  ? &registers->f[number - GDB_REG_F]
           : number == GDB_REG_FCSR ? (void *)registers->fcsr
                                    : NULL;
}

bool gdb_register_read(struct gdb_server *server, unsigned number, char *out)
{
    struct leo_debug_registers registers;
    size_t bytes;
    uint64_t value;
    if (number >= gdb_register_count()) {
        return false;
    }
    const bool there =
        server->ops && server->ops->registers(server->chip, server->thread, &registers);
    if (there && number < GDB_REG_SPECIAL) {
        const void *place = place_of(&registers, number, &bytes);
        gdb_hex_put(out, place, bytes);
    } else if (there && server->ops->special(server->chip, server->thread,
                                             special[number - GDB_REG_SPECIAL], &value)) {
        gdb_hex_put(out, &value, sizeof(value));
    } else {
        bytes = number == GDB_REG_FCSR ? FCSR_BYTES : sizeof(uint64_t);
        memset(out, 'x', 2 * bytes);
        out[2 * bytes] = '\0';
    }
    return true;
}

bool gdb_register_write(struct gdb_server *server, unsigned number, const char *hex)
{
    struct leo_debug_registers registers;
    size_t bytes;
    if (!server->ops || number == 0 || number >= GDB_REG_SPECIAL ||
        !server->ops->registers(server->chip, server->thread, &registers)) {
        return false;
    }
    void *place = place_of(&registers, number, &bytes);
    return gdb_hex_bytes(hex, place, bytes);
}
