# SPDX-License-Identifier: Apache-2.0
"""Expressions of rows for the vector unit: C text to a list of operations on whole tiles.

Each operation makes a value; values 0 .. n-1 are the variables. Comparisons make masks, all else numbers. An expression with a
function the vector unit does not have gives None: it runs on the scalar unit alone.
"""

import re

from functions import EXPANDED, FALLBACKS

TOKEN = re.compile(r"\s*(\d+\.?\d*(?:e-?\d+)?|[A-Za-z_]\w*|\|\||&&|[<>=!]=|[-+*/<>!?:(),&|^~])")
BINARY = [("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/")]
COMPARE = {"==": "EQ", "!=": "NE", "<": "LT", "<=": "LE", ">": "GT", ">=": "GE"}
BITS = {"&": "AND", "|": "OR", "^": "XOR"}
ARITHMETIC = {"+": "ADD", "-": "SUB", "*": "MUL", "/": "DIV"}
UNARY = {"abs": "ABS", "exp": "EXP", "log": "LN", "sqrt": "SQRT"}
# signed(a, b): a, which is not negative, with the sign of b. bits(a, b), join(a, b): AND and OR of the bits of floats.
# digits(): the most binary digits of operands and result, 24, 11 or 8, known at planning time.
# to_word, to_float: a float's number as a word of 32 bits, and back. fma(a, b, c) = a * b + c, rounded once.
FLOATS = {"signed": "SIGNED", "bits": "BITS_AND", "join": "BITS_OR", "to_word": "TO_WORD", "to_float": "TO_FLOAT", "fma": "FMA"}
PAIRS = {"max": "MAX", "min": "MIN"}
OPERANDS = 5


class Unsupported(Exception):
    pass


