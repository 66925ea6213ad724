# SPDX-License-Identifier: Apache-2.0
"""leo chakra: recorded runs as Chakra execution traces, PREFIX.RANK.et, for ASTRA-sim and others: a node a kernel, copy and
operation with other cards, with what it waited for in its stream's order and in time. Traces, of a rank each, with
--topology are priced: computing takes what the traces say, operations between cards what they take there."""

import json
import subprocess
import sys
from pathlib import Path

import report  # noqa: F401  where command looks
import chakra_price
import command
import what_if

# Numbers of mlcommons/chakra, schema/protobuf/et_def.proto.
COMP, SEND, RECV, COLL = chakra_price.COMP, chakra_price.SEND, chakra_price.RECV, chakra_price.COLL
VERSION = "0.0.4"


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, value):
    """A field of a message: a whole number, or bytes and text with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    """bool_val, int64_val or string_val of an AttributeProto."""
    kind = 27 if isinstance(value, bool) else 9 if isinstance(value, int) else 29
    return field(10, field(1, name) + field(kind, int(value) if isinstance(value, bool) else value))


def message(data):
    return varint(len(data)) + data


def node(number, name, kind, after, start_us, us, attributes):
    told = field(1, number) + field(2, name) + field(3, kind) + b"".join(field(5, one) for one in sorted(after))
    told += field(6, round(start_us)) + field(7, round(us))
    return message(told + b"".join(attribute(*pair) for pair in attributes.items()))


def events_of(run):
    """All that took time, in the order of its begin: (begin, end, stream, what)."""
    events = [(task["start_us"], task["start_us"] + task["us"], task["queue"], task) for task in run["task"]]
    events += [(link["begin_us"], link["end_us"], None, link) for link in run["link"]]
    return sorted(events, key=lambda event: (event[0], event[1]))


def trace(run):
    """A trace's bytes. A task comes behind the one before it in its stream and behind operations of other cards that ended
    since; such an operation behind all that ended since the one before it."""
    out, last, ended = [message(field(1, VERSION))], {}, []
    for number, (begin, end, stream, what) in enumerate(events_of(run), 1):
        if stream is None:
            after = {one for stop, one, is_link in ended if stop <= begin}
            ended = [(stop, one, is_link) for stop, one, is_link in ended if stop > begin] + [(end, number, True)]
            bytes_moved = what["bytes"]
            sends = what["kind"] == "point_to_point"
            kind = COLL if not sends else SEND if what["sends"] else RECV
            attributes = {"is_cpu_op": False, "comm_size": bytes_moved, "pg_name": what["group"]}
            attributes |= {"comm_tag": 0, "comm_src": what["source"], "comm_dst": what["target"]} if sends else \
                {"comm_type": chakra_price.COLLECTIVES[what["kind"]]}
        else:
            after = ({last[stream]} if stream in last else set()) | {one for stop, one, is_link in ended if is_link and stop <= begin}
            last[stream] = number
            ended.append((end, number, False))
            kind, attributes = COMP, {"is_cpu_op": False, "num_ops": round(what["us"] * 1000), "tensor_size": 1,
                                "duration_ns": round(what["us"] * 1000)}
        out.append(node(number, what["name"], kind, after, begin, end - begin, attributes))
    return b"".join(out)


def main():
    parser = command.Parser(prog="leo chakra", description=__doc__)
    parser.add_argument("tapes", metavar="TAPE", nargs="+",
                        help="a recorded run (LEO_TAPE), a folder of those of several ranks, or traces in the order of their ranks")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-o", "--output", metavar="PREFIX", help="PREFIX.RANK.et is written for each rank")
    what.add_argument("--topology", metavar="FILE|CHIP", help="traces are priced on a topology (docs/studies.md), or on the [link] of a chip")
    args = parser.parse_args()
    leo = what_if.find_leo(Path(__file__).resolve().parent)
    if args.topology:
        chakra_price.tell(leo, args.tapes, args.topology)
        return
    if len(args.tapes) > 1:
        parser.error("one recorded run, or one folder, is wanted")
    place = Path(args.tapes[0])
    runs = []
    for tape in sorted(place.glob("*.tape*")) if place.is_dir() else [place]:
        done = subprocess.run([leo, "replay", str(tape), "--json"], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr.strip())
        run = json.loads(done.stdout)
        if run["task"]:
            runs.append(run)
    # Ranks of the largest group; a run without others is rank 0.
    runs.sort(key=lambda run: max(((link["ranks"], link["rank"]) for link in run["link"]), default=(0, 0))[1])
    for rank, run in enumerate(runs):
        path = Path(f"{args.output}.{rank}.et")
        path.write_bytes(trace(run))
        print(path)


if __name__ == "__main__":
    command.run("leo chakra", main)
