/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction of a fault in words. */
#include "fault.h"

#include <leo/insn.h>
#include <string.h>

typedef unsigned long long ull; // for printf

// One configuration word with its fields; those that cannot be are named as such.
static void append_config(struct rt_text *text, const char *config, uint64_t word)
{
    size_t count;
    const struct leo_insn_field *fields = leo_insn_config_fields(config, &count);
    uint64_t reserved = ~UINT64_C(0);
    rt_text_append(text, "; %s = 0x%llx:", config, (ull)word);
    for (size_t i = 0; i < count; i++) {
        uint64_t mask = fields[i].bits < 64 ? (UINT64_C(1) << fields[i].bits) - 1 : ~UINT64_C(0);
        unsigned value = (unsigned)(word >> fields[i].low & mask);
        const char *name = leo_insn_field_text(&fields[i], value);
        reserved &= ~(mask << fields[i].low);
        if (name && strcmp(name, "?") == 0) {
            rt_text_append(text, " %s=%u (no such value)", fields[i].name, value);
        } else if (name) {
            rt_text_append(text, " %s=%s", fields[i].name, name);
        } else {
            rt_text_append(text, " %s=%u", fields[i].name, value);
        }
    }
    if (word & reserved) {
        rt_text_append(text, ", reserved bits 0x%llx are set", (ull)(word & reserved));
    }
}

static void append_configs(struct rt_text *text, const struct leo_insn_info *info,
                           const struct leo_fault_record *record)
{
    const uint64_t words[2] = {record->addr, record->bytes};
    for (int i = 0; i < 2; i++) {
        if (info->config[i]) {
            append_config(text, info->config[i], words[i]);
        }
    }
}

// Buffers an instruction names that this kind of core does not have.
static bool is_for_other_kind(const struct leo_insn_info *info, enum leo_core_kind kind)
{
    bool cube_pipe =
        info->pipe == LEO_PIPE_M || info->pipe == LEO_PIPE_MTE1 || info->pipe == LEO_PIPE_FIX;
    bool uses_ub = false, uses_cube = cube_pipe;
    for (int i = 0; i < 4; i++) {
        uses_ub = uses_ub || info->operand[i] == LEO_INSN_OPERAND_UB;
        uses_cube = uses_cube || info->operand[i] >= LEO_INSN_OPERAND_L1;
    }
    return (kind == LEO_CORE_KIND_VECTOR && uses_cube) || (kind == LEO_CORE_KIND_CUBE && uses_ub);
}

static void append_illegal(struct rt_text *text, const struct rt_fault *fault, enum leo_insn insn)
{
    const struct leo_insn_info *info = leo_insn_info(insn);
    uint32_t arch = fault->device->caps.arch;
    if (info->planned) {
        rt_text_append(text, ", which has an encoding but is not simulated yet");
    } else if (!leo_insn_has_arch(insn, arch)) {
        rt_text_append(text, ", which chips of architecture %u do not have", arch);
    } else if (fault->device->caps.vector_cores && is_for_other_kind(info, rt_fault_kind(fault))) {
        rt_text_append(text, ", which a %s core does not have",
                       leo_core_kind_name(rt_fault_kind(fault)));
    } else {
        rt_text_append(text, ", which does not take these types on this chip");
        append_configs(text, info, fault->record);
    }
}

// A value that its field cannot hold, and what it could.
static void append_field(struct rt_text *text, const struct leo_fault_record *record, uint16_t imm)
{
    const struct leo_cfg_fits fits = leo_cfg_fits_unpack(imm);
    const unsigned bits = fits.bits ? fits.bits : 32;
    rt_text_append(text, ": field %s is %lld, ", leo_field_name((enum leo_field)fits.field),
                   (long long)record->addr);
    if ((int64_t)record->addr < 0) {
        rt_text_append(text, "less than it can hold");
    } else {
        rt_text_append(text, "it holds at most %llu", (1ull << bits) - 1);
    }
}

