# SPDX-License-Identifier: Apache-2.0
"""The CSV files of mindstudio_profiler_output."""

import csv
import statistics

from raw import PIPES

# aclprofCreateConfig's numbers.
METRICS_ARITHMETIC, METRICS_PIPE, METRICS_MEMORY, METRICS_L0, METRICS_CONFLICTS, METRICS_UB, METRICS_L2 = range(7)
METRICS_ACCESS, METRICS_NONE = 8, 255
NOT_MODELLED = "N/A"


def us(ns):
    """Whole nanoseconds as text: real time in a float would lose the last digits."""
    return f"{ns // 1000}.{ns % 1000:03d}" if isinstance(ns, int) else f"{ns / 1000:.3f}"


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def pipe_columns():
    columns = ["aicore_time(us)", "total_cycles"]
    for pipe in ("mac", "vec", "scalar", "fixpipe", "mte1", "mte2", "mte3"):
        columns += [f"{pipe}_time(us)", f"{pipe}_ratio"]
    return columns + ["icache_miss_rate", "memory_bound", "cube_utilization(%)"]


def core_time(task, device):
    return f"{task.per_core(lambda part: part.cycles) / device.mhz:.3f}"


def pipe_values(task, device):
    """Times are per core: cycles over all blocks by the cores that ran them."""
    cycles = task.cycles
    ratio = {pipe: task.busy[pipe] / cycles if cycles else 0.0 for pipe in PIPES}
    values = [core_time(task, device), cycles]
    for pipe in ("mac", "vec", "scalar", "fixpipe", "mte1", "mte2", "mte3"):
        time = task.per_core(lambda part, pipe=pipe: part.busy[pipe]) / device.mhz
        values += [f"{time:.3f}", f"{ratio[pipe]:.4f}"]
    compute = max(ratio["mac"], ratio["vec"])
    # Of all Cube units over the task's time, waiting for other cores included.
    total = device.info["cube_cores"] * task.duration * device.mhz / 1000.0
    cube = 100.0 * task.busy["mac"] / total if total else 0.0
    return values + [NOT_MODELLED, f"{ratio['mte2'] / compute:.4f}" if compute else "0", f"{cube:.2f}"]


def rate(amount):
    """A column of GB/s: bytes over the task's time."""
    return lambda task: f"{amount(task) / task.duration:.4f}" if task.duration else "0"


def share(part, whole):
    return lambda task: f"{part(task) / whole(task):.4f}" if whole(task) else "0"


def cycles(task):
    return task.cycles


# Other metrics: columns behind aicore_time and total_cycles. What the simulator does not count has no number.
COUNTED = {
    METRICS_ARITHMETIC: {
        "mac_ratio": share(lambda task: task.busy["mac"], cycles), "vec_ratio": share(lambda task: task.busy["vec"], cycles),
        "mac_fp16_ratio": None, "mac_int8_ratio": None, "vec_fp32_ratio": None, "vec_fp16_ratio": None, "vec_int32_ratio": None,
        "vec_misc_ratio": None, "cube_fops": None, "vector_fops": None},
    METRICS_MEMORY: {
        "ub_read_bw(GB/s)": None, "ub_write_bw(GB/s)": None, "l1_read_bw(GB/s)": None, "l1_write_bw(GB/s)": None,
        "l2_read_bw(GB/s)": rate(lambda task: task.hits), "main_mem_read_bw(GB/s)": rate(lambda task: task.read),
        "main_mem_write_bw(GB/s)": rate(lambda task: task.written)},
    METRICS_L0: {f"{place}_{way}_bw(GB/s)": None for place in ("l0a", "l0b", "l0c") for way in ("read", "write")},
    METRICS_CONFLICTS: {
        "vec_bankgroup_cflt_ratio": None, "vec_bank_cflt_ratio": share(lambda task: task.stalls["vec"]["bank"], cycles),
        "vec_resc_cflt_ratio": None},
    METRICS_UB: {f"ub_{way}_bw_{unit}(GB/s)": None for unit in ("vector", "scalar") for way in ("read", "write")},
    METRICS_L2: {"read_cache_hit_ratio": share(lambda task: task.hits, lambda task: task.read)},
    METRICS_ACCESS: {
        "read_main_memory_datas(KB)": lambda task: f"{task.read / 1024:.3f}",
        "write_main_memory_datas(KB)": lambda task: f"{task.written / 1024:.3f}"},
}


def metric_columns(metrics):
    """Names of the columns of these metrics, and their values for a task of a device."""
    if metrics == METRICS_PIPE:
        return pipe_columns(), pipe_values
    counted = COUNTED.get(metrics)
    if counted is None:
        return [], lambda *_: []
    return (["aicore_time(us)", "total_cycles", *counted],
            lambda task, device: [core_time(task, device), task.cycles,
                                  *(value(task) if value else NOT_MODELLED for value in counted.values())])


