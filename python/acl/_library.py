# SPDX-License-Identifier: Apache-2.0
"""The C library, and Python functions made from their lines in functions.txt."""

import ctypes
import os
from pathlib import Path

TYPES = {"i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64, "u64": ctypes.c_uint64, "f32": ctypes.c_float, "f64": ctypes.c_double,
         "i8": ctypes.c_int8, "u8": ctypes.c_uint8, "i16": ctypes.c_int16, "u16": ctypes.c_uint16, "ptr": ctypes.c_void_p, "str": ctypes.c_char_p, "none": None}


def _load(name):
    """From the toolkit this file lies in, or the one that is set, or what the system finds."""
    here = Path(__file__).resolve()
    folders = [parent / "lib64" for parent in here.parents]
    if os.environ.get("ASCEND_HOME_PATH"):
        folders.append(Path(os.environ["ASCEND_HOME_PATH"]) / "lib64")
    for folder in folders:
        if (folder / name).exists():
            return ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)


LIBRARY = _load("libascendcl.so")
MEDIA = _load("libacl_dvpp.so")


def array(kind, values):
    """The address of a C array of values, with the array kept alive as long as the address is."""
    return (TYPES[kind] * max(1, len(values)))(*values)


class Function:
    """A C function with parameters as functions.txt writes them."""

    def __init__(self, c_name, signature):
        words, _, result = signature.partition("->")
        self.parameters = words.split()
        self.result = result.strip() or "i32"
        # An object of its own, so that two functions may call one of C's with other types.
        self.c = (MEDIA if c_name.startswith(("acldvpp", "aclvdec")) else LIBRARY)[c_name]
        self.c.restype = TYPES[self.result]
        self.c.argtypes = None
        self.given = [p for p in self.parameters if not p.startswith(">")]
        self.needed = sum(not p.endswith("?") for p in self.given)
        self.gives_alone = "->" in signature

    @staticmethod
    def convert(kind, value):
        if kind == "str":
            return None if value is None else ctypes.c_char_p(value if isinstance(value, bytes) else str(value).encode())
        if kind == "ptr" and isinstance(value, (ctypes.Array, ctypes._SimpleCData, ctypes._CFuncPtr)):
            return value if not isinstance(value, ctypes._SimpleCData) else ctypes.byref(value)
        return TYPES[kind](value)

    def __call__(self, *args):
        if not self.needed <= len(args) <= len(self.given):
            raise TypeError(f"{self.c.__name__} takes {len(self.given)} arguments ({' '.join(self.given)}), not {len(args)}")
        rest = list(args) + [0] * (len(self.given) - len(args))
        passed, filled = [], []
        for parameter in self.parameters:
            if parameter.startswith(">"):
                filled.append(TYPES[parameter[1:]](0))
                passed.append(ctypes.byref(filled[-1]))
            else:
                passed.append(self.convert(parameter.rstrip("?"), rest.pop(0)))
        value = self.c(*passed)
        if self.result == "none":
            return None
        if self.result == "ptr":
            return value or 0
        if self.result == "str":
            return None if value is None else value.decode(errors="replace")
        if not filled:
            return value
        return (*[place.value or 0 for place in filled], value)


def call(c_name, signature, *args):
    return Function(c_name, signature)(*args)


def define(modules):
    """Every line of functions.txt as a function of its module."""
    for line in (Path(__file__).parent / "functions.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, c_name, *signature = line.split(None, 2)
            module, _, short = name.rpartition(".")
            modules[module].setdefault(short, Function(c_name, signature[0] if signature else ""))
