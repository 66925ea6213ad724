#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""two_hosts.py MEMBER: four ranks of a rank table on two hosts, that is two network namespaces joined by a cable (veth).

The second part cuts the cable in mid-work: both sides must be told. Exit code 77, a skipped test: namespaces need root.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOSTS = [(f"leo{os.getpid()}a", "10.213.7.1"), (f"leo{os.getpid()}b", "10.213.7.2")]
REPORTED = 3  # member.c


def ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, capture_output=True, text=True)


def make_hosts():
    for name, _ in HOSTS:
        ip("netns", "add", name)
    (a, _), (b, _) = HOSTS
    ip("link", "add", "cable", "netns", a, "type", "veth", "peer", "name", "cable", "netns", b)
    for name, address in HOSTS:
        ip("-n", name, "addr", "add", f"{address}/24", "dev", "cable")
        ip("-n", name, "link", "set", "cable", "up")
        ip("-n", name, "link", "set", "lo", "up")
    for name, _ in HOSTS:
        while "LOWER_UP" not in ip("-n", name, "link", "show", "cable").stdout:
            time.sleep(0.02)


def remove_hosts():
    for name, _ in HOSTS:
        ip("netns", "del", name, check=False)


def write_table(path):
    servers = [{"server_id": f"node_{i}", "host_ip": address,
                "device": [{"device_id": str(d), "device_ip": f"192.168.{i}.{d + 1}", "rank_id": str(2 * i + d)} for d in range(2)]}
               for i, (_, address) in enumerate(HOSTS)]
    path.write_text(json.dumps({"status": "completed", "version": "1.0", "server_count": "2", "server_list": servers}))


def start(member, table, rounds):
    environment = {**os.environ, "ASCEND_GLOBAL_LOG_LEVEL": "4", "HCCL_CONNECT_TIMEOUT": "30", "HCCL_EXEC_TIMEOUT": "4"}
    return [subprocess.Popen(["ip", "netns", "exec", HOSTS[rank // 2][0], member, table, str(rank), str(rounds)], env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(4)]


def finish(processes, wanted):
    bad = 0
    for rank, process in enumerate(processes):
        try:
            _, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            errors = "no end after 60 s"
            process.communicate()
        if process.returncode != wanted:
            print(f"rank {rank}: exit code {process.returncode}, {wanted} is right: {errors}")
            bad += 1
    return bad


def main():
    member = sys.argv[1]
    try:
        make_hosts()
    except OSError as error:
        print(f"skipped: network namespaces cannot be made here: {error}")
        return 77
    except subprocess.CalledProcessError as error:
        remove_hosts()
        print(f"skipped: network namespaces cannot be made here (they need root): {error.stderr}")
        return 77
    try:
        with tempfile.TemporaryDirectory() as place:
            table = Path(place) / "table.json"
            write_table(table)
            bad = finish(start(member, str(table), 40), 0)
            processes = start(member, str(table), 1000000)
            for process in processes:
                process.stdout.readline()  # they have met
            time.sleep(0.2)
            ip("-n", HOSTS[0][0], "link", "del", "cable")
            began = time.monotonic()
            bad += finish(processes, REPORTED)
            print(f"told {time.monotonic() - began:.1f} s after the cable was cut")
    finally:
        remove_hosts()
    return 1 if bad else 0


sys.exit(main())
