# SPDX-License-Identifier: Apache-2.0
"""Reads the rows of operators (kernels/*/*.op) and kernels/aclnn/signatures.txt. Every complaint starts with file:line."""

import re
from pathlib import Path

TYPES = "f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool c64 c128".split()
GROUPS = {
    "F3": "f32 f16 bf16", "F4": "f32 f16 bf16 f64", "N9": "f32 f16 bf16 f64 i8 u8 i16 i32 i64",
    "N10": "f32 f16 bf16 f64 i8 u8 i16 i32 i64 bool", "N11": "f32 f16 bf16 f64 i8 u8 i16 u16 i32 i64 bool",
    "N12": "f32 f16 bf16 f64 i8 u8 i16 i32 i64 bool c64 c128", "INT": "i8 u8 i16 u16 i32 u32 i64 u64",
    "ALL": " ".join(TYPES),
}
# code in signatures.txt -> (enum op_kind, C type of the declaration, how an entry packs it)
KINDS = {
    "T": ("TENSOR", "aclTensor *", "tensor"), "TL": ("TENSOR_LIST", "aclTensorList *", "tensor_list"),
    "S": ("SCALAR", "aclScalar *", "scalar"), "SL": ("SCALAR_LIST", "aclScalarList *", "scalar_list"),
    "IA": ("INTS", "aclIntArray *", "int_array"), "FA": ("FLOATS", "aclFloatArray *", "float_array"),
    "BA": ("BOOLS", "aclBoolArray *", "bool_array"), "str": ("TEXT", "char *", "text"),
    "dtype": ("DTYPE", "aclDataType ", "dtype"), "i64": ("INT", "int64_t ", "int"), "i32": ("INT", "int32_t ", "int"),
    "i16": ("INT", "int16_t ", "int"), "u32": ("INT", "uint32_t ", "int"),
    "i8": ("INT", "int8_t ", "int"), "u8": ("INT", "uint8_t ", "int"), "u64": ("INT", "uint64_t ", "int"),
    "bool": ("INT", "bool ", "int"), "f32": ("REAL", "float ", "real"), "f64": ("REAL", "double ", "real"),
}


class RowError(Exception):
    def __init__(self, where, text):
        super().__init__(f"{where}: {text}")


class Param:
    def __init__(self, where, text):
        match = re.fullmatch(r"(\w+):(\w+)([*&]?)(\??)", text)
        if not match or match[2] not in KINDS:
            raise RowError(where, f"'{text}' is no parameter (name:type and *, & or ?)")
        self.name, self.code, mark, optional = match.groups()
        self.role = {"": "IN", "*": "OUT", "&": "REF"}[mark]
        self.optional = bool(optional)
        self.types = [set(), set()]  # by chip: 910a, 910b

    @property
    def kind(self):
        return KINDS[self.code][0]


class Row:
    def __init__(self, where, name, family):
        self.where, self.name, self.family = where, name, family
        self.keys = {}
        self.params = []
        self.data = "NULL"  # C expression the family's generator may set
        self.twin_of = None
        self.public_header = None  # of aclnn/header_names.txt

    def get(self, key, default=None):
        return self.keys.get(key, default)

    @property
    def internal(self):
        """Called by other rows only: no entry point."""
        return self.get("internal") == "yes"

    @property
    def entry(self):
        """Its entry point of phase 2; phase 1 has more words behind."""
        return self.get("entry", f"aclnn{self.name}")

    @property
    def header(self):
        """Its header without aclnn_ and .h: the public one."""
        return self.public_header or self.own_header

    @property
    def own_header(self):
        """The header it is in, or was in before header_names.txt said a public name."""
        return self.get("header") or snake(re.sub("^Inplace", "", self.name))


