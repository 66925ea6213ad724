# SPDX-License-Identifier: Apache-2.0
"""msprof_*.json: the program's calls, the device's tasks, what they add up to, and arrows from launch to task."""

import json

from raw import merge
from tables import us

# Process rows: (pid << 10) | (sort index << 5) | device.
CANN, HARDWARE, OVERLAP = 7, 8, 10
FREE, COMPUTING, COMMUNICATION, EXPOSED = "Free", "Computing", "Communication", "Communication(Not Overlapped)"


def row_pid(profile, index, device=0):
    return (profile.process << 10) | (index << 5) | device


def name_rows(profile):
    processes = [(CANN, "CANN", "CPU", 0)]
    for device in profile.devices:
        processes += [(HARDWARE, "Ascend Hardware", f"NPU {device.number}", device.number),
                      (OVERLAP, "Overlap Analysis", f"NPU {device.number}", device.number)]
    for index, name, label, device in processes:
        pid = row_pid(profile, index, device)
        yield {"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": name}}
        yield {"name": "process_labels", "pid": pid, "tid": 0, "ph": "M", "args": {"labels": label}}
        yield {"name": "process_sort_index", "pid": pid, "tid": 0, "ph": "M", "args": {"sort_index": index}}
    threads = {int(row["thread"]) for row in profile.apis} | {t.thread for d in profile.devices for t in d.tasks if t.launch}
    for thread in sorted(threads):
        yield thread_name(row_pid(profile, CANN), thread, f"Thread {thread}")
    for device in profile.devices:
        for stream in sorted({task.stream for task in device.tasks}):
            yield thread_name(row_pid(profile, HARDWARE, device.number), stream, f"Stream {stream}")
        for i, name in enumerate((COMPUTING, COMMUNICATION, EXPOSED, FREE)):
            yield thread_name(row_pid(profile, OVERLAP, device.number), i, name)


def thread_name(pid, tid, name):
    return {"name": "thread_name", "pid": pid, "tid": tid, "ph": "M", "args": {"name": name}}


def span(name, pid, tid, start, duration, args=None):
    return {"name": name, "pid": pid, "tid": tid, "ts": us(start), "dur": duration / 1000, "ph": "X", "args": args or {}}


def host_calls(profile):
    pid = row_pid(profile, CANN)
    for row in profile.apis:
        begin = profile.real(row["begin"])
        yield span(f"AscendCL@{row['name']}", pid, int(row["thread"]), begin, profile.real(row["end"]) - begin,
                   {"Thread Id": int(row["thread"]), "Mode": row["level"]})


def device_tasks(profile, device):
    pid, host = row_pid(profile, HARDWARE, device.number), row_pid(profile, CANN)
    for task in device.tasks:
        yield span(task.name, pid, task.stream, task.start, task.duration,
                   {"Task Type": device.core_of(task), "Physic Stream Id": task.stream, "Task Id": task.id,
                    "Block Num": task.blocks, "Simulated Start(us)": us(task.sim_start)})
        if task.launch is not None:
            flow = {"name": "HostToDevice", "cat": "HostToDevice", "id": str(task.id << 8 | device.number)}
            yield {**flow, "ph": "s", "pid": host, "tid": task.thread, "ts": us(task.launch)}
            yield {**flow, "ph": "f", "bp": "e", "pid": pid, "tid": task.stream, "ts": us(task.start)}


def overlap(profile, device):
    """Computing is the union of all kernels. Free is the simulated time in which the device did nothing, drawn before the
    work that ended it: the host's slowness is no part of it."""
    pid = row_pid(profile, OVERLAP, device.number)
    kernels = [task for task in device.tasks if task.is_compute]
    for start, end in merge((t.start, t.end) for t in kernels):
        yield span(COMPUTING, pid, 0, start, end - start)
    busy_until = None
    for task in device.tasks:
        if not task.duration:
            continue
        if busy_until is not None and task.sim_start > busy_until:
            gap = task.sim_start - busy_until
            yield span(FREE, pid, 3, task.start - gap, gap)
        busy_until = max(task.sim_end, busy_until or 0)


def write(path, profile):
    events = list(name_rows(profile)) + list(host_calls(profile))
    for device in profile.devices:
        events += list(device_tasks(profile, device)) + list(overlap(profile, device))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(events, file)
