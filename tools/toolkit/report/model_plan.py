# SPDX-License-Identifier: Apache-2.0
"""What a compiled model says beside its times: which tensor has which place of the work memory during which calls, and which nodes
became one."""

import json
import subprocess
import tempfile
from pathlib import Path

from raw import Error

BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "b8": 1, **{f"{sign}{bits}": bits // 8 for sign in "su" for bits in (8, 16, 32, 64)}}


def find_atc(here):
    """The compiler of the toolkit that this file is of."""
    return here.parents[2] / "bin" / "atc"


def read(path, here):
    """The JSON that atc --mode=1 writes: PATH, or made of the model PATH."""
    path = Path(path)
    try:
        if path.read_bytes()[:1] == b"{":
            return json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as place:
            out = Path(place) / "model.json"
            done = subprocess.run([find_atc(here), "--mode=1", f"--om={path}", f"--json={out}"], capture_output=True, text=True, check=False)
            if done.returncode:
                said = done.stdout.strip().splitlines() or [f"atc ended with {done.returncode}"]
                raise Error(f"{path}: {said[-1]}")
            return json.loads(out.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise Error(f"{path}: not what atc --mode=1 writes: {problem}") from problem


def tensors(args):
    for arg in args:
        if isinstance(arg, dict):
            yield arg
        elif isinstance(arg, list):
            yield from (item for item in arg if isinstance(item, dict))


def storages(calls):
    """By number of the storage: [first byte, last byte, first call, last call, node of the first call]; views of a tensor are one."""
    found = {}
    for number, call in enumerate(calls):
        for tensor in tensors(call["args"]):
            if tensor["in"] != "work" or 0 in tensor["dims"]:
                continue
            # A flipped view goes down from its first element.
            reach = [(size - 1) * stride for size, stride in zip(tensor["dims"], tensor["strides"])]
            size = BYTES[tensor["type"]]
            low = tensor["offset"] + size * sum(step for step in reach if step < 0)
            high = tensor["offset"] + size * (1 + sum(step for step in reach if step > 0))
            one = found.setdefault(tensor["index"], [low, high, number, number, call["node"]])
            one[0], one[1], one[3] = min(one[0], low), max(one[1], high), number
    return found


def most_at_once(plan, calls):
    return max((sum(one[1] - one[0] for one in plan if one[2] <= number <= one[3]) for number in range(calls)), default=0)


def take(path, here):
    """The plan of a model, of the first gear if it has several."""
    model = read(path, here)
    try:
        return plan_of(model, Path(path).name)
    except (KeyError, TypeError, AttributeError) as problem:
        raise Error(f"{path}: not what atc --mode=1 writes: {problem!r}") from problem


def plan_of(model, name):
    gears = model["gears"]
    body = gears[0] if gears else model
    plan = sorted(storages(body["calls"]).values(), key=lambda one: (one[2], one[0]))
    fused = {}
    for node in body["nodes"]:
        if node["into"] and node["into"] != node["name"]:
            fused.setdefault(node["into"], []).append(f'{node["name"]} ({node["type"]})')
    return {"name": name, "calls": [[call["op"], call["node"]] for call in body["calls"]], "work": model["work_bytes"],
            "weights": model["weight_bytes"], "plan": plan, "sum": sum(one[1] - one[0] for one in plan),
            "most": most_at_once(plan, len(body["calls"])), "fused": fused, "gear": gears[0]["sizes"] if gears else None}
