# SPDX-License-Identifier: Apache-2.0
"""Workloads of leo accuracy with other parameters than the published rows have: workloads.py LEO.
Each row takes a time that memory and cores allow, or is refused with the reason."""
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

BOTH = ("ascend910a", "ascend910b1")
SPLIT = ("ascend910b1",)

# Chips, workload, parameters, least microseconds: bytes through HBM (1.2 and 1.6 TB/s at most) or steps of a unit.
GOOD = [
    (BOTH, "stream_add", "dtype=f16 rows=333 cols=777 tile_elems=2048 cores=5 adds=3", 1.5),
    (BOTH, "stream_add", "dtype=f32 rows=512 cols=2048 tile_elems=3000 buffers=2 cores=7", 7.5),
    (BOTH, "gm_to_ub", "dtype=f32 rows=1024 cols=1024 tile_rows=16 tile_cols=512 cores=16", 2.5),
    (SPLIT, "gm_to_ub", "dtype=f16 rows=1000 cols=1000 tile_rows=10 tile_cols=100 cores=3", 1.2),
    (BOTH, "gm_to_ub_shared", "dtype=f16 rows=256 cols=512 tile_rows=64 tile_cols=64 order=staggered cores=8", 1.5),
    (BOTH, "vec_op", "dtype=f16 op=vadd repeat=40 count=100", 4),
    (BOTH, "vec_op", "dtype=f32 op=vexp repeat=40 count=10", 1),
    (SPLIT, "matmul_tiled", "dtype=f16 m=256 n=256 k=256 base=128x128x64 load=3d cores=4", 1),
    (BOTH, "matmul_tiled", "dtype=f16 m=200 n=208 k=272 base=64x128x64 l0_buffers=2 l1_depth=2 l1_double=1 cores=4", 1),
    (BOTH, "matmul_tiled", "dtype=f16 m=1040 n=96 k=400 base=1040x16x16 b=normal out=f32 l2_split=1x3 cores=1", 1),
    (BOTH, "mmad_chain", "dtype=f16 m=128 n=128 k=1024 count=4", 1),
    (SPLIT, "gm_to_l1_nd2nz", "dtype=f32 rows=256 cols=200 tile_rows=64 tile_cols=40 cores=3", 1),
    (BOTH, "ub_nd2nz", "dtype=f32 rows=256 cols=256 tile_rows=64 tile_cols=64 c0_stride=65 cores=3", 1),
    (BOTH, "ub_nd2nz", "dtype=f16 rows=256 cols=480 tile_rows=60 tile_cols=80 c0_stride=61 cores=3", 1),
    (BOTH, "ub_nd2nz", "dtype=f32 rows=100 cols=72 tile_rows=50 tile_cols=24 cores=2", 1),
    (BOTH, "op_softmax", "dtype=f32 rows=64 cols=1000 dim=1", 1),
    (BOTH, "op_layer_norm", "input=f16:64x1024 normalizedShape=1024 eps=1e-5 out=f16:64x1024", 1),
    (BOTH, "op_lt_tensor", "dtype=f32 rows=10 cols=1000", 1),
    (BOTH, "op_foreach_add_scalar", "x=f32:10x10 tensors=3 scalar=f32: out=f32:10x10", 1),
    (BOTH, "op_relu", "self=f16:2x20x8x8:nc1hwc0 out=f16:2x20x8x8:nc1hwc0", 1),
    (BOTH, "op_matmul", "dtype=f32 m=64 k=64 n=64", 1),
    (BOTH, "op_conv2d", "dtype=f32 n=1 ci=16 co=16 k=3 s=1 h=8 w=8 pad=same", 1),
    # 12 MB from HBM and as much back to it, where a warm run has 5.7 us on the 910A.
    (("ascend910a",), "op_momentum", "dtype=f32 rows=1024 cols=1024 before=others", 20),
    # 25 MB from HBM and as much back to it, where a warm run has 20 us; 34 MB that a cast has just written come at the L2's rate.
    (("ascend910a",), "op_matmul_relu", "dtype=f16 m=16 k=2048 n=6144 before=others", 37.4),
    (("ascend910a",), "op_matmul_relu", "dtype=f16 m=16 k=2048 n=8192 weights=recently_written before=others", 20),
]