def shapes(tensors):
    quote = '"' if tensors else ""
    return [f"{quote}{';'.join(t.dims for t in tensors)}{quote}", ";".join(t.dtype for t in tensors),
            ";".join(t.layout for t in tensors)]


def waits_of(tasks):
    """By task: simulated time from the end of the one before it in its stream."""
    waits, last_end = {}, {}
    for task in tasks:
        waits[task.id] = max(task.sim_start - last_end.get(task.stream, task.sim_start), 0)
        last_end[task.stream] = max(task.sim_end, last_end.get(task.stream, 0))
    return waits


def op_summary(path, profile):
    metrics = {device.info.get("metrics", METRICS_NONE) for device in profile.devices}
    columns, values = metric_columns(min(metrics, default=METRICS_NONE))
    header = ["Device_id", "Model ID", "Task ID", "Stream ID", "Op Name", "OP Type", "OP State", "Task Type",
              "Task Start Time(us)", "Task Duration(us)", "Task Wait Time(us)", "Block Num", "Mix Block Num", "HF32 Eligible",
              "Input Shapes", "Input Data Types", "Input Formats", "Output Shapes", "Output Data Types", "Output Formats",
              *columns]
    rows = []
    for device in profile.devices:
        waits = waits_of(device.tasks)
        for task in device.operators:
            # The text is "seconds and microseconds": a float would round.
            rows.append([device.number, 4294967295, task.id, task.stream, task.label, task.type, "dynamic",
                         device.core_of(task), us(task.start), us(task.duration), us(waits[task.id]), task.blocks, 0, NOT_MODELLED,
                         *shapes(task.inputs), *shapes(task.outputs), *values(task, device)])
        # No pipes, no shapes.
        rows += [[device.number, NOT_MODELLED, NOT_MODELLED, NOT_MODELLED, link.name, link.type, NOT_MODELLED, "COMMUNICATION",
                  us(link.start), us(link.duration), us(0), 0, 0, *[NOT_MODELLED] * 7, *[NOT_MODELLED] * len(columns)]
                 for link in device.links]
    write(path, header, rows)


def op_statistic(path, profile):
    rows = []
    for device in profile.devices:
        groups = {}
        for task in device.operators:
            groups.setdefault((task.type, device.core_of(task)), []).append(task.duration)
        total = sum(sum(times) for times in groups.values())
        for (kind, core), times in sorted(groups.items(), key=lambda item: -sum(item[1])):
            rows.append([device.number, kind, core, len(times), us(sum(times)), us(min(times)),
                         us(sum(times) / len(times)), us(max(times)), f"{100 * sum(times) / total if total else 0:.3f}"])
    write(path, ["Device_id", "OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)",
                 "Max Time(us)", "Ratio(%)"], rows)


def task_time(path, profile):
    rows = [[device.number, task.label, device.core_of(task), task.stream, task.id, us(task.duration), us(task.start),
             us(task.end)] for device in profile.devices for task in device.tasks]
    write(path, ["Device_id", "kernel_name", "kernel_type", "stream_id", "task_id", "task_time(us)", "task_start(us)",
                 "task_stop(us)"], rows)


def api_statistic(path, profile):
    groups = {}
    for row in profile.apis:
        groups.setdefault((row["level"], row["name"]), []).append(int(row["end"]) - int(row["begin"]))
    rows = []
    for (level, name), times in sorted(groups.items(), key=lambda item: -sum(item[1])):
        in_us = [t / 1000 for t in times]
        rows.append(["host", level, name, us(sum(times)), len(times), us(sum(times) / len(times)), us(min(times)),
                     us(max(times)), f"{statistics.pvariance(in_us):.3f}"])
    write(path, ["Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)", "Variance"], rows)


def module_memory(path, profile):
    rows = [[row["device"], "RUNTIME", us(profile.real(row["ns"])), f"{int(row['bytes']) / 1024:.3f}",
             f"NPU:{row['device']}"] for row in profile.memory]
    write(path, ["Device_id", "Component", "Timestamp(us)", "Total Reserved(KB)", "Device"], rows)


def device_memory(path, profile):
    rows = []
    for row in profile.memory:
        kib = f"{int(row['bytes']) / 1024:.3f}"
        rows.append([row["device"], "APP", 0, kib, kib, us(profile.real(row["ns"]))])
    write(path, ["Device_id", "event", "ddr(KB)", "hbm(KB)", "memory(KB)", "timestamp(us)"], rows)
