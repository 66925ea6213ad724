# SPDX-License-Identifier: Apache-2.0
"""intrin.h: one C function for each instruction and type, under the names kernels use."""

import re

from emit_config import field_mask
from emit_enums import emit_isa_enums
from emit_regs import emit_csr
from model import ARCHS, SUFFIXES
from text import HEAD

C_TYPES = {"f16": "half", "f32": "float", "bf16": "bfloat16_t", "s8": "int8_t", "u8": "uint8_t", "s16": "int16_t",
           "s4": "void", "u16": "uint16_t", "s32": "int32_t", "u32": "uint32_t", "s64": "int64_t", "u64": "uint64_t"}
MAD_TYPES = {"f16f32": ("float", "half", "half"), "f16f16": ("half", "half", "half"),
             "bf16f32": ("float", "bfloat16_t", "bfloat16_t"), "f32f32": ("float", "float", "float"),
             "s8s32": ("int32_t", "int8_t", "int8_t"), "u8u32": ("uint32_t", "uint8_t", "uint8_t"),
             "u8s32": ("int32_t", "uint8_t", "int8_t"), "s4s32": ("int32_t", "void", "void"),
             "f16u2": ("half", "half", "void")}
CONDITIONS = ("eq", "ne", "lt", "le", "gt", "ge")
UB = "__ubuf__"
# Instructions of common forms whose functions differ from the form's.
OWN = ("vsel", "vcmpv", "vcmpvs", "vmulconv", "vaddreluconv", "vsubreluconv", "vshl", "vshr", "vreduce")
STRIDES3 = [("uint8_t", name) for name in ("repeat", "dst_blk", "src0_blk", "src1_blk", "dst_rep", "src0_rep", "src1_rep")]
STRIDES2 = [("uint8_t", "repeat")] + [("uint16_t", name) for name in ("dst_blk", "src_blk", "dst_rep", "src_rep")]
STRIDES_RED = [("uint8_t", "repeat")] + [("uint16_t", name) for name in ("dst_rep", "src_blk", "src_rep")]
BURST = [("uint8_t", "sid")] + [("uint16_t", name) for name in ("n_burst", "len_burst", "src_gap", "dst_gap")]


class Writer:
    """Collects functions and puts each architecture's own under a condition."""

    def __init__(self, isa):
        self.isa = isa
        self.insns = {insn.name: insn for insn in isa.insns}
        self.lines = []
        self.condition = None
        self.signatures = []  # (architectures, name, parameters) of each function for programs
        self.absent = {arch: [] for arch in ARCHS}  # declarations of what a chip does not have

    def text(self, line=""):
        self.lines.append(line)

    def set_archs(self, archs):
        condition = None if set(archs) == set(ARCHS) else " || ".join(f"LEO_HAS_{arch}" for arch in sorted(archs))
        if condition != self.condition:
            if self.condition:
                self.text("#endif\n")
            if condition:
                self.text(f"#if {condition}")
            self.condition = condition

    def asm(self, insn, a="0", b="0", c="0", d="0", sub=None):
        for letter, value in zip("abcd", (a, b, c, d)):
            if re.match(r"[a-z]\w*$", value):
                insn.operand_names.setdefault(letter, value)
        opcode = f"0x{self.isa.opcodes[insn.opcode][0]:02x}"
        if insn.form == "u4":
            sub = insn.sub if sub is None else sub
            return f"LEO_U4({opcode}, {insn.f3}, {insn.f2}, {sub}, {a}, {b}, {d});"
        return f"LEO_R4({opcode}, {insn.f3}, {insn.f2}, {a}, {b}, {c}, {d});"

    def head(self, line, params, end):
        """The head of a function, broken where lines get too long."""
        lines = []
        for index, (kind, param) in enumerate(params):
            item = f"{kind}{'' if kind.endswith('*') else ' '}{param}{', ' if index + 1 < len(params) else ''}"
            if len(line) + len(item) > 98:
                lines.append(line.rstrip())
                line = "    "
            line += item
        return lines + [line + ("" if params else "void") + end]

    def fields_of(self, body):
        """Parameter -> field it goes into, as the calls of pack functions in a body say."""
        found = {}
        for config, values in re.findall(r"leo_pack_(\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)", " ".join(body)):
            found |= {value: item for item, value in zip(self.isa.configs[config].fields, values.split(", "))}
        return found

    def widen(self, params, fields):
        """Numbers that go into fields as 64-bit ones, so that what does not fit arrives; and their limits."""
        wide, limits = [], []
        for kind, param in params:
            number = re.match(r"(u?)int(\d+)_t$", kind)
            if number and param in fields:
                item = fields[param]
                bits = min(item.bits, int(number[2])) - item.signed
                limits.append(f"    LEO_LIMIT{'_SIGNED' * item.signed}({param}, {(1 << bits) - 1})")
                kind = f"{number[1]}int64_t"
            wide.append((kind, param))
        return wide, limits

    def function(self, archs, name, params, body, result="void", limited=None):
        """`limited`: parameter -> its field, where the body does not tell."""
        if not name.startswith("leo_"):
            self.signatures.append((archs, name, params))
        params, limits = self.widen(params, self.fields_of(body) if limited is None else limited)
        for arch in ARCHS:
            if arch not in archs:
                self.absent[arch] += self.head(f"LEO_ABSENT({arch}) {result} {name}(", params, ");")
        self.set_archs(archs)
        if limits:
            self.lines += self.head(f"LEO_INTRIN {result} {name}(", params, ")") + limits
            self.lines[-1] += ";"
        self.lines += self.head(f"LEO_INTRIN {result} {name}(", params, ")")
        self.text("{")
        for statement in body:
            self.lines += wrap(f"    {statement}")
        self.text("}\n")

    def pack(self, config, **values):
        """Call of a pack function; fields not named are 0."""
        items = [str(values.get(item.name, 0)) for item in self.isa.configs[config].fields]
        return f"leo_pack_{config}({', '.join(items)})"

    def field(self, config, name):
        return next(item for item in self.isa.configs[config].fields if item.name == name)

    def unused(self, *names):
        return [f"(void){name};" for name in names]


