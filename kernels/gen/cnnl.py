# SPDX-License-Identifier: Apache-2.0
"""CNNL: kernels/cnnl/*.rows to its header, its objects, its entries and its page.

A file of rows has blocks; a block's first line starts at the left margin, its other lines are indented. # starts a comment.

  enum NAME                       enumerators, each with = value or counting on
  object NAME STRUCT TYPE CREATE DESTROY
      type field; ...             a descriptor and what it holds; `attr ENUMERATOR type field`: settable by cnnlSet...Attr
  size NAME: params               the size of a workspace: a constant, see kernels/cnnl/cnnl_call.h
  set NAME: params                needs no device; lines of C
  missing NAME: params            C parameters; ends with CNNL_STATUS_NOT_SUPPORTED
  op NAME: params                 computes on the handle's queue

A parameter is `in x`, `out y`, `ref z` (a tensor: descriptor and pointer; with ? it may be missing; `in@c x`: seen with its
channels as second dimension), `ins xs n` (n tensors), `outs`, `td x` (a descriptor alone), `work` (workspace, size), `desc OBJECT d`,
or a C declaration. A line of an op is a call of an operator's row, `Name(args)`, after `if (condition)` or `case VARIABLE
ENUMERATOR` where wanted; or C that ends with ; { or }. Arguments are packed as the row's parameters are: tensors by name, numbers
as C expressions, @p for a pointer that is packed already, - for none.
"""

import re

from emit import wrap
from rows import KINDS, RowError

NOTE = "/* SPDX-License-Identifier: Apache-2.0 */\n/* Generated from the rows in kernels/cnnl. */\n"
TENSORS = {"in": "const ", "out": "", "ref": ""}
LISTS = {"ins": "const ", "outs": ""}


class Param:
    def __init__(self, where, text):
        words = text.split()
        match = re.fullmatch(r"(in|out|ref)(@c)?(\?)?", words[0])
        self.kind, self.channels, self.optional = "c", False, False
        if match and len(words) == 2:
            self.kind, self.channels, self.optional = match[1], bool(match[2]), bool(match[3])
            self.name = words[1]
        elif words[0].rstrip("?") in LISTS and len(words) == 3:
            self.kind, self.name, self.count = words[0].rstrip("?"), words[1], words[2]
            self.optional = words[0].endswith("?")
        elif words[0] == "td" and len(words) == 2:
            self.kind, self.name = "td", words[1] + "_desc"
        elif words[0] in ("desc", "desc?") and len(words) == 3:
            self.kind, self.object, self.name, self.optional = "desc", words[1], words[2], words[0] == "desc?"
        elif text == "work":
            self.kind, self.name = "work", "workspace"
        else:
            name = re.search(r"(\w+)(\[\d*\])*$", text)
            if not name or len(words) < 2:
                raise RowError(where, f"'{text}' is no parameter")
            self.name, self.text = name[1], text

    def declare(self, objects, where):
        if self.kind in TENSORS:
            const = TENSORS[self.kind]
            return [f"const cnnlTensorDescriptor_t {self.name}_desc", f"{const}void *{self.name}_ptr"]
        if self.kind in LISTS:
            const = LISTS[self.kind]
            return [f"const cnnlTensorDescriptor_t {self.name}_desc[]", f"{const}void *const {self.name}_ptr[]"]
        if self.kind == "td":
            return [f"const cnnlTensorDescriptor_t {self.name}"]
        if self.kind == "desc":
            if self.object not in objects:
                raise RowError(where, f"there is no object {self.object}")
            return [f"{objects[self.object].type} {self.name}"]
        if self.kind == "work":
            return ["void *workspace", "size_t workspace_size"]
        return [self.text]


class Block:
    def __init__(self, where, kind, head):
        self.where, self.kind, self.lines, self.doc, self.section = where, kind, [], "", ""
        if kind in ("size", "set", "op", "missing"):
            name, _, params = head.partition(":")
            self.name = name.strip()
            texts = [text.strip() for text in split(params)] if params.strip() else []
            self.params = [Param(where, text) for text in texts]
        elif kind == "enum":
            self.name = head.strip()
        elif kind == "object":
            words = head.split()
            if len(words) != 5:
                raise RowError(where, "object NAME STRUCT TYPE CREATE DESTROY")
            self.name, self.struct, self.type, self.create, self.destroy = words
        else:
            raise RowError(where, f"'{kind}' is not enum, object, size, set, op or missing")


