#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arguments.py [ROOT]: every argument that an operator's plan asks for by name (op_call_tensor(call, "self")) is a parameter of a row
that this code plans: of its room, of a table that lists the file as a source, or of the family whose plan it has. A misspelt name would end the program at the
first call only.
"""

import re
import sys
from pathlib import Path

import tree

CALL = re.compile(r'\bop_call_(?:value|tensor|scalar|ints|int|real|has|optional|given|check_shape|check_number|number|check_type|'
                  r'tensor_index)\(\s*\w+(?:->\w+)*,\s*"(\w+)"')
PLAN = re.compile(r"^leo_status op_plan_(\w+)\(const struct op_call \*call\)", re.M)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    if not (Path(root) / "kernels/gen/rows.py").exists():
        tree.finish("arguments", [])
    sys.path.insert(0, str(Path(root) / "kernels/gen"))
    import rows

    rooms, families, sources = {}, {}, {}
    for row in rows.Tables(Path(root) / "kernels").rows.values():
        names = {param.name for param in row.params}
        table = str(row.where).partition(":")[0]
        rooms.setdefault(table.partition("/")[0], set()).update(names)
        for source in re.findall(r"^source (\S+)", tree.read(root, Path("kernels") / table), re.M):
            sources.setdefault(f"kernels/{source}", set()).update(names)
        families.setdefault(row.family, set()).update(names)
    violations, asked = [], 0
    for path in tree.files(root, ".c", ".h"):
        if path.parts[0] != "kernels" or len(path.parts) < 3:
            continue
        text = tree.read(root, path)
        known = rooms.get(path.parts[1], set()) | sources.get(str(path), set())
        known = known.union(*(families.get(name, set()) for name in PLAN.findall(text)))
        for match in CALL.finditer(text):
            asked += 1
            if match[1] not in known:
                line = text.count("\n", 0, match.start()) + 1
                violations.append(f"{path}:{line}: no row that is planned here has a parameter '{match[1]}'")
    print(f"arguments: {asked} asked for by name")
    tree.finish("arguments", violations)


main()
