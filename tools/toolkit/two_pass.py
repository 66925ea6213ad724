# SPDX-License-Identifier: Apache-2.0
"""Programs with kernels and code for the host in one file (cncc, bisheng): such a file is read twice. leo-cc takes its kernels,
clang its code for the host, into which the kernel file goes. Other files go to clang as they are; all is linked.

A head (struct Head) says what differs: names, options, headers, libraries.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

TAKES_WORD = {"-I", "-D", "-U", "-include", "-isystem", "-L", "-l"}
# The language in which clang tells kernels from code for the host; its names are what the head's header defines.
HOST = ["-xcuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version", "-D__host__=__attribute__((host))",
        "-D__device__=__attribute__((device))"]
STUB = "__device_stub__"


@dataclass
class Head:
    name: str
    usage: str
    home: Path              # include/ and lib64/ of the vendor's toolkit
    beside: Path            # of bin/leo-cc and share/leo/device
    headers: tuple          # included first
    suffixes: tuple         # of files with kernels
    device_only: str        # option: the kernel file alone
    arches: dict            # option -> chip
    soc: str                # without such an option
    npu_arch: dict          # chip -> __NPU_ARCH__
    libraries: list
    host_cc: str            # variable that names the host's compiler
    rewrite: object = None  # text of a file with kernels -> what is compiled

    def fail(self, what):
        sys.exit(f"{self.name}: {what}")


def find_programs(head):
    """The kernel compiler and the folders of its headers, and the host's compiler."""
    leo = os.environ.get("LEO_CC") or str(head.beside / "bin/leo-cc")
    root = Path(os.environ.get("LEO_DEVICE_ROOT") or head.beside / "share/leo/device")
    names = [os.environ[head.host_cc]] if os.environ.get(head.host_cc) else ["clang++-19", "clang++"]
    host = next((found for found in map(shutil.which, names) if found), None)
    if not host:
        head.fail(f"no compiler for the host: {' or '.join(names)} ({head.host_cc} names another)")
    if not shutil.which(leo):
        head.fail(f"no kernel compiler {leo}: set LEO_CC, or run the {head.name} of the toolkit folder")
    return leo, root, host


class Command:
    def __init__(self, head, argv):
        self.head, self.soc = head, head.soc
        self.sources, self.both, self.link, self.output = [], [], [], None
        self.objects_only = self.device_only = self.shared = self.verbose = False
        switches = {"-c": "objects_only", head.device_only: "device_only", "-shared": "shared", "-v": "verbose",
                    "--verbose": "verbose"}
        words = iter(argv)
        for word in words:
            if word in switches:
                setattr(self, switches[word], True)
            elif word == "-o":
                self.output = next(words, None) or head.fail("a file name is missing after -o")
            elif word in head.arches:
                self.soc = head.arches[word]
            elif word.partition("=")[0] in {known.partition("=")[0] for known in head.arches}:
                head.fail(f"{word}: the simulated chips are {', '.join(head.arches)}")
            elif word.startswith("-"):
                self.option(word, words)
            else:
                self.sources.append(Path(word))
        if not self.sources:
            head.fail(f"no file to compile ({head.name} --help)")

    def option(self, word, words):
        more = [next(words, None) or self.head.fail(f"a word is missing after {word}")] if word in TAKES_WORD else []
        if word.startswith(("-L", "-l", "-Wl,")):
            self.link += [word, *more]
        elif re.match(r"-(O|I|D|U|W|f|g|std=|include|isystem|pthread|march)", word):
            self.both += [word, *more]
        else:
            self.head.fail(f"unknown option {word} ({self.head.name} --help)")

    def run(self, *words):
        words = [str(word) for word in words]
        if self.verbose:
            print(" ".join(words), file=sys.stderr)
        if subprocess.run(words, check=False).returncode:
            sys.exit(1)