def wrap(line):
    """Breaks a statement at commas."""
    lines = []
    while len(line) > 100:
        cut = max(i for i in range(4, 99) if line[i:i + 2] in (", ", "| "))
        lines.append(line[:cut + 1])
        line = "           " + line[cut + 2:]
    return lines + [line]


def pointer(space, kind, const=False):
    return f"{space} {'const ' if const else ''}{kind} *"


def enum_ref(enum, name):
    return f"LEO_{enum.upper()}_{name.upper()}"


def named(params):
    return {name: name for _, name in params}


def emit_packs(writer):
    used = {name for insn in writer.isa.insns if not insn.planned for name in insn.configs} | {"ctrl"}
    for config in writer.isa.configs.values():
        if config.name not in used:
            continue
        terms, checks = [], []
        for item in config.fields:
            value = f"((uint64_t){item.name} & {field_mask(item)})" if item.signed else item.name
            terms.append(value + (f" << {item.lo}" if item.lo else ""))
            checks.append(f"LEO_FITS{'_SIGNED' * item.signed}({item.name}, {item.bits}, {enum_ref('field', item.name)});")
        writer.text(f"/* Configuration word {config.name}: constants fold to one constant. */")
        writer.function(ARCHS, f"leo_pack_{config.name}",
                        [("int32_t" if item.signed else "uint32_t", item.name) for item in config.fields],
                        checks + [("return " if term is terms[0] else "       ") + term
                                  + (";" if term is terms[-1] else " |") for term in terms],
                        "uint64_t", {item.name: item for item in config.fields})


def archs_of_type(insn, name):
    return [arch for arch in insn.archs if name in insn.types.get(arch, [])]


def all_types(insn):
    return [name for name in C_TYPES if archs_of_type(insn, name)]


def emit_binary(writer, name):
    insn = writer.insns[name]
    for kind in all_types(insn):
        ctype, dtype = C_TYPES[kind], enum_ref("dtype", kind)
        params = [(pointer(UB, ctype), "dst"), (pointer(UB, ctype, True), "src0"), (pointer(UB, ctype, True), "src1")]
        cfg = writer.pack("vec3", **named(STRIDES3), dtype=dtype)
        writer.function(archs_of_type(insn, kind), name, params + STRIDES3,
                        [writer.asm(insn, "dst", "src0", "src1", cfg)])


def emit_mixed(writer):
    """vmla of f16 into f32."""
    insn = writer.insns["vmla"]
    params = [(pointer(UB, "float"), "dst"), (pointer(UB, "half", True), "src0"), (pointer(UB, "half", True), "src1")]
    cfg = writer.pack("vec3", **named(STRIDES3), dtype=enum_ref("dtype", "f32"), mod=1)
    writer.function(insn.archs, "vmla", params + STRIDES3, [writer.asm(insn, "dst", "src0", "src1", cfg)])


def emit_narrow(writer):
    """Two sources, results of half the width."""
    insn = writer.insns["vmulconv"]
    for kind, mod in (("s8", 0), ("u8", 1)):
        params = [(pointer(UB, C_TYPES[kind]), "dst"), (pointer(UB, "half", True), "src0"),
                  (pointer(UB, "half", True), "src1")]
        cfg = writer.pack("vec3", **named(STRIDES3), dtype=enum_ref("dtype", "f16"), mod=mod)
        writer.function(insn.archs, f"vmulconv_f162{kind}", params + STRIDES3,
                        [writer.asm(insn, "dst", "src0", "src1", cfg)])
    for name in ("vaddreluconv", "vsubreluconv"):
        insn = writer.insns[name]
        for source, target in (("f16", "s8"), ("f32", "f16"), ("s16", "s8")):
            params = [(pointer(UB, C_TYPES[target]), "dst"), (pointer(UB, C_TYPES[source], True), "src0"),
                      (pointer(UB, C_TYPES[source], True), "src1")]
            cfg = writer.pack("vec3", **named(STRIDES3), dtype=enum_ref("dtype", source), mod="high")
            writer.function(archs_of_type(insn, source), f"{name}_{source}2{target}",
                            params + STRIDES3 + [("bool", "high")], [writer.asm(insn, "dst", "src0", "src1", cfg)])


def emit_shifts(writer):
    for name, extra in (("vshl", []), ("vshr", [("bool", "round")])):
        insn = writer.insns[name]
        for kind in all_types(insn):
            ctype = C_TYPES[kind]
            params = [(pointer(UB, ctype), "dst"), (pointer(UB, ctype, True), "src"), ("uint32_t", "distance")]
            cfg = writer.pack("vec2", **named(STRIDES2), dtype=enum_ref("dtype", kind), mod="round" if extra else 0)
            writer.function(archs_of_type(insn, kind), name, params + STRIDES2 + extra,
                            [writer.asm(insn, "dst", "src", "distance", cfg)])


