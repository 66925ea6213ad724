# SPDX-License-Identifier: Apache-2.0
"""A client of gdb's remote protocol, small enough to read: packets are `$text#sum`, answered by + until QStartNoAckMode."""

import os
import re
import socket
import subprocess


def compile_kernel(leo, source, target, *options):
    subprocess.run([leo, "cc", "--soc", "ascend910b1", *options, source, "-o", target], check=True, timeout=120)


class Server:
    """leo run --gdb, and a connection to it."""

    def __init__(self, leo, elf, *arguments, connect=True, environment=None):
        self.process = subprocess.Popen([leo, "run", "--gdb", "0", "--soc", "ascend910b1", elf, *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
        line = self.process.stderr.readline()
        found = re.search(r"waiting for gdb on port (\d+)", line)
        assert found, line
        self.port = int(found[1])
        self.socket = None
        self.is_quiet = False
        if connect:
            self.connect()

    def connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.buffer = b""
        self.is_quiet = False

    def byte(self):
        if not self.buffer:
            self.buffer = self.socket.recv(65536)
            if not self.buffer:
                raise ConnectionError("the server has hung up")
        first, self.buffer = self.buffer[:1], self.buffer[1:]
        return first

    def send(self, text):
        data = text.encode()
        self.socket.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xFF))

    def receive(self):
        while self.byte() != b"$":
            pass
        text = b""
        while (byte := self.byte()) != b"#":
            text += byte
        assert int(self.byte() + self.byte(), 16) == sum(text) & 0xFF
        if not self.is_quiet:
            self.socket.sendall(b"+")
        return text.decode()

    def ask(self, text):
        self.send(text)
        return self.receive()

    def go(self, text="vCont;c"):
        """Lets cores go on; the stop, and what was said on the console."""
        said = ""
        self.send(text)
        while (answer := self.receive()).startswith("O") and answer != "OK":
            said += bytes.fromhex(answer[1:]).decode()
        return answer, said

    def quiet(self):
        assert self.ask("QStartNoAckMode") == "OK"
        self.socket.sendall(b"+")
        self.is_quiet = True

    def threads(self):
        return [int(number, 16) for number in self.ask("qfThreadInfo")[1:].split(",")]

    def register(self, number):
        return int.from_bytes(bytes.fromhex(self.ask(f"p{number:x}")), "little")

    def pc(self, thread):
        assert self.ask(f"Hg{thread:x}") == "OK"
        return self.register(32)

    def memory(self, address, count):
        return bytes.fromhex(self.ask(f"m{address:x},{count:x}"))

    def end(self):
        """What the program printed and its exit code."""
        if self.socket:
            self.socket.close()
        out, errors = self.process.communicate(timeout=120)
        return out, errors, self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        if self.socket:
            self.socket.close()
