# SPDX-License-Identifier: Apache-2.0
"""Every argument that a plan asks for by name (op_call_tensor(call, "self")) is a parameter of a row that this code plans: of its room, of
a table that lists the file as a source, or of the family whose plan it has. A misspelt name would end the program at the first call only.
"""

import re

CALL = re.compile(r'\bop_call_(?:value|tensor|scalar|ints|int|real|has|optional|given|check_shape|check_number|number|check_type|'
                  r'tensor_index)\(\s*\w+(?:->\w+)*,\s*"(\w+)"')
PLAN = re.compile(r"^leo_status op_plan_(\w+)\(const struct op_call \*call\)", re.MULTILINE)


def misspelt(tables):
    """Lines "file:line: what is wrong", as a compiler has them."""
    rooms, families, sources = {}, {}, {}
    for row in tables.rows.values():
        names = {param.name for param in row.params}
        table = row.where.partition(":")[0]
        rooms.setdefault(table.partition("/")[0], set()).update(names)
        for source in re.findall(r"^source (\S+)", (tables.folder / table).read_text(encoding="utf-8"), re.MULTILINE):
            sources.setdefault(source, set()).update(names)
        families.setdefault(row.family, set()).update(names)
    found = []
    for path in sorted(tables.folder.glob("*/**/*.[ch]")):
        name, text = path.relative_to(tables.folder), path.read_text(encoding="utf-8")
        known = rooms.get(name.parts[0], set()) | sources.get(name.as_posix(), set())
        known = known.union(*(families.get(family, set()) for family in PLAN.findall(text)))
        found += [f"{path}:{text.count(chr(10), 0, match.start()) + 1}: error: no row that is planned here has a parameter '{match[1]}'"
                  for match in CALL.finditer(text) if match[1] not in known]
    return found