def emit_select(writer):
    insn = writer.insns["vsel"]
    for kind in all_types(insn):
        ctype, dtype = C_TYPES[kind], enum_ref("dtype", kind)
        params = [(pointer(UB, ctype), "dst"), (pointer(UB, ctype, True), "src0")]
        archs = archs_of_type(insn, kind)
        source = [(pointer(UB, ctype, True), "src1")]
        writer.function(archs, "vsel", params + source + STRIDES3,
                        [writer.asm(insn, "dst", "src0", "src1", writer.pack("vec3", **named(STRIDES3), dtype=dtype))])
        cfg = writer.pack("vec3", **named(STRIDES3), dtype=dtype, mod="mode")
        mode = [("uint8_t", "mode")]
        writer.function(archs, "vsel", params + source + STRIDES3 + mode,
                        [writer.asm(insn, "dst", "src0", "src1", cfg)])
        writer.function(archs, "vsel", params + [(ctype, "scalar")] + STRIDES3 + mode,
                        [writer.asm(insn, "dst", "src0", "leo_bits(scalar)", cfg)])


def emit_compare(writer):
    mask, vector, scalar = (writer.insns[name] for name in ("vcmp", "vcmpv", "vcmpvs"))
    for cond in CONDITIONS:
        mod = enum_ref("cond", cond)
        for kind in all_types(mask):
            source = C_TYPES[kind]
            params = [(pointer(UB, source, True), "src0"), (pointer(UB, source, True), "src1")]
            cfg = writer.pack("vec3", **named(STRIDES3), dtype=enum_ref("dtype", kind), mod=mod)
            writer.function(archs_of_type(mask, kind), f"vcmp_{cond}", params + STRIDES3,
                            [writer.asm(mask, "0", "src0", "src1", cfg)])
        for kind in all_types(vector):
            source = C_TYPES[kind]
            params = [(pointer(UB, "uint8_t"), "dst"), (pointer(UB, source, True), "src0"),
                      (pointer(UB, source, True), "src1")]
            cfg = writer.pack("vec3", **named(STRIDES3), dtype=enum_ref("dtype", kind), mod=mod)
            writer.function(archs_of_type(vector, kind), f"vcmpv_{cond}", params + STRIDES3,
                            [writer.asm(vector, "dst", "src0", "src1", cfg)])
        for kind in all_types(scalar):
            source = C_TYPES[kind]
            params = [(pointer(UB, "uint8_t"), "dst"), (pointer(UB, source, True), "src"), (source, "scalar")]
            cfg = writer.pack("vec2", **named(STRIDES2), dtype=enum_ref("dtype", kind), mod=mod)
            writer.function(archs_of_type(scalar, kind), f"vcmpvs_{cond}", params + STRIDES2,
                            [writer.asm(scalar, "dst", "src", "leo_bits(scalar)", cfg)])


def emit_unary(writer, name):
    insn = writer.insns[name]
    for kind in all_types(insn):
        ctype = C_TYPES[kind]
        params = [(pointer(UB, ctype), "dst"), (pointer(UB, ctype, True), "src")]
        cfg = writer.pack("vec2", **named(STRIDES2), dtype=enum_ref("dtype", kind))
        writer.function(archs_of_type(insn, kind), name, params + STRIDES2, [writer.asm(insn, "dst", "src", d=cfg)])


def emit_scalar(writer, name):
    insn = writer.insns[name]
    for kind in all_types(insn):
        ctype = C_TYPES[kind]
        params = [(pointer(UB, ctype), "dst"), (pointer(UB, ctype, True), "src"), (ctype, "scalar")]
        cfg = writer.pack("vec2", **named(STRIDES2), dtype=enum_ref("dtype", kind))
        writer.function(archs_of_type(insn, kind), name, params + STRIDES2,
                        [writer.asm(insn, "dst", "src", "leo_bits(scalar)", cfg)])
    if name == "vaxpy":
        params = [(pointer(UB, "float"), "dst"), (pointer(UB, "half", True), "src"), ("half", "scalar")]
        cfg = writer.pack("vec2", **named(STRIDES2), dtype=enum_ref("dtype", "f32"), mod=1)
        writer.function(insn.archs, name, params + STRIDES2, [writer.asm(insn, "dst", "src", "leo_bits(scalar)", cfg)])


def emit_dup(writer):
    insn = writer.insns["vdup"]
    strides = [("uint8_t", "repeat"), ("uint16_t", "dst_blk"), ("int32_t", "src_blk"), ("uint16_t", "dst_rep"),
               ("int32_t", "src_rep")]
    for kind in all_types(insn):
        ctype = C_TYPES[kind]
        cfg = writer.pack("vec2", repeat="repeat", dst_blk="dst_blk", dst_rep="dst_rep",
                          dtype=enum_ref("dtype", kind))
        writer.function(archs_of_type(insn, kind), "vector_dup",
                        [(pointer(UB, ctype), "dst"), (ctype, "scalar")] + strides,
                        writer.unused("src_blk", "src_rep") + [writer.asm(insn, "dst", "0", "leo_bits(scalar)", cfg)])


def emit_convert(writer):
    insn = writer.insns["vconv"]
    rounds = writer.isa.enums["round"].values
    for item in (item for item in writer.isa.converts if not item.planned):
        params = [(pointer(UB, C_TYPES[item.target]), "dst"), (pointer(UB, C_TYPES[item.source], True), "src")]
        cfg = writer.pack("vcvt", **named(STRIDES2), dst_type=enum_ref("dtype", item.target),
                          src_type=enum_ref("dtype", item.source))
        for suffix in item.suffixes:
            writer.function(item.archs, f"vconv_{item.source}2{item.target}{suffix}", params + STRIDES2,
                            [writer.asm(insn, "dst", "src", d=cfg, sub=rounds[SUFFIXES[suffix]])])