def split(text):
    """At commas outside of brackets."""
    parts, depth, part = [], 0, ""
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += char
    return [*parts, part.strip()] if part.strip() else parts


class Face:
    def __init__(self, folder):
        self.blocks = []
        for path in sorted(folder.glob("*.rows")):
            self.read(path)
        self.objects = {block.name: block for block in self.blocks if block.kind == "object"}
        names = [block.name for block in self.blocks]
        for block in self.blocks:
            if names.count(block.name) > 1:
                raise RowError(block.where, f"{block.name} is defined twice")

    def read(self, path):
        block, begun = None, None
        for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
            where = f"cnnl/{path.name}:{number}"
            text = line.split(" #")[0].rstrip()
            if not text.strip() or text.startswith("#"):
                continue
            if begun:  # a head that goes on
                begun += " " + text.strip()
            elif line[0].isspace():
                if not block:
                    raise RowError(where, "a line before the first block")
                self.line(block, text.strip(), where)
                continue
            else:
                begun = text
            if begun.endswith(","):
                continue
            kind, _, head = begun.partition(" ")
            head, _, body = head.partition(" => ")
            block, begun = Block(where, kind, head), None
            self.blocks.append(block)
            if body:
                self.line(block, body.strip(), where)

    @staticmethod
    def line(block, text, where):
        if text.startswith("doc "):
            block.doc = text[4:]
        else:
            block.lines.append((where, text))

    def of(self, *kinds):
        return [block for block in self.blocks if block.kind in kinds]


def signature(block, objects):
    words = [] if block.kind in ("set", "missing") else ["cnnlHandle_t handle"]
    for param in block.params:
        words += param.declare(objects, block.where)
    return f"cnnlStatus_t {block.name}({', '.join(words) or 'void'})"


def enums_h(face):
    parts = [NOTE, "#pragma once\n"]
    for block in face.of("enum"):
        parts.append(f"\ntypedef enum {{\n")
        for _, line in block.lines:
            parts += [f"    {entry},\n" for entry in split(line.replace(" CNNL", ", CNNL").replace(" FOREACH", ", FOREACH"))]
        parts.append(f"}} {block.name};\n")
    return "".join(parts)


def functions_h(face):
    parts = [NOTE, "#pragma once\n\n#include <cnnl_base.h>\n\n", "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"]
    for block in face.of("object"):
        parts.append(f"\nstruct {block.struct};\ntypedef struct {block.struct} {block.struct};\ntypedef struct {block.struct} *{block.type};\n")
        parts.append(f"CNNL_FUNC_VISIBILITY cnnlStatus_t {block.create}({block.type} *desc);\n")
        parts.append(f"CNNL_FUNC_VISIBILITY cnnlStatus_t {block.destroy}({block.type} desc);\n")
        if setter(block):
            parts.append(wrap(f"CNNL_FUNC_VISIBILITY {setter_signature(block)};") + "\n")
    for block in face.of("size", "set", "op", "missing"):
        if block.doc:
            parts.append(f"\n/** {wrap(block.doc, 94)} */".replace("\n    ", "\n * "))
        parts.append("\n" + wrap(f"CNNL_FUNC_VISIBILITY {signature(block, face.objects)};") + "\n")
    return "".join(parts) + "\n#ifdef __cplusplus\n}\n#endif\n"


def fields(block):
    """(attribute or None, type, name) of an object."""
    found = []
    for where, line in block.lines:
        if line.startswith("setter "):
            continue
        match = re.fullmatch(r"(?:attr (\w+) )?(.*?)(\w+)((?:\[\w+\])*)", line)
        if not match:
            raise RowError(where, f"'{line}' is no field")
        found.append((match[1], match[2].strip(), match[3], match[4]))
    return found


def setter(block):
    line = next((line for _, line in block.lines if line.startswith("setter ")), None)
    return line.split()[1:] if line else None  # name, type of the attribute