class Parser:
    """Text to nested tuples."""

    def __init__(self, text):
        self.tokens, at = [], 0
        while at < len(text.rstrip()):
            match = TOKEN.match(text, at)
            if not match:
                raise Unsupported(f"cannot read '{text[at:].strip()}'")
            self.tokens.append(match[1])
            at = match.end()
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, token=None):
        got = self.peek()
        if got is None or (token and got != token):
            raise Unsupported(f"{repr(token) if token else 'a value'} expected, {got or 'the end'} found")
        self.at += 1
        return got

    def ternary(self):
        condition = self.binary(0)
        if self.peek() != "?":
            return condition
        self.take()
        first = self.ternary()
        self.take(":")
        return ("select", condition, first, self.ternary())

    def binary(self, level):
        if level == len(BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in BINARY[level]:
            left = (self.take(), left, self.binary(level + 1))
        return left

    def unary(self):
        if self.peek() in ("-", "!", "~"):
            return ({"-": "neg", "!": "not", "~": "invert"}[self.take()], self.unary())
        token = self.take()
        if token == "(":
            inner = self.ternary()
            self.take(")")
            return inner
        if token[0].isdigit():
            return ("number", float(token))
        if not re.match(r"[A-Za-z_]", token):
            raise Unsupported(f"a value expected, {token} found")
        if self.peek() != "(":
            return ("name", token)
        self.take()
        args = []
        while self.peek() != ")":
            if args:
                self.take(",")
            args.append(self.ternary())
        self.take(")")
        return ("call", token, *args)


def substitute(node, names):
    if node[0] == "name":
        return names.get(node[1], node)
    return tuple(substitute(part, names) if isinstance(part, tuple) else part for part in node)


class Builder:
    def __init__(self, variables):
        self.variables = variables
        self.insns, self.numbers, self.seen = [], [], {}

    def emit(self, code, *operands):
        key = (code, *operands)
        if key not in self.seen:
            self.seen[key] = len(self.variables) + len(self.insns)
            self.insns.append((code, *operands, *([0] * (OPERANDS - len(operands)))))
        return self.seen[key]

    def constant(self, value):
        if value not in self.numbers:
            self.numbers.append(value)
        return self.emit("CONST", self.numbers.index(value))

    def number(self, node):
        value, is_mask = self.build(node)
        return self.emit("SELECT", value, self.constant(1.0), self.constant(0.0)) if is_mask else value

    def mask(self, node):
        value, is_mask = self.build(node)
        return value if is_mask else self.emit("NE", value, self.constant(0.0))

    def build(self, node):
        """(value, whether it is a mask)"""
        kind, *parts = node
        if kind == "number":
            return self.constant(parts[0]), False
        if kind == "built":
            return parts[0], parts[1]
        if kind == "name":
            if parts[0] not in self.variables:
                raise Unsupported(parts[0])
            return self.variables.index(parts[0]), False
        if kind == "select":
            return self.emit("SELECT", self.mask(parts[0]), self.number(parts[1]), self.number(parts[2])), False
        if kind == "neg":
            if parts[0][0] == "number":
                return self.constant(-parts[0][1]), False
            return self.emit("MUL", self.number(parts[0]), self.constant(-1.0)), False
        if kind == "not":
            return self.emit("EQ", self.number(parts[0]), self.constant(0.0)), True
        if kind == "&&":
            return self.emit("SELECT", self.mask(parts[0]), self.number(("select", parts[1], ("number", 1.0), ("number", 0.0))),
                             self.constant(0.0)), False
        if kind == "||":
            return self.emit("SELECT", self.mask(parts[0]), self.constant(1.0),
                             self.number(("select", parts[1], ("number", 1.0), ("number", 0.0)))), False
        if kind in COMPARE:
            return self.emit(COMPARE[kind], self.number(parts[0]), self.number(parts[1])), True
        if kind in BITS:
            return self.emit(BITS[kind], self.number(parts[0]), self.number(parts[1])), False
        if kind == "invert":
            return self.emit("NOT", self.number(parts[0])), False
        if kind in ARITHMETIC:
            return self.emit(ARITHMETIC[kind], self.number(parts[0]), self.number(parts[1])), False
        if kind == "call":
            return self.call(parts[0], parts[1:])
        raise Unsupported(kind)

    def call(self, name, args):
        if name == "digits":
            return self.emit("DIGITS"), False
        if name == "inf":
            return self.constant(float("inf")), False
        if len(args) != (1 if name in UNARY else 2 if name in PAIRS else len(args)):
            raise Unsupported(f"{len(args)} arguments of {name}")
        if name in UNARY:
            return self.emit(UNARY[name], self.number(args[0])), False
        if name in PAIRS:
            return self.emit(PAIRS[name], self.number(args[0]), self.number(args[1])), False
        if name in FLOATS:
            return self.emit(FLOATS[name], *(self.number(arg) for arg in args)), False
        if name.startswith("fallback_"):
            good, result, *of = args
            of = [self.number(arg) for arg in of]
            return self.emit("FALLBACK", self.mask(good), self.number(result), of[0], of[-1], FALLBACKS.index(name.removeprefix("fallback_"))), False
        if name in EXPANDED:
            return self.expand(EXPANDED[name], args)
        raise Unsupported(name)

    def expand(self, function, args):
        """Steps "name = text" one after the other, each built once; the last is the result."""
        parameters, *steps = function
        names = {name: ("built", *self.build(arg)) for name, arg in zip(parameters.split(), args)}
        for step in steps[:-1]:
            name, _, text = step.partition(" = ")
            names[name] = ("built", *self.build(substitute(Parser(text).ternary(), names)))
        return self.build(substitute(Parser(steps[-1]).ternary(), names))


def compile_expression(text, variables):
    """(insns, numbers) or None. The last insn, or with none the one variable, is the result."""
    try:
        parser = Parser(text)
        tree = parser.ternary()
        if parser.peek() is not None:
            return None
        builder = Builder(list(variables))
        result = builder.number(tree)
        if builder.insns and result != len(variables) + len(builder.insns) - 1:
            return None
        if not builder.insns and result != 0:
            return None
    except Unsupported:
        return None
    return builder.insns, builder.numbers