def emit_reduction(writer, name):
    insn = writer.insns[name]
    for kind in all_types(insn):
        ctype, dtype, archs = C_TYPES[kind], enum_ref("dtype", kind), archs_of_type(insn, kind)
        params = [(pointer(UB, ctype), "dst"), (pointer(UB, ctype, True), "src")] + STRIDES_RED
        plain = writer.pack("vred", **named(STRIDES_RED), dtype=dtype)
        writer.function(archs, name, params, [writer.asm(insn, "dst", "src", d=plain)])
        if name in ("vcmax", "vcmin"):
            cfg = writer.pack("vred", **named(STRIDES_RED), dtype=dtype, order="(uint8_t)order")
            writer.function(archs, name, params + [("Order_t", "order")], [writer.asm(insn, "dst", "src", d=cfg)])
        if name == "vcadd":
            writer.function(archs, name, params + [("int32_t", "mode")],
                            writer.unused("mode") + [writer.asm(insn, "dst", "src", d=plain)])


BIT_TYPES = ("u16", "u32")


def emit_picks(writer):
    """Elements and blocks that are picked, spread or transposed."""
    insn = writer.insns["vreduce"]
    for kind in BIT_TYPES:
        ctype, dtype = C_TYPES[kind], enum_ref("dtype", kind)
        to, origin = (pointer(UB, ctype), "dst"), (pointer(UB, ctype, True), "src0")
        select, offset = (pointer(UB, ctype, True), "src1"), (pointer(UB, "uint32_t", True), "offset")
        writer.function(insn.archs, "vreduce", [to, origin, select] + STRIDES3,
                        [writer.asm(writer.insns["vreduce"], "dst", "src0", "src1",
                                    writer.pack("vec3", **named(STRIDES3), dtype=dtype))])
        names = [("uint16_t", "repeat"), ("uint8_t", "src0_blk"), ("uint8_t", "pattern"), ("uint16_t", "src0_rep"),
                 ("uint8_t", "src1_rep")]
        writer.function(insn.archs, "vreducev2", [to, origin, select] + names,
                        [writer.asm(writer.insns["vreducev2"], "dst", "src0", "src1",
                                    writer.pack("gmask", **named(names), dtype=dtype))])
        names = [("uint16_t", "dst_blk"), ("uint16_t", "dst_rep"), ("uint8_t", "repeat")]
        writer.function(insn.archs, "vbrcb", [to, (pointer(UB, ctype, True), "src")] + names,
                        [writer.asm(writer.insns["vbrcb"], "dst", "src",
                                    d=writer.pack("spread", **named(names), dtype=dtype))])
        base = [to, offset, ("uint64_t", "base"), ("uint16_t", "dst_rep")]
        writer.function(insn.archs, "vgather", base + [("uint8_t", "repeat")],
                        [writer.asm(writer.insns["vgather"], "dst", "offset", "base",
                                    writer.pack("spread", repeat="repeat", dst_blk="1", dst_rep="dst_rep", dtype=dtype))])
        writer.function(insn.archs, "vgatherb", base + [("uint8_t", "dst_blk"), ("uint8_t", "repeat")],
                        [writer.asm(writer.insns["vgatherb"], "dst", "offset", "base",
                                    writer.pack("spread", repeat="repeat", dst_blk="dst_blk", dst_rep="dst_rep", dtype=dtype))])
    for kind in ("s16", "u16"):
        params = [(pointer(UB, C_TYPES[kind]), "dst"), (pointer(UB, C_TYPES[kind], True), "src")]
        writer.function(ARCHS, "vtranspose", params, [writer.asm(writer.insns["vtranspose"], "dst", "src")])
    insn = writer.insns["scatter_vnchwconv"]
    names = [("uint8_t", "repeat"), ("uint16_t", "dst_rep"), ("uint16_t", "src_rep")]
    for kind in ("b8", "b16", "b32"):
        high = [("bool", "dst_high"), ("bool", "src_high")] if kind == "b8" else []
        cfg = writer.pack("nchw", **named(names + high), dtype=enum_ref("dtype", kind))
        writer.function(archs_of_type(insn, kind), f"scatter_vnchwconv_{kind}",
                        [("ub_addr8_t", "dst"), ("ub_addr8_t", "src")] + names + high,
                        [writer.asm(insn, "dst", "src", d=cfg)])


def emit_sorts(writer):
    insn = writer.insns["vbitsort"]
    for kind in ("f16", "f32"):
        ctype = C_TYPES[kind]
        params = [(pointer(UB, ctype), "dst"), (pointer(UB, ctype, True), "src")]
        cfg = writer.pack("rep", repeat="(uint8_t)repeat", dtype=enum_ref("dtype", kind))
        if kind == "f16":
            writer.function([1001], "vbitsort", params + [("int32_t", "repeat")], [writer.asm(insn, "dst", "src", d=cfg)])
        writer.function([2201], "vbitsort", params + [(pointer(UB, "uint32_t", True), "index"), ("int32_t", "repeat")],
                        [writer.asm(insn, "dst", "src", "index", cfg)])
        archs = archs_of_type(writer.insns["vmrgsort4"], kind)
        lists = [(pointer(UB, ctype), "dst"), (f"{UB} {ctype} *const *", "list")]
        names = [("uint8_t", "repeat")] + [("uint16_t", f"len{i}") for i in range(4)] + [("bool", "exhaust"), ("uint8_t", "valid")]
        cfg = writer.pack("mrg4", **named(names), wide=int(kind == "f32"))
        address = ("leo_ub_blocks((uint64_t)list[0], (uint64_t)list[1], (uint64_t)list[2], (uint64_t)list[3])")
        writer.function(archs, "vmrgsort4", lists + names,
                        [writer.asm(writer.insns["vmrgsort4"], "dst", address, d=cfg)])
        writer.function(archs, "vmrgsort4", lists + [("uint64_t", "config")],
                        [writer.asm(writer.insns["vmrgsort4"], "dst", address, d="config")])
    for name in ("vconcat", "vextract"):
        insn = writer.insns[name]
        params = [(pointer(UB, "half"), "dst"), (pointer(UB, "half", True), "src"), ("uint8_t", "repeat"), ("uint8_t", "field")]
        cfg = writer.pack("prop", repeat="repeat", field="field", dtype=enum_ref("dtype", "f16"))
        writer.function(insn.archs, name, params, [writer.asm(insn, "dst", "src", d=cfg)])