def setter_signature(block):
    name, kind = setter(block)
    return f"cnnlStatus_t {name}({block.type} desc, {kind} attr, const void *buf, size_t size_in_bytes)"


def objects_h(face):
    parts = [NOTE, "/* What descriptors hold. */\n#pragma once\n\n#include <cnnl.h>\n"]
    for block in face.of("object"):
        parts.append(f"\nstruct {block.struct} {{\n    uint32_t magic; /**< enum cnnl_magic while it lives */\n")
        parts += [f"    {kind} {name}{array};\n" for _, kind, name, array in fields(block)]
        parts.append("};\n")
    parts.append("\nenum cnnl_magic {\n    CNNL_MAGIC_NONE = 0x434e4e00,\n")
    parts += [f"    CNNL_MAGIC_{block.name},\n" for block in face.of("object")]
    return "".join(parts) + "};\n"


def objects_c(face):
    parts = [NOTE, '#include <cnnl_objects.h>\n#include <cnnl/cnnl_call.h>\n\n#include <leo/alloc.h>\n#include <stddef.h>\n']
    for block in face.of("object"):
        parts.append(f"\ncnnlStatus_t {block.create}({block.type} *desc)\n{{\n"
                     f"    if (!desc) {{\n        return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__, \"desc is NULL\");\n    }}\n"
                     f"    *desc = leo_calloc(1, sizeof(**desc));\n"
                     f"    if (!*desc) {{\n        return cnnl_fail(CNNL_STATUS_ALLOC_FAILED, __func__, \"out of host memory\");\n    }}\n"
                     f"    (*desc)->magic = CNNL_MAGIC_{block.name};\n    return CNNL_STATUS_SUCCESS;\n}}\n")
        parts.append(f"\ncnnlStatus_t {block.destroy}({block.type} desc)\n{{\n"
                     f"    if (!desc || desc->magic != CNNL_MAGIC_{block.name}) {{\n"
                     f"        return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__, \"desc is no live descriptor of this kind\");\n    }}\n"
                     f"    desc->magic = CNNL_MAGIC_NONE;\n    leo_free(desc);\n    return CNNL_STATUS_SUCCESS;\n}}\n")
        if setter(block):
            parts.append(f"\n{wrap(setter_signature(block))}\n{{\n    static const struct cnnl_attr attrs[] = {{\n")
            for attr, kind, name, _ in fields(block):
                if attr:
                    parts.append(f"        {{(int){attr}, offsetof(struct {block.struct}, {name}), sizeof({kind})}},\n")
            parts.append("    };\n    if (!desc || desc->magic != CNNL_MAGIC_%s) {\n"
                         "        return cnnl_fail(CNNL_STATUS_BAD_PARAM, __func__, \"desc is no live descriptor of this kind\");\n    }\n"
                         "    return cnnl_set_attr(__func__, desc, attrs, sizeof(attrs) / sizeof(attrs[0]), (int)attr, buf,\n"
                         "                         size_in_bytes);\n}\n" % block.name)
    return "".join(parts)


def pack(param, text, where):
    """A C expression of struct op_value."""
    code, kind = param.code, KINDS[param.code][0]
    if text == "-":
        if kind in ("INT", "REAL", "DTYPE"):
            raise RowError(where, f"{param.name} is a number, it cannot be missing")
        return f"(struct op_value){{.kind = OP_KIND_{kind}}}"
    if text.startswith("@"):
        text = text[1:]
    elif kind == "SCALAR":
        text = f"cnnl_real(call, {text})"
    call = {"TENSOR": "tensor", "TENSOR_LIST": "tensors", "SCALAR": "scalar", "INTS": "ints", "BOOLS": "bools", "DTYPE": "type",
            "INT": "int", "REAL": "real"}.get(kind)
    if call is None:
        field = {"TEXT": "text", "SCALAR_LIST": "scalars", "FLOATS": "floats"}[kind]
        return f"(struct op_value){{.kind = OP_KIND_{kind}, .{field} = {text}}}"
    return f"op_value_{call}({text})"


ROW = re.compile(r"([A-Z]\w*)\((.*)\);?")


