# SPDX-License-Identifier: Apache-2.0
"""demo.py FOLDER: trains ResNet-18 on the pictures of pictures.py, in mixed precision, as on any NPU. make demo-pytorch runs it.

The times shown are those of the simulated chip; how long this computer takes for them is in the last column.
"""

import argparse
import sys
import time

import torch
import torch_npu
import torchvision
from apex import amp
from torch.nn import functional as F


def loaders(folder, batch):
    to_tensor = torchvision.transforms.Compose([
        torchvision.transforms.ToTensor(), torchvision.transforms.Normalize([0.5] * 3, [0.25] * 3)])
    parts = [torchvision.datasets.ImageFolder(f"{folder}/{part}", to_tensor) for part in ("train", "val")]
    return [torch.utils.data.DataLoader(part, batch, shuffle=i == 0, drop_last=i == 0) for i, part in enumerate(parts)]


def accuracy(model, loader, device):
    model.eval()
    with torch.no_grad():
        hits = [(model(images.to(device)).argmax(1).cpu() == labels).float() for images, labels in loader]
    return 100 * torch.cat(hits).mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=140, help="no further epoch after this time")
    options = parser.parse_args()
    torch_npu.npu.set_compile_mode(jit_compile=False)
    torch_npu.npu.config.allow_internal_format = False
    torch.manual_seed(0)
    device = torch.device("npu:0")
    torch.npu.set_device(device)
    train, val = loaders(options.folder, options.batch)
    model = torchvision.models.resnet18(num_classes=len(train.dataset.classes)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O2", loss_scale=128.0, verbosity=0)
    # Falls to nothing at the last step, so that the accuracy settles.
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.epochs * len(train))
    print(f"ResNet-18 on a simulated {torch.npu.get_device_name(0)}: {len(train.dataset)} pictures of "
          f"{len(train.dataset.classes)} kinds, batch {options.batch}")
    began = time.monotonic()
    for epoch in range(1, options.epochs + 1):
        model.train()
        for step, (images, labels) in enumerate(train, 1):
            begin, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
            images, labels = images.to(device), labels.to(device)
            begin.record()
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images), labels)
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            optimizer.step()
            schedule.step()
            end.record()
            torch.npu.synchronize()
            sys.stdout.write(f"\repoch {epoch}/{options.epochs}  step {step:2}/{len(train)}  loss {loss.item():6.3f}  "
                             f"chip {begin.elapsed_time(end):6.2f} ms a step  here {time.monotonic() - began:4.0f} s ")
            sys.stdout.flush()
        print(f" accuracy {accuracy(model, val, device):5.1f} %", flush=True)
        if time.monotonic() - began > options.seconds:
            break


if __name__ == "__main__":
    main()