def emit_scaled(writer):
    insn = writer.insns["vconv_deq"]
    strides = [("uint8_t", "repeat"), ("uint16_t", "dst_blk"), ("uint16_t", "src_blk"), ("uint8_t", "dst_rep"), ("uint8_t", "src_rep")]
    params = [(pointer(UB, "half"), "dst"), (pointer(UB, "int32_t", True), "src")]
    writer.function(insn.archs, "vconv_deq", params + strides,
                    [writer.asm(insn, "dst", "src", d=writer.pack("vdeq", **named(strides), dtype=enum_ref("dtype", "s32")))])
    for name in ("vconv_deqs162b8", "vconv_vdeqs162b8"):
        insn = writer.insns[name]
        for suffix, high in (("h", 1), ("l", 0)):
            for kind in ("s8", "u8"):
                params = [(pointer(UB, C_TYPES[kind]), "dst"), (pointer(UB, "int16_t", True), "src")]
                cfg = writer.pack("vdeq", **named(strides), dtype=enum_ref("dtype", kind), high=high)
                writer.function(insn.archs, name + suffix, params + strides, [writer.asm(insn, "dst", "src", d=cfg)])


def emit_bursts(writer):
    names = {"copy_gm_to_ubuf": (UB, "__gm__"), "copy_ubuf_to_gm": ("__gm__", UB), "copy_ubuf_to_ubuf": (UB, UB),
             "copy_gm_to_cbuf": ("__cbuf__", "__gm__"), "copy_cbuf_to_gm": ("__gm__", "__cbuf__"),
             "copy_ubuf_to_cbuf": ("__cbuf__", UB), "copy_cbuf_to_ubuf": (UB, "__cbuf__")}
    for name, (target, origin) in names.items():
        insn = writer.insns[name]
        params = [(pointer(target, "void"), "dst"), (pointer(origin, "void", True), "src")] + BURST
        body = [writer.asm(insn, "dst", "src", d=writer.pack("burst", **named(BURST)))]
        writer.function(insn.archs, name, params, body)
        if name == "copy_gm_to_cbuf":
            writer.function(insn.archs, name, params + [("pad_t", "pad")], writer.unused("pad") + body)
    insn = writer.insns["copy_matrix_cbuf_to_cc"]
    writer.function(insn.archs, insn.name, [(pointer("__cc__", "void"), "dst"), (pointer("__cbuf__", "void", True), "src")]
                    + BURST[1:], [writer.asm(insn, "dst", "src", d=writer.pack("burst", **named(BURST[1:])))])
    insn = writer.insns["copy_cbuf_to_fbuf"]
    writer.function(insn.archs, insn.name, [("uint64_t", "dst"), (pointer("__cbuf__", "void", True), "src")] + BURST[1:],
                    [writer.asm(insn, "dst", "src", d=writer.pack("burst", **named(BURST[1:])))])
    insn = writer.insns["copy_cbuf_to_bt"]
    bursts = [("uint16_t", name) for name in ("conv_control", "n_burst", "len_burst", "src_gap", "dst_gap")]
    cfg = writer.pack("burst", n_burst="n_burst", len_burst="len_burst", src_gap="src_gap", dst_gap="dst_gap",
                      sid="conv_control")
    writer.function(insn.archs, insn.name, [("uint64_t", "dst"), (pointer("__cbuf__", "void", True), "src")] + bursts,
                    [writer.asm(insn, "dst", "src", d=cfg)])


def emit_aligned(writer):
    bursts = [("uint8_t", "sid"), ("uint16_t", "n_burst"), ("uint32_t", "len_bytes"), ("uint8_t", "lpad"),
              ("uint8_t", "rpad"), ("uint32_t", "src_gap"), ("uint32_t", "dst_gap")]
    for name, target, origin in (("copy_gm_to_ubuf", UB, "__gm__"), ("copy_ubuf_to_gm", "__gm__", UB)):
        insn = writer.insns[f"{name}_align"]
        for kind in ("b8", "b16", "b32"):
            cfg0 = writer.pack("align0", n_burst="n_burst", dtype=enum_ref("dtype", kind), len_bytes="len_bytes",
                               lpad="lpad", rpad="rpad")
            cfg1 = writer.pack("align1", src_gap="src_gap", dst_gap="dst_gap")
            params = [(pointer(target, "void"), "dst"), (pointer(origin, "void", True), "src")]
            writer.function(insn.archs, f"{insn.name}_{kind}", params + bursts,
                            writer.unused("sid") + [writer.asm(insn, "dst", "src", cfg0, cfg1)])
    insn = writer.insns["copy_gm_to_cbuf_nd2nz"]
    names = ("nd_num", "n_value", "d_value", "src_nd_stride", "src_d", "dst_c0_stride", "dst_n_stride", "dst_nd_stride")
    strides = [("uint8_t", "sid")] + [("uint16_t", name) for name in names]
    for suffix, kind in (("b8", "b8"), ("b16", "b16"), ("b32s", "b32")):
        cfg0 = writer.pack("nz0", **{name: name for name in names[:4]}, dtype=enum_ref("dtype", kind))
        cfg1 = writer.pack("nz1", **{name: name for name in names[4:]})
        params = [(pointer("__cbuf__", "void"), "dst"), (pointer("__gm__", "void", True), "src")]
        writer.function(insn.archs, f"copy_gm_to_cbuf_multi_nd2nz_{suffix}", params + strides,
                        writer.unused("sid") + [writer.asm(insn, "dst", "src", cfg0, cfg1)])


