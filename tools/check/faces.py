#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""faces.py BUILD [ROOT]: the vendors' faces hold no logic.

A face (runtime/acl, cnrt, hccl, cncl) is names, types, defaults and error codes over runtime/api_common and runtime/collective. What it could hold
logic with is looked for in its object files: locks and threads, memory, calls of the runtime core or the driver past
the common API, state. A file that cannot do any of this can only translate. The exceptions are listed with their
reasons; one that is no longer needed is an error too, so that the list only shrinks.
"""

import re
import subprocess
import sys
from pathlib import Path

import tree

FACES = {"acl": "ascendcl", "cnrt": "cnrt", "hccl": "hccl", "cncl": "cncl"}

# What a symbol is used for; the text of the last error is what a face reports.
KINDS = {
    "locks": re.compile(r"^(pthread_|sem_|mtx_|cnd_|thrd_)"),
    "memory": re.compile(r"^(leo_(alloc|calloc|realloc|aligned_alloc|free)|malloc|calloc|realloc|free|mmap)$"),
    "core": re.compile(r"^(leo_rt_(?!last_error$|fail$)|leo_drv_|leo_sim_|coll_)"),
}
STATE = re.compile(r"^[bBdDcC]$")
CONSTANT = re.compile(r"\.(data\.rel\.ro|rodata)")

# file -> (what it may use, why)
ACCEPTED = {
    "acl/acl_init.c": ({"memory"}, "aclInit's configuration as text"),
    "acl/acl_process.c": ({"state"}, "what AscendCL alone keeps for a process: options, log, executor of operators"),
    "acl/acl_error.c": ({"state"}, "each thread's last error"),
    "acl/acl_log.c": ({"locks"}, "the vendor's log file"),
    "acl/acl_options.c": ({"locks"}, "texts of the operator compiler's options"),
    "acl/acl_life_callback.c": ({"locks"}, "functions that aclInit and aclFinalize call"),
    "acl/acl_exception.c": ({"locks"}, "functions told of failures"),
    "acl/model/acl_model.c": ({"locks", "memory"}, "models that are loaded: no other interface has them"),
    "acl/model/acl_model_desc.c": ({"memory"}, "descriptions of models, which only the interface knows"),
    "acl/model/acl_model_aipp.c": ({"memory"}, "settings of pictures, which only the interface knows"),
    "acl/model/acl_model_order.c": ({"locks", "memory"}, "what keeps runs of a model apart"),
    "acl/acl_limits.c": ({"state"}, "each thread's limit of cores"),
    "acl/acl_device.c": ({"state"}, "the text that aclrtGetSocName returns"),
    "acl/acl_base.c": ({"memory"}, "data buffers: descriptions that only the interface knows"),
    "acl/model/acl_dataset.c": ({"memory"}, "data sets: lists that only the interface knows"),
    "acl/model/acl_dump.c": ({"locks", "memory"}, "pieces of dumps in the interface's shape, and which models it dumps"),
    "acl/model/acl_model_config.c": ({"memory"}, "settings of loads and runs, which only the interface knows"),
    "acl/model/acl_op_handle.c": ({"memory"}, "calls of operators kept for repetition: descriptions that only the interface knows"),
    "acl/model/acl_op_model.c": ({"locks", "memory"}, "models of single operators that are loaded: no other interface has them"),
    "acl/model/acl_op.c": ({"memory"}, "attributes of operators: descriptions that only the interface knows"),
    "acl/model/acl_tensor_desc.c": ({"memory"}, "tensor descriptions: only the interface knows them"),
    "acl/tdt/acl_tdt_channel.c": ({"locks", "memory"}, "channels of sets of tensors: no other interface has them"),
    "acl/tdt/acl_tdt_data.c": ({"memory"}, "sets of tensors, which only the interface knows"),
    "acl/tdt/acl_tdt_enqueue.c": ({"core", "memory"}, "what a stream sends through a channel, and where its tensors lie"),
    "acl/tdt/acl_tdt_get_next.c": ({"core", "memory"}, "what waits in a stream for a channel, and writes where the operator's outputs are"),
    "cnrt/cnrt_error.c": ({"state"}, "each thread's last error"),
    "cnrt/cnrt_convert.c": ({"memory"}, "parameters of conversions: descriptions that only the interface knows"),
    "cnrt/cndev.c": ({"state"}, "the text that cndevGetCardNameStringByDevId returns, and whether it is initialized"),
    "hccl/hccl_config.c": ({"state"}, "the process's setting"),
}


def uses(path):
    """What an object file uses that a face should not, with the symbols."""
    found = {}
    listing = subprocess.run(["nm", "--format=sysv", str(path)], capture_output=True, text=True, check=True).stdout
    for line in listing.split("\n"):
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 7:
            continue
        name, kind, section = fields[0], fields[2], fields[6]
        if kind == "U":
            for what, pattern in KINDS.items():
                if pattern.match(name):
                    found.setdefault(what, set()).add(name)
        elif STATE.match(kind) and not CONSTANT.search(section):
            found.setdefault("state", set()).add(name)
    return found


def main():
    build = Path(sys.argv[1])
    root = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    violations, seen = [], set()
    for face, target in FACES.items():
        folder = build / "runtime" / face / "CMakeFiles" / f"{target}.dir"
        for path in sorted(folder.rglob("*.o")):
            name = f"{face}/{path.relative_to(folder)}".removesuffix(".o")
            if not (root / "runtime" / name).exists():
                continue  # left over from before the file moved
            found, accepted = uses(path), ACCEPTED.get(name, (set(), ""))[0]
            seen.add(name)
            for what, symbols in sorted(found.items()):
                if what not in accepted:
                    violations.append(f"runtime/{name}: {what} in a face: {', '.join(sorted(symbols))}")
            for what in sorted(accepted - set(found)):
                violations.append(f"runtime/{name}: the exception for {what} is no longer needed")
    for name in sorted(set(ACCEPTED) - seen):
        violations.append(f"runtime/{name}: an exception for a file that is not built")
    if not seen:
        violations.append(f"{build}: no face is built")
    tree.finish("faces", violations)


main()
