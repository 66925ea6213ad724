# SPDX-License-Identifier: Apache-2.0
"""The generator refuses tables that are wrong, and says where. argv[1]: folder of the tables."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TABLES = Path(sys.argv.pop(1)).resolve()
LANES = TABLES.parent / "sim/simd/integer_lanes.txt"
GROUPS = ["host", "soc", "sim", "lanes", "device", "golden", "vectors", "docs"]


def generate(tables, out, seed="0", lanes=LANES):
    return subprocess.run([sys.executable, "-B", str(TABLES / "gen/gen.py"), "--tables", str(tables), "--out", str(out),
                           "--lanes", str(lanes), *GROUPS], capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": seed})


def read_tree(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="leo_isa_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.tables = self.folder / "isa"
        shutil.copytree(TABLES, self.tables, ignore=shutil.ignore_patterns("gen", "device", "base", "include"))


class OneLine(Base):
    """An instruction of a family is a line of the table and a line of arithmetic (docs/add_an_instruction.md)."""
    LINE = ("insn vnand custom2 5 2 r4 v config=vec3 types=1001:s16,u16;2201:s16,u16 exec=vec_binary:binary_nand "
            "rule=HW-VEC-18 time=vand : a=ub b=ub c=ub d=cfg | dst = ~(src0 & src1)\n")

    def add(self, lanes):
        path = self.tables / "insn/vector.isa"
        path.write_text(path.read_text() + self.LINE)
        table = self.folder / "lanes.txt"
        table.write_text(LANES.read_text() + lanes)
        return generate(self.tables, self.folder / "out", lanes=table)

    def test_enum_loop_row_time_and_text_follow(self):
        result = self.add("nand s16 u16 | ~(x & y)\n")
        self.assertEqual(result.returncode, 0, result.stderr)
        written = {path.name: path.read_text() for path in (self.folder / "out").rglob("*") if path.is_file()}
        self.assertIn("SIM_BINARY_NAND,", written["sim_vector_members.h"])
        self.assertIn("d[i] = (uint16_t)(~(x[i] & y[i]));", written["sim_integer_loops.h"])
        self.assertIn("[SIM_BINARY_NAND] = {[SIM_LANE_S16] = nand_s16, [SIM_LANE_U16] = nand_u16}", written["sim_vector_rows.inc"])
        self.assertIn(".member = SIM_BINARY_NAND", written["sim_units.c"])
        self.assertIn(".time_of = LEO_INSN_VAND", written["insn.c"])
        self.assertIn("Its bits: HW-VEC-18.\n\nTakes the time of vand", written["instructions.md"])

    def test_without_its_arithmetic_it_is_refused(self):
        self.assertIn("no line gives nand of lane s16", self.add("").stderr)

    def test_arithmetic_of_no_instruction_is_refused(self):
        self.assertIn("nand of lane s32 belongs to no instruction", self.add("nand s16 u16 s32 | ~(x & y)\n").stderr)


class Refused(Base):
    """One broken line each."""

    def refuse(self, name, line, text):
        """The table `name` with `line` appended is refused at that line with `text` in the message."""
        path = self.tables / name
        path.write_text(path.read_text().rstrip("\n") + "\n" + line + "\n")
        self.expect(path, len(path.read_text().splitlines()), text)

    def refuse_change(self, name, old, new, text):
        """The table `name` with the line that has `old` changed is refused at that line."""
        path = self.tables / name
        lines = path.read_text().splitlines()
        number = next(i for i, line in enumerate(lines) if re.search(old, line))
        lines[number] = re.sub(old, new, lines[number])
        path.write_text("\n".join(lines) + "\n")
        self.expect(path, number + 1, text)

    def expect(self, path, number, text):
        result = generate(self.tables, self.folder / "out")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(f"{path.name}:{number}: ", result.stderr)
        self.assertIn(text, result.stderr)
        self.assertFalse((self.folder / "out").exists(), "wrote files in spite of the error")

    NEW = "insn new custom2 5 2 r4 v config=vec3 types=1001:s16;2201:s16 {} : a=ub b=ub c=ub d=cfg | doc"

    def test_no_sentence_gives_its_bits(self):
        self.refuse("insn/vector.isa", self.NEW.format("exec=vec_binary:binary_and"), "'new' has no rule=")

    def test_sentence_without_an_id(self):
        self.refuse("insn/vector.isa", self.NEW.format("exec=vec_binary:binary_and rule=VEC-18"), "rule= has 'VEC-18'")

    def test_time_of_nothing(self):
        self.refuse("insn/vector.isa", self.NEW.format("exec=vec_binary:binary_and rule=HW-VEC-18 time=vund"), "time= names 'vund'")

    def test_time_of_another_pipe(self):
        self.refuse("insn/vector.isa", self.NEW.format("exec=vec_binary:binary_and rule=HW-VEC-18 time=mmad"), "time=mmad: it must be")

    def test_member_of_no_family(self):
        self.refuse("insn/vector.isa", self.NEW.format("exec=vec_binary:pair_and rule=HW-VEC-18"), "exec= names a member of 'pair'")

    def test_encoding_overlap(self):
        self.refuse("insn/vector.isa", "insn new custom1 0 0 r4 v config=vec3 soc=1001 : a=ub b=ub c=ub d=cfg | doc",
                    "encoding of 'new' overlaps 'vadd'")

    def test_sub_operation_overlap(self):
        self.refuse("insn/vector.isa", "insn new custom1 7 0 u4 v sub=3 config=vec2 : a=ub b=ub d=cfg | doc",
                    "overlaps 'vexp'")

    def test_sub_operation_in_enum_overlap(self):
        self.refuse("insn/vector.isa", "insn new custom1 7 1 u4 v sub=2 config=vec2 : a=ub b=ub d=cfg | doc",
                    "overlaps 'vconv'")

    def test_whole_word_over_sub_operations(self):
        self.refuse("insn/vector.isa", "insn new custom1 7 0 r4 v config=vec3 : a=ub b=ub c=ub d=cfg | doc", "overlaps")

    def test_immediate_form_takes_all_f2(self):
        self.refuse("insn/sync.isa", "insn new custom3 0 3 r4 s : a=val | doc", "overlaps 'set_flag'")

    def test_instruction_twice(self):
        self.refuse("insn/vector.isa", "insn vadd custom2 4 0 r4 v : a=ub | doc", "defined twice")

    def test_f3_too_wide(self):
        self.refuse("insn/vector.isa", "insn new custom2 8 0 r4 v : a=ub | doc", "f3 is too wide")

    def test_f2_too_wide(self):
        self.refuse("insn/vector.isa", "insn new custom2 4 4 r4 v : a=ub | doc", "f2 is too wide")

    def test_sub_too_wide(self):
        self.refuse("insn/vector.isa", "insn new custom2 4 0 u4 v sub=32 : a=ub | doc", "sub is too wide")

    def test_unknown_config(self):
        self.refuse("insn/vector.isa", "insn new custom2 4 0 r4 v config=vec9 : a=ub d=cfg | doc", "unknown config 'vec9'")

    def test_unknown_type(self):
        self.refuse("insn/vector.isa", "insn new custom2 4 0 r4 v config=vec3 types=1001:f12 : a=ub d=cfg | doc",
                    "unknown type 'f12'")

    def test_unknown_architecture(self):
        self.refuse("insn/vector.isa", "insn new custom2 4 0 r4 v soc=42 : a=ub | doc", "unknown architecture 42")

    def test_unknown_opcode(self):
        self.refuse("insn/vector.isa", "insn new custom9 4 0 r4 v : a=ub | doc", "unknown opcode")

    def test_unknown_pipe(self):
        self.refuse("insn/vector.isa", "insn new custom2 4 0 r4 w : a=ub | doc", "unknown pipe 'w'")

    def test_unknown_operand(self):
        self.refuse("insn/vector.isa", "insn new custom2 4 0 r4 v : a=l3 | doc", "unknown operand kind 'l3'")

    def test_operand_form_lacks(self):
        self.refuse("insn/vector.isa", "insn new custom2 4 0 u4 v sub=0 : a=ub c=ub | doc", "no operand c")

    def test_configs_and_operands_differ(self):
        self.refuse("insn/vector.isa", "insn new custom2 4 0 r4 v config=vec3 : a=ub | doc", "0 cfg operands")

    def test_types_and_soc_differ(self):
        self.refuse("insn/vector.isa", "insn new custom2 4 0 r4 v soc=2201 types=1001:f16 : a=ub | doc",
                    "different architectures")

    def test_instruction_without_text(self):
        self.refuse("insn/vector.isa", "insn new custom2 4 0 r4 v : a=ub", "'new' has no text")

    def test_conversion_of_unknown_type(self):
        self.refuse("insn/vector.isa", "convert s64 s64 - soc=1001", "vconv has no type 's64' on 1001")

    def test_config_fields_overlap(self):
        self.refuse("insn/formats.isa", "config new repeat=7:0 dst_blk=15:7", "'dst_blk' overlaps")

    def test_config_beyond_word(self):
        self.refuse("insn/formats.isa", "config new repeat=64:60", "impossible bits")

    def test_config_unknown_enum(self):
        self.refuse("insn/formats.isa", "config new repeat=7:0:colour", "unknown enum 'colour'")

    def test_config_field_too_narrow(self):
        self.refuse("insn/formats.isa", "config new dtype=2:0:dtype", "too narrow for enum dtype")

    def test_config_field_without_text(self):
        self.refuse("insn/formats.isa", "config new speed=2:0", "'speed' of config new has no text")

    def test_text_without_field(self):
        self.refuse("insn/formats.isa", "field speed | how fast", "'speed', which no config has")

    def test_enum_value_twice(self):
        self.refuse("insn/formats.isa", "enum new a=1 b=1", "'b' has the value of 'a'")

    def test_unknown_line(self):
        self.refuse("insn/formats.isa", "opcodes custom4 0x0b", "unknown kind of line 'opcodes'")

    def test_csr_without_text(self):
        self.refuse("csr.csv", "new,0x8f0,rw,0,", "'new' has no text")

    def test_csr_number_twice(self):
        self.refuse("csr.csv", "new,0x800,rw,0,doc", "has the value of 'vmask0'")

    def test_csr_writable_in_read_only_range(self):
        self.refuse("csr.csv", "new,0xcf0,rw,0,doc", "read-only")

    def test_fault_without_text(self):
        self.refuse("faults.csv", "new,99,", "fault 'new' has no text")

    def test_status_without_columns(self):
        self.refuse("status.csv", "err_new,-99", "expected 3 columns")

    def test_value_is_no_number(self):
        self.refuse("status.csv", "err_new,minus,doc", "not a number: 'minus'")

    def test_register_without_text(self):
        self.refuse("regs/function.regs", "reg new 0x0800 32 ro -", "register 'new' has no text")

    def test_registers_overlap(self):
        self.refuse("regs/function.regs", "reg new 0x001c 32 ro - | doc", "overlaps 'hbm_base'")

    def test_register_reset_too_wide(self):
        self.refuse("regs/function.regs", "reg new 0x0800 32 rw 0x100000000 | doc", "reset value is too wide")

    def test_member_at_wrong_offset(self):
        self.refuse_change("layout/queues.layout", r"^ cmd_id     4 u32", " cmd_id     5 u32", "expected 4")

    def test_member_without_text(self):
        self.refuse_change("layout/queues.layout", r"^( core_kind  2 u8).*", r"\1", "'core_kind' has no text")

    def test_struct_of_wrong_size(self):
        self.refuse_change("layout/queues.layout", r"^struct cqe 32", "struct cqe 40", "fill 32 bytes of 40")


    def test_bits_of_a_register(self):
        self.refuse("regs/function.regs", "field control.third 1 | doc", "'third' overlaps another field")

    def test_bits_outside(self):
        self.refuse("regs/function.regs", "field control.far 32 | doc", "'far' has impossible bits")

    def test_bits_of_nothing(self):
        self.refuse("regs/function.regs", "field nothing.bit 0 | doc", "no register or field 'nothing'")

    def test_bits_of_a_member(self):
        self.refuse_change("layout/queues.layout", r"^  args_flags.in_device 0", "  args_flags.in_device 16", "impossible bits")

    def test_map_overlap(self):
        self.refuse_change("layout/address.map", r"^map  l1      0x21000000", "map  l1      0x20800000", "'l1' overlaps")

    def test_map_window_of_another_size(self):
        self.refuse_change("layout/address.map", r"^map  fb      0x26000000  0x27000000", "map  fb      0x26000000  0x28000000",
                           "'fb' is not as large")


class Output(Base):
    def test_is_the_same_every_time(self):
        for number in ("1", "2"):
            result = generate(self.tables, self.folder / number, number)
            self.assertEqual(result.returncode, 0, result.stderr)
        first = read_tree(self.folder / "1")
        self.assertGreater(len(first), 15)
        self.assertEqual(first, read_tree(self.folder / "2"))

    def test_names_no_place_and_no_date(self):
        generate(self.tables, self.folder / "out")
        for name, text in read_tree(self.folder / "out").items():
            self.assertNotIn(str(self.folder), text, name)
            self.assertNotIn(str(TABLES), text, name)
            self.assertIsNone(re.search(r"\b20[0-9]{2}-[0-9]{2}-[0-9]{2}\b", text), name)


if __name__ == "__main__":
    unittest.main()
