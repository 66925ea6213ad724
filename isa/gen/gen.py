#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the tables of isa/ into C, documentation and test vectors."""

import argparse
import sys
from pathlib import Path

from check import check_tables
from emit_docs import emit_docs
from emit_enums import emit_faults, emit_isa_enums, emit_status
from emit_golden import emit_golden, emit_vectors
from emit_insn import emit_insn
from emit_intrin import emit_intrin
from emit_layout import emit_layout
from emit_map import emit_linker, emit_map
from emit_regs import emit_csr, emit_regs
from emit_sim import emit_sim
from emit_soc import emit_soc
from model import TableError
from parse import parse_tables

GROUPS = {
    "host": [emit_isa_enums, emit_status, emit_faults, emit_insn, emit_layout, emit_map, emit_regs, emit_csr],
    "soc": [emit_soc],
    "sim": [emit_sim],
    "device": [emit_intrin, emit_linker],
    "golden": [emit_golden],
    "vectors": [emit_vectors],
    "docs": [emit_docs],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", required=True, help="folder of the tables (isa)")
    parser.add_argument("--out", required=True, help="folder to write to")
    parser.add_argument("groups", nargs="+", choices=GROUPS, help="what to write")
    args = parser.parse_args()
    try:
        isa = parse_tables(args.tables)
        check_tables(isa)
    except TableError as error:
        print(error, file=sys.stderr)
        return 1
    for group in args.groups:
        for emit in GROUPS[group]:
            for name, text in emit(isa):
                path = Path(args.out) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