@lru_cache
def host_target(host):
    """The target of the host's compiler and the folders of its headers, as it tells them."""
    target = subprocess.run([host, "-print-target-triple"], capture_output=True, text=True, check=True).stdout.strip()
    said = subprocess.run([host, "-E", "-v", "-xc++", os.devnull], capture_output=True, text=True, check=True).stderr
    listed = said.split("#include <...> search starts here:")[1].split("End of search list")[0].split("\n")
    own = subprocess.run([host, "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()
    return target, [line.strip() for line in listed if line.strip() and not line.strip().startswith(os.path.realpath(own))
                    and not line.strip().startswith(own)]


def launch_by_own_names(path):
    """A program's other files know a kernel by its own name, not by its stub's."""
    listed = subprocess.run(["nm", "--defined-only", "-f", "posix", str(path)], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if STUB in line]
    renames = []
    for name in names:
        own = re.sub(rf"(\d+){STUB}", lambda found: str(int(found.group(1)) - len(STUB)), name)
        renames += ["--redefine-sym", f"{name}={own.replace(STUB, '')}"]
    if renames:
        subprocess.run(["objcopy", *renames, str(path)], check=True)


def own_copy(head, source, folder):
    """The file as both passes read it: itself, or what the head makes of it, whose lines are reported as the file's."""
    if not head.rewrite:
        return source, []
    copy = folder / f"{source.stem}.cpp"
    copy.write_text(f'#line 1 "{source}"\n' + head.rewrite(source.read_text(encoding="utf-8", errors="surrogateescape")),
                    encoding="utf-8", errors="surrogateescape")
    return copy, ["-I", source.resolve().parent]


def compile_both(command, source, output, folder, programs):
    leo, root, host = programs
    head = command.head
    if not source.is_file():
        head.fail(f"{source}: no such file")
    target, includes = host_target(host)
    elf = command.output if command.device_only else folder / (output.name + ".elf")
    own = ["-isystem", head.home / "include"]
    first = [word for header in head.headers for word in ("-include", header)]
    listed = [word for include in includes for word in ("-isystem", include)]
    read, more = own_copy(head, source, folder)
    command.run(leo, "--soc", command.soc, "--host-code", target, *command.both, *first, *listed, *own, *more, read, "-o", elf)
    if not command.device_only:
        ours = [word for name in ("include", "generated") if (root / name).is_dir() for word in ("-idirafter", root / name)]
        command.run(host, *HOST, f"-D__NPU_ARCH__={head.npu_arch[command.soc]}", "-std=c++17", *command.both, *first, *own, *more, *ours,
                    "-Xclang", "-fcuda-include-gpubinary", "-Xclang", elf, "-fPIC", "-c", read, "-o", output)
        launch_by_own_names(output)


def main(head, argv):
    if len(argv) == 1 and argv[0] in ("-h", "--help"):
        print(head.usage)
        return
    command = Command(head, argv)
    programs = find_programs(head)
    host = programs[2]
    single = command.objects_only or command.device_only
    if single and command.output and len(command.sources) > 1:
        head.fail("-o with several files: they become one file each")
    if command.device_only and not command.output:
        command.output = str(command.sources[0].with_suffix(".elf"))
    with tempfile.TemporaryDirectory(prefix=f"{head.name}-") as temporary:
        folder, objects = Path(temporary), []
        for number, source in enumerate(command.sources):
            output = folder / f"{number}-{source.stem}.o"
            if command.objects_only:
                output = Path(command.output or source.with_suffix(".o").name)
            if source.suffix in head.suffixes:
                compile_both(command, source, output, folder, programs)
            elif source.suffix in (".o", ".a", ".so"):
                output = source
            else:
                command.run(host, *command.both, "-isystem", head.home / "include", "-fPIC", "-c", source, "-o", output)
            objects.append(output)
        if not single:
            lib = head.home / "lib64"
            command.run(host, *(["-shared"] if command.shared else []), *objects, *command.link, f"-L{lib}", f"-Wl,-rpath,{lib}",
                        *(f"-l{name}" for name in head.libraries), "-o", command.output or "a.out")
