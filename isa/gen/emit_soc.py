# SPDX-License-Identifier: Apache-2.0
"""soc_text.c: the SoC files as strings."""

from text import quote, source


def emit_soc(isa):
    # As numbers: C promises room for 4095 characters of a string literal, and the files are longer.
    body = []
    for index, (name, text) in enumerate(isa.socs):
        lines = "\n".join("    " + " ".join(f"{byte}," for byte in (line + "\n").encode()) for line in text.splitlines())
        body.append(f"/* {name} */\nstatic const char text{index}[] = {{\n{lines}\n    0,\n}};\n")
    rows = "".join(f"    {{{quote(name)}, text{index}}},\n" for index, (name, _) in enumerate(isa.socs))
    body.append(f"static const struct {{\n    const char *name;\n    const char *text;\n}} socs[] = {{\n{rows}}};")
    body.append("""

const char *leo_isa_soc_text(const char *name)
{
    for (size_t i = 0; i < sizeof(socs) / sizeof(socs[0]); i++) {
        if (strcmp(socs[i].name, name) == 0) {
            return socs[i].text;
        }
    }
    return NULL;
}

const char *leo_isa_soc_name(size_t index)
{
    return index < sizeof(socs) / sizeof(socs[0]) ? socs[index].name : NULL;
}""")
    yield "src/soc_text.c", source("isa/soc", ["leo/soc.h", "string.h"], "\n".join(body))
