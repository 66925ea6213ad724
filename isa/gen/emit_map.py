# SPDX-License-Identifier: Apache-2.0
"""map.h (a core's addresses) and the linker script of device programs."""

from text import comment, header


def emit_map(isa):
    lines = []
    for item in isa.maps:
        lines += [f"/** {comment(item.doc)} */", f"#define LEO_MAP_{item.name.upper()} UINT64_C(0x{item.base:08x})",
                  f"#define LEO_MAP_{item.name.upper()}_END UINT64_C(0x{item.end:08x})"]
    windows = [item for item in isa.maps if item.section]
    lines += ["/** Windows of on-chip buffers, in the order of enum leo_mem_space. */",
              f"#define LEO_MAP_WINDOWS UINT64_C(0x{windows[0].base:08x})",
              f"#define LEO_MAP_WINDOWS_END UINT64_C(0x{windows[-1].end:08x})",
              f"#define LEO_MAP_WINDOW_BYTES UINT64_C(0x{windows[0].end - windows[0].base:08x})"]
    for row in isa.marks:
        lines += [f"/** {comment(row.doc)} */", f"#define LEO_MAP_{row.name.upper()} UINT64_C(0x{row.value:x})"]
    yield "include/leo/map.h", header("isa/layout/address.map", ["stdint.h"], "\n".join(lines))


def emit_linker(isa):
    """On-chip arrays are NOBITS sections of no segment, at link addresses that the image's place takes to their window."""
    image = next(item for item in isa.maps if item.name == "image")
    rows = [f"    {item.section} 0x{item.base - image.base:08x} (NOLOAD) : {{ *({item.section} {item.section}.*) }} :NONE"
            for item in isa.maps if item.section]
    if isa.linker:
        yield "device/leo.ld", isa.linker.replace("@arrays@", "\n".join(rows))
