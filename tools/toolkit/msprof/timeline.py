# SPDX-License-Identifier: Apache-2.0
"""msprof_*.json: the program's calls, the device's tasks, what they add up to, and arrows from launch to task."""

import json

from raw import merge
from tables import us

# Process rows: (pid << 10) | (sort index << 5) | device.
CANN, HARDWARE, LINKS, OVERLAP = 7, 8, 9, 10
FREE, COMPUTING, COMMUNICATION, EXPOSED = "Free", "Computing", "Communication", "Communication(Not Overlapped)"


def row_pid(profile, index, device=0):
    return (profile.process << 10) | (index << 5) | device


def name_rows(profile):
    processes = [(CANN, "CANN", "CPU", 0)]
    for device in profile.devices:
        processes += [(HARDWARE, "Ascend Hardware", f"NPU {device.number}", device.number),
                      (OVERLAP, "Overlap Analysis", f"NPU {device.number}", device.number)]
        if device.links:
            processes += [(LINKS, "Communication", f"NPU {device.number}", device.number)]
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
        for i, group in enumerate(groups_of(device)):
            yield thread_name(row_pid(profile, LINKS, device.number), i, f"Group {group} Communication")
        for i, name in enumerate((COMPUTING, COMMUNICATION, EXPOSED, FREE)):
            yield thread_name(row_pid(profile, OVERLAP, device.number), i, name)


def groups_of(device):
    return sorted({link.group for link in device.links})


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
        yield span(task.label, pid, task.stream, task.start, task.duration,
                   {"Task Type": device.core_of(task), "Physic Stream Id": task.stream, "Task Id": task.id,
                    "Block Num": task.blocks, "Simulated Start(us)": us(task.sim_start)})
        if task.launch is not None:
            flow = {"name": "HostToDevice", "cat": "HostToDevice", "id": str(task.id << 8 | device.number)}
            yield {**flow, "ph": "s", "pid": host, "tid": task.thread, "ts": us(task.launch)}
            yield {**flow, "ph": "f", "bp": "e", "pid": pid, "tid": task.stream, "ts": us(task.start)}


def device_links(profile, device):
    pid, groups = row_pid(profile, LINKS, device.number), groups_of(device)
    for link in device.links:
        yield span(link.name, pid, groups.index(link.group), link.start, link.duration,
                   {"Rank": link.rank, "Ranks": link.ranks, "Bytes": link.bytes, "Wait(us)": us(link.sim_ready - link.sim_start),
                    "Simulated Start(us)": us(link.sim_start)})


def without(spans, others):
    """The parts of (start, end) pairs that the others, sorted and disjoint, do not cover."""
    for start, end in spans:
        for begin, stop in others:
            if begin < end and stop > start:
                if begin > start:
                    yield start, begin
                start = max(start, stop)
        if start < end:
            yield start, end


def overlap(profile, device):
    """Computing is the union of all kernels, Communication of all collectives. Free is the simulated time in which the device
    did nothing, drawn before the work that ended it: the host's slowness is no part of it."""
    pid = row_pid(profile, OVERLAP, device.number)
    computing = merge((t.start, t.end) for t in device.tasks if t.is_compute)
    communication = merge((link.start, link.end) for link in device.links)
    for row, (name, spans) in enumerate(((COMPUTING, computing), (COMMUNICATION, communication),
                                         (EXPOSED, without(communication, computing)))):
        for start, end in spans:
            yield span(name, pid, row, start, end - start)
    busy_until = None
    for task in sorted([*device.tasks, *device.links], key=lambda one: one.sim_start):
        if not task.duration:
            continue
        if busy_until is not None and task.sim_start > busy_until:
            gap = task.sim_start - busy_until
            yield span(FREE, pid, 3, task.start - gap, gap)
        busy_until = max(task.sim_end, busy_until or 0)


def write(path, profile):
    events = list(name_rows(profile)) + list(host_calls(profile))
    for device in profile.devices:
        events += [*device_tasks(profile, device), *device_links(profile, device), *overlap(profile, device)]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(events, file)
