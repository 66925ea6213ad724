# SPDX-License-Identifier: Apache-2.0
"""The simulator's table of instructions: which function executes, prices and outlines each, on which cores."""

from model import ARCHS, TRAITS
from text import HEAD

# First word of an exec name -> unit whose time it takes.
UNITS = {"vec": "vector", "mte": "mte", "cube": "cube", "fix": "fixpipe"}
# Form of a footprint by the first configuration word, where the names differ.
FORMS = {"align0": "align", "nz0": "nd2nz", "fix0": "fix", "l3d0": "load3d", "i2c0": "img2col"}
EXEC = "bool {}(struct sim_core *core, const struct sim_op *op);\n"
COST = "void {}(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost);\n"
FOOT = "bool {}(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot);\n"


def exec_of(insn):
    return "sim_" + insn.exec.partition(":")[0]


def member_of(insn):
    member = insn.exec.partition(":")[2].partition("+")[0]
    return "SIM_" + member.upper() if member else "0"


def cost_of(insn):
    return "NULL" if insn.pipe == "s" else "sim_unit_" + UNITS[insn.exec.partition("_")[0]]


def foot_of(insn):
    form = insn.foot or (insn.configs[0] if insn.configs else "")
    return "sim_foot_" + FORMS.get(form, form) if form else "NULL"


def mode_of(isa, insn):
    return insn.mode if isinstance(insn.mode, int) else max(isa.enums[insn.mode].values.values())


def cores_of(insn, arch):
    """Core kinds that have what the pipe and the operands name; a coupled core has everything."""
    if arch not in insn.archs:
        return "0"
    if arch == 1001:
        return "1u << LEO_CORE_KIND_AICORE"
    kinds = {"cube", "vector"}
    kinds &= {"v": {"vector"}, "m": {"cube"}, "mte1": {"cube"}, "fix": {"cube"}}.get(insn.pipe, kinds)
    for kind in insn.operands.values():
        kinds &= {"ub": {"vector"}, "gm": kinds, "val": kinds, "cfg": kinds, "none": kinds}.get(kind, {"cube"})
    return " | ".join(f"1u << LEO_CORE_KIND_{kind.upper()}" for kind in sorted(kinds)) or "0"


def row_of(isa, insn):
    traits = " | ".join(f"SIM_TRAIT_{trait.upper()}" for trait in TRAITS if trait in insn.traits) or "0"
    fields = [f".exec = {exec_of(insn)}", f".cost = {cost_of(insn)}", f".foot = {foot_of(insn)}",
              f".member = {member_of(insn)}", f".mode = {mode_of(isa, insn)}", f".traits = {traits}",
              ".operand = {" + ", ".join(f"LEO_INSN_OPERAND_{insn.operands.get(x, 'none').upper()}" for x in "abcd") + "}",
              f".pipe = LEO_PIPE_{insn.pipe.upper()}", f".moves_gm = {str('gm' in insn.operands.values()).lower()}",
              f".writes_gm = {str(insn.operands.get('a') == 'gm').lower()}",
              f".cores = {{{', '.join(cores_of(insn, arch) for arch in ARCHS)}}}"]
    return f"    [LEO_INSN_{insn.name.upper()}] = {{\n" + "".join(f"        {item},\n" for item in fields) + "    },\n"


def emit_sim(isa):
    insns = [insn for insn in isa.insns if not insn.planned]
    names = [(EXEC, {exec_of(insn) for insn in insns}), (COST, {cost_of(insn) for insn in insns}),
             (FOOT, {foot_of(insn) for insn in insns})]
    lines = "".join(form.format(name) for form, group in names for name in sorted(group - {"NULL"}))
    yield "include/sim_units.h", (HEAD.format(source="isa/insn")
                          + "/* What the rooms of the units define: exec= (meaning), foot= (footprint), time. */\n"
                          "#pragma once\n\n#include \"op.h\"\n\nstruct sim_core;\n\n" + lines)
    yield "src/sim_units.c", (HEAD.format(source="isa/insn")
                          + "#include <sim_units.h>\n\n#include \"simd/simd_vector.h\"\n\n#include <stddef.h>\n\n"
                          "const struct sim_insn sim_insns[LEO_INSN_COUNT] = {\n"
                          + "".join(row_of(isa, insn) for insn in insns) + "};\n")