def row_call(tables, where, name, text):
    row = tables.rows.get(name)
    if row is None:
        raise RowError(where, f"there is no operator {name}")
    args = split(text)
    if len(args) != len(row.params):
        raise RowError(where, f"{name} takes {len(row.params)} arguments ({' '.join(p.name for p in row.params)}), {len(args)} are given")
    packed = ", ".join(pack(param, arg, where) for param, arg in zip(row.params, args))
    return f'cnnl_run(call, "{name}", (const struct op_value[]){{{packed}}});'


def body(tables, block):
    """The lines of a block as C."""
    parts, switch = [], None
    for where, line in [*block.lines, (block.where, None)]:
        case = re.fullmatch(r"case ([\w>.-]+) (\w+) (.*)", line or "")
        if switch and (not case or case[1] != switch):
            parts.append(f"    default:\n        cnnl_refuse(call, \"{switch} is %d\", (int){switch});\n        break;\n    }}\n")
            switch = None
        if line is None:
            break
        if case and not switch:
            switch = case[1]
            parts.append(f"    switch ((int){switch}) {{\n")
        text, condition = (case[3], None) if case else (line, None)
        match = re.fullmatch(r"(if \(.*\)|else|else if \(.*\)) ([A-Z]\w*\(.*\))", text)
        if match:
            condition, text = match[1], match[2]
        call = ROW.fullmatch(text)
        if call:
            text = row_call(tables, where, call[1], call[2])
        elif not re.search(r"[;{}]$", text):
            raise RowError(where, f"'{text}' is neither a call of an operator nor C")
        if condition:
            text = f"{condition} {{\n{text}\n}}"
        parts.append(f"    case {case[2]}:\n        {text}\n        break;\n" if case else f"    {text}\n")
    return "".join(parts)


def names_in(block):
    """The lines of a block without strings, members and declarations: what is left names parameters."""
    text = " ".join(line for _, line in block.lines)
    return re.sub(r'"[^"]*"|(->|\.)\w+|enum op_type type', " ", text)


def setup(block):
    """Views of the tensors, and what every call refuses."""
    parts, unused = [], []
    text = names_in(block)
    for param in block.params:
        used = re.search(rf"\b{param.name}\b", text)
        if param.kind in TENSORS:
            how = ("optional_" if param.optional else "") + ("in" if param.kind == "in" else "out")
            view = f'cnnl_{how}(call, "{param.name}", {param.name}_desc, {param.name}_ptr)'
            if param.channels:
                view = f'cnnl_channels_second(call, "{param.name}", {param.name}_desc, {view})'
            parts.append(f"    const struct op_tensor *{param.name} = {view};\n")
            if not used:
                unused.append(param.name)
        elif param.kind in LISTS:
            parts.append(f'    const struct op_tensor_list *{param.name} = cnnl_list(call, "{param.name}", (int64_t){param.count}, '
                         f"{param.name}_desc, (const void *const *){param.name}_ptr, {str(param.optional).lower()});\n")
            if not used:
                unused.append(param.name)
        elif param.kind == "desc":
            if not param.optional:
                parts.append(f'    cnnl_need(call, "{param.name}", {param.name} && {param.name}->magic == CNNL_MAGIC_{param.object});\n')
            elif not used:
                unused.append(param.name)
        elif param.kind == "work":
            unused += ["workspace", "workspace_size"]
        elif not used:
            unused.append(param.name)
    return "".join(parts) + "".join(f"    (void){name};\n" for name in unused)


def op_c(tables, face, block):
    head = wrap(signature(block, face.objects))
    return (f"\n{head}\n{{\n    struct cnnl_call frame, *call = &frame;\n    cnnl_begin(call, handle, __func__);\n{setup(block)}"
            f"    if (call->status != CNNL_STATUS_SUCCESS) {{\n        return cnnl_end(call);\n    }}\n{body(tables, block)}"
            f"    return cnnl_end(call);\n}}\n")


def size_c(face, block):
    size = block.params[-1].name if "size_t *" in getattr(block.params[-1], "text", "") else "size"
    names = []
    for param in block.params:
        names += [word.split("[")[0].split()[-1].lstrip("*") for word in param.declare(face.objects, block.where)]
    unused = "".join(f"    (void){name};\n" for name in names if name != size)
    return f"\n{wrap(signature(block, face.objects))}\n{{\n{unused}    return cnnl_workspace(handle, __func__, {size});\n}}\n"


