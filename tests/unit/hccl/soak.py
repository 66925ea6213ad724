#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak.py MEMBER [--kills N] [--ranks N] [--seed N]: ranks killed at random times; nothing may hang or stay behind.

Each time a group of processes (member.c) sums up numbers until one of them is killed with signal 9: before they have met, in
the middle of an operation, or between two. The others must end with an error of their own in time. Afterwards no process, shared
memory file, System V segment or listening socket of theirs may be left.
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPORTED = 3  # member.c
PATIENCE_S = 30  # for the others to notice; the keepalive of the transport asks once a second


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def leftovers(port, makers=()):
    """What of a group may stay in the system after its processes."""
    found = {f"{place}/{name}" for place in ("/dev/shm", "/tmp") for name in os.listdir(place) if "ucx" in name}
    for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[4]) in makers:  # the process that made it
            found.add(f"System V segment {fields[1]}")
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and int(fields[1].split(":")[1], 16) == port:
            found.add(f"port {port} listening")
    return found


def write_table(path, ranks):
    devices = [{"device_id": str(rank), "device_ip": f"192.168.1.{rank + 1}", "rank_id": str(rank)} for rank in range(ranks)]
    path.write_text(json.dumps({"status": "completed", "version": "1.0", "server_count": "1",
                                "server_list": [{"server_id": "node_0", "device": devices}]}))


def run_group(member, table, ranks, chance, port):
    """Kills one rank; a text if anything is not as it should be, and the processes' numbers."""
    environment = {**os.environ, "HCCL_IF_BASE_PORT": str(port), "ASCEND_GLOBAL_LOG_LEVEL": "4", "HCCL_CONNECT_TIMEOUT": "5"}
    victim = chance.randrange(ranks)
    processes = [subprocess.Popen([member, table, str(rank), "1000000"], env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) for rank in range(ranks)]
    pids = [process.pid for process in processes]
    try:
        if chance.random() < 0.8:
            processes[victim].stdout.readline()  # they have met
        time.sleep(chance.random() * 0.2)
        processes[victim].send_signal(signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE_S
        for rank, process in enumerate(processes):
            try:
                _, errors = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                return f"rank {rank} still ran {PATIENCE_S} s after rank {victim} was killed", pids
            wanted = -signal.SIGKILL if rank == victim else REPORTED
            if process.returncode != wanted:
                return f"rank {rank} ended with {process.returncode}, rank {victim} was killed: {errors}", pids
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.communicate()
    return None, pids


def wait_for_nothing(port, before, pids):
    """What stays; the system takes a moment to end a killed process's connections, and other groups may be at work beside."""
    for _ in range(30):
        left = leftovers(port, pids) - before
        if not left:
            break
        time.sleep(0.1)
    return left


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("member")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    started = time.monotonic()
    slowest = 0
    with tempfile.TemporaryDirectory() as place:
        table = Path(place) / "table.json"
        write_table(table, args.ranks)
        for kill in range(args.kills):
            port = free_port()
            before = leftovers(port)
            began = time.monotonic()
            wrong, pids = run_group(args.member, str(table), args.ranks, chance, port)
            slowest = max(slowest, time.monotonic() - began)
            left = wait_for_nothing(port, before, pids)
            if not wrong and left:
                wrong = f"left behind: {', '.join(sorted(left))}"
            if wrong:
                print(f"kill {kill + 1} (seed {args.seed}): {wrong}")
                return 1
    print(f"{args.kills} kills of {args.ranks} ranks: nothing hung (slowest {slowest:.1f} s), nothing left behind, "
          f"{time.monotonic() - started:.0f} s")
    return 0


sys.exit(main())