# Chips, workload, parameters, what the text must say.
BAD = [
    (BOTH, "op_add", "dtype=f16 rows=8 cols=8", "parameter alpha: missing"),
    (BOTH, "op_relu", "dtype=f17 rows=8 cols=8", "f17: no type of an element"),
    (BOTH, "op_relu", "self=f16:3y4", "expected a tensor"),
    (BOTH, "op_relu", "dtype=f16 rows=8 cols=8 dim=1", "no such parameter"),
    (BOTH, "op_relu", "dtype=f16 rows=8 cols=8 before=nobody", "before"),
    (BOTH, "copy", "kind=d2d bytes=4096 before=producer", "of op_<name> rows alone"),
    (BOTH, "op_nonsense", "dtype=f16 rows=8 cols=8", "there is no operator Nonsense"),
    (BOTH, "stream_add", "dtype=f16 rows=8 cols=8 tile_elems=100", "whole blocks of 32 bytes"),
    (("ascend910a",), "gm_to_ub", "dtype=f16 rows=9 cols=33 tile_rows=1 tile_cols=32", "whole blocks of 32 bytes"),
    (("ascend910a",), "gm_to_l1_nd2nz", "dtype=f16 rows=64 cols=64", "split chips"),
    (("ascend910a",), "matmul_tiled", "dtype=f16 m=64 n=72 k=64", "multiples of 16"),
    (("ascend910a",), "matmul_tiled", "dtype=f16 m=64 n=64 k=64 load=3d", "load=2d"),
    (("ascend910a",), "matmul_tiled", "dtype=f16 m=64 n=64 k=64 unit_flag=1", "no unit flag"),
    (BOTH, "mmad_chain", "dtype=f16 m=128 n=128 k=1024 count=1", "must fit L0A"),
    (BOTH, "mmad_chain", "dtype=f16 m=128 n=128 k=16 count=17", "k >= count"),
]

# Chips, workload, parameters, another state of the L2 that must take longer: 32 MB that the operator before wrote are not read from HBM.
SLOWER = [(SPLIT, "op_add", "dtype=f32 rows=4096 cols=1024 alpha=1 before=producer", "dtype=f32 rows=4096 cols=1024 alpha=1 before=others")]

leo = sys.argv[1]
socs_folder = pathlib.Path(__file__).parents[2] / "isa" / "soc"
rows = [(soc, *row) for table in (GOOD, BAD) for socs, *row in table for soc in socs]
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow("id,soc,workload,params,metric,value,unit,source".split(","))
        for at, (soc, workload, params, _) in enumerate(rows):
            out.writerow((f"W{at:02d}", soc, workload, params, "task_us", 1, "us", "none"))
    text = subprocess.run((leo, "accuracy", path), check=False, capture_output=True, text=True).stdout
lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("W")}
wrong = 0
for at, (soc, workload, params, expected) in enumerate(rows):
    line = lines.get(f"W{at:02d}", "")
    if isinstance(expected, str):
        good = expected in line
    else:
        words = line.split()
        good = "FAILED" not in line and "skipped" not in line and len(words) > 4 and float(words[4]) >= expected
    if not good:
        wrong += 1
        print(f"{soc} {workload} {params}: expected {expected!r}, printed: {line}")
for socs, workload, fast, slow in SLOWER:
    for soc in socs:
        times = []
        for params in (fast, slow):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "row.csv"
                path.write_text(f"id,soc,workload,params,metric,value,unit,source\nW,{soc},{workload},{params},task_us,1,us,none\n")
                line = subprocess.run((leo, "accuracy", path), check=False, capture_output=True, text=True).stdout.splitlines()[1]
                times.append(float(line.split()[4]))
        if times[0] * 1.5 > times[1]:
            wrong += 1
            print(f"{soc} {workload}: {fast} takes {times[0]} us, {slow} {times[1]}")
# Rows V.. of operators.csv are kept from fitting.
for path in socs_folder.glob("*.ini"):
    for line in path.read_text(encoding="utf-8").splitlines():
        if re.search(r"\[[FM]\].*\bV\d\d\b", line):
            wrong += 1
            print(f"{path.name}: fitted to a row that is kept from fitting: {line}")
print(f"{len(rows)} rows, {wrong} wrong")
sys.exit(wrong > 0)
