# SPDX-License-Identifier: Apache-2.0
"""Generated texts of a library of custom operators: the file that holds a kernel, headers, two-phase functions, images."""

import os
import re
from pathlib import Path

from op_names import snake

OPTIONAL, DYNAMIC = 1, 3
# By kind of attribute (ops::OpAttrDef::Kind).
ATTRS = ["int64_t {}", "double {}", "bool {}", "const char *{}", "const aclIntArray *{}", "const aclFloatArray *{}", "const aclBoolArray *{}"]
TEXT = ATTRS.index("const char *{}")
# Of inputs whose values the tiling function reads, by type.
VALUES = {9: "const aclIntArray *{}", 3: "const aclIntArray *{}", 0: "const aclFloatArray *{}", 12: "const aclBoolArray *{}"}
CANN = Path(os.path.realpath(__file__)).parents[3]  # <toolkit>/cann/share/leo/custom_op
# Structures that the device has in kernel_tiling/kernel_tiling.h.
KNOWN = set(re.findall(r"BEGIN_TILING_DATA_DEF\((\w+)\)", (CANN / "include/kernel_tiling/objects.h").read_text(encoding="utf-8")))


def structure(name, fields):
    lines = [f"    {kind} {field}{f'[{count}]' if count else ''};" for kind, field, count in fields]
    return "\n".join([f"struct {name} {{", *lines, "};"])


def kernel_main(op, config, source, described, entry, brings_structures):
    """The operator's own file, its tiling structures before it, and the kernel that tells it the tiling key."""
    name = described["tiling"].get(op["type"])
    parts = [f"#define LEO_OP {op['type']}"] if name else []
    parts += ["#include <kernel_operator.h>", "#include <kernel_tiling/kernel_tiling.h>"]
    if not brings_structures:
        parts += [structure(name, fields) for name, fields in described["structures"] if name not in KNOWN]
    if name and not brings_structures:
        parts += [f"using leo_tiling_of_{op['type']} = {name};"]
    names = [f"a{i}" for i in range(len(config["params"]))] + ["workspace", "tiling"]
    groups = range(len(op["groups"]))
    declared = ", ".join([f"GM_ADDR {name}" for name in names] + ["uint64_t key"] + [f"GM_ADDR group{i}" for i in groups])
    parts += [f'#include "{source}"',
              f'extern "C" __attribute__((visibility("protected"), used)) __aicore__ void leo_custom_kernel({declared}) __asm__("{entry}");',
              f'extern "C" __attribute__((visibility("protected"), used)) __aicore__ void leo_custom_kernel({declared})', "{",
              *(f"    AscendC::SetHcclContext<{i}>(group{i});" for i in groups), "    AscendC::leo_tiling_key = key;", f"    {snake(op['type'])}({', '.join(names)});", "}", ""]
    return "\n".join(parts)


def config_of(op):
    return next(iter(op["configs"].values()))


def parameters(op):
    """(declaration, name) of what phase one takes, in its order."""
    config = config_of(op)
    inputs, outputs = config["params"][:config["inputs"]], config["params"][config["inputs"]:]
    written = {param["name"] for param in outputs}
    result = []
    for param in inputs:
        name = param["name"] + ("Ref" if param["name"] in written else "") + ("Optional" if param["option"] == OPTIONAL else "")
        if param["value"] and param["type"] in VALUES:
            form = VALUES[param["type"]]
        elif param["option"] == DYNAMIC:
            form = "const aclTensorList *{}"
        else:
            form = "aclTensor *{}" if param["name"] in written else "const aclTensor *{}"
        result.append((form.format(name), name))
    result += [(ATTRS[attr["kind"]].format(attr["name"]), attr["name"]) for attr in op["attrs"]]
    own = [param for param in outputs if param["name"] not in {one["name"] for one in inputs}]
    for param in own:
        name = "out" if len(own) == 1 else param["name"] + "Out"
        while name in {used for _, used in result}:
            name += "_"
        result.append((("const aclTensorList *{}" if param["option"] == DYNAMIC else "const aclTensor *{}").format(name), name))
    return result


def signatures(op):
    declared = ", ".join([form for form, _ in parameters(op)] + ["uint64_t *workspaceSize", "aclOpExecutor **executor"])
    return (f"aclnnStatus aclnn{op['type']}GetWorkspaceSize({declared})",
            f"aclnnStatus aclnn{op['type']}(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)")


def header(op):
    guard = f"ACLNN_{snake(op['type']).upper()}_H"
    first, second = signatures(op)
    return "\n".join([f"/* Made from the description of operator {op['type']}. */", f"#ifndef {guard}", f"#define {guard}",
                      "#include <aclnn/acl_meta.h>", "#include <acl/acl.h>", "#ifdef __cplusplus", 'extern "C" {', "#endif",
                      "/** Checks the arguments, calls the tiling function and tells how much workspace the second function needs. */",
                      f'__attribute__((visibility("default"))) {first};', "/** Launches the kernel on the stream. */",
                      f'__attribute__((visibility("default"))) {second};', "#ifdef __cplusplus", "}", "#endif", "#endif", ""])


def entries(operators, images):
    parts = ["".join(f'#include "aclnn_{snake(op["type"])}.h"\n' for op in operators), '#include "two_phase.hpp"\n', 'extern "C" {']
    for i in range(len(images)):
        parts.append(f"extern const unsigned char leo_image_{i}[], leo_image_{i}_end[];")
    for op in operators:
        first, second = signatures(op)
        names = ", ".join(f"leo_custom::Argument({name})" for _, name in parameters(op))
        parts += [first, "{", f'    return leo_custom::prepare("aclnn{op["type"]}GetWorkspaceSize", "{op["type"]}", {{{names}}}, workspaceSize, executor);',
                  "}", second, "{", f'    return leo_custom::launch("aclnn{op["type"]}", workspace, workspaceSize, executor, stream);', "}"]
    parts += ["}", "namespace leo_custom", "{", "const Image images[] = {"]
    for i, image in enumerate(images):
        key = f"(uint64_t)({image['key']})" if image["key"] else "ANY_KEY"
        parts.append(f'    {{"{image["op"]}", "{image["soc"]}", "{image["arch"]}", {image["combination"]}, {key}, "{image["entry"]}", '
                     f"leo_image_{i}, leo_image_{i}_end}},")
    parts += ["};", f"const size_t image_count = {len(images)};", "}", ""]
    return "\n".join(parts)


def assembly(images):
    parts = ['    .section .note.GNU-stack,"",%progbits', "    .section .rodata"]
    for i, image in enumerate(images):
        parts += ["    .balign 64", f"    .globl leo_image_{i}", f"    .hidden leo_image_{i}", f"leo_image_{i}:", f'    .incbin "{image["elf"]}"',
                  f"    .globl leo_image_{i}_end", f"    .hidden leo_image_{i}_end", f"leo_image_{i}_end:"]
    return "\n".join([*parts, ""])
