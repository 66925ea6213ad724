# SPDX-License-Identifier: Apache-2.0
"""Chakra execution traces, a file a rank, priced: a node runs when those it depends on have ended. A rank computes one node at a
time, as long as the trace says; an operation between cards begins when its last rank has come, one of a group at a time, and
takes what the topology says.

The messages of a trace are read here and not by protobuf: fields of numbers and bytes, nested two deep, are one short class. Python's
protobuf is a package that nothing else here needs and that wants a module generated for its own version; the C++ library, which the
build has for models, would be a program between the file and these scripts. What is damaged is refused (test_study.py)."""

import heapq
import subprocess
from pathlib import Path

from raw import Error

# Numbers of mlcommons/chakra, schema/protobuf/et_def.proto.
COMP, SEND, RECV, COLL = 4, 5, 6, 7
COLLECTIVES = {"all_reduce": 0, "reduce": 1, "all_gather": 2, "scatter": 4, "broadcast": 5, "all_to_all": 6, "reduce_scatter": 7, "barrier": 9}
NODE_ID, NODE_NAME, NODE_TYPE, NODE_CONTROL, NODE_DATA, NODE_DURATION, NODE_ATTRIBUTE = 1, 2, 3, 4, 5, 7, 10
ATTRIBUTE_NAME, SIGNED = 1, (15, 17)
FIELDS = {NODE_ID: int, NODE_NAME: bytes, NODE_TYPE: int, NODE_DURATION: int, NODE_ATTRIBUTE: bytes}
NUMBER_BITS = 7 * 10  # of a number's longest form


class Reader:
    """The fields of a protobuf message."""

    def __init__(self, data, what):
        self.data, self.at, self.what = data, 0, what

    def refuse(self, why):
        raise Error(f"{self.what}: no Chakra execution trace, or a damaged one: {why}")

    def whole(self):
        value = shift = 0
        while self.at < len(self.data) and shift < NUMBER_BITS:
            byte = self.data[self.at]
            self.at, value, shift = self.at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
        self.refuse("a number of more than ten bytes" if shift == NUMBER_BITS else "it ends inside a number")

    def bytes(self, size):
        if size > len(self.data) - self.at:
            self.refuse("it ends inside a message")
        self.at += size
        return self.data[self.at - size:self.at]

    def fields(self):
        while self.at < len(self.data):
            key = self.whole()
            if key & 7 == 0:
                yield key >> 3, self.whole()
            elif key & 7 in (1, 2, 5):
                yield key >> 3, self.bytes({1: 8, 5: 4}.get(key & 7) or self.whole())
            else:
                self.refuse(f"a field of kind {key & 7}")


def numbers(value, what):
    """A repeated number: one, or several packed."""
    if isinstance(value, int):
        return [value]
    reader, out = Reader(value, what), []
    while reader.at < len(value):
        out.append(reader.whole())
    return out


class Node:
    def __init__(self, data, rank, what):
        # A field that is not there is 0.
        self.rank, self.id, self.name, self.kind, self.after, self.us, self.attributes = rank, 0, "", 0, set(), 0, {}
        reader = Reader(data, what)
        for field, value in reader.fields():
            if not isinstance(value, FIELDS.get(field, object)):
                reader.refuse(f"field {field} of a node is of another kind")
            if field == NODE_ID:
                self.id = value
            elif field == NODE_NAME:
                self.name = value.decode(errors="replace")
            elif field == NODE_TYPE:
                self.kind = value
            elif field in (NODE_CONTROL, NODE_DATA):
                self.after.update(numbers(value, what))
            elif field == NODE_DURATION:
                self.us = value
            elif field == NODE_ATTRIBUTE:
                self.add_attribute(value, what)
        self.ns = self.number("duration_ns") if "duration_ns" in self.attributes else self.us * 1000
        if self.ns < 0:
            raise Error(f"rank {rank}, node {self.id} ({self.name}): it takes {self.ns} ns")

    def add_attribute(self, data, what):
        name, told, reader = "", None, Reader(data, what)
        for field, value in reader.fields():
            if field == ATTRIBUTE_NAME:
                if isinstance(value, int):
                    reader.refuse("an attribute whose name is a number")
                name = value.decode(errors="replace")
            elif isinstance(value, int):
                told = value >> 1 ^ -(value & 1) if field in SIGNED else value
            else:
                told = value.decode(errors="replace")
        self.attributes[name] = told

    def number(self, name):
        value = self.attributes.get(name)
        if not isinstance(value, int):
            raise Error(f"rank {self.rank}, node {self.id} ({self.name}): it has no {name}")
        return value


def read(path, rank):
    """Nodes by number."""
    reader, nodes = Reader(Path(path).read_bytes(), path), {}
    reader.bytes(reader.whole())  # of the whole trace: version and attributes
    while reader.at < len(reader.data):
        node = Node(reader.bytes(reader.whole()), rank, path)
        if node.kind and nodes.setdefault(node.id, node) is not node:
            raise Error(f"{path}: two nodes {node.id} ({nodes[node.id].name} and {node.name})")
    for node in nodes.values():
        lost = node.after - nodes.keys()
        if lost:
            raise Error(f"{path}: node {node.id} ({node.name}) depends on {min(lost)}, which is not there")
    return nodes


