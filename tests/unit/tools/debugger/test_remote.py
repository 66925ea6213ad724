# SPDX-License-Identifier: Apache-2.0
"""test_remote.py LEO KERNELS: leo run --gdb as a client of gdb's remote protocol sees it. KERNELS is tests/system/kernels."""

import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from remote import Server, compile_kernel

LEO, KERNELS = sys.argv[1:3]
HERE = Path(__file__).parent
IMAGE, UB, L1, GM, RETURN = 0x10000000, 0x20000000, 0x21000000, 0x100000000, 0xFFFFFFFFFFFFF000
BLOCKS, COUNT = 4, 64


def symbol(elf, name):
    """Core address of a symbol of the file."""
    data = Path(elf).read_bytes()
    sections_at, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, sections_at + i * size) for i in range(count)]
    for kind in (section for section in sections if section[1] == 2):
        names = sections[kind[6]][4]
        for at in range(kind[4], kind[4] + kind[5], 24):
            start, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, at)
            if data[names + start:data.index(b"\0", names + start)].decode() == name:
                return IMAGE + value
    raise AssertionError(f"no symbol {name}")


class Remote(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        place = Path(cls.folder.name)
        cls.elf, cls.cross = str(place / "stops.elf"), str(place / "cross.elf")
        compile_kernel(LEO, HERE / "stops.c", cls.elf)
        compile_kernel(LEO, Path(KERNELS) / "cross_kernels.c", cls.cross)
        cls.x, cls.y = str(place / "x.bin"), str(place / "y.bin")
        Path(cls.x).write_bytes(struct.pack(f"<{BLOCKS * COUNT}f", *range(BLOCKS * COUNT)))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def server(self, what=0, **options):
        return Server(LEO, self.elf, "--blocks", str(BLOCKS), "--arg", f"in:{self.x}", "--arg", f"out:{BLOCKS * COUNT * 4}:{self.y}",
                      "--arg", str(what), **options)

    def results(self):
        return struct.unpack(f"<{BLOCKS * COUNT}f", Path(self.y).read_bytes())

    def test_entry(self):
        """Everything stands before the first instruction, with a thread a block and the kernel's arguments in registers."""
        with self.server() as server:
            self.assertIn("PacketSize=", server.ask("qSupported:swbreak+"))
            self.assertEqual(server.ask("?"), "T05thread:1;")
            self.assertEqual(server.threads(), [1, 2, 3, 4])
            self.assertEqual(server.ask("qOffsets"), f"TextSeg={IMAGE:x}")
            self.assertEqual(server.ask("qXfer:exec-file:read::0,fff"), "l" + os.path.realpath(self.elf))
            self.assertEqual(server.pc(1), symbol(self.elf, "stops"))
            self.assertEqual(server.register(1), RETURN)
            self.assertGreater(server.register(10), GM)
            name = bytes.fromhex(server.ask("qThreadExtraInfo,3")).decode()
            self.assertRegex(name, r"^block 2, core \d+$")
            self.assertIn("core", server.ask("qXfer:features:read:target.xml:0,3000"))
            self.assertEqual(server.ask("qNoSuchThing"), "")
            self.assertEqual(server.ask("Xnothing"), "")
            self.assertEqual(server.go()[0], "W00")
            _, _, code = server.end()
            self.assertEqual(code, 0)
            self.assertEqual(self.results(), tuple(2 * i for i in range(BLOCKS * COUNT)))

    def test_breakpoint_stops_each_block(self):
        with self.server() as server:
            server.quiet()
            at = symbol(self.elf, "twice")
            self.assertEqual(server.ask(f"Z0,{at:x},4"), "OK")
            seen = []
            while (stop := server.go()[0]).startswith("T05"):
                thread = int(re.search(r"thread:(\w+);", stop)[1], 16)
                self.assertEqual(server.pc(thread), at)
                seen.append((thread, server.register(10)))
            self.assertEqual(seen, [(1, 0), (2, 1), (3, 2), (4, 3)])  # the argument is the block
            self.assertEqual(stop, "W00")

    def test_step_moves_one_thread(self):
        with self.server() as server:
            begin = server.pc(1)
            for turn in range(1, 6):
                self.assertEqual(server.go("vCont;s:2")[0], "T05thread:2;")
                self.assertEqual(server.pc(2), begin + 4 * turn)
                self.assertEqual([server.pc(thread) for thread in (1, 3, 4)], [begin] * 3)
            low, high = begin + 4 * 5, begin + 4 * 9
            self.assertEqual(server.go(f"vCont;r{low:x},{high:x}:2")[0], "T05thread:2;")
            self.assertEqual(server.pc(2), high)

    def test_registers_and_memory(self):
        with self.server() as server:
            self.assertEqual(server.ask(f"Z0,{symbol(self.elf, 'twice'):x},4"), "OK")
            server.go()
            self.assertEqual(server.ask("Pa=0300000000000000"), "OK")  # as if it were block 3
            self.assertEqual(server.register(10), 3)
            self.assertTrue(server.ask("P0=0300000000000000").startswith("E"))  # x0
            self.assertEqual(len(server.ask("g")) // 2, 8 * (33 + 32 + 13) + 4)
            self.assertNotEqual(server.memory(symbol(self.elf, "stops"), 4), bytes(4))
            self.assertEqual(server.ask(f"M{UB + 16:x},4:01020304"), "OK")
            self.assertEqual(server.memory(16, 4), bytes((1, 2, 3, 4)))  # the same by its bare offset
            self.assertEqual(server.ask(f"m{L1:x},4"), "E14")  # a vector core has none
            self.assertEqual(server.ask("mfffffffff0,4"), "E14")
            end = UB + 196608 - 4
            self.assertEqual(len(server.memory(end, 64)), 4)  # up to where the memory ends
            self.assertTrue(server.ask(f"M{IMAGE:x},4:00000000").startswith("E"))  # code is not written

    def test_hazard_and_fault_stop(self):
        lines = (HERE / "stops.c").read_text().splitlines()
        product = next(i for i, line in enumerate(lines, 1) if "the product" in line)
        beyond = next(i for i, line in enumerate(lines, 1) if "beyond" in line)
        with self.server(1) as server:
            stop, said = server.go()
            self.assertEqual(stop, "T05thread:1;")
            self.assertRegex(said, rf"hazard(.|\n)*stops.c:{product}\b(.|\n)*mte2 touched them at .*stops.c:")
            self.assertEqual(server.memory(0, 8), struct.pack("<2f", 0, 1))
            while stop.startswith("T"):
                stop, _ = server.go()
            self.assertEqual(stop, "W01")
        with self.server(2) as server:
            stop, said = server.go()
            self.assertEqual(stop, "T0bthread:1;")
            self.assertRegex(said, rf"gm_out_of_range(.|\n)*stops.c:{beyond}\b")
            while stop.startswith("T"):
                stop, _ = server.go()
            _, errors, code = server.end()
            self.assertEqual(code, 1)
            self.assertIn(f"stops.c:{beyond}", errors)

    def test_same_again(self):
        """A launch begun again stops at the same places with the same registers; so does vRun."""
        at = symbol(self.elf, "twice")

        def stops(server):
            self.assertEqual(server.ask(f"Z0,{at:x},4"), "OK")
            return [(server.go()[0], server.ask("g")) for _ in range(3)]

        with self.server() as server:
            self.assertEqual(server.ask("!"), "OK")
            first = stops(server)
            self.assertEqual(server.ask("vKill;1"), "OK")
            self.assertEqual(server.go("vRun;")[0], "T05thread:1;")
            self.assertEqual(stops(server), first)
            server.ask(f"z0,{at:x},4")
            self.assertEqual(server.go()[0], "W00")
            self.assertEqual(server.go("vRun;")[0], "T05thread:1;")  # after the end, too
            self.assertEqual(server.go()[0], "W00")
            _, _, code = server.end()
            self.assertEqual(code, 0)

    def test_time_and_results_do_not_change(self):
        arguments = ["--soc", "ascend910b1", self.elf, "--blocks", str(BLOCKS), "--arg", f"in:{self.x}", "--arg", "out:1024", "--arg", "0"]
        plain = subprocess.run([LEO, "run", *arguments], capture_output=True, text=True, check=True, timeout=120).stdout
        with self.server() as server:
            server.ask(f"Z0,{symbol(self.elf, 'twice'):x},4")
            while server.go()[0] != "W00":
                server.go("vCont;s:1")
            out, _, _ = server.end()
        self.assertEqual(out, plain)

    def test_cores_that_wait_for_each_other(self):
        """A step of one block alone goes on when it waits for a block that stands still."""
        with Server(LEO, self.cross, "--kernel", "sum_all", "--blocks", "4", "--arg", "out:128", "--arg", "out:128") as server:
            server.quiet()
            returned = server.pc(1)
            for _ in range(2000):
                stop, _ = server.go(f"vCont;r{IMAGE:x},{IMAGE + 0x100000:x}:1")
                if not stop.startswith("T"):
                    break
                returned = server.pc(int(re.search(r"thread:(\w+);", stop)[1], 16))
            self.assertEqual(stop, "W00", hex(returned))

    def test_groups(self):
        """A block of a cube core and two vector cores: three threads, each with its memories."""
        with Server(LEO, self.cross, "--kernel", "fused", "--blocks", "2", "--check", "none", "--arg", "out:8192", "--arg", "out:6144",
                    "--arg", "out:24576", "--arg", "out:24576") as server:
            self.assertEqual(server.threads(), [1, 2, 3, 4, 5, 6])
            names = [bytes.fromhex(server.ask(f"qThreadExtraInfo,{thread:x}")).decode().split(",")[0] for thread in server.threads()]
            self.assertEqual(names, ["block 0 cube", "block 0 vector 0", "block 0 vector 1", "block 1 cube", "block 1 vector 0", "block 1 vector 1"])
            for thread, has_ub in ((1, False), (2, True)):
                server.ask(f"Hg{thread}")
                self.assertEqual(server.ask(f"m{UB:x},4").startswith("E"), not has_ub)
                self.assertEqual(server.ask(f"m{L1:x},4").startswith("E"), has_ub)
            table = bytes.fromhex(server.ask("qRcmd," + b"cores".hex())).decode()
            self.assertEqual(len(table.splitlines()), 7)

    def test_gdb_that_is_gone(self):
        with self.server() as server:
            server.ask(f"Z0,{symbol(self.elf, 'twice'):x},4")
            server.go()
            out, errors, code = server.end()  # hangs up in the middle
            self.assertEqual(code, 0)
            self.assertIn("runs on without gdb", errors)
            self.assertIn("us simulated", out)

    def test_detach_and_kill(self):
        with self.server() as server:
            self.assertEqual(server.ask("D"), "OK")
            _, _, code = server.end()
            self.assertEqual(code, 0)
        with self.server() as server:
            server.send("k")
            _, errors, code = server.end()
            self.assertEqual(code, 1)
            self.assertIn("killed by gdb", errors)

    def test_second_connection_is_turned_away(self):
        with self.server() as server:
            self.assertEqual(server.ask("?"), "T05thread:1;")
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as second:
                server.ask("?")
                self.assertEqual(second.recv(16), b"")
            self.assertEqual(server.go()[0], "W00")
            self.assertIn("a second debugger was turned away", server.end()[1])

    def test_damaged_packets(self):
        with self.server() as server:
            server.socket.sendall(b"$?#00")  # a wrong sum
            self.assertEqual(server.byte(), b"-")
            self.assertEqual(server.ask("?"), "T05thread:1;")
            self.assertEqual(server.ask("vCont;x"), "E01")
            self.assertEqual(server.ask("M10,4:0"), "E01")
            self.assertEqual(server.ask("Z0,10000002,4"), "E0e")
            self.assertEqual(server.ask("Z2,10000000,4"), "")
            self.assertEqual(server.ask("T63"), "E03")
            self.assertEqual(server.ask("m" + "f" * 40 + ",ffffffff"), "E14")
            self.assertEqual(server.ask("q" + "a" * 20000), "")
            self.assertEqual(server.go()[0], "W00")

    def test_interrupt(self):
        """A stop from outside, of a kernel that never ends."""
        source = Path(self.folder.name) / "loop.c"
        source.write_text("#include <leo/device.h>\n__global__ __vector__ void loop(__gm__ uint32_t *x)\n{\n"
                          "    for (volatile uint32_t i = 0;; i++) {\n    }\n}\n")
        elf = str(source.with_suffix(".elf"))
        compile_kernel(LEO, source, elf)
        with Server(LEO, elf, "--arg", "out:64") as server:
            server.send("vCont;c")
            server.socket.sendall(b"\x03")
            self.assertEqual(server.receive(), "T02thread:1;")
            self.assertGreater(server.pc(1), IMAGE)

    def test_ports(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            for port, text in ((str(taken.getsockname()[1]), "listens there already"), ("word", "0 (a free port) to 65535"),
                               ("70000", "0 (a free port) to 65535")):
                run = subprocess.run([LEO, "run", "--gdb", port, self.elf, "--arg", "out:1024", "--arg", "out:1024", "--arg", "0",
                                      "--soc", "ascend910b1"], capture_output=True, text=True, timeout=120)
                self.assertEqual(run.returncode, 1)
                self.assertIn(text, run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
