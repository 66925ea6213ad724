# SPDX-License-Identifier: Apache-2.0
"""leo study --dask: shares of a study's variants priced by the workers of a Dask scheduler. What a worker that is lost had is done
by another. study_dask.py ADDRESS LEO FOLDER SHARES SUBJECT OPTION...: the options of leo study that say what the variants are."""

import os
import sys
from pathlib import Path

# Options whose value is a file that a worker needs.
FILES = ("--chip", "--vary", "--baseline", "--topology")


def packed(subject, options):
    """The tapes and files that a share needs, by the name they have at the worker, and its words."""
    tapes = sorted(subject.glob("*.tape*")) if subject.is_dir() else [subject]
    files = {f"tapes/{tape.name}": tape.read_bytes() for tape in tapes}
    words, option = [], ""
    for word in options:
        if option in FILES and Path(word).is_file():
            files[f"{len(words)}/{Path(word).name}"] = Path(word).read_bytes()
            word = f"{len(words)}/{Path(word).name}"
        option = word
        words.append(word)
    return files, ["tapes" if subject.is_dir() else f"tapes/{subject.name}", *words]


def price(leo, files, words, share, shares):
    """At a worker: the lines of a share's results."""
    import shutil  # the function travels alone
    import subprocess
    import tempfile
    from pathlib import Path as Place
    program = leo if Place(leo).is_file() else shutil.which("leo")
    if not program:
        raise RuntimeError(f"a Dask worker has neither {leo} nor leo on its PATH")
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            Place(folder, name).parent.mkdir(exist_ok=True)
            Place(folder, name).write_bytes(data)
        done = subprocess.run([program, "study", *words, "--jobs", "1", "--shard", f"{share}/{shares}", "--out", "out"], cwd=folder,
                              capture_output=True, text=True, check=False)
        found = list(Place(folder, "out").glob("results*.jsonl"))
        if done.returncode or len(found) > 1:
            raise RuntimeError(done.stderr or f"leo study ended with {done.returncode}")
        return found[0].read_text(encoding="utf-8") if found else ""


def run(address, leo, folder, shares, subject, options):
    try:
        from dask.distributed import Client, as_completed
    except ImportError:
        sys.exit("leo study: --dask: there is no Dask here: pip install 'dask[distributed]'")
    try:
        client = Client(address, timeout=20)
    except (OSError, ValueError) as problem:
        sys.exit(f"leo study: --dask {address}: {problem}")
    files, words = packed(subject, options)
    with client:
        there = client.scatter(files, broadcast=True)
        futures = [client.submit(price, leo, there, words, share, shares, pure=False) for share in range(1, shares + 1)]
        with open(folder / "results.dask.jsonl", "a", encoding="utf-8") as out:
            for future in as_completed(futures):
                out.write(future.result())
                out.flush()


def main():
    address, leo, folder, shares, subject, *options = sys.argv[1:]
    try:
        run(address, leo, Path(folder), int(shares), Path(subject), options)
    except RuntimeError as problem:
        sys.exit(f"leo study: --dask: {problem}")
    except Exception as problem:  # of the scheduler: it has many
        sys.exit(f"leo study: --dask {address}: {type(problem).__name__}: {problem}")


if __name__ == "__main__":
    os.environ.setdefault("DASK_DISTRIBUTED__COMM__RETRY__COUNT", "3")
    main()
