# SPDX-License-Identifier: Apache-2.0
"""For tests: every operator callable through one table, and what rows say about types and expressions."""

from emit import NOTE, c_string, headers, mask

FIELDS = {"TENSOR": "tensor", "TENSOR_LIST": "tensors", "SCALAR": "scalar", "SCALAR_LIST": "scalars", "INTS": "ints",
          "FLOATS": "floats", "BOOLS": "bools", "TEXT": "text", "DTYPE": "type", "INT": "integer", "REAL": "real"}


def table_c(tables):
    ordered = [row for row in sorted(tables.rows.values(), key=lambda row: row.name) if not row.internal]
    parts = [NOTE, '#include "op_table.h"\n\n#include <stddef.h>\n\n']
    parts += [f"#include <aclnnop/{name}>\n" for name in sorted(headers(tables))]
    for row in ordered:
        words = [f"a[{i}].{FIELDS[p.kind]}" for i, p in enumerate(row.params)]
        parts.append(f"\nstatic aclnnStatus phase1_{row.name}(const union op_test_arg *a, uint64_t *bytes, "
                     f"aclOpExecutor **executor)\n{{\n    (void)a;\n"
                     f"    return {row.entry}GetWorkspaceSize({', '.join([*words, 'bytes', 'executor'])});\n}}\n")
        parts.append(f"\nstatic const struct op_test_param params_{row.name}[] = {{\n")
        for p in row.params:
            parts.append(f'    {{"{p.name}", "{p.code}", \'{p.role[0]}\', {str(p.optional).lower()}, '
                         f"{{{mask(p.types[0])}, {mask(p.types[1])}}}}},\n")
        parts.append("};\n")
    parts.append("\nconst struct op_test_row op_test_rows[] = {\n")
    for row in ordered:
        ref, variables, compute, moves = "NULL", "0", "NULL", "false"
        if row.family == "pointwise":
            ref, compute = f'"{row.expression.name}"', f'"{row.expression.compute}"'
            variables = ", ".join(str(index) for _, index in row.found) or "0"
            moves = "true" if row.expression.moves else "false"
        parts.append(f'    {{"{row.name}", "{row.family}", params_{row.name}, {len(row.params)}, phase1_{row.name}, '
                     f"{row.entry}, {ref}, {compute}, {len(getattr(row, 'found', []))}, {{{variables}}}, {moves}, "
                     f"{c_string(row.get('test', ''))}, {'true' if row.get('cast') else 'false'}}},\n")
    parts.append(f"}};\nconst unsigned op_test_row_count = {len(ordered)};\n")
    return "".join(parts)
