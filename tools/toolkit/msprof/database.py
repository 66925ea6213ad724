# SPDX-License-Identifier: Apache-2.0
"""msprof_*.db: the same facts as the tables, as an SQLite file, by the names torch_npu and the vendor's viewers query."""

import os
import sqlite3

# Kinds of calls (CANN_API.type); a launch of an operator is of the node level.
API_TYPES = {"acl": 20000, "model": 15000, "node": 10000, "hccl": 5500, "runtime": 5000}
NOT_OF_A_MODEL = NOT_OF_A_GRAPH = 4294967295

TABLES = """
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE NPU_INFO (id INTEGER, name TEXT);
CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER);
CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER PRIMARY KEY,
    globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, mixBlockDim INTEGER,
    taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER,
    outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER);
CREATE TABLE NPU_MEM (type INTEGER, ddr INTEGER, hbm INTEGER, timestampNs INTEGER, deviceId INTEGER);
"""


class Strings:
    """Texts by number, each once."""

    def __init__(self):
        self.ids = {}

    def __call__(self, text):
        return self.ids.setdefault(text, len(self.ids))


def task_rows(profile, strings):
    """A row of TASK for each task, of COMPUTE_TASK_INFO for each kernel, and of CANN_API for each launch."""
    tasks, kernels, launches = [], [], []
    for device in profile.devices:
        for task in device.tasks:
            number = len(tasks)
            tasks.append((task.start, task.end, device.number, number, number, profile.process, strings(device.core_of(task)),
                          NOT_OF_A_GRAPH, task.stream, task.id, NOT_OF_A_MODEL))
            if task.launch is not None:
                # The moment of a launch is known, not how long the call took.
                launches.append((task.launch, task.launch, API_TYPES["node"], profile.process << 32 | task.thread, number,
                                 strings("launch")))
            if task.is_compute:
                texts = [";".join(getattr(tensor, what) for tensor in side) for side in (task.inputs, task.outputs)
                         for what in ("layout", "dtype", "dims")]
                kernels.append((strings(task.label), number, task.blocks, 0, strings(device.core_of(task)), strings(task.type),
                                *map(strings, texts), strings("")))
    return tasks, kernels, launches


def fill(base, profile):
    strings = Strings()
    tasks, kernels, calls = task_rows(profile, strings)
    for row in profile.apis:
        calls.append((profile.real(row["begin"]), profile.real(row["end"]), API_TYPES.get(row["level"], API_TYPES["acl"]),
                      profile.process << 32 | int(row["thread"]), len(tasks) + len(calls), strings(row["name"])))
    memory = [(strings("APP"), 0, int(row["bytes"]), profile.real(row["ns"]), int(row["device"])) for row in profile.memory]
    times = [time for row in calls for time in row[:2]] + [time for row in tasks for time in row[:2]]
    base.executescript(TABLES)
    for table, rows in (("TASK", tasks), ("COMPUTE_TASK_INFO", kernels), ("CANN_API", calls), ("NPU_MEM", memory),
                        ("STRING_IDS", [(number, text) for text, number in strings.ids.items()]),
                        ("ENUM_API_TYPE", [(number, name) for name, number in API_TYPES.items()]),
                        ("NPU_INFO", [(device.number, device.info["soc"]) for device in profile.devices]),
                        ("SESSION_TIME_INFO", [(min(times), max(times))] if times else [])):
        if rows:
            base.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)


def write(path, profile):
    """Readers wait for the file's name: it appears complete."""
    making = path.with_name(f".{path.name}_{os.getpid()}")
    try:
        base = sqlite3.connect(making)
        try:
            with base:
                fill(base, profile)
        finally:
            base.close()
        # torch_npu refuses files that others may write.
        making.chmod(0o640)
        making.rename(path)
    except sqlite3.Error as problem:
        raise OSError(f"{path}: {problem}") from problem
    finally:
        making.unlink(missing_ok=True)
