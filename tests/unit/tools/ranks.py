# SPDX-License-Identifier: Apache-2.0
"""Ranks of a group that do collectives, recorded."""
import json
import os
import pathlib
import socket
import subprocess


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def record(member, place, ranks, rounds, soc):
    """Runs `ranks` processes on a chip; the folder with a tape of each."""
    place = pathlib.Path(place)
    place.mkdir()
    devices = [{"device_id": str(rank), "device_ip": f"192.168.1.{rank + 1}", "rank_id": str(rank)} for rank in range(ranks)]
    table, tapes = place / "table.json", place / "tapes"
    table.write_text(json.dumps({"status": "completed", "version": "1.0", "server_count": "1",
                                 "server_list": [{"server_id": "node_0", "device": devices}]}))
    tapes.mkdir()
    environment = {**os.environ, "HCCL_IF_BASE_PORT": str(free_port()), "ASCEND_GLOBAL_LOG_LEVEL": "4", "LEO_SOC": str(soc),
                   "LEO_TAPE": str(tapes)}
    members = [subprocess.Popen([member, table, str(rank), str(rounds)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True) for rank in range(ranks)]
    for one in members:
        _, said = one.communicate(timeout=300)
        if one.returncode:
            raise RuntimeError(said)
    return tapes