// The instruction behind the check: the next word of a unit in the code that runs straight on.
static void append_checked(struct rt_text *text, const struct rt_fault *fault)
{
    const struct rt_image *image = fault->kernel->module->image;
    uint64_t link = fault->record->pc;
    uint32_t bits;
    while (rt_image_word(image, link += sizeof(bits), &bits)) {
        struct leo_insn_word word;
        const uint32_t opcode = bits & 0x7f;
        if (opcode == 0x63 || opcode == 0x67 || opcode == 0x6f) {
            return; // a branch or a jump: what comes after it may be another statement
        }
        if (leo_insn_decode(bits, &word) && word.insn != LEO_INSN_CHECK_FIELD) {
            rt_text_append(text, "; instruction %s", leo_insn_name(word.insn));
            return;
        }
    }
}

// Which operand, as intrinsics call it.
static void append_operand(struct rt_text *text, const struct leo_insn_info *info, unsigned at)
{
    const char *name = at < 4 ? info->operand_name[at] : "";
    rt_text_append(text, ", operand %c%s%s%s", (char)('a' + at), *name ? " (" : "", name,
                   *name ? ")" : "");
}

// A flag's number. Those between pipes are fewer in the first generation; between cores there
// are 16.
static void append_event(struct rt_text *text, const struct rt_fault *fault, enum leo_insn insn)
{
    const unsigned most = insn == LEO_INSN_WAIT_FLAG_DEV     ? 15
                          : fault->device->caps.arch == 1001 ? 3
                                                             : 7;
    rt_text_append(text, ": %lld, and there are 0 to %u", (long long)fault->record->addr, most);
}

// Of a flag between pipes; its number is an operand.
static void append_flag(struct rt_text *text, const struct leo_fault_record *record)
{
    const struct leo_cfg_flag flag = leo_cfg_flag_unpack(record->addr);
    rt_text_append(text, ": flag (%s, %s, %llu)", rt_fault_pipe(flag.src), rt_fault_pipe(flag.dst),
                   (ull)record->bytes);
}

void rt_fault_instruction(struct rt_text *text, const struct rt_fault *fault)
{
    const struct leo_fault_record *record = fault->record;
    bool illegal = fault->code == LEO_FAULT_ILLEGAL_INSTRUCTION;
    struct leo_insn_word word;
    if (illegal) {
        rt_text_append(text, ": word 0x%08x", record->insn);
    }
    if (fault->code == LEO_FAULT_BAD_FETCH || fault->code == LEO_FAULT_WATCHDOG ||
        fault->code == LEO_FAULT_KERNEL_TRAP) {
        return; // no instruction of a unit
    }
    if (!leo_insn_decode(record->insn, &word)) {
        uint32_t opcode = record->insn & 0x7f;
        bool ours = opcode == 0x0b || opcode == 0x2b || opcode == 0x5b || opcode == 0x7b;
        if (illegal) {
            rt_text_append(text, ours ? ": an opcode of the units with a type or operation that no "
                                        "instruction has"
                                      : ": no instruction of the scalar unit");
        }
        return;
    }
    if (fault->code == LEO_FAULT_BAD_FIELD) {
        append_field(text, record, word.imm);
        append_checked(text, fault);
        return;
    }
    if (fault->code == LEO_FAULT_BAD_EVENT) {
        append_event(text, fault, word.insn);
    }
    if (fault->code == LEO_FAULT_FLAG_SET_TWICE || fault->code == LEO_FAULT_FLAG_NEVER_SET) {
        append_flag(text, record);
    }
    rt_text_append(text, illegal ? ", %s" : "; instruction %s", leo_insn_name(word.insn));
    if (record->operand) {
        append_operand(text, leo_insn_info(word.insn), record->operand - 1u);
    }
    if (illegal) {
        append_illegal(text, fault, word.insn);
    } else if (fault->code == LEO_FAULT_ILLEGAL_CONFIG) {
        append_configs(text, leo_insn_info(word.insn), record);
    }
}