def meetings_of(ranks):
    """Operations between cards: nodes that belong together, by (rank, id), and what they ask of a topology."""
    kinds = {number: kind for kind, number in COLLECTIVES.items()}
    members, came, asks, of = {}, {}, {}, {}
    nodes = [node for rank in ranks for _, node in sorted(rank.items()) if node.kind in (SEND, RECV, COLL)]
    for node in nodes:
        if node.kind == COLL:
            members.setdefault(node.attributes.get("pg_name"), set()).add(node.rank)
    for node in nodes:
        if node.kind == COLL:
            group = node.attributes.get("pg_name")
            cards = sorted(members[group])
        else:
            cards = [node.attributes.get("comm_src", node.rank), node.attributes.get("comm_dst", node.rank)]
            group = ("message", *cards, node.attributes.get("comm_tag", 0))
            if not all(isinstance(card, int) and 0 <= card < len(ranks) for card in cards):
                raise Error(f"rank {node.rank}, node {node.id} ({node.name}): a message between ranks {cards[0]} and {cards[1]} of {len(ranks)}")
        place = came[group, node.rank] = came.get((group, node.rank), -1) + 1
        key = (group, place)
        of[node.rank, node.id] = key
        kind = "point_to_point" if node.kind != COLL else kinds.get(node.number("comm_type"))
        if not kind:
            raise Error(f"rank {node.rank}, node {node.id} ({node.name}): comm_type {node.number('comm_type')} is not known")
        steps = {right - left for left, right in zip(sorted(cards), sorted(cards)[1:])}
        ask = (kind, max(len(set(cards)), 1), 0 if kind == "barrier" else node.number("comm_size"), min(steps, default=1) or 1)
        if asks.setdefault(key, (ask, set(cards)))[0] != ask:
            raise Error(f"rank {node.rank}, node {node.id} ({node.name}): other ranks do {asks[key][0]} there, not {ask}")
    return of, asks


def prices(leo, topology, asks):
    """What each operation takes, in ns."""
    different = sorted({ask for ask, _ in asks.values()})
    lines = "".join(" ".join(map(str, ask)) + "\n" for ask in different)
    done = subprocess.run([leo, "topology", topology], input=lines, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Error(done.stderr.strip())
    return dict(zip(different, map(int, done.stdout.split())))


def play(ranks, of, asks, cost):
    """When the nodes of each rank end, in ns: by (rank, id)."""
    left = {(node.rank, node.id): len(node.after) for rank in ranks for node in rank.values()}
    then = {}
    for rank in ranks:
        for node in rank.values():
            for one in node.after:
                then.setdefault((node.rank, one), []).append(node)
    ready = [(0, node.rank, node.id) for rank in ranks for node in rank.values() if not node.after]
    heapq.heapify(ready)
    ends, free, group_free, there = {}, [0] * len(ranks), {}, {}

    def end(key, at):
        ends[key] = at
        for node in then.get(key, ()):
            left[node.rank, node.id] -= 1
            if left[node.rank, node.id] == 0:
                heapq.heappush(ready, (max(ends[node.rank, one] for one in node.after), node.rank, node.id))

    while ready:
        now, rank, number = heapq.heappop(ready)
        node = ranks[rank][number]
        meeting = of.get((rank, number))
        if meeting is None:
            free[rank] = max(now, free[rank]) + node.ns if node.ns else free[rank]
            end((rank, number), free[rank] if node.ns else now)
            continue
        ask, cards = asks[meeting]
        come = there.setdefault(meeting, {})
        come[rank] = number
        if len(come) == len(cards):
            group_free[meeting[0]] = max(now, group_free.get(meeting[0], 0)) + cost[ask]
            for one, its in come.items():
                end((one, its), group_free[meeting[0]])
    return ends


def tell(leo, paths, topology):
    ranks = [read(path, rank) for rank, path in enumerate(paths)]
    of, asks = meetings_of(ranks)
    ends = play(ranks, of, asks, prices(leo, topology, asks))
    print(f"{'rank':>4} {'ends us':>12} {'computing us':>13} {'between cards':>14} {'nodes':>7}")
    for number, rank in enumerate(ranks):
        lost = [node for node in rank.values() if (number, node.id) not in ends]
        if lost:
            first = min(lost, key=lambda node: node.id)
            raise Error(f"rank {number} never comes past node {first.id} ({first.name}): a rank that it waits for does not come, or nodes wait for each other")
        computing = sum(node.ns for node in rank.values() if (number, node.id) not in of)
        last = max((ends[number, node.id] for node in rank.values()), default=0)
        meets = sum((number, node.id) in of for node in rank.values())
        print(f"{number:>4} {last / 1000:>12.3f} {computing / 1000:>13.3f} {meets:>14} {len(rank):>7}")
    unknown = sum(node.kind == COMP and not node.ns and node.attributes.get("num_ops", 0) != 0 for rank in ranks for node in rank.values())
    if unknown:
        print(f"{unknown} computing nodes have no duration and count as 0: a trace of numbers of operations has to be given times first")
