# SPDX-License-Identifier: Apache-2.0
"""Data-parallel jobs under torchrun, a simulated card for each process (ddp_worker.py)."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import common

WORKER = Path(__file__).resolve().parent / "ddp_worker.py"


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Jobs(common.Case):
    def start_job(self, processes, **environment):
        return subprocess.run([sys.executable, "-B", "-m", "torch.distributed.run", f"--nproc-per-node={processes}",
                               f"--master-port={free_port()}", WORKER],
                              env={**os.environ, "LEO_DEVICES": str(processes), "OMP_NUM_THREADS": "1", **environment},
                              capture_output=True, text=True, check=False, timeout=800)

    def run_job(self, processes, **environment):
        done = self.start_job(processes, **environment)
        print(done.stdout, flush=True)
        self.assertEqual(done.returncode, 0, done.stderr[-6000:])
        self.assertIn("good", done.stdout)
        # run.py counts operators that fell back to the CPU in what it sees.
        sys.stderr.write(done.stderr)

    def test_two_processes(self):
        self.run_job(2)

    def test_four_processes(self):
        self.run_job(4)

    def test_eight_processes(self):
        self.run_job(8)

    def test_rank_table(self):
        with tempfile.TemporaryDirectory() as place:
            table = Path(place) / "table.json"
            table.write_text("{}")
            # torch_npu goes on without a table that is refused: the log says whether it was read.
            log = {"RANK_TABLE_FILE": str(table), "ASCEND_LOG_PRINT_TO_STDOUT": "1"}
            refused = self.start_job(2, **log)
            self.assertIn("completed", refused.stdout + refused.stderr)
            devices = [{"device_id": str(rank), "device_ip": f"192.168.1.{rank + 1}", "rank_id": str(rank)} for rank in range(2)]
            table.write_text(json.dumps({"status": "completed", "version": "1.0", "server_count": "1",
                                         "server_list": [{"server_id": "node_0", "device": devices}]}))
            taken = self.start_job(2, **log, HCCL_IF_BASE_PORT=str(free_port()))
            self.assertEqual(taken.returncode, 0, taken.stderr[-6000:])
            self.assertNotIn("rank table", taken.stdout + taken.stderr)


if __name__ == "__main__":
    common.main()