def emit_loads(writer):
    for name, space in (("load_cbuf_to_ca", "__ca__"), ("load_cbuf_to_cb", "__cb__")):
        insn = writer.insns[name]
        for kind in ("f16", "bf16", "f32", "s8", "u8", "s32", "u32"):
            ctype = C_TYPES[kind]
            params = [(pointer(space, ctype), "dst"), (pointer("__cbuf__", ctype, True), "src"), ("uint16_t", "base"),
                      ("uint8_t", "repeat"), ("uint16_t", "src_stride"), ("uint16_t", "dst_gap"), ("uint8_t", "sid")]
            values = {"base": "base", "repeat": "repeat", "src_stride": "src_stride", "dst_gap": "dst_gap",
                      "dtype": enum_ref("dtype", kind), "decrement": "mode == dec"}
            mode = [("addr_cal_mode_t", "mode")]
            writer.function(insn.archs, name, params + mode,
                            writer.unused("sid") + [writer.asm(insn, "dst", "src", d=writer.pack("load2d", **values))])
            values["transpose"] = "transpose"
            writer.function(insn.archs, name, params + [("bool", "transpose")] + mode,
                            writer.unused("sid") + [writer.asm(insn, "dst", "src", d=writer.pack("load2d", **values))])


LOAD_TYPES = ("f16", "bf16", "f32", "s8", "u8", "s32", "u32", "s4")
ELEMENTS = {"f16": 1, "bf16": 1, "f32": 2, "s32": 2, "u32": 2, "s8": 0, "u8": 0, "s4": 3}
SHAPE = [("uint8_t", name) for name in ("stride_w", "stride_h", "filter_w", "filter_h", "dilation_w", "dilation_h")]


def suffix_of(kind):
    """4-bit elements have no type of their own in C."""
    return "_s4" if kind == "s4" else ""


def emit_windows(writer):
    for name, space in (("img2colv2_cbuf_to_ca", "__ca__"), ("img2colv2_cbuf_to_cb", "__cb__")):
        insn = writer.insns[name]
        place = [("uint16_t", item) for item in ("k_ext", "m_ext", "k_start", "m_start")]
        high = [("bool", item) for item in ("filter_w_high", "filter_h_high", "transpose", "fmatrix")]
        for kind in LOAD_TYPES:
            if kind == "s4" and name.endswith("cb"):
                continue
            ctype = C_TYPES[kind]
            params = [(pointer(space, ctype), "dst"), (pointer("__cbuf__", ctype, True), "src")]
            cfg = writer.pack("l3d1", **{**named(SHAPE), "filter_w": "filter_w + filter_w_high * 256",
                                         "filter_h": "filter_h + filter_h_high * 256"}, transpose="transpose",
                              fmatrix="fmatrix", channels="channels", element=ELEMENTS[kind])
            body = [f"LEO_FITS({item}, 8, {enum_ref('field', item)});" for item in ("filter_w", "filter_h")]
            body.append(writer.asm(insn, "dst", "src", writer.pack("l3d0", **named(place)), cfg))
            fields = writer.fields_of(body)
            fields |= {item: writer.field("l3d1", item) for item in ("filter_w", "filter_h")}
            writer.function(insn.archs, name + suffix_of(kind), params + place + SHAPE + high + [("uint16_t", "channels")],
                            body, limited=fields)
    first = [("uint8_t", "fetch_w"), ("uint8_t", "fetch_h"), ("int16_t", "left_top_w"), ("int16_t", "left_top_h"),
             ("uint16_t", "c1_index")]
    last = [("uint8_t", item) for item in ("jump", "repeat_mode", "repeat")] + [("csize_t", "csize")]
    for name, space in (("img2col_cbuf_to_ca", "__ca__"), ("img2col_cbuf_to_cb", "__cb__"), ("img2col_cbuf_to_ub", UB)):
        insn = writer.insns[name]
        for kind in ("f16", "s8", "u8"):
            ctype = C_TYPES[kind]
            params = [(pointer(space, ctype), "dst"), (pointer("__cbuf__", ctype, True), "src")]
            cfg0 = writer.pack("i2c0", **named(first))
            cfg1 = writer.pack("i2c1", **named(SHAPE + last), element=ELEMENTS[kind])
            writer.function(insn.archs, name, params + first + SHAPE + last, [writer.asm(insn, "dst", "src", cfg0, cfg1)])


