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
from emit_lanes import emit_lanes
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
    "lanes": [emit_lanes],
    "device": [emit_intrin, emit_linker],
    "golden": [emit_golden],
    "vectors": [emit_vectors],
    "docs": [emit_docs],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", required=True, help="folder of the tables (isa)")
    parser.add_argument("--lanes", type=Path, help="table of integer arithmetic (sim/simd/integer_lanes.txt), for the group lanes")
    parser.add_argument("--out", required=True, help="folder to write to")
    parser.add_argument("groups", nargs="+", choices=GROUPS, help="what to write")
    args = parser.parse_args()
    try:
        isa = parse_tables(args.tables)
        check_tables(isa)
        files = [file for group in args.groups for emit in GROUPS[group] for file in (emit(isa, args.lanes) if emit is emit_lanes else emit(isa))]
    except TableError as error:
        print(error, file=sys.stderr)
        return 1
    for name, text in files:
        path = Path(args.out) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # A file that says the same keeps its time: what includes it is not compiled again.
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
