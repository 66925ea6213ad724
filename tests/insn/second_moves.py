#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""second_moves.py LEO: words of the second generation that pick, spread, sort and transpose, written from docs/hw/vector.md alone, against the
chip, byte by byte (second.py does it for arithmetic)."""

import math
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SLOT = 2048  # bytes of a result
LISTS = 4    # of 32 records, for the merge


def words(data, width):
    return list(struct.unpack(f"<{len(data) * 8 // width}{'H' if width == 16 else 'I'}", data))


def packed(values, width):
    return struct.pack(f"<{len(values)}{'H' if width == 16 else 'I'}", *values)


def score(bits, width):
    """Larger is first. NaN is above infinity, the zeros are equal (HW-VEC-61)."""
    value = struct.unpack("<e" if width == 16 else "<f", packed([bits], width))[0]
    return math.inf if math.isnan(value) else (value if not math.isinf(value) else math.copysign(sys.float_info.max, value))


def record(bits, index, width):
    return packed([bits], width) + bytes(4 - width // 8) + packed([index], 32)


def sorted_lists(scores, indices, width):
    """HW-VEC-60, 61: each 32 scores with their indices as records."""
    lists = []
    for at in range(0, len(scores), 32):
        order = sorted(range(at, at + 32), key=lambda i: -score(scores[i], width))
        lists.append([(scores[i], indices[i]) for i in order])
    return lists


class Words:
    """Inputs, and beside each call of a kernel the bytes it must leave."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.bytes = rng.randbytes(1024)            # `a`
        self.bits = rng.randbytes(128)              # `bits`
        self.far = [rng.randrange(0, 512) for _ in range(256)]
        self.blocks = [rng.randrange(0, 32) * 32 for _ in range(16)]
        some = [rng.uniform(-9, 9) for _ in range(120)] + [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, 1.0, 1.0]
        rng.shuffle(some)
        self.scores = {32: words(struct.pack("<128f", *some), 32), 16: words(struct.pack("<128e", *some), 16)}
        self.index = [rng.getrandbits(32) for _ in range(128)]

    def spread(self, width):
        """HW-VEC-52: 8 elements a repeat, each fills a block."""
        return b"".join(packed([e], width) * (256 // width) for e in words(self.bytes, width)[:32])

    def kept(self, width, pattern):
        """HW-VEC-51: 4 repeats of 256 bytes."""
        result, lanes = [], 2048 // width
        for i, element in enumerate(words(self.bytes, width)):
            repeat, lane = divmod(i, lanes)
            if pattern == 0:
                take = self.bits[repeat * 32 + lane // 8] >> lane % 8 & 1
            elif pattern <= 2:
                take = i % 2 == pattern - 1
            else:
                take = pattern == 7 or i % 4 == pattern - 3
            result += [element] if take else []
        return packed(result, width)

    def gathered(self, width):
        """HW-VEC-53: offsets in bytes."""
        size, lanes = width // 8, 2048 // width
        return b"".join(self.bytes[at * size:at * size + size] for at in (f % (1024 // size) for f in self.far[:2 * lanes]))

    def gathered_blocks(self):
        """HW-VEC-54."""
        return b"".join(self.bytes[at:at + 32] for at in self.blocks)

    def bit_sorted(self, width):
        return b"".join(record(*one, width) for rows in sorted_lists(self.scores[width], self.index, width) for one in rows)

    def merged(self, width):
        """HW-VEC-62: the largest next, of equal ones that of the first list."""
        lists, result = sorted_lists(self.scores[width], self.index, width), b""
        while any(lists):
            first = max((i for i in range(LISTS) if lists[i]), key=lambda i: (score(lists[i][0][0], width), -i))
            result += record(*lists[first].pop(0), width)
        return result

    def transposed(self):
        """HW-VEC-70, 72."""
        rows = words(self.bytes[:512], 16)
        return packed([rows[r * 16 + c] for c in range(16) for r in range(16)], 16)

    def masked_and(self):
        """HW-VEC-02, 18: every second lane of 128; the others keep 0."""
        values, other = words(self.bytes[:256], 16), words(self.bytes[256:512], 16)
        return packed([x & y if i % 2 == 0 else 0 for i, (x, y) in enumerate(zip(values, other))], 16)

    def shifted(self, distance):
        """HW-VEC-19, s16 with mod 1: adds the last bit that left."""
        signed = [v - 0x10000 if v & 0x8000 else v for v in words(self.bytes[:256], 16)]
        return packed([((v >> distance) + (v >> distance - 1 & 1)) & 0xffff for v in signed], 16)

    def cases(self):
        u16, u32, f16, f32 = ("(uint16_t *)", "(uint32_t *)", "(half *)", "(float *)")
        yield f"vbrcb({u16}OUT, {u16}a, 1, 8, 4);", self.spread(16)
        yield f"vbrcb({u32}OUT, {u32}a, 1, 8, 4);", self.spread(32)
        for pattern in range(8):
            yield f"vreducev2({u16}OUT, {u16}a, {u16}bits, 4, 1, {pattern}, 8, 1);", self.kept(16, pattern)
        yield f"vreducev2({u32}OUT, {u32}a, {u32}bits, 4, 1, 0, 8, 1);", self.kept(32, 0)
        yield f"vreducev2({u32}OUT, {u32}a, {u32}bits, 4, 1, 5, 8, 1);", self.kept(32, 5)
        yield f"vgather({u16}OUT, far16, ADDRESS(a), 8, 2);", self.gathered(16)
        yield f"vgather({u32}OUT, far32, ADDRESS(a), 8, 2);", self.gathered(32)
        yield f"vgatherb({u32}OUT, blocks, ADDRESS(a), 8, 1, 2);", self.gathered_blocks()
        yield f"vbitsort({f32}OUT, {f32}score32, index, 4);", self.bit_sorted(32)
        yield f"vbitsort({f16}OUT, {f16}score16, index, 4);", self.bit_sorted(16)
        for width, kind, size in ((32, "float", 1), (16, "half", 2)):
            yield (f"vbitsort(({kind} *)sort, ({kind} *)score{width}, index, 4); pipe_barrier(PIPE_V); {{ {kind} *list[4] = "
                   + "{" + ", ".join(f"({kind} *)(sort + {256 * i})" for i in range(LISTS)) + "}; "
                   + f"vmrgsort4(({kind} *)OUT, list, 1, 32, 32, 32, 32, false, 15); }}"), self.merged(width)
        yield f"vtranspose({u16}OUT, {u16}a);", self.transposed()
        yield ("for (int i = 0; i < 16; i++) { from[i] = ADDRESS(a) + 32 * i; to[i] = ADDRESS(OUT) + 32 * i; } "
               "set_va_reg_sb(VA0, to); set_va_reg_sb(VA1, to + 8); set_va_reg_sb(VA2, from); set_va_reg_sb(VA3, from + 8); "
               "scatter_vnchwconv_b16(VA0, VA2, 1, 0, 0);"), self.transposed()
        yield ("set_vector_mask(0x5555555555555555, 0x5555555555555555); "
               f"vand({u16}OUT, {u16}a, {u16}(a + 256), 1, 1, 1, 1, 8, 8, 8); set_vector_mask(~0ull, ~0ull);"), self.masked_and()
        yield "vshr((int16_t *)OUT, (int16_t *)a, 3, 1, 1, 1, 8, 8, true);", self.shifted(3)

    def inputs(self):
        far = [packed([f % (1024 // size) * size for f in self.far], 32) for size in (2, 4)]
        return (self.bytes + self.bits + far[0] + far[1] + packed(self.blocks, 32) + packed(self.scores[32], 32)
                + packed(self.scores[16], 16) + packed(self.index, 32))


def kernel(calls):
    body = "\n".join("    " + call.replace("OUT", f"(out + {SLOT * i})") + " pipe_barrier(PIPE_V);" for i, call in enumerate(calls))
    return f"""#include <leo/device.h>
#define ADDRESS(p) ((uint32_t)(uint64_t)(p))
__ubuf_array__ struct {{ uint8_t a[1024], bits[128]; uint32_t far16[256], far32[256], blocks[16]; uint8_t score32[512], score16[256];
    uint32_t index[128]; }} in;
__ubuf_array__ uint8_t sort[1024];
__ubuf_array__ uint8_t out[{SLOT * len(calls)}];
__global__ __vector__ void k(__gm__ uint8_t *x, __gm__ uint8_t *y)
{{
    uint8_t *a = in.a, *bits = in.bits, *score32 = in.score32, *score16 = in.score16;
    uint32_t *far16 = in.far16, *far32 = in.far32, *blocks = in.blocks, *index = in.index;
    uint64_t from[16], to[16];
    copy_gm_to_ubuf(&in, x, 0, 1, sizeof(in) / 32, 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    for (int i = 0; i < {len(calls)}; i++)
        vector_dup((float *)(out + i * {SLOT}), 0.0f, {SLOT // 256}, 1, 1, 8, 0);
    pipe_barrier(PIPE_V);
{body}
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(y, out, 0, 1, sizeof(out) / 32, 0, 0);
}}
"""


def compare(leo, seed):
    inputs = Words(seed)
    calls, expected = zip(*inputs.cases())
    with tempfile.TemporaryDirectory(prefix="leo_moves_") as folder:
        (Path(folder) / "k.c").write_text(kernel(calls))
        (Path(folder) / "x").write_bytes(inputs.inputs())
        for command in ([leo, "cc", "--soc", "ascend910b1", "k.c", "-o", "k.elf"],
                        [leo, "run", "--soc", "ascend910b1", "k.elf", "--arg", "in:x", "--arg", f"out:{SLOT * len(calls)}:y"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                print(done.stdout, done.stderr)
                return 1
        out = (Path(folder) / "y").read_bytes()
    wrong = 0
    for i, (call, want) in enumerate(zip(calls, expected)):
        got = out[i * SLOT:(i + 1) * SLOT]
        if got != want + bytes(SLOT - len(want)):
            at = next(k for k in range(SLOT) if got[k] != (want + bytes(SLOT))[k])
            print(f"seed {seed}: {call}\n  byte {at}: chip {got[at:at + 16].hex()}, second {want[at:at + 16].hex()}")
            wrong += 1
    print(f"seed {seed}: {len(calls)} calls, {wrong} differ")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if sum(compare(str(Path(sys.argv[1]).resolve()), seed) for seed in (1, 2, 3)) else 0)