def emit_more_loads(writer):
    spaces = {"ca": "__ca__", "cb": "__cb__", "cbuf": "__cbuf__"}
    names = [("uint16_t", "base"), ("uint8_t", "repeat"), ("uint16_t", "src_stride"), ("uint16_t", "dst_gap")]
    mode = [("addr_cal_mode_t", "mode")]
    for kind in LOAD_TYPES:
        ctype, dtype = C_TYPES[kind], enum_ref("dtype", kind)
        values = {**named(names), "dtype": dtype, "decrement": "mode == dec"}
        for place, space in spaces.items():
            insn = writer.insns[f"load_gm_to_{place}"]
            params = [(pointer(space, ctype), "dst"), (pointer("__gm__", ctype, True), "src")]
            writer.function(insn.archs, insn.name + suffix_of(kind), params + names + [("uint8_t", "sid")] + mode,
                            writer.unused("sid") + [writer.asm(insn, "dst", "src", d=writer.pack("load2d", **values))])
            if place == "cbuf":
                continue
            params = [(pointer(space, ctype), "dst"), (pointer("__cbuf__", ctype, True), "src")]
            insn = writer.insns[f"load_cbuf_to_{place}_transpose"]
            for gaps in (["dst_frac_gap"], ["dst_frac_gap", "src_frac_gap"]):
                writer.function(insn.archs, insn.name + suffix_of(kind),
                                params + names + mode + [("uint16_t", gap) for gap in gaps],
                                [writer.asm(insn, "dst", "src", writer.pack("load2d", **values),
                                            writer.pack("frac", **{gap: gap for gap in gaps}))])
            if kind == "s4":
                insn = writer.insns[f"load_cbuf_to_{place}"]
                writer.function(insn.archs, insn.name + "_s4", params + names + [("uint8_t", "sid")] + mode,
                                writer.unused("sid") + [writer.asm(insn, "dst", "src", d=writer.pack("load2d", **values))])
    for place, space in spaces.items():
        insn = writer.insns[f"create_{place}_matrix"]
        for ctype, kind in (("half", "f16"), ("bfloat16_t", "bf16"), ("uint32_t", "u32")):
            writer.function(insn.archs, insn.name, [(pointer(space, "void"), "dst"), ("uint64_t", "config"), (ctype, "value")],
                            [writer.asm(insn, "dst", "leo_bits(value)",
                                        d=f"(config & ~(UINT64_C(15) << 56)) | (uint64_t){enum_ref('dtype', kind)} << 56")])


def emit_mad(writer):
    insn = writer.insns["mmad"]
    shape = [("uint16_t", "m"), ("uint16_t", "k"), ("uint16_t", "n")]
    flags = [("uint8_t", "unit_flag"), ("bool", "k_dir"), ("bool", "c_src"), ("bool", "c_init")]
    for kind, (result, left, right) in MAD_TYPES.items():
        archs = archs_of_type(insn, kind)
        if not archs:
            continue
        params = [(pointer("__cc__", result), "cc"), (pointer("__ca__", left, True), "ca"),
                  (pointer("__cb__", right, True), "cb")]
        kind_ref = enum_ref("mad", kind)
        short = writer.pack("mad", m="m", k="k", n="n", c_init="init", type=kind_ref)
        name = {"s4s32": "mad_s4", "f16u2": "mad_u2"}.get(kind, "mad")
        writer.function(archs, name, params + shape + [("bool", "init")], [writer.asm(insn, "cc", "ca", "cb", short)])
        cfg = writer.pack("mad", m="m", k="k", n="n", unit_flag="unit_flag", k_align="k_dir", c_bias="c_src",
                          c_init="c_init", type=kind_ref)
        split = [arch for arch in archs if arch != 1001]
        if split:
            writer.function(split, name, params + shape + flags, [writer.asm(insn, "cc", "ca", "cb", cfg)])
        with_bias = "((uint64_t)cc & 0xffffffffu) | bias << 32"
        if split:
            writer.function(split, name, params + [("uint64_t", "bias")] + shape + flags,
                            [writer.asm(insn, with_bias, "ca", "cb", cfg)])
        packed = f"(config & ~(UINT64_C(0xff) << 56)) | (uint64_t){kind_ref} << 56"
        writer.function(archs, name, params + [("uint64_t", "config")], [writer.asm(insn, "cc", "ca", "cb", packed)])


def isa_registers(writer, prefixes):
    return [row for row in writer.isa.csrs if row.name.startswith(prefixes)]


def emit_image(writer):
    insn = writer.insns["load_image_to_cbuf"]
    names = ("hor_last", "ver_last", "hor_start", "ver_start", "src_last", "top", "bottom", "left", "right")
    kinds = {"top": "uint8_t", "bottom": "uint8_t"}
    values = [(kinds.get(name, "uint16_t"), name) for name in names] + [("int32_t", "sid")]
    place = writer.pack("image0", **{name: name for name in names[:4]})
    for kind in ("f16", "s8", "u8"):
        edge = writer.pack("image1", **{name: name for name in names[4:]}, dtype=enum_ref("dtype", kind))
        read = ["uint64_t plane;", "LEO_CSR_READ(LEO_CSR_AIPP_SPR_0, plane);"]
        writer.function(insn.archs, insn.name, [(pointer("__cbuf__", C_TYPES[kind]), "dst"), *values],
                        read + writer.unused("sid") + [writer.asm(insn, "dst", "plane << 16 >> 16", place, edge)])
    for row in isa_registers(writer, ("aipp_spr_", "data_exp_")):
        writer.function(insn.archs, f"set_{row.name}", [("uint64_t", "value")], [f"LEO_CSR_WRITE(LEO_CSR_{row.name.upper()}, value);"])


