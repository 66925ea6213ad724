#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the library of a project's custom operators: op_host (descriptions, tiling functions) and op_kernel (kernels in Ascend C).

The result is a vendor's folder: op_api/lib/libcust_opapi.so with two functions aclnn<Name>GetWorkspaceSize and aclnn<Name> for each operator,
op_api/include/aclnn_<name>.h; and with --run a file that installs it.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import generate
from op_names import FORMATS, SOCS, TYPES, snake
import package

HERE = Path(os.path.realpath(__file__)).parent
CANN = HERE.parents[2]  # <toolkit>/cann/share/leo/custom_op
KEYED = re.compile(r"\bKERNEL_TASK_TYPE\s*\(\s*([^,]+?)\s*,")
BY_TYPE = re.compile(r"\b(?:ORIG_)?(?:DTYPE|FORMAT)_[A-Z0-9_]+\b")


class Failed(Exception):
    """What cannot be built, in words for the user."""


def run(command, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stderr or done.stdout}")
    return done


class Build:
    def __init__(self, args):
        self.args = args
        self.work = Path(args.out) / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self.host_flags = ["-std=c++17", "-fPIC", "-O1", f"-I{CANN}/include", f"-I{HERE}", *(f"-I{path}" for path in args.include),
                           *(f"-I{path}" for path in args.host), *args.host_option]
        self.pool = concurrent.futures.ThreadPoolExecutor(args.jobs)

    def all(self, function, items):
        """Results in order; every failure is reported, not the first alone."""
        results, failures = [], []
        for future in [self.pool.submit(function, item) for item in items]:
            try:
                results.append(future.result())
            except Failed as failure:
                failures.append(str(failure))
        if failures:
            raise Failed("\n".join(failures))
        return results

    def host_object(self, source):
        name = re.sub(r"[^A-Za-z0-9]+", "_", str(source)).strip("_")
        target = self.work / f"{name}.o"
        run([self.args.cxx, *self.host_flags, "-c", source, "-o", target])
        return target

    def describe(self, objects):
        program = self.work / "describe"
        run([self.args.cxx, *self.host_flags, HERE / "describe.cpp", *objects, "-o", program, f"-L{CANN}/lib64", "-lopapi", "-lascendcl",
             f"-Wl,-rpath,{CANN}/lib64"])
        text = run([program]).stdout
        (self.work / "operators.json").write_text(text, encoding="utf-8")
        return json.loads(text)

    def kernel_source(self, op):
        name = snake(op["type"]) + ".cpp"
        found = sorted(path.resolve() for folder in self.args.kernel for path in Path(folder).rglob(name))
        if not found:
            raise Failed(f"operator {op['type']}: no kernel file {name} below {', '.join(map(str, self.args.kernel))}")
        return found[0]

    def compile_image(self, image):
        command = [CANN / "bin/leo", "cc", "--soc", SOCS[image["soc"]][0], "--depfile", image["elf"].with_suffix(".d"), "-O2", "-D__global__=",
                   *self.args.kernel_option, *image["defines"], *(f"-I{path}" for path in self.args.include),
                   f"-I{image['source'].parent}", image["main"], "-o", image["elf"]]
        run(command)

    def depends_on_types(self, image):
        """The text of the kernel and what it includes of the project names a type or format of the combination."""
        words = image["elf"].with_suffix(".d").read_text(encoding="utf-8").replace("\\\n", " ").split()[1:]
        own = [Path(word) for word in words if str(CANN) not in word and str(self.work.resolve()) not in str(Path(word).resolve())]
        return any(BY_TYPE.search(path.read_text(encoding="utf-8", errors="replace")) for path in own if path.exists())

    def image(self, op, soc, number, key, described):
        config = op["configs"][soc]
        kinds = config["combinations"][number]
        stem = f"{op['type']}_{soc}_{number}" + (f"_{re.sub('[^A-Za-z0-9]', '_', key)}" if key else "")
        source = self.kernel_source(op)
        main = self.work / f"{stem}.cpp"
        text = source.read_text(encoding="utf-8", errors="replace")
        main.write_text(generate.kernel_main(op, config, source, described, f"{op['type']}_{number}", "op_host" in text), encoding="utf-8")
        defines = [f"-DLEO_TILING_KEY={key}" if key else "-DLEO_TILING_KEY_BY_LAUNCH"]
        # Launches of the host behind this guard are not the kernel's.
        defines += ["-D__CCE_KT_TEST__"] if "<<<" in text else []
        for param, (kind, form) in zip(config["params"], kinds):
            word, name = TYPES.get(kind, (f"{kind}", None))
            upper = param["name"].upper()
            defines += [f"-DORIG_DTYPE_{upper}={word}", f"-DFORMAT_{upper}={FORMATS.get(form, form)}"]
            defines += [f"-DDTYPE_{upper}={name}"] if name else []
        return {"op": op["type"], "soc": soc, "combination": number, "key": key, "source": source, "main": main,
                "elf": self.work / f"{stem}.elf", "defines": defines, "entry": f"{op['type']}_{number}", "arch": SOCS[soc][1]}

    def images(self, described):
        """Images of every operator; one combination first, the others if its text depends on them."""
        first, rest = [], []
        for op in described["operators"]:
            for soc in sorted(set(op["configs"]) & set(self.args.soc)):
                keys = KEYED.findall(self.kernel_source(op).read_text(encoding="utf-8", errors="replace"))
                named = [key for key in keys if not re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", key)]
                if named:
                    raise Failed(f"operator {op['type']}: KERNEL_TASK_TYPE({named[0]}, ...): only numbers can stand for the key")
                for key in ["", *dict.fromkeys(keys)]:
                    count = len(op["configs"][soc]["combinations"])
                    made = [self.image(op, soc, number, key, described) for number in range(count)]
                    first.append(made[0])
                    rest.append((made[0], made[1:]))
        self.all(self.compile_image, first)
        more = [image for head, tail in rest if tail and self.depends_on_types(head) for image in tail]
        self.all(self.compile_image, more)
        return first + more

    def library(self, described, images, objects):
        folder = Path(self.args.out) / "packages/vendors" / self.args.vendor
        lib, include = folder / "op_api/lib", folder / "op_api/include"
        for path in (lib, include):
            path.mkdir(parents=True, exist_ok=True)
        for op in described["operators"]:
            (include / f"aclnn_{snake(op['type'])}.h").write_text(generate.header(op), encoding="utf-8")
        (self.work / "entries.cpp").write_text(generate.entries(described["operators"], images), encoding="utf-8")
        (self.work / "images.s").write_text(generate.assembly(images), encoding="utf-8")
        self.all(lambda source: run([self.args.cxx, *self.host_flags, f"-I{include}", "-c", source, "-o", self.work / (source.stem + ".o")]),
                 [self.work / "entries.cpp", HERE / "two_phase.cpp"])
        target = lib / "libcust_opapi.so"
        run([self.args.cxx, "-shared", "-Wl,--no-undefined", *objects, self.work / "entries.o", self.work / "two_phase.o", self.work / "images.s",
             "-o", target, f"-L{CANN}/lib64", "-lopapi", "-lascendcl", f"-Wl,--version-script={HERE}/exports.map"])
        return folder


def problems(op, socs):
    """What of an operator's description cannot be built."""
    params = {(param["name"], param["refused"]) for config in op["configs"].values() for param in config["params"] if param["refused"]}
    yield from (f"parameter {name}: {word} is not there" for name, word in sorted(params))
    if len(op["groups"]) > 2:
        yield "a kernel has at most two groups"
    texts = {attr["name"] for attr in op["attrs"] if attr["kind"] == generate.TEXT}
    yield from (f"MC2().HcclGroup(\"{group}\"): no attribute of this name is a String" for group in op["groups"] if group not in texts)
    if not op["tiling"]:
        yield "no tiling function; call this->AICore().SetTiling(...)"
    if not set(op["configs"]) & set(socs):
        yield f"AddConfig names {', '.join(sorted(op['configs'])) or 'no chip'}; the project is built for {', '.join(socs)}"


def check(described, socs):
    found = [f"operator {op['type']}: {problem}" for op in described["operators"] for problem in problems(op, socs)]
    if not described["operators"]:
        found = ["no operator: op_host has no OP_ADD"]
    if found:
        raise Failed("\n".join(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--host", action="append", required=True, help="folder with the host parts (op_host)")
    parser.add_argument("--kernel", action="append", required=True, help="folder with the kernels (op_kernel)")
    parser.add_argument("--out", required=True, help="folder for the result")
    parser.add_argument("--vendor", default="customize")
    parser.add_argument("--soc", action="append", default=[], help="ascend910b, ascend910_93 or ascend910; may be given more than once")
    parser.add_argument("--include", action="append", default=[], help="folder of headers")
    parser.add_argument("--kernel-option", action="append", default=[], help="for leo cc")
    parser.add_argument("--host-option", action="append", default=[], help="for the host's compiler")
    parser.add_argument("--only", action="append", default=[], help="the host files of this name alone, without .cpp")
    parser.add_argument("--cxx", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--run", help="name of the file that installs the result")
    args = parser.parse_args()
    args.soc = args.soc or ["ascend910b"]
    try:
        if not set(args.soc) <= set(SOCS):
            raise Failed(f"no chip is called {', '.join(sorted(set(args.soc) - set(SOCS)))}; there are: {', '.join(SOCS)}")
        sources = sorted(path.resolve() for folder in args.host for path in Path(folder).rglob("*.cpp")
                         if not args.only or path.stem in args.only)
        if not sources:
            raise Failed(f"no .cpp file below {', '.join(args.host)}")
        build = Build(args)
        objects = build.all(build.host_object, sources)
        described = build.describe(objects)
        check(described, args.soc)
        folder = build.library(described, build.images(described), objects)
        if args.run:
            package.write(folder.parent, args.vendor, Path(args.out) / args.run)
    except Failed as failure:
        sys.exit(f"custom_op: {failure}")
    names = ", ".join(op["type"] for op in described["operators"])
    print(f"{names} in {folder}/op_api/lib/libcust_opapi.so")


if __name__ == "__main__":
    main()
