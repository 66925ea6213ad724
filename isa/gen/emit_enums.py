# SPDX-License-Identifier: Apache-2.0
"""isa_enums.h, status.h, faults.h and their names."""

from text import comment, header, name_function, quote, source


def enum_c(enum):
    upper = enum.name.upper()
    lines = [f"/** Values of {enum.name}. */", f"enum leo_{enum.name} {{"]
    lines += [f"    LEO_{upper}_{name.upper()} = {value}," for name, value in enum.values.items()]
    lines += ["};", f"#define LEO_{upper}_COUNT {max(enum.values.values()) + 1}",
              '/** Name as in the tables; "?" for a value that has none. */',
              f"const char *leo_{enum.name}_name(enum leo_{enum.name} value);", ""]
    return "\n".join(lines)


def emit_isa_enums(isa):
    yield "include/leo/isa_enums.h", header(
        "isa/insn and isa/layout", [], "\n".join(enum_c(enum) for enum in isa.enums.values()))
    body = []
    for enum in isa.enums.values():
        upper = enum.name.upper()
        rows = "".join(f"    [LEO_{upper}_{name.upper()}] = {quote(name)},\n" for name in enum.values)
        body.append(f"static const char *const {enum.name}_names[LEO_{upper}_COUNT] = {{\n{rows}}};\n\n"
                    + name_function(f"leo_{enum.name}_name", f"{enum.name}_names",
                                    f"enum leo_{enum.name} value", f"LEO_{upper}_COUNT"))
    yield "src/isa_enums.c", source("isa/insn and isa/layout", ["leo/isa_enums.h", "stddef.h"], "\n".join(body))


def emit_status(isa):
    rows = "".join(f"    LEO_{row.name.upper()} = {row.value}, /**< {comment(row.doc)} */\n" for row in isa.status)
    yield "include/leo/status.h", header("isa/status.csv", ["stdint.h"], f"""
/** A result that the caller must look at. */
#define LEO_MUST_CHECK __attribute__((warn_unused_result))

/** 0 = good, negative = bad. */
typedef int32_t leo_status;

enum leo_status_code {{
{rows}}};

/** Identifier, such as "LEO_ERR_BUSY"; "LEO_ERR_?" if unknown. */
const char *leo_status_name(leo_status status);
/** What it means, for people; "unknown status" if unknown. */
const char *leo_status_text(leo_status status);

/** The first of two that is not good: of work and of what ends it. */
static inline leo_status leo_status_first(leo_status one, leo_status other)
{{
    return one != LEO_OK ? one : other;
}}
""")
    names = "".join(f"    case LEO_{row.name.upper()}:\n        return \"LEO_{row.name.upper()}\";\n"
                    for row in isa.status)
    texts = "".join(f"    case LEO_{row.name.upper()}:\n        return {quote(row.doc)};\n" for row in isa.status)
    yield "src/status.c", source("isa/status.csv", ["leo/status.h"], f"""
const char *leo_status_name(leo_status status)
{{
    switch ((enum leo_status_code)status) {{
{names}    }}
    return "LEO_ERR_?";
}}

const char *leo_status_text(leo_status status)
{{
    switch ((enum leo_status_code)status) {{
{texts}    }}
    return "unknown status";
}}
""")


def emit_faults(isa):
    rows = "".join(f"    LEO_FAULT_{row.name.upper()} = {row.value}, /**< {comment(row.doc)} */\n"
                   for row in isa.faults)
    yield "include/leo/faults.h", header("isa/faults.csv", [], f"""
/** Why a kernel or a queue entry was stopped; the status field of a completion. */
enum leo_fault {{
{rows}}};
#define LEO_FAULT_COUNT {max(row.value for row in isa.faults) + 1}

/** Name as in the table; "?" if unknown. */
const char *leo_fault_name(enum leo_fault value);
/** What happened, for people; "unknown fault" if unknown. */
const char *leo_fault_text(enum leo_fault value);
""")
    names = "".join(f"    [LEO_FAULT_{row.name.upper()}] = {quote(row.name)},\n" for row in isa.faults)
    texts = "".join(f"    [LEO_FAULT_{row.name.upper()}] =\n        {quote(row.doc)},\n" for row in isa.faults)
    yield "src/faults.c", source("isa/faults.csv", ["leo/faults.h", "stddef.h"],
        f"static const char *const fault_names[LEO_FAULT_COUNT] = {{\n{names}}};\n\n"
        f"static const char *const fault_texts[LEO_FAULT_COUNT] = {{\n{texts}}};\n\n"
        + name_function("leo_fault_name", "fault_names", "enum leo_fault value", "LEO_FAULT_COUNT") + "\n"
        + name_function("leo_fault_text", "fault_texts", "enum leo_fault value", "LEO_FAULT_COUNT",
                        '"unknown fault"'))
