# SPDX-License-Identifier: Apache-2.0
"""For gdb: printers of Ascend C's tensors, commands in the words of the vendor's debugger, frames without what called the kernel. `leo gdb`
loads it; in a gdb of your own: source leo_gdb.py. docs/debugger.md."""

import struct

import gdb
import gdb.printing

# isa/layout/address.map: the window of each memory; the server masks what is no address in global memory.
WINDOWS = {"UB": 0x20000000, "L1": 0x21000000, "L0A": 0x22000000, "L0B": 0x23000000, "L0C": 0x24000000, "BT": 0x25000000, "FB": 0x26000000}
PRIVATE = 0x30000000
RETURN = 0xFFFFFFFFFFFFF000
MEMORY = {"VECIN": "UB", "VECOUT": "UB", "VECCALC": "UB", "CO2": "UB", "A1": "L1", "B1": "L1", "C1": "L1", "TSCM": "L1", "SPM": "L1",
          "A2": "L0A", "B2": "L0B", "CO1": "L0C", "C2": "BT", "C2PIPE2GM": "FB", "GM": "GM"}
# How an element reads: bytes, and struct's letter or a function.
FORMATS = {"float": (4, "f"), "float32": (4, "f"), "half": (2, "e"), "float16": (2, "e"), "_Float16": (2, "e"), "double": (8, "d"),
           "bfloat16": (2, "bf16"), "bfloat16_t": (2, "bf16"), "__bf16": (2, "bf16")}
