# SPDX-License-Identifier: Apache-2.0
"""For the pair of a CPU PyTorch and torchvision's wheel from PyPI, whose compiled part wants a CUDA PyTorch: with this folder on
PYTHONPATH, `import torchvision` works in every process of a script. Models, transforms and data sets need no compiled part,
only the schemas of two operators it would define; `torchvision.ops.nms` gets one in Python. With a pair that fits nothing is done."""

import importlib.abc
import importlib.machinery
import sys

SCHEMAS = ("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
           "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def nms(boxes, scores, threshold):
    """Indices of the boxes that no better one overlaps by more than the threshold, best first: overlaps on the boxes' device,
    the choice, which goes box by box, on the host."""
    import torch
    order = scores.argsort(descending=True, stable=True)
    sorted_boxes = boxes[order].float()
    low, high = sorted_boxes[:, :2], sorted_boxes[:, 2:]
    area = (high - low).prod(1)
    both = (torch.minimum(high[:, None], high) - torch.maximum(low[:, None], low)).clamp(min=0).prod(2)
    over = (both / (area[:, None] + area - both) > threshold).cpu()
    kept = torch.ones(len(order), dtype=torch.bool)
    for i in range(len(order)):
        if kept[i]:
            kept[i + 1:] &= ~over[i, i + 1:]
    return order[kept.nonzero()[:, 0].to(order.device)]


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
            module.leo_schemas.impl("nms", nms, "CompositeExplicitAutograd")
            # What other operators of the compiled part are asked for says that it is not there by itself.
            module._assert_has_ops = lambda: None


sys.meta_path.insert(0, Schemas())
