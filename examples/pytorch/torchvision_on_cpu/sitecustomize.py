# SPDX-License-Identifier: Apache-2.0
"""For the pair of a CPU PyTorch and torchvision's wheel from PyPI, whose compiled part wants a CUDA PyTorch: with this folder on
PYTHONPATH, `import torchvision` works in every process of a script. Models, transforms and data sets need no compiled part,
only the schemas of two operators it would define. With a pair that fits nothing is done."""

import importlib.abc
import importlib.machinery
import sys

SCHEMAS = ("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
           "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


class Schemas(importlib.abc.MetaPathFinder):
    """Sees the first import of the module that would load the compiled part, and follows it."""
    name = "torchvision.extension"

    def find_spec(self, fullname, path, target=None):
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec and spec.loader:
            load = spec.loader.exec_module
            spec.loader.exec_module = lambda module: self.after(load, module)
        return spec

    def after(self, load, module):
        load(module)
        if not module._has_ops():
            import torch
            module.leo_schemas = torch.library.Library("torchvision", "DEF")
            for schema in SCHEMAS:
                module.leo_schemas.define(schema)


sys.meta_path.insert(0, Schemas())
