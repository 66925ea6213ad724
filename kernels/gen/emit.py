# SPDX-License-Identifier: Apache-2.0
"""C texts made from the rows: the table of operators, the entry points and their headers, the table of programs."""

from rows import KINDS, TYPES

MOST = "GetMaxWorkspaceSize"
NOTE = "/* Generated from the rows of operators. */\n"


def mask(types):
    return "0x%x" % sum(1 << TYPES.index(name) for name in types)


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def plans_h(tables):
    families = sorted({row.family for row in tables.rows.values()})
    return "".join([NOTE, "#pragma once\n\n#include <leo/status.h>\n\nstruct op_call;\n\n",
                    *(f"leo_status op_plan_{family}(const struct op_call *call);\n" for family in families)])


def rows_c(tables, family_data):
    parts = [NOTE, '#include <frame/family.h>\n#include <frame/row.h>\n#include <softmax/row_program.h>\n\n', "#include <math.h>\n#include <stddef.h>\n\n"]
    parts.append("\n" + family_data + "\n")
    ordered = sorted(tables.rows.values(), key=lambda row: row.name)
    for row in ordered:
        parts.append(f"static const struct op_param params_{row.name}[] = {{\n")
        for p in row.params:
            parts.append(f'    {{"{p.name}", OP_KIND_{p.kind}, OP_ROLE_{p.role}, {str(p.optional).lower()}, '
                         f"{{{mask(p.types[0])}, {mask(p.types[1])}}}}},\n")
        parts.append("};\n")
        attrs = [(key, value) for key, value in sorted(row.keys.items())
                 if key.split(".")[0] not in ("types", "doc", "chips", "inplace", "header", "params", "same", "expr", "rows", "test", "let", "internal", "most")]
        parts.append(f"static const struct op_attr attrs_{row.name}[] = {{")
        parts += [f"{{{c_string(key)}, {c_string(value)}}}, " for key, value in attrs]
        parts.append("{NULL, NULL}};\n")
    parts.append("\nconst struct op_row op_rows[] = {\n")
    for row in ordered:
        same = row.family == "pointwise" or row.get("same") == "yes"
        parts.append(f'    {{"{row.name}", params_{row.name}, {len(row.params)}, op_plan_{row.family}, attrs_{row.name}, '
                     f"{row.data}, {str(same).lower()}}},\n")
    parts.append(f"}};\nconst unsigned op_row_count = {len(ordered)};\n")
    return "".join(parts)


def programs_c(programs):
    """`programs`: name, source for the 910A, source for the 910B; "-" where a chip has none."""
    parts = [NOTE, "#include <frame/program.h>\n\n"]
    table = []
    for name, *sources in sorted(programs, key=lambda program: program[0]):
        images, sizes = [], []
        for arch, source in zip(("1001", "2201"), sources):
            elf = f"op_{name}_{arch}_elf"
            if source != "-":
                parts.append(f"extern const unsigned char {elf}[];\nextern const size_t {elf}_bytes;\n")
            images.append("NULL" if source == "-" else elf)
            sizes.append("NULL" if source == "-" else f"&{elf}_bytes")
        table.append(f'    {{"{name}", {", ".join(images + sizes)}}},\n')
    parts.append("\nconst struct op_program op_programs[] = {\n" + "".join(table))
    parts.append(f"}};\nconst unsigned op_program_total = {len(table)};\n")
    return "".join(parts)


def declaration(row, phase="GetWorkspaceSize"):
    words = []
    for p in row.params:
        c_type = KINDS[p.code][1]
        pointer = c_type.endswith("*")
        const = "const " if pointer and p.role == "IN" and p.code != "str" else ""
        words.append(f"{const}{c_type}{p.name}")
    words += ["uint64_t *workspaceSize", "aclOpExecutor **executor"]
    return f"aclnnStatus {row.entry}{phase}({', '.join(words)})"


def second(row):
    return f"aclnnStatus {row.entry}(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)"


def wrap(text, width=100):
    """Breaks a declaration after commas."""
    lines, line = [], ""
    for word in text.split(" "):
        if len(line) + len(word) + 1 > width:
            lines.append(line)
            line = "    " + word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


def headers(tables):
    """File name -> text. A header that a row has left (aclnn/header_names.txt) includes the new one."""
    bodies, moved = {}, {}
    for row in sorted(tables.rows.values(), key=lambda row: row.name):
        if row.internal:
            continue
        texts = bodies.setdefault(row.header, [])
        texts.append(f"\n/** {wrap(row.get('doc'), 96)} */\n".replace("\n    ", "\n * "))
        texts.append("ACL_FUNC_VISIBILITY " + wrap(declaration(row)) + ";\n")
        texts.append("ACL_FUNC_VISIBILITY " + wrap(second(row)) + ";\n")
        if row.get("most"):
            texts.append("/** The workspace of the longest sequences that these tensors hold. */\n"
                         "ACL_FUNC_VISIBILITY " + wrap(declaration(row, MOST)) + ";\n")
        if row.header != row.own_header:
            moved.setdefault(row.own_header, set()).add(row.header)
    return {f"aclnn_{name}.h": header_text(bodies.get(name, []), sorted(moved.get(name, ())))
            for name in sorted({*bodies, *moved})}


def header_text(body, others):
    parts = ["/* SPDX-License-Identifier: Apache-2.0 */\n", NOTE, "#pragma once\n\n"]
    parts += [f"#include <aclnnop/aclnn_{other}.h>\n" for other in others]
    if body:
        parts += ["#include <aclnn/acl_meta.h>\n\n", '#ifdef __cplusplus\nextern "C" {\n#endif\n', *body,
                  "\n#ifdef __cplusplus\n}\n#endif\n"]
    return "".join(parts)


def entries_c(tables):
    ordered = sorted(tables.rows.values(), key=lambda row: row.name)
    parts = [NOTE, '#include <aclnn/phase.h>\n']
    parts += [f"#include <aclnnop/{name}>\n" for name in sorted(headers(tables))]
    for index, row in enumerate(ordered):
        if row.internal:
            continue
        phases = {"GetWorkspaceSize": "phase1"} | ({MOST: "phase1_most"} if row.get("most") else {})
        for phase, function in phases.items():
            parts.append(f"\n{wrap(declaration(row, phase))}\n{{\n    const struct op_value args[] = {{")
            parts += [f"opapi_{KINDS[p.code][2]}({p.name}), " for p in row.params]
            parts.append(f"}};\n    return opapi_{function}(&op_rows[{index}], args, workspaceSize, executor);\n}}\n")
        parts.append(f"\n{wrap(second(row))}\n{{\n"
                     f"    return opapi_phase2(&op_rows[{index}], workspace, workspaceSize, executor, stream);\n}}\n")
    return "".join(parts)
