# SPDX-License-Identifier: Apache-2.0
"""Programs over rows: from the expression of a row to a kernel over device/row_program.h and to the steps in f64.

`rows` is a list "name = text; ..; text": the last one is the result. Beside elements there are numbers of a row, max(x) and
sum(x): the first ends a stage, and the stage after it takes them. exp, log, +, -, *, /.
"""

import re

from expression import Parser, Unsupported
from rows import RowError

FOLDS = {"max": "MAX", "sum": "SUM"}
BINARY = {"+": "ADD", "-": "SUB", "*": "MUL", "/": "DIV"}
ROW_STEPS = {"+": ("shift_rows", 1), "-": ("shift_rows", -1), "*": ("scale_rows", 1), "/": ("scale_rows", 1)}
TILE_STEPS = {"-": "row_sub", "*": "row_mul", "exp": "row_exp"}
STAGES_MAX, INPUTS_MAX = 3, 2


class Value:
    """An input, a step or a number of a row (fold: its index; number: the fold a function of one is of)."""

    def __init__(self, kind, *operands):
        self.kind, self.operands = kind, operands
        self.fold = self.number = self.stage = self.place = None


class RowProgram:
    def __init__(self, row):
        self.row, self.name = row, row.name
        self.values, self.names, self.folds, self.inputs = [], {}, [], []
        self.function, self.factor = {}, {}
        *parts, last = row.get("rows").split("; ")
        try:
            for part in parts:
                name, _, text = part.partition(" = ")
                self.names[name] = self.build(Parser(text).ternary())
            self.result = self.build(Parser(last).ternary())
        except Unsupported as error:
            raise RowError(row.where, f"rows: {error}") from None
        if len(self.folds) not in range(1, STAGES_MAX) or len(self.inputs) > INPUTS_MAX:
            raise RowError(row.where, f"rows: {len(self.folds)} numbers of a row and {len(self.inputs)} inputs, "
                                      f"at most {STAGES_MAX - 1} and {INPUTS_MAX} are possible")
        self.inputs.sort(key=lambda value: value.operands)
        if self.folds[0].kind == "max" and self.folds[0].operands[0] is not self.inputs[0]:
            raise self.error("max is of the first of the tensors, whose halves are taken as they were loaded")
        if self.result is not self.values[-1] or self.result.number is not None:
            raise self.error("the last part makes no elements of its own")
        self.set_stages()
        self.set_places()

    def error(self, text):
        return RowError(self.row.where, f"rows: {text}")

    def add(self, kind, *operands):
        for value in self.values:
            if (value.kind, value.operands) == (kind, operands):
                return value
        self.values.append(Value(kind, *operands))
        return self.values[-1]

    def build(self, node):
        kind, *parts = node
        if kind == "name" and parts[0] in self.names:
            return self.names[parts[0]]
        if kind == "name":
            index = next((i for i, p in enumerate(self.row.params) if p.name == parts[0] and p.kind == "TENSOR" and p.role == "IN"), None)
            if index is None:
                raise Unsupported(f"{parts[0]} is neither a tensor of {self.name} nor a value")
            value = self.add("input", index)
            self.inputs += [value] if value not in self.inputs else []
            return value
        name, args = (parts[0], parts[1:]) if kind == "call" else (kind, parts)
        if name not in (*FOLDS, *BINARY, "exp", "log"):
            raise Unsupported(f"there is no {name} in rows")
        operands = [self.build(arg) for arg in args]
        value = self.add(name, *operands)
        if name == "max" and (operands[0].kind != "input" or self.folds[:1] not in ([], [value])):
            raise Unsupported("max is the first number of a row, of an input")
        if name in FOLDS and value.fold is None:
            value.fold = value.number = len(self.folds)
            self.folds.append(value)
        elif name == "log" and operands[0].fold is not None:
            value.number = operands[0].number
            self.say(self.function, value.number, "LN")
        elif operands[-1].number is not None and name in BINARY and operands[0].number is None:
            self.say(self.function, operands[1].number, "REC" if name == "/" else self.function.get(operands[1].number, "NONE"))
            self.say(self.factor, operands[1].number, ROW_STEPS[name][1])
        elif any(operand.number is not None for operand in operands) or name not in (*TILE_STEPS, *FOLDS):
            raise Unsupported(f"{name} of these values is not there yet")
        return value

    def say(self, of, number, what):
        if of.setdefault(number, what) != what:
            raise self.error(f"a number of a row is taken in two ways, {of[number]} and {what}")

    def tiles(self):
        """Steps on elements, in order."""
        return sorted((v for v in self.values if v.number is None and v.kind != "input"), key=lambda v: (v.stage, self.values.index(v)))

    def set_stages(self):
        """Steps come as late as what takes them allows, those with a number right after it."""
        for value in reversed(self.values):
            users = [user for user in self.values if value in user.operands]
            taken = [operand.number for operand in value.operands if isinstance(operand, Value) and operand.number is not None]
            value.stage = value.fold if value.fold is not None else min((user.stage for user in users), default=len(self.folds))
            if value.number is None and taken:
                value.stage = taken[0] + 1
        if any(operand.stage > value.stage for value in self.tiles() for operand in value.operands if operand.number is None):
            raise self.error("a number of a row is taken later than by the stage after it")

    def set_places(self):
        """A step works in the place of an operand that nothing after it takes, else in the spare one."""
        order, self.spare = self.tiles(), False
        last = {operand: i for i, step in enumerate(order) for operand in step.operands}
        for fold in self.folds:
            at = max((i for i, step in enumerate(order) if step.stage <= fold.stage), default=-1)
            last[fold.operands[0]] = max(last.get(fold.operands[0], -1), at + 0.5)
        for i, value in enumerate(self.inputs):
            value.place = f"at->in[{i}]"
        for i, step in enumerate(order):
            free = [operand.place for operand in step.operands if operand.number is None and last[operand] == i]
            busy = [other for other in (*self.inputs, *order[:i]) if other.place == "at->spare" and last.get(other, -1) > i]
            if step is self.result:
                step.place = "at->made"
            elif free:
                step.place = free[0]
            elif not busy:
                step.place, self.spare = "at->spare", True
            else:
                raise self.error(f"a third place is needed for {step.kind}")

    def needed_after(self, stage):
        """Values of up to that stage that later stages take, directly or not."""
        found, queue = set(), [step for step in self.tiles() if step.stage > stage]
        while queue:
            for operand in queue.pop().operands:
                if isinstance(operand, Value) and operand.number is None and operand not in found:
                    found.add(operand)
                    queue.append(operand)
        return found

    def step_text(self, step):
        places = [operand.place for operand in step.operands if operand.number is None]
        if any(operand.number is not None for operand in step.operands):
            return f"pipe_barrier(PIPE_V);\n{ROW_STEPS[step.kind][0]}(tile, {step.place}, {places[0]}, numbers);"
        return f"{TILE_STEPS[step.kind]}(tile, {step.place}, {', '.join(places)});"

    def stage_text(self, stage):
        needed = self.needed_after(stage)
        steps = [step for step in self.tiles() if step.stage == stage]
        always = [self.step_text(step) for step in steps if step in needed or stage == len(self.folds)]
        ends = [self.step_text(step) for step in steps if not (step in needed or stage == len(self.folds))]
        if stage < len(self.folds):
            # Lanes are made ready beside the first step.
            (always or ends)[1 if always or ends else 0:0] = [f"begin_fold(w, tile, {stage}{', ends' if always else ', true'});"]
            ends.append(f"fold_rows(w, tile, {stage}, {self.folds[stage].operands[0].place});")
        return "\n".join([f"if (stage == {stage}) {{", *always, *(["if (ends) {", *ends, "}"] if ends else []), "}"])

    def source(self):
        """The device program. Words of numbers are masks, a bit a number."""
        def mask(good):
            return sum(good(i) << i for i in range(len(self.folds)))
        words = {"INPUTS": len(self.inputs), "FOLDS": len(self.folds), "SPARE": int(self.spare),
                 "MAXIMA": mask(lambda i: self.folds[i].kind == "max"), "MINUS": mask(lambda i: self.factor.get(i) == -1),
                 "RECIPROCALS": mask(lambda i: self.function.get(i) == "REC"), "LOGARITHMS": mask(lambda i: self.function.get(i) == "LN")}
        stages = "\n".join(self.stage_text(stage) for stage in range(len(self.folds) + 1))
        return (f"/* Generated from the row of {self.name}. */\n"
                f"enum {{ {', '.join(f'ROW_{word} = {value}' for word, value in words.items())} }};\n#include \"row_program.h\"\n\n"
                "OP_INLINE void run_stage(const struct work *w, const struct tile *tile, const struct places *at, uint32_t stage,\n"
                f"    bool ends, const float *numbers)\n{{\n{stages}\n(void)w;\n(void)ends;\n(void)numbers;\n}}\n\n"
                f"__global__ __vector__ void rows_{self.name}(struct op_row_program_args args)\n{{\n"
                "    const struct op_row_program_args t = args;\n    run_rows(&t);\n}\n")

    def data(self):
        """The steps as they are written, for types that the vector unit does not have."""
        index = {value: i for i, value in enumerate([*self.inputs, *(v for v in self.values if v.kind != "input")])}
        steps = ", ".join(f"{{OP_ROW_{BINARY.get(v.kind, v.kind.upper())}, {index[v.operands[0]]}, {index[v.operands[-1]]}}}"
                          for v in index if v.kind != "input")
        out = next(i for i, p in enumerate(self.row.params) if p.role == "OUT")
        inputs = ", ".join(str(value.operands[0]) for value in self.inputs)
        return (f"_Static_assert({len(index)} <= OP_ROW_VALUES_MAX, \"values of {self.name}\");\n"
                f"static const struct op_row_step steps_{self.name}[] = {{{steps}}};\n"
                f"static const struct op_row_program data_{self.name} = {{\"rows_{self.name}\", "
                f"{{{inputs}}}, {len(self.inputs)}, {out}, steps_{self.name}, {len(index) - len(self.inputs)}}};\n")


def collect(tables):
    """Sets row.data of rows with `rows`; returns their programs."""
    programs = [RowProgram(row) for row in sorted(tables.rows.values(), key=lambda row: row.where) if row.get("rows")]
    for program in programs:
        program.row.data = f"&data_{program.name}"
    return programs