class Tables:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.signatures = {}
        self.rows = {}
        self.sources, self.programs = [], []  # programs: name, source for 910a, source for 910b
        self.read_signatures(self.folder / "aclnn/signatures.txt")
        for path in sorted(self.folder.glob("*/*.op"), key=lambda path: path.name):
            self.read_rows(path)
        for row in list(self.rows.values()):
            self.finish(row)
        names = self.folder / "aclnn/header_names.txt"
        if names.exists():
            self.read_header_names(names)

    def read_signatures(self, path):
        for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
            if line and not line.startswith("#"):
                name, *params = line.split()
                self.signatures[name] = (f"{path.name}:{number}", params)

    def read_header_names(self, path):
        """Functions whose public header is not the name of the function in small letters."""
        for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
            if line and not line.startswith("#"):
                name, *header = line.split()
                row = self.rows.get(name)
                if len(header) != 1 or not row or row.internal:
                    raise RowError(f"{path.name}:{number}", f"'{line}' is not a public operator and its header: AvgPool2d avgpool2d")
                row.public_header = header[0]

    def read_rows(self, path):
        family, row = path.stem, None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            where = f"{path.parent.name}/{path.name}:{number}"
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            key, _, value = text.partition(" ")
            value = value.strip()
            if line[0].isspace():
                if not row:
                    raise RowError(where, "a line of an operator before the first 'op'")
                if key in row.keys:
                    raise RowError(where, f"'{key}' is given twice")
                if not value:
                    raise RowError(where, f"'{key}' has no value")
                row.keys[key] = value
            elif not value:
                raise RowError(where, f"'{key}' needs a name")
            elif key == "op":
                if not re.fullmatch(r"[A-Z]\w*", value) or value.startswith("Aclnn"):
                    raise RowError(where, f"'{value}' is no name of an operator: like Relu, without aclnn")
                if value in self.rows:
                    raise RowError(where, f"operator {value} is defined twice (first at {self.rows[value].where})")
                row = self.rows[value] = Row(where, value, family)
            elif key == "family":
                family = value
            elif key == "source":
                self.sources.append(value)
            elif key == "program":
                name, *sources = value.split()
                if not sources:
                    raise RowError(where, f"program {name} has no source")
                self.programs.append((name, sources[0], sources[-1]))
            else:
                raise RowError(where, f"'{key}' is not op, family, source or program")

    def finish(self, row):
        if "doc" not in row.keys:
            raise RowError(row.where, f"operator {row.name} has no doc")
        self.set_params(row)
        twin_name = row.get("inplace")
        if twin_name:
            if twin_name in self.rows:
                raise RowError(row.where, f"operator {twin_name} is defined twice: here as the twin of {row.name}, and at {self.rows[twin_name].where}")
            twin = self.rows[twin_name] = Row(row.where, twin_name, row.family)
            twin.twin_of = row
            twin.keys = {key: value for key, value in row.keys.items() if key not in ("inplace", "params")}
            twin.keys.setdefault("header", row.header)
            self.set_params(twin)

    def set_params(self, row):
        where, texts = row.where, None
        if row.get("params"):
            texts = row.get("params").split()
            known = self.signatures.get(row.name)
            if known and [strip(text) for text in known[1]] != [strip(text) for text in texts]:
                raise RowError(where, f"params of {row.name} differ from {known[0]}: {' '.join(known[1])}")
        elif row.name in self.signatures:
            where, texts = self.signatures[row.name]
        else:
            raise RowError(where, f"{row.name} is not in signatures.txt and has no params")
        row.params = [Param(where, text) for text in texts]
        if row.twin_of:
            # Roles that the twin's row states count for what is left of them.
            first = {param.name: param for param in row.twin_of.params}
            for param in row.params:
                if param.name in first and param.role == "IN":
                    param.optional = param.optional or first[param.name].optional
            if not any(param.role == "REF" for param in row.params):
                row.params[0].role = "REF"
        self.set_types(row)

    def set_types(self, row):
        chips = row.get("chips", "910a 910b").split()
        for param in row.params:
            if param.code not in ("T", "TL"):
                continue
            alone = all(other.role == "OUT" for other in row.params if other.code in ("T", "TL"))
            default = "ALL" if param.role == "OUT" and not alone else row.get("types", "N10")
            name = param.name
            if row.twin_of and param.role == "REF" and f"types.{name}" not in row.keys:
                name = "self"
            both = row.get(f"types.{name}", default)
            for chip, key in enumerate(("910a", "910b")):
                if key in chips:
                    text = row.get(f"types.{name}.{key}") or (row.get(f"types.{key}", both) if param.role != "OUT" else both)
                    param.types[chip] = expand(row.where, text)
            if f"types.{name}.910a" not in row.keys and "types.910a" not in row.keys:
                param.types[0].discard("bf16")


def strip(text):
    """A parameter without its role: those of signatures.txt may be corrected by a row."""
    return re.sub("[*&?]", "", text)


def expand(where, text):
    types = set()
    for word in text.split():
        names = GROUPS[word].split() if word in GROUPS else [word]
        for name in names:
            if name.lstrip("-") not in TYPES:
                raise RowError(where, f"'{name}' is no type or group of types; there are {' '.join(GROUPS)} {' '.join(TYPES)}")
            if name.startswith("-"):
                types.discard(name[1:])
            else:
                types.add(name)
    return types


def snake(name):
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()
