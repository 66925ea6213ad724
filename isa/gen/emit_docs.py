# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/hw that are tables."""

from emit_golden import archs_of, bits_of, operands_of, pattern, subs_of
from emit_intrin import write_functions
from model import ARCHS, SUFFIXES

NOTE = "<!-- Generated from {source} by the docs target; edit the table, not this page. -->\n\n"


def escape(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(escape(str(cell)) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def page(title, source, *parts):
    return f"# {title}\n\n" + NOTE.format(source=source) + "\n".join(parts)


def insn_section(isa, insn):
    operands = ", ".join(f"`{item}`" for item in operands_of(insn).split()) or "none"
    lines = [f"### {insn.name}\n", f"HW-INSN-{insn.name.upper().replace('_', '-')}: {escape(insn.doc)}\n"]
    if insn.planned:
        lines.append("Not executed yet: an illegal instruction.\n")
    lines.append("```")
    lines += [f"{pattern(isa, insn, sub)}  {insn.name}{suffix}" for suffix, sub in subs_of(isa, insn)]
    lines.append("```\n")
    lines.append(f"Pipe {insn.pipe}; chips {archs_of(insn)}; operands {operands}.\n")
    if insn.rules:
        lines.append(f"Its bits: {', '.join(rule.replace('..', ' to ') for rule in insn.rules)}.\n")
    if insn.time:
        lines.append(f"Takes the time of {insn.time} on a chip whose file names none.\n")
    return "\n".join(lines)


def emit_instructions(isa):
    intro = """\
Every device instruction is one 32-bit word of a RISC-V custom opcode. Form r4 has four registers, all of them sources:
`a` = x[rd], `b` = x[rs1], `c` = x[rs2], `d` = x[rs3]. Form u4 is r4 with a number (the sub-operation) in place of rs2.
Form i has one register and a 12-bit immediate. A `-` in a pattern is a register that is ignored; write x0.

Operands are addresses in a memory (`gm ub l1 l0a l0b l0c bt fb`), scalar bits (`val`) or a configuration word, named in the
lists below. A reserved bit that is set in a configuration word, or a value its field's meaning does not have, is
the fault illegal_config. A type that the chip does not have for the instruction is illegal_instruction.
"""
    summary = table(["instruction", "pipe", "chips and types", "meaning"],
                    [(f"[{insn.name}](#{insn.name})", insn.pipe, archs_of(insn), insn.doc) for insn in isa.insns
                     if not insn.planned])
    planned = ", ".join(f"[{insn.name}](#{insn.name})" for insn in isa.insns if insn.planned) + "\n"
    configs = []
    for config in isa.configs.values():
        configs.append(f"### Configuration {config.name}\n")
        configs.append(table(["bits", "field", "values", "meaning"],
                             [(bits_of(item), item.name, f"enum {item.enum}" if item.enum else "", config.docs[item.name])
                              for item in sorted(config.fields, key=lambda item: item.lo)]))
    enums = table(["enum", "values"], [(enum.name, ", ".join(f"{value} {name}" for name, value in enum.values.items()))
                                       for enum in isa.enums.values()])
    converts = table(["from", "to", "roundings", "chips"],
                     [(item.source, item.target, ", ".join(SUFFIXES[suffix] for suffix in item.suffixes),
                       " ".join(str(arch) for arch in item.archs) + (" (planned)" if item.planned else ""))
                      for item in isa.converts])
    yield "instructions.md", page(
        "Instructions", "isa/insn", intro, "## Summary\n", summary, "Planned (they have an encoding and a name only):\n",
        planned, "## Configuration words\n", *configs, "## Values\n", enums, "## Conversions of vconv\n", converts,
        "## Words\n", "\n".join(insn_section(isa, insn) for insn in isa.insns))


def bit_rows(isa, of):
    return [(item.word, str(item.lo) if item.hi == item.lo else f"{item.hi}:{item.lo}", item.name, item.doc)
            for item in isa.bits if item.of == of]


def emit_map_page(isa):
    rows = [(f"0x{item.base:08x}", f"0x{item.end:08x}", item.name, item.section, item.doc) for item in isa.maps]
    rows += [(f"0x{row.value:x}", "", row.name, "", row.doc) for row in isa.marks]
    yield "addresses.md", page(
        "Address map of a core", "isa/layout/address.map",
        "The same for every kernel. Unit instructions take a bare offset (0..size) or an address in the buffer's own window; the "
        "sections are those of on-chip arrays.\n", table(["first", "end", "name", "section", "meaning"], rows))


def emit_register_pages(isa):
    rows = [(f"0x{reg.value:04x}", reg.name, reg.width, reg.access, "" if reg.reset is None else f"0x{reg.reset:x}",
             reg.doc) for reg in isa.regs]
    arrays = [(f"0x{array.base + offset:x} + {array.stride} i", f"{array.name}.{name}", 32, f"i = 0..{array.count - 1}",
               array.doc) for array in isa.arrays for name, offset in array.members.items()]
    yield "registers.md", page(
        "Registers of the function", "isa/regs",
        "BAR 0. Reads and writes are 4 or 8 bytes wide, as the register is; `w1c`: a written 1 clears the bit.\n",
        table(["offset", "register", "bits", "access", "reset", "meaning"], rows), "## Fields\n",
        table(["register", "bits", "field", "meaning"], bit_rows(isa, "")), "## Arrays\n",
        table(["offset", "register", "bits", "index", "meaning"], arrays))
    rows = [(f"0x{row.value:03x}", row.name, row.access, "" if row.reset is None else f"0x{row.reset:x}", row.doc)
            for row in isa.csrs]
    yield "csr.md", page(
        "Control and status registers of a core", "isa/csr.csv",
        "Read and written by the RISC-V csr instructions. Numbers not listed, `planned` ones, and writes to `ro` ones are "
        "the fault bad_csr. Besides these there are the standard fflags, frm and fcsr.\n",
        table(["number", "register", "access", "reset", "meaning"], rows))


def emit_queue_page(isa):
    parts = ["Little-endian. Members marked 0 are reserved: write zero.\n"]
    parts.append(table(["limit", "value", "meaning"], [(row.name, row.value, row.doc) for row in isa.limits]))
    for struct in isa.structs:
        parts.append(f"## {struct.name} ({struct.size} bytes)\n")
        parts.append(f"{struct.doc}\n")
        parts.append(table(["offset", "member", "type", "meaning"],
                           [(member.offset, member.name,
                             member.type + (f"[{member.count}]" if member.count > 1 else ""), member.doc)
                            for member in struct.members]))
        if bit_rows(isa, struct.name):
            parts.append(table(["member", "bits", "field", "meaning"], bit_rows(isa, struct.name)))
    names = ("sqe_op", "core_kind", "mem_space")
    parts.append("## Values\n")
    parts.append(table(["enum", "values"], [(name, ", ".join(f"{value} {item}" for item, value in
                                                              isa.enums[name].values.items()))
                                            for name in names if name in isa.enums]))
    yield "queues.md", page("Queue entries and records", "isa/layout", *parts)


def emit_code_pages(isa):
    yield "faults.md", page(
        "Faults", "isa/faults.csv",
        "What the chip reports about a kernel or a queue entry that did something forbidden: in the status of the "
        "completion and in a fault record. The chip keeps working.\n",
        table(["id", "code", "fault", "what happened"],
              [(f"HW-FAULT-{row.value:02}", row.value, row.name, row.doc) for row in isa.faults]))
    yield "status.md", page(
        "Status codes", "isa/status.csv", "What calls on the host return. Negative: the call changed nothing.\n",
        table(["value", "name", "meaning"], [(row.value, f"LEO_{row.name.upper()}", row.doc) for row in isa.status]))


def overloads(signatures):
    """Rows of (name, first types, other parameters, chips): functions that differ in the first types only are one row."""
    rows = {}
    for archs, name, params in signatures:
        split = next((i for i, (kind, _) in enumerate(params) if not kind.endswith("*")), len(params))
        if split == 0:  # an address in BT or FB is a number
            split = max((i + 1 for i, (kind, _) in enumerate(params) if kind.endswith("*")), default=0)
        if split < len(params) and params[split][1] == "scalar":
            split += 1
        heads = ", ".join(f"{kind.replace('__', '').replace('const ', '')}{param}" if kind.endswith("*")
                          else f"{kind} {param}" for kind, param in params[:split])
        tail = ", ".join(param for _, param in params[split:])
        chips = "" if set(archs) == set(ARCHS) else f" ({', '.join(map(str, archs))})"
        rows.setdefault((name, tail), []).append(heads + chips)
    return [(f"`{name}`", "<br>".join(f"`{head}`" for head in heads), tail) for (name, tail), heads in rows.items()]


def emit_intrinsics(isa):
    intro = """\
What `<leo/device.h>` offers to a device program, in C (overloads by argument type) and C++. A chip in brackets: only
there; without one: on both. Using what the chip does not have is a compile-time error. Sources may point to const.
Meanings and units are those of the instruction of the same name in [instructions.md](instructions.md): `vector_dup` is
vdup, `vconv_XtoY` with a rounding suffix is vconv, `vcmp_`, `vcmpv_` and `vcmpvs_` carry the condition in the name,
`_b8 _b16 _b32` the element size, `mad` is mmad, `copy_gm_to_cbuf_multi_nd2nz_*` is copy_gm_to_cbuf_nd2nz.

Operands that go into fields are 64-bit numbers here, so that one that does not fit its field is reported: a constant by the compiler,
others by the fault bad_field (`field repeat is 300, it holds at most 255`), events and flags by bad_event.

Written by hand in `isa/device/include/leo`:

| function | does |
|---|---|
| `set_flag(src, dst, event)`, `wait_flag(src, dst, event)` | order between two pipes; the pipes are constants |
| `pipe_barrier(pipe)` | order within a pipe, or of all |
| `set_vector_mask(high, low)`, `set_mask_count()`, `set_mask_norm()` | CSRs vmask1, vmask0, ctrl bit 0 |
| `set_cmpmask(ub)`, `set_selmask_addr(ub)` | where vsel takes its bits from |
| `set_atomic_none()`, `set_atomic_add()`, `_max()`, `_min()`; `set_atomic_f32()`, `_f16 _bf16 _s8 _s16 _s32` | operation and type of writes to global memory (CSR ctrl); 910A: add f32, and `set_atomic_f32()` alone adds |
| `set_fmatrix`, `set_fmatrix_b`, `set_padding`, `set_l1_3d_size`, `set_l3d_rpt`, `set_nd_para`, `set_quant_pre`, `set_fpc`, `set_mov_pad_val` (value) | the CSR of that name |
| `set_deqscale(scale)`, `set_lrelu_alpha(slope)` | the same by type: a half, or a word or address as uint64_t (`0x1ul`: `ull` fits neither); a float or a half, not its bits |
| `get_acc_val()`, `get_max_min_cnt()`, `get_rsvd_cnt()`, `get_vms4_sr()`, `get_fpc()` | the CSR of that name |
| `get_cmpmask(ub)`, `set_va_reg_sb(VAn, addresses)`, `vld_va_reg(VAn, ub, L128 or H128)` | instructions of those names |
| `leo_set_hf32(on)`, `leo_set_hf32_to_zero(on)` | mad of f32 rounds its operands to hf32; ties go to zero |
| `get_block_idx()`, `get_block_num()`, `get_subblockid()`, `get_subblockdim()`, `get_coreid()`, `get_arch_ver()` | which block, which core |
| `get_sys_cnt()`, `get_ctrl()`, `set_ctrl(value)` | time; control register |
| `VALUE_INDEX INDEX_VALUE ONLY_VALUE ONLY_INDEX`, `inc dec` | order of vcmax, vcmin; mode of load_cbuf_*: the source address goes up or down |
| `NoQuant F322F16 F322BF16 ..`, `CRMODE_NONE CRMODE_F32toF16_NONE ..` | quant of copy_matrix_cc_to_gm, mode of copy_matrix_cc_to_ubuf |
| `mad(.., k_dir, c_src, c_init)` | k_align, c_bias, c_init of configuration mad; `init` of the short form is c_init |
| `ffts_cross_core_sync(pipe, word)`, `wait_flag_dev(flag)` | flags between cores; word is configuration cross. `leo_cross_set(mode, pipe, flag)`, `leo_cross_wait(flag)` and what is made of them: [../cross_core.md](../cross_core.md) |
| `dcci(..)`, `dsb(..)`, `dc_preload(..)`, `preload(..)` | keep the order; everybody sees scalar stores at once |
| `hset_flag(src, dst, event, memory, from_v)`, `hwait_flag(..)` | set_flag, wait_flag under their other names |
| `leo_set_saturate(on)`, `get_overflow_status()`, `leo_clear_overflow()` | saturating results and their sticky status |
| `bcnt0 bcnt1 clz sff0 sff1 sbitset0 sbitset1` | bits of a 64-bit number |
| `trap()` | stops the kernel |
| `leo_printf(format, ..)`, `leo_assert(condition, format, ..)` | output, and a fault with text: [../kernel_output.md](../kernel_output.md) |
| `__ubuf_array__ __cbuf_array__ __ca_array__ __cb_array__ __cc_array__` | before an array: it lives in UB, L1, L0A, L0B, L0C |

Types: `half` (IEEE binary16) and `bfloat16_t` beside those of C and `<stdint.h>`; `pipe_t`: `PIPE_S PIPE_V PIPE_M PIPE_MTE1 PIPE_MTE2
PIPE_MTE3 PIPE_FIX PIPE_ALL`; `event_t`: `EVENT_ID0` to `EVENT_ID7`; `pad_t`, the last argument of `copy_gm_to_cbuf`: `PAD_NONE`, and
`PAD_MODE1` to `PAD_MODE8`, which change nothing here; the memories `__gm__ __ubuf__ __cbuf__ __ca__ __cb__ __cc__` mark pointers and change nothing in the code.
"""
    yield "intrinsics.md", page("Intrinsics", "isa/insn", intro, "## Generated\n",
                                table(["function", "first arguments", "then"], overloads(write_functions(isa).signatures))
                                .replace("&lt;br>", "<br>"))


def emit_docs(isa):
    yield from emit_intrinsics(isa)
    yield from emit_instructions(isa)
    yield from emit_map_page(isa)
    yield from emit_register_pages(isa)
    yield from emit_queue_page(isa)
    yield from emit_code_pages(isa)
