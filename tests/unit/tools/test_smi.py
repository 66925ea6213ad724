# SPDX-License-Identifier: Apache-2.0
"""test_smi.py LEO MEMBER: leo smi sees other processes at work, their memory and traffic, and nothing of those that have ended."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

LEO, MEMBER = sys.argv[1:3]
ALLOCATED = 2 << 20  # member.c: twice 2^18 floats


def smi(*words):
    return subprocess.run([LEO, "smi", *words], capture_output=True, text=True, check=True, timeout=60).stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Smi(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        table = Path(self.place.name) / "table.json"
        devices = [{"device_id": str(rank), "device_ip": f"192.168.1.{rank + 1}", "rank_id": str(rank)} for rank in range(2)]
        table.write_text(json.dumps({"status": "completed", "version": "1.0", "server_count": "1",
                                     "server_list": [{"server_id": "node_0", "device": devices}]}))
        environment = {**os.environ, "HCCL_IF_BASE_PORT": str(free_port()), "ASCEND_GLOBAL_LOG_LEVEL": "4"}
        self.members = [subprocess.Popen([MEMBER, table, str(rank), "1000000"], env=environment, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL, text=True) for rank in range(2)]
        for member in self.members:
            self.assertEqual(member.stdout.readline(), "met\n")

    def tearDown(self):
        for member in self.members:
            member.kill()
            member.communicate()
        self.place.cleanup()

    def look(self, *words):
        """What one document says of our processes."""
        pids = {member.pid for member in self.members}
        return [row for row in json.loads(smi("--json", *words))["processes"] if row["pid"] in pids]

    def wait_for_work(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            rows = self.look()
            if len(rows) == 2 and all(row["link_bytes"] for row in rows):
                return rows
            time.sleep(0.05)
        self.fail(f"nothing to be seen after 30 s: {rows}")

    def test_processes_are_seen(self):
        rows = self.wait_for_work()
        for row in rows:
            self.assertEqual((row["device"], row["command"], row["chip"]), (0, "hccl_member", "ascend910a"))
            self.assertGreaterEqual(row["memory_used_bytes"], ALLOCATED)
            self.assertLess(row["memory_used_bytes"], row["memory_bytes"])
            self.assertGreater(row["simulated_ns"], 0)
            self.assertGreater(row["tasks"], 0)
            self.assertEqual(row["kernels"], 0)  # it only copies and adds up
        time.sleep(0.3)
        later = {row["pid"]: row for row in self.wait_for_work()}
        for row in rows:
            for name in ("simulated_ns", "tasks", "link_bytes"):
                self.assertGreater(later[row["pid"]][name], row[name], name)

    def test_text_and_watch(self):
        self.wait_for_work()
        text = smi("--watch", "0.1", "--count", "2")
        for member in self.members:
            self.assertEqual(sum(line.split()[0] == str(member.pid) for line in text.splitlines() if line.split()), 2, text)
        self.assertEqual(text.count("memory used / total"), 1)  # the devices do not change

    def test_tables_of_the_vendors(self):
        self.wait_for_work()
        lines = smi("--style", "npu", "--soc", "ascend910a").splitlines()
        self.assertEqual({len(line) for line in lines}, {98}, lines)
        for member in self.members:
            row = [line for line in lines if f" {member.pid} " in line]
            self.assertEqual(len(row), 1)
            fields = [field.strip() for field in row[0].strip("|").split("|")]
            self.assertEqual(fields[1:3], [str(member.pid), "hccl_member"])
            self.assertGreaterEqual(int(fields[3]), ALLOCATED >> 20)
        self.assertTrue(any(line.startswith("| 0     910A ") and "| OK " in line for line in lines), lines)
        # Another chip's processes are not that card's.
        text = smi("--style", "mlu", "--soc", "mlu370")
        self.assertIn("No running processes found", text)
        self.assertIn("MLU370", text)
        self.assertEqual({len(line) for line in text.splitlines() if line}, {80}, text)

    def test_who_is_killed_is_gone(self):
        self.wait_for_work()
        for member in self.members:
            member.send_signal(signal.SIGKILL)
            member.wait()
        self.assertEqual(self.look(), [])


class WrongUse(unittest.TestCase):
    def test_words(self):
        for words in (["--count", "0"], ["--count"], ["--soc"], ["--watch", "x"]):
            done = subprocess.run([LEO, "smi", *words], capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("usage: leo smi", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