FORMATS.update({f"{sign}int{bits}{tail}": (bits // 8, (letter if not sign else letter.upper()))
                for bits, letter in ((8, "b"), (16, "h"), (32, "i"), (64, "q")) for sign in ("", "u") for tail in ("", "_t")})
FORMATS.update({"int": (4, "i"), "unsigned int": (4, "I"), "short": (2, "h"), "unsigned short": (2, "H"), "signed char": (1, "b"), "char": (1, "b"),
                "unsigned char": (1, "B"), "long": (8, "q"), "unsigned long": (8, "Q"), "long long": (8, "q"), "unsigned long long": (8, "Q")})
SHOWN = {"_Float16": "half", "__bf16": "bfloat16_t"}  # as kernels write them
UNKNOWN_LENGTH = 8  # elements shown of a tensor whose length the compiler has thrown away


def format_of(kind):
    """(bytes, letter) of a gdb type or a name; None if its elements are not numbers."""
    if isinstance(kind, str):
        return FORMATS.get(kind)
    return FORMATS.get(kind.name or "") or FORMATS.get(kind.strip_typedefs().unqualified().name or "")


def text_of(number):
    return f"{number:.7g}" if isinstance(number, float) else str(number)


def read(address, how, count):
    """Values of `count` elements, each as text."""
    size, letter = how
    data = bytes(gdb.selected_inferior().read_memory(address, size * count))
    if letter == "bf16":
        return [text_of(struct.unpack("<f", b"\0\0" + data[i:i + 2])[0]) for i in range(0, len(data), 2)]
    return [text_of(number) for number in struct.unpack(f"<{count}{letter}", data)]


def known(value):
    return None if value.is_optimized_out else int(value)


def position_name(number):
    """Of TPosition; of members with one number the first."""
    members = gdb.lookup_type("AscendC::TPosition").fields()
    return next((field.name.split("::")[-1] for field in members if field.enumval == number), "")


def limit():
    return gdb.parameter("print elements") or 1 << 20


class Tensor:
    """Shape, place and values of a LocalTensor or GlobalTensor."""

    def __init__(self, value, is_local):
        self.kind = value.type.strip_typedefs().unqualified().template_argument(0)
        self.name = f"{'Local' if is_local else 'Global'}Tensor<{SHOWN.get(str(self.kind), self.kind)}>"
        self.how = format_of(self.kind)
        self.position = "GM"
        if is_local:
            place = value["address_"]
            self.address, size, position = (known(place[name]) for name in ("bufferAddr", "dataLen", "logicPos"))
            self.position = "" if position is None else position_name(position)
            size = size // self.how[0] if size is not None and self.how else size
        else:
            self.address = known(value["address_"])
            size = known(value["size_"]) or None  # SetGlobalBuffer got no size
        self.count = size

    def memory(self):
        return MEMORY.get(self.position, "UB")

    def first(self):
        return self.address if self.position == "GM" or self.address >= WINDOWS["UB"] else WINDOWS[self.memory()] + self.address

    def to_string(self):
        if self.address is None:
            return f"{self.name}, address optimized out"
        length = f"[{self.count}]" if self.count is not None else "[? elements]"
        place = f"global memory at {self.address:#x}" if self.position == "GM" else \
            f"{self.memory()} at {self.address:#x}{' (' + self.position + ')' if self.position else ''}"
        return f"{self.name}{length} in {place}"

    def children(self):
        if self.address is None or not self.how:
            return
        count = min(UNKNOWN_LENGTH if self.count is None else self.count, limit() + 1)
        try:
            values = read(self.first(), self.how, count)
        except gdb.MemoryError:
            return
        for i, text in enumerate(values):
            yield f"[{i}]", text

    def display_hint(self):
        return "array"


def tensor_printers():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("leo")
    printers.add_printer("LocalTensor", "^AscendC::LocalTensor<.*>$", lambda value: Tensor(value, True))
    printers.add_printer("GlobalTensor", "^AscendC::GlobalTensor<.*>$", lambda value: Tensor(value, False))
    return printers


class KernelFrames:
    """The kernel is the last frame: what it returns to is no code."""
    name, priority, enabled = "leo-kernel", 100, True

    def __init__(self):
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        return (frame for frame in frames if frame.inferior_frame().pc() != RETURN)


class Ascend(gdb.Command):
    """Cores and memories of the simulated NPU."""

    def __init__(self):
        super().__init__("ascend", gdb.COMMAND_STATUS, gdb.COMPLETE_NONE, True)


class Info(gdb.Command):
    """ascend info cores: the cores that run a block, and where they are."""

    def __init__(self):
        super().__init__("ascend info", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        if argument not in ("", "cores", "blocks"):
            raise gdb.GdbError("ascend info cores")
        gdb.execute("monitor cores")


class Core(gdb.Command):
    """ascend aiv N, ascend aic N: goes to the vector or cube core with that number (ascend info cores)."""

    def __init__(self, word):
        super().__init__(f"ascend {word}", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        words = [f"core {argument}"] if argument.isdigit() else []
        for thread in gdb.selected_inferior().threads():
            if words and words[0] in (thread.details or "").split(", "):
                gdb.execute(f"thread {thread.num}")
                return
        raise gdb.GdbError(f"no such core runs a block: {argument or 'a number is missing'} (ascend info cores)")


class Memory(gdb.Command):
    """ascend memory UB float16 OFFSET COUNT: values in a memory of the present core (UB, L1, L0A, L0B, L0C, BT, FB, or GM with an address)."""

    def __init__(self):
        super().__init__("ascend memory", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        how = format_of(words[1]) if len(words) == 4 else None
        if not how or words[0].upper() not in ("GM", *WINDOWS):
            raise gdb.GdbError(self.__doc__ + " Types: " + " ".join(name for name in FORMATS if " " not in name and "_" not in name))
        offset, count = (int(gdb.parse_and_eval(word)) for word in words[2:])
        first = offset + WINDOWS.get(words[0].upper(), 0)
        per_line = max(1, 32 // how[0])
        values = read(first, how, count)
        for i in range(0, count, per_line):
            print(f"{offset + i * how[0]:#010x}: " + " ".join(values[i:i + per_line]))


def lock_others(event):
    """next and step move the core they are asked of; continue lets all go on. gdb takes this only when it is connected."""
    gdb.events.stop.disconnect(lock_others)
    try:
        gdb.execute("set scheduler-locking step", False, True)
    except gdb.error:
        pass


gdb.events.stop.connect(lock_others)
gdb.printing.register_pretty_printer(None, tensor_printers(), True)
KernelFrames()
Ascend()
Info()
Core("aiv")
Core("aic")
Memory()
