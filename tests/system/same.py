#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""same.py LEO...: kernels give the same bytes and the same simulated times with every host arithmetic and number of host
threads, in every program LEO (builds of several compilers)."""

import hashlib
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

KERNELS = Path(__file__).parent / "kernels"
SOFTMAX = """#include <leo/device.h>
enum { N = 64, ROWS = 32 };
__ubuf_array__ float x[ROWS * N], most[8], sum[8];
__global__ __vector__ void softmax(__gm__ const float *in, __gm__ float *out)
{
    in += get_block_idx() * ROWS * N;
    out += get_block_idx() * ROWS * N;
    copy_gm_to_ubuf(x, in, 0, 1, ROWS * N / 8, 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    vexp(x, x, ROWS, 1, 1, 8, 8);
    for (int i = 0; i < ROWS; i++) {
        pipe_barrier(PIPE_V);
        vcadd(sum, x + i * N, 1, 1, 1, 8);
        set_flag(PIPE_V, PIPE_S, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
        vmuls(x + i * N, x + i * N, 1 / sum[0], 1, 1, 1, 8, 8);
        set_flag(PIPE_S, PIPE_V, EVENT_ID1);
        wait_flag(PIPE_S, PIPE_V, EVENT_ID1);
    }
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(out, x, 0, 1, ROWS * N / 8, 0, 0);
}
"""
# file, chip, kernel, blocks, arguments
SUBJECTS = [
    ("softmax.c", "ascend910a", "softmax", 20, ["in:floats", "out:256K"]),
    ("softmax.c", "ascend910b1", "softmax", 24, ["in:floats", "out:256K"]),
    ("mutant_kernels.c", "ascend910b1", "layernorm", 1, ["in:floats", "out:64K"]),
    ("mutant_kernels.c", "ascend910b1", "convolution", 1, ["in:halves", "in:halves", "out:64K"]),
    ("cross_kernels.c", "ascend910b1", "fused", 2, ["in:halves", "in:halves", "out:64K", "out:64K"]),
    ("cross_kernels.c", "ascend910b1", "handed", 1, ["in:halves", "out:64K", "out:64K", "5"]),
    ("cross_kernels.c", "ascend910b1", "sum_all", 40, ["inout:zeros", "out:64K"]),
    ("poll_kernels.c", "ascend910a", "meet", 32, ["inout:zeros", "out:64K", "out:64K", "3"]),
    ("poll_kernels.c", "ascend910b1", "meet", 48, ["inout:zeros", "out:64K", "out:64K", "3"]),
    ("poll_kernels.c", "ascend910b1", "chain", 20, ["inout:zeros", "out:64K", "99"]),
    ("poll_kernels.c", "ascend910b1", "locked", 16, ["inout:zeros", "inout:zeros"]),
]


def run(command, folder, **env):
    done = subprocess.run(command, cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    if done.returncode and "simd" in done.stderr and "LEO_SIMD" in env:
        return None  # this host does not have it
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} {env}\n{done.stdout}{done.stderr}")
    return done.stdout


def digest_of(leo, folder, subject, env):
    """Of all outputs, the simulated time and the table of each core."""
    file, chip, kernel, blocks, args = subject
    outputs, words = [], []
    for i, arg in enumerate(args):
        kind, _, rest = arg.partition(":")
        if kind in ("out", "inout"):
            outputs.append(f"{i}.out")
            arg = f"{arg}:{i}.out"
        words += ["--arg", arg]
    told = run([leo, "run", "--soc", chip, "--check", "none", f"{Path(file).stem}.{chip}.elf", "--kernel", kernel,
                "--blocks", str(blocks), "--cores", *words], folder, **env)
    if told is None:
        return None
    digest = hashlib.sha256(told.encode())
    for name in outputs:
        digest.update((Path(folder) / name).read_bytes())
    return digest.hexdigest()


def prepare(leo, folder):
    rng = random.Random(1)
    (folder / "softmax.c").write_text(SOFTMAX)
    for name in ("mutant_kernels.c", "cross_kernels.c", "poll_kernels.c"):
        (folder / name).write_text((KERNELS / name).read_text())
    (folder / "floats").write_bytes(struct.pack("<65536f", *(rng.uniform(-3, 3) for _ in range(65536))))
    (folder / "halves").write_bytes(struct.pack("<32768e", *(rng.uniform(-1, 1) for _ in range(32768))))
    (folder / "zeros").write_bytes(bytes(65536))
    for file, chip in sorted({subject[:2] for subject in SUBJECTS}):
        run([leo, "cc", "--soc", chip, file, "-o", f"{Path(file).stem}.{chip}.elf"], folder)


def main():
    programs = [str(Path(path).resolve()) for path in sys.argv[1:]]
    ways = [{"LEO_SIMD": simd, "LEO_THREADS": threads} for simd in ("generic", "avx2", "avx512") for threads in ("1", "2", "16")]
    wrong = compared = 0
    with tempfile.TemporaryDirectory(prefix="leo_same_") as name:
        prepare(programs[0], Path(name))
        for subject in SUBJECTS:
            first = digest_of(programs[0], name, subject, ways[0])
            for leo in programs:
                for env in ways:
                    digest = digest_of(leo, name, subject, env)
                    if digest is not None:
                        compared += 1
                    if digest not in (None, first):
                        wrong += 1
                        print(f"{subject[2]} on {subject[1]}: {leo} with {env} differs")
            print(f"{subject[2]} on {subject[1]}: {first[:16]}")
    print(f"{compared} runs compared, {wrong} differ")
    return 1 if wrong or compared < 2 * len(SUBJECTS) else 0


if __name__ == "__main__":
    sys.exit(main())
