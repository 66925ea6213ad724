# SPDX-License-Identifier: Apache-2.0
"""What aclprofStart and aclprofStop left in a PROF folder, with simulated times laid on real time.

host/start_info          the moment of the start on both clocks of the host
host/data/launch.csv     a task's submission: device, task, thread, monotonic raw ns
host/data/api.csv        a call of the program: level, name, thread, begin and end in monotonic raw ns; level "operator": what the
                         thread submitted meanwhile is one operator, and the name is a tag as in task.csv
host/data/memory.csv     device memory in use: device, monotonic raw ns, bytes
host/data/link.csv       a collective: device, name, group, rank, ranks, bytes, and simulated ns when this rank was there, when the
                         last one was, and its end; not there if there was none
device_N/data/device.json   chip, clock, cores, metrics asked for
device_N/data/task.csv      finished tasks in simulated ns, with their tag and busy cycles by pipe
"""

import bisect
import csv
import json
import re
from pathlib import Path

PIPES = ("scalar", "vec", "mac", "mte1", "mte2", "mte3", "fixpipe")
STALLS = ("scalar", "flag", "barrier", "queue", "bank", "memory")
COMPUTE = "kernel"
WORK = (COMPUTE, "fill", "copy", "overflow status")  # what an operator may consist of
BY_TYPE_NAME = "aclopCompileAndExecute"  # the call of operators known by their type


class Error(Exception):
    pass


class Cell(str):
    """A value that knows where it stands: one that is no number is reported."""

    def __new__(cls, text, where):
        cell = super().__new__(cls, text)
        cell.where = where
        return cell

    def __int__(self):
        if not re.fullmatch(r"-?[0-9]{1,18}|-?[1-8][0-9]{18}", self):
            raise Error(f"{self.where} is damaged: '{self[:40]}' is no number of 64 bits: profile again")
        return int(str(self))

    def __str__(self):
        return "".join(self)


class Row(dict):
    """Cells by column."""

    def __init__(self, cells, where):
        super().__init__(cells)
        self.where = where

    def __missing__(self, name):
        raise Error(f"{self.where} is damaged: there is no column '{name}': profile again")


def read_csv(path):
    """Rows as dicts of cells; a file that is damaged is reported with the line."""
    if not path.exists():
        return []
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file, strict=True)
            rows = []
            for row in reader:
                where = f"{path}:{reader.line_num}"
                if None in row or None in row.values():
                    raise Error(f"{where} is damaged: it has not as many values as there are columns: profile again")
                rows.append(Row({name: Cell(text, where) for name, text in row.items()}, where))
            return rows
    except (UnicodeDecodeError, csv.Error) as error:
        raise Error(f"{path} is damaged: {error}: profile again") from error