def missing_c(face, block):
    unused = "".join(f"    (void){param.name};\n" for param in block.params)
    return (f"\n{wrap(signature(block, face.objects))}\n{{\n{unused}    return cnnl_fail(CNNL_STATUS_NOT_SUPPORTED, __func__, "
            '"its operators are not called from here yet");\n}\n')


def set_c(tables, face, block):
    checks = ""
    for param in block.params:
        if param.kind == "desc" and not param.optional:
            checks += (f"    if (!{param.name} || {param.name}->magic != CNNL_MAGIC_{param.object}) {{\n        return cnnl_fail("
                       f'CNNL_STATUS_BAD_PARAM, __func__, "{param.name} is no live descriptor of its kind");\n    }}\n')
    text = names_in(block)
    unused = ""
    for param in block.params:
        for word in param.declare(face.objects, block.where):
            name = word.split("[")[0].split()[-1].lstrip("*")
            if not re.search(rf"\b{name}\b", text) and not re.search(rf"\b{name}\b", checks):
                unused += f"    (void){name};\n"
    lines = "".join(f"    {line}\n" for _, line in block.lines)
    return f"\n{wrap(signature(block, face.objects))}\n{{\n{checks}{unused}{lines}    return CNNL_STATUS_SUCCESS;\n}}\n"


def entries_c(tables, face):
    parts = [NOTE, "#include <cnnl_objects.h>\n#include <cnnl/cnnl_call.h>\n#include <cnnl/cnnl_subjects.h>\n\n#include <math.h>\n#include <stddef.h>\n#include <string.h>\n"]
    for block in face.of("missing"):
        parts.append(missing_c(face, block))
    for block in face.of("size", "set", "op"):
        parts.append({"op": lambda b: op_c(tables, face, b), "size": lambda b: size_c(face, b), "set": lambda b: set_c(tables, face, b)}[block.kind](block))
    return "".join(parts)


def doc_of(block, tables):
    """A block's own text, or that of the one operator it calls."""
    rows = [match for _, line in block.lines for match in re.findall(r"\b([A-Z]\w*)\(", line) if match in tables.rows]
    return block.doc or (tables.rows[rows[0]].get("doc") if rows else "")


def docs(tables):
    face = Face(tables.folder / "cnnl")
    lines = ["# CNNL functions", "",
             "Made from the rows of `kernels/cnnl/*.rows` by `make docs`; declared in `cnnl.h`, in `libcnnl.so`. What each computes is said by the",
             "operators of [aclnn.md](aclnn.md) that it calls. How they are used: [mlu.md](../mlu.md).", "",
             "| function | what | operators |", "|---|---|---|"]
    for block in sorted(face.of("op"), key=lambda block: block.name):
        rows = sorted({match for _, line in block.lines for match in re.findall(r"\b([A-Z]\w*)\(", line) if match in tables.rows})
        lines.append(f"| {block.name} | {doc_of(block, tables).replace('|', chr(92) + '|')} | {' '.join(rows)} |")
    others = sorted([block.name for block in face.of("size", "set")] +
                    [name for block in face.of("object") for name in (block.create, block.destroy, *(setter(block) or [])[:1])])
    lines += ["", f"Beside them {len(others)} functions of descriptors, algorithms and sizes: " + ", ".join(others) + "."]
    missing = sorted(block.name for block in face.of("missing"))
    lines += ["", f"Not yet, each ends with `CNNL_STATUS_NOT_SUPPORTED`: {len(missing)} functions: " + ", ".join(missing) + "."]
    return "\n".join(lines) + "\n"


def outputs(tables):
    """File name -> text."""
    face = Face(tables.folder / "cnnl")
    return {"cnnl/cnnl_enums.h": enums_h(face), "cnnl/cnnl_functions.h": functions_h(face),
            "cnnl/cnnl_objects.h": objects_h(face), "cnnl/cnnl_objects.c": objects_c(face), "cnnl/cnnl_entries.c": entries_c(tables, face)}
