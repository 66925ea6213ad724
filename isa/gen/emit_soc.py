# SPDX-License-Identifier: Apache-2.0
"""soc_text.c: the SoC files as strings."""

from text import quote, source


def emit_soc(isa):
    body = ["static const struct {\n    const char *name;\n    const char *text;\n} socs[] = {"]
    for name, text in isa.socs:
        lines = "\n".join(f"     {quote(line)[:-1]}\\n\"" for line in text.splitlines())
        body.append(f"    {{{quote(name)},\n{lines}}},")
    body.append("""};

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