def number(info, key, path, least=0):
    """A number of a JSON file that holds an object."""
    value = info.get(key) if isinstance(info, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < 2**63:
        raise Error(f"{path} is damaged: {key} is {value!r}, no number from {least} on: profile again")
    return value


class Tensor:
    """type[dims] or type[dims]/format as the operators write it into a tag."""

    def __init__(self, text):
        body, _, layout = text.partition("/")
        kind, _, dims = body.partition("[")
        self.dtype, self.dims, self.layout = kind, dims.rstrip("]"), layout or "ND"


class Span:
    """What has sim_start and sim_end of the device's clock, and start on the host's."""

    @property
    def duration(self):
        return self.sim_end - self.sim_start

    @property
    def end(self):
        return self.start + self.duration


class Task(Span):
    def __init__(self, row, device):
        self.device = device
        self.id, self.stream = int(row["task"]), int(row["stream"])
        self.kind, self.core_kind = row["kind"], row["core_kind"]
        self.blocks, self.cores = int(row["blocks"]), int(row["cores"])
        self.sim_start, self.sim_end = int(row["start_ns"]), int(row["end_ns"])
        self.cycles = int(row["core_cycles"])
        self.read, self.written = int(row["gm_read"]), int(row["gm_write"])
        self.busy = {pipe: int(row[pipe]) for pipe in PIPES}
        self.hits, self.hbm = int(row.get("l2_hits") or 0), int(row.get("hbm_read") or 0) + int(row.get("hbm_write") or 0)
        self.stalls = {pipe: {why: int(row.get(f"{pipe}_{why}") or 0) for why in STALLS} for pipe in PIPES}
        self.take_tag(row["tag"])
        self.launch, self.thread = None, 0
        self.operator = None
        self.start = 0

    def take_tag(self, tag):
        """The name, the tensors if an operator of ours made the launch, and its node in a model: name|in;in|out|node"""
        self.name, inputs, outputs, self.node = (tag.split("|", 3) + [""] * 3)[:4]
        self.inputs = [Tensor(t) for t in inputs.split(";") if t]
        self.outputs = [Tensor(t) for t in outputs.split(";") if t]

    @property
    def label(self):
        """What the program knows it by: the node of a model, or the call."""
        return self.node or self.name

    @property
    def is_compute(self):
        return self.kind == COMPUTE or self.operator is not None

    @property
    def type(self):
        """aclnnAdd and aclnnInplaceAdd are the operator Add."""
        name = self.name.removeprefix("aclnn")
        short = name.removeprefix("Inplace")
        return short or name


class Link(Span):
    """A collective as one device took part in it."""

    def __init__(self, row):
        self.device = int(row["device"])
        # HcclAllReduce is hcom_allReduce_ to those who read profiles.
        word = row["name"].removeprefix("Hccl")
        self.type = f"hcom_{word[:1].lower()}{word[1:]}_"
        self.group, self.rank, self.ranks, self.bytes = row["group"], int(row["rank"]), int(row["ranks"]), int(row["bytes"])
        self.sim_start, self.sim_ready, self.sim_end = (int(row[name]) for name in ("begin", "ready", "end"))
        self.name, self.start = self.type, 0


class Operator:
    """The tasks of one call of an operator: what a Task has, added up; or a kernel that was launched otherwise."""

    def __init__(self, tasks):
        self.tasks = tasks
        self.first, self.longest = tasks[0], max(tasks, key=lambda task: task.duration)
        self.duration, self.cycles, self.read, self.written, self.hits, self.hbm = (
            sum(getattr(task, what) for task in tasks) for what in ("duration", "cycles", "read", "written", "hits", "hbm"))
        self.busy = {pipe: sum(task.busy[pipe] for task in tasks) for pipe in PIPES}
        self.stalls = {pipe: {why: sum(task.stalls[pipe][why] for task in tasks) for why in STALLS} for pipe in PIPES}
        self.blocks = self.longest.blocks
        self.sim_end = max(task.sim_end for task in tasks)

    def __getattr__(self, what):
        """Name, tensors, place and start are the first task's."""
        return getattr(self.first, what)

    def per_core(self, amount):
        """Of an amount added over cores: each task's by the cores that ran it."""
        return sum(amount(task) / max(task.cores, 1) for task in self.tasks)


class Device:
    def __init__(self, folder):
        self.folder = folder
        self.number = int(folder.name.split("_")[1])
        info = folder / "data" / "device.json"
        try:
            self.info = json.loads(info.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Error(f"{info}: {error}") from error
        for key, least in (("clock_khz", 1), ("cube_cores", 1), ("vector_cores", 0)):
            number(self.info, key, info, least)
        if not isinstance(self.info.get("soc"), str):
            raise Error(f"{info} is damaged: soc names no chip: profile again")
        self.tasks = [Task(row, self) for row in read_csv(folder / "data" / "task.csv")]

    @property
    def mhz(self):
        return self.info["clock_khz"] / 1000.0

    def place_links(self, rows, first):
        """Collectives on real time, beside the tasks of the same simulated time."""
        self.links = sorted((link for link in map(Link, rows) if link.device == self.number), key=lambda link: link.sim_start)
        starts = [task.sim_start for task in self.tasks]
        seen = {}
        for link in self.links:
            at = bisect.bisect_right(starts, link.sim_start) - 1
            task = self.tasks[max(at, 0)] if self.tasks else None
            link.start = link.sim_start + (task.start - task.sim_start if task else first)
            seen[link.group] = seen.get(link.group, -1) + 1
            link.name = f"{link.type}_{link.group}_{seen[link.group]}"

    def gather(self, calls):
        """Puts the tasks that were submitted within a call of an operator together. `calls`: by thread, in order of time."""
        self.operators = []
        for task in sorted(self.tasks, key=lambda task: task.id):
            call = within(calls.get(task.thread, []), task.launch) if task.launch is not None else None
            if call and task.kind in WORK:
                # What the operator needs beside its kernels, like fills, has no tag.
                task.take_tag(call.tag)
                task.operator = call
                call.tasks.setdefault(self.number, []).append(task)
            elif task.is_compute:
                self.operators.append(Operator([task]))
        self.operators += [Operator(call.tasks[self.number]) for of_thread in calls.values() for call in of_thread
                           if self.number in call.tasks]
        self.operators.sort(key=lambda operator: (operator.sim_start, operator.id))

    def core_of(self, task):
        """Which kind of core a task ran on, in the profiler's words."""
        parts = [part for part in getattr(task, "tasks", [task]) if part.kind == COMPUTE]
        if not parts:
            return {"copy": "MEMCPY_ASYNC", "fill": "MEMSET", "event record": "EVENT_RECORD",
                    "event wait": "EVENT_WAIT"}.get(task.kind, task.kind.upper().replace(" ", "_"))
        names = {{"vector": "AI_VECTOR_CORE", "any": "MIX_AIC", "mix": "MIX_AIC", "mix_one": "MIX_AIC"}.get(part.core_kind, "AI_CORE")
                 for part in parts}
        return names.pop() if len(names) == 1 else "MIX_AIC"


class Call:
    """A call of an operator."""

    def __init__(self, tag, begin, end):
        self.tag, self.begin, self.end, self.tasks = tag, begin, end, {}


def within(calls, time):
    """The call during which something happened; calls do not overlap."""
    at = bisect.bisect_right(calls, time, key=lambda call: call.begin) - 1
    return calls[at] if at >= 0 and time <= calls[at].end else None


class Profile:
    def __init__(self, folder):
        self.folder = Path(folder)
        start = self.folder / "host" / "start_info"
        try:
            info = json.loads(start.read_text(encoding="utf-8"))
            # To real time: the two clocks were read together.
            self.offset = int(info["collectionTimeBegin"]) * 1000 - int(info["clockMonotonicRaw"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Error(f"{start}: {error}: not a PROF folder, or the profile was not stopped") from error
        self.apis = read_csv(self.folder / "host" / "data" / "api.csv")
        calls = self.operator_calls()
        self.memory = read_csv(self.folder / "host" / "data" / "memory.csv")
        self.links = read_csv(self.folder / "host" / "data" / "link.csv")
        self.process = int(number({"pid": 0, **info}, "pid", start))
        self.devices = [Device(d) for d in sorted(self.folder.glob("device_*"))]
        launches = {}
        for row in read_csv(self.folder / "host" / "data" / "launch.csv"):
            launches[int(row["device"]), int(row["task"])] = row
        for device in self.devices:
            for task in device.tasks:
                row = launches.get((device.number, task.id))
                if row:
                    task.launch, task.thread = self.real(row["ns"]), int(row["thread"])
            lay(device.tasks, self.offset)
            device.place_links(self.links, self.offset)
            device.gather(calls)

    def operator_calls(self):
        """By thread; an operator within another is part of it. In `apis` they become calls like others."""
        calls = {}
        rows = [row for row in self.apis if row["level"] == "operator"]
        for row in sorted(rows, key=lambda row: (int(row["begin"]), -int(row["end"]))):
            of_thread = calls.setdefault(int(row["thread"]), [])
            begin, end = self.real(row["begin"]), self.real(row["end"])
            if not of_thread or begin > of_thread[-1].end:
                of_thread.append(Call(row["name"], begin, end))
            name = row["name"].partition("|")[0]
            row["level"], row["name"] = "acl", name if name.startswith("acl") else BY_TYPE_NAME
        return calls

    def real(self, ns):
        return int(ns) + self.offset


def lay(tasks, first):
    """Real start times: simulated ones plus an offset that grows just so much that no task starts before its launch.

    The host is slower than the chip by orders of magnitude; between two launches real time goes on and simulated time
    does not. Durations and order stay those of the simulation.
    """
    tasks.sort(key=lambda task: (task.sim_start, task.id))
    offset = first
    for i, task in enumerate(tasks):
        if task.launch is not None:
            offset = max(offset, task.launch - task.sim_start) if i else task.launch - task.sim_start
        task.start = task.sim_start + offset


def merge(spans):
    """Union of (start, end) pairs."""
    out = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out