def emit_sparse(writer):
    insn = writer.insns["load_cbuf_to_cb_sp"]
    params = [(pointer("__cb__", "int8_t"), "dst"), (pointer("__cbuf__", "int8_t", True), "src"),
              (pointer("__cbuf__", "uint8_t", True), "index"), ("uint16_t", "base"), ("uint8_t", "repeat")]
    cfg = writer.pack("load2d", base="base", repeat="repeat", src_stride="1", dtype=enum_ref("dtype", "s8"))
    writer.function(insn.archs, insn.name, params, [writer.asm(insn, "dst", "src", "index", cfg)])
    insn = writer.insns["mmad_sp"]
    params = [(pointer("__cc__", "int32_t"), "cc"), (pointer("__ca__", "int8_t", True), "ca"), (pointer("__cb__", "int8_t", True), "cb"),
              ("uint16_t", "m"), ("uint16_t", "k"), ("uint16_t", "n")]
    shape = {"m": "m", "k": "k", "n": "n", "gemv_off": "1", "type": enum_ref("mad", "s8s32")}
    cfg = writer.pack("mad", **shape, c_init="init")
    writer.function(insn.archs, "mad_sp", params + [("bool", "init")], [writer.asm(insn, "cc", "ca", "cb", cfg)])
    cfg = writer.pack("mad", **shape, unit_flag="unit_flag", c_init="c_init")
    writer.function(insn.archs, "mad_sp", params + [("uint8_t", "unit_flag"), ("bool", "c_src"), ("bool", "c_init")],
                    writer.unused("c_src") + [writer.asm(insn, "cc", "ca", "cb", cfg)])


def emit_cube_out(writer):
    insn = writer.insns["copy_matrix_cc_to_gm"]
    params = [(pointer("__gm__", "void"), "dst"), (pointer("__cc__", "void", True), "src"), ("uint8_t", "sid"),
              ("uint16_t", "n"), ("uint16_t", "m"), ("uint32_t", "dst_stride"), ("uint16_t", "src_stride"),
              ("uint8_t", "unit_flag"), ("QuantMode_t", "quant"), ("uint8_t", "relu"), ("bool", "split"),
              ("bool", "nz2nd")]
    cfg0 = writer.pack("fix0", n="n", m="m", dst_stride="dst_stride")
    cfg1 = writer.pack("fix1", src_stride="src_stride", unit_flag="unit_flag", quant="quant", relu="relu",
                       split="split", nz2nd="nz2nd")
    writer.function(insn.archs, insn.name, params, writer.unused("sid") + [writer.asm(insn, "dst", "src", cfg0, cfg1)])
    for name in ("copy_matrix_cc_to_cbuf", "copy_matrix_cc_to_cbuf_b4"):
        insn = writer.insns[name]
        writer.function(insn.archs, name, [(pointer("__cbuf__", "void"), "dst")] + params[1:],
                        writer.unused("sid") + [writer.asm(insn, "dst", "src", cfg0, cfg1)])
    for name in ("copy_matrix_cc_to_ubuf", "copy_vector_cc_to_ubuf", "copy_matrix_ubuf_to_cc", "copy_vector_ubuf_to_cc"):
        insn = writer.insns[name]
        target, origin = (UB, "__cc__") if name.endswith("ubuf") else ("__cc__", UB)
        params = [(pointer(target, "void"), "dst"), (pointer(origin, "void", True), "src")] + BURST
        writer.function(insn.archs, insn.name, params + [("CRMODE_t", "mode")],
                        [writer.asm(insn, "dst", "src", writer.pack("cr", mode="mode"),
                                    writer.pack("burst", **named(BURST)))])
    insn = writer.insns["broadcast_ub_to_cc"]
    for ctype, sid in (("float", 0), ("int32_t", 0), ("half", 1)):
        writer.function(insn.archs, insn.name,
                        [(pointer("__cc__", ctype), "dst"), (pointer(UB, ctype, True), "src")] + BURST[1:],
                        [writer.asm(insn, "dst", "src", d=writer.pack("burst", **named(BURST[1:]), sid=sid))])


def emit_absent(writer):
    """What only the other chip has: using it is an error that says so."""
    writer.set_archs(ARCHS)
    for arch, lines in writer.absent.items():
        if lines:
            others = " || ".join(f"LEO_HAS_{other}" for other in ARCHS if other != arch)
            writer.lines += [f"#if !({others})", *lines, "#endif", ""]


def emit_device_copies(isa):
    for name, text in (*emit_isa_enums(isa), *emit_csr(isa)):
        if name.endswith(".h"):
            yield f"device/{name}", text


def write_functions(isa):
    """A writer with the whole header in it."""
    writer = Writer(isa)
    emit_packs(writer)
    for insn in isa.insns:
        kinds = tuple(insn.operands.get(letter) for letter in "abc")
        if insn.planned:
            continue
        if insn.configs == ["vec3"] and kinds == ("ub", "ub", "ub") and insn.name not in OWN:
            emit_binary(writer, insn.name)
        elif insn.configs == ["vec2"] and kinds == ("ub", "ub", "val") and insn.name not in OWN:
            emit_scalar(writer, insn.name)
        elif insn.configs == ["vec2"] and kinds == ("ub", "ub", None):
            emit_unary(writer, insn.name)
        elif insn.configs == ["vred"]:
            emit_reduction(writer, insn.name)
    for emit in (emit_mixed, emit_narrow, emit_shifts, emit_select, emit_compare, emit_dup, emit_convert, emit_picks, emit_sorts, emit_scaled, emit_bursts, emit_aligned, emit_loads, emit_more_loads, emit_windows, emit_mad, emit_image, emit_sparse,
                 emit_cube_out, emit_absent):
        emit(writer)
    return writer


def name_operands(isa):
    """Fills operand_names of all instructions."""
    write_functions(isa)


def emit_intrin(isa):
    yield from emit_device_copies(isa)
    yield "device/include/leo/intrin.h", (HEAD.format(source="isa/insn")
        + "/* Included by <leo/device.h>, which defines types and macros. */\n#pragma once\n\n"
        "#include <leo/isa_enums.h>\n\n"
        + "\n".join(write_functions(isa).lines).rstrip() + "\n")
