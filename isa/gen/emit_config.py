# SPDX-License-Identifier: Apache-2.0
"""The packed configuration words: struct, pack, unpack and reserved bits of each."""

from text import comment


def field_type(item):
    return "uint8_t" if item.bits <= 8 else "uint16_t" if item.bits <= 16 else "uint32_t"


def field_mask(item):
    return f"0x{(1 << item.bits) - 1:x}u"


def config_c(config):
    struct = f"struct leo_cfg_{config.name}"
    used = 0
    lines = [f"/** Configuration word {config.name}. */", f"{struct} {{"]
    for item in config.fields:
        used |= item.mask
        enum = f", enum leo_{item.enum}" if item.enum else ""
        lines.append(f"    {field_type(item)} {item.name}; /**< {comment(config.docs[item.name])}"
                     f" ({item.bits} bits{enum}) */")
    lines += ["};", "/** Bits that must be zero. */",
              f"#define LEO_CFG_{config.name.upper()}_RESERVED UINT64_C(0x{~used & (1 << 64) - 1:016x})", "",
              f"static inline {struct} leo_cfg_{config.name}_unpack(uint64_t word)", "{", f"    {struct} cfg;"]
    for item in config.fields:
        shift = f"word >> {item.lo}" if item.lo else "word"
        lines.append(f"    cfg.{item.name} = ({field_type(item)})(({shift}) & {field_mask(item)});")
    lines += ["    return cfg;", "}", "", f"/** Takes the low bits of each field that fit. */",
              f"static inline uint64_t leo_cfg_{config.name}_pack(const {struct} *cfg)", "{", "    uint64_t word = 0;"]
    for item in config.fields:
        shift = f" << {item.lo}" if item.lo else ""
        lines.append(f"    word |= (uint64_t)(cfg->{item.name} & {field_mask(item)}){shift};")
    lines += ["    return word;", "}", ""]
    return "\n".join(lines)
