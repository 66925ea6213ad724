# SPDX-License-Identifier: Apache-2.0
"""resnet50_imagenet.py FOLDER: trains a network of torchvision on the pictures of FOLDER/train, FOLDER/val, on a card of type mlu.

    python resnet50_imagenet.py --gpu 0 --arch resnet50 --epoch 8 --workers 10 pictures      one card, float
    python resnet50_imagenet.py --pyamp pictures                                             mixed precision
    torchrun --nproc-per-node 2 resnet50_imagenet.py pictures                                a card for each process, over cncl
    python resnet50_imagenet.py --resume checkpoint.pth.tar pictures                         goes on where a run was stopped

The times in the log are those of this computer; `card` is the time of the simulated card, by events.
"""
import argparse
import os
import shutil
import time

import torch
import torch.distributed as dist
import torch_mlu  # noqa: F401  (the device 'mlu')
import torch_mlu.core.mlu_model as ct
from torch import nn
from torchvision import datasets, models, transforms


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", help="folder with train/ and val/, a folder of pictures for each class in both")
    parser.add_argument("--gpu", type=int, default=0, help="number of the card")
    parser.add_argument("--arch", default="resnet50")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--batch-size", type=int, default=16, help="pictures a step, on all cards together")
    parser.add_argument("--size", type=int, default=224, help="side of the pictures that the network sees")
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--weight-decay", type=float, default=1e-4)
    parser.add_argument("--print-freq", type=int, default=10)
    parser.add_argument("--iters", type=int, default=0, help="steps of an epoch, 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", metavar="CHECKPOINT")
    parser.add_argument("--evaluate", action="store_true", help="only measure the accuracy")
    parser.add_argument("--pyamp", action="store_true", help="mixed precision")
    return parser.parse_args()


def loaders(args, world):
    normalize = transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    resize = transforms.Resize((args.size, args.size))
    parts = {"train": [resize, transforms.RandomHorizontalFlip()], "val": [resize]}
    sets = {part: datasets.ImageFolder(f"{args.data}/{part}", transforms.Compose([*steps, transforms.ToTensor(), normalize]))
            for part, steps in parts.items()}
    sampler = torch.utils.data.distributed.DistributedSampler(sets["train"]) if world > 1 else None
    each = args.batch_size // world
    train = torch.utils.data.DataLoader(sets["train"], each, shuffle=sampler is None, sampler=sampler, num_workers=args.workers, drop_last=True)
    return train, torch.utils.data.DataLoader(sets["val"], each, num_workers=args.workers), len(sets["train"].classes)


class Meter:
    """A value and its mean, printed as "name value (mean)"."""

    def __init__(self, name, form=":.3f"):
        self.name, self.form, self.value, self.total, self.count = name, form, 0.0, 0.0, 0

    def add(self, value, count=1):
        self.value = value
        self.total += value * count
        self.count += count

    @property
    def mean(self):
        return self.total / max(self.count, 1)

    def __str__(self):
        return f"{self.name} {self.value:{self.form[1:]}} ({self.mean:{self.form[1:]}})"


def hits(output, target):
    """Percent of the batch whose class is the first, and among the first five."""
    best = output.topk(min(5, output.shape[1]), 1).indices.eq(target[:, None])
    return [100 * best[:, :k].any(1).float().mean().item() for k in (1, 5)]


def train_epoch(loader, model, criterion, optimizer, scaler, epoch, args, chief):
    meters = [Meter("Time"), Meter("Data"), Meter("Loss", ":.4e"), Meter("Acc@1", ":.2f"), Meter("Acc@5", ":.2f"), Meter("card ms", ":.2f")]
    steps = min(args.iters or len(loader), len(loader))
    model.train()
    before = time.monotonic()
    for step, (images, target) in enumerate(loader):
        if step == steps:
            break
        loaded = time.monotonic() - before
        begin, end = torch.mlu.Event(enable_timing=True), torch.mlu.Event(enable_timing=True)
        images, target = images.to("mlu", non_blocking=True), target.to("mlu", non_blocking=True)
        begin.record()
        with torch.mlu.amp.autocast(args.pyamp):
            output = model(images)
            loss = criterion(output, target)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        end.record()
        value, (first, five) = loss.item(), hits(output, target)
        end.synchronize()
        for meter, number in zip(meters, (time.monotonic() - before, loaded, value, first, five, begin.elapsed_time(end))):
            meter.add(number, images.shape[0])
        if chief and (step % args.print_freq == 0 or step == steps - 1):
            print(f"Epoch: [{epoch}][{step + 1:{len(str(steps))}}/{steps}]  " + "  ".join(map(str, meters)), flush=True)
        before = time.monotonic()


def validate(loader, model, criterion, chief):
    first, five, loss = Meter("Acc@1"), Meter("Acc@5"), Meter("Loss")
    model.eval()
    with torch.no_grad():
        for images, target in loader:
            images, target = images.to("mlu", non_blocking=True), target.to("mlu", non_blocking=True)
            output = model(images)
            loss.add(criterion(output, target).item(), len(target))
            for meter, value in zip((first, five), hits(output, target)):
                meter.add(value, len(target))
    if chief:
        print(f" * Acc@1 {first.mean:.3f} Acc@5 {five.mean:.3f} Loss {loss.mean:.4f}", flush=True)
    return first.mean


def main():
    args = arguments()
    torch.manual_seed(args.seed)
    world, card = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("LOCAL_RANK", args.gpu))
    ct.set_device(card)
    if world > 1:
        dist.init_process_group("cncl")
    chief = world == 1 or dist.get_rank() == 0
    train, val, classes = loaders(args, world)
    if chief:
        print(f"=> creating model '{args.arch}'\nUse GPU: {card} for training ({torch.mlu.get_device_name(card)})", flush=True)
    model = models.__dict__[args.arch](num_classes=classes)
    model.to(ct.mlu_device()).train()
    criterion = nn.CrossEntropyLoss()
    criterion.mlu()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=args.momentum, weight_decay=args.weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    scaler = torch.mlu.amp.GradScaler(enabled=args.pyamp)
    kept = {"state_dict": model, "optimizer": optimizer, "schedule": schedule, "scaler": scaler}
    epoch, best = 0, 0.0
    if args.resume:
        found = torch.load(args.resume, map_location=f"mlu:{card}")
        epoch, best = found["epoch"], found["best_acc1"]
        for name, part in kept.items():
            part.load_state_dict(found[name])
        if chief:
            print(f"=> loaded checkpoint '{args.resume}' (epoch {epoch})", flush=True)
    parallel = nn.parallel.DistributedDataParallel(model, device_ids=[card]) if world > 1 else model
    if args.evaluate:
        validate(val, model, criterion, chief)
        return
    for epoch in range(epoch, args.epochs):
        if world > 1:
            train.sampler.set_epoch(epoch)
        train_epoch(train, parallel, criterion, optimizer, scaler, epoch, args, chief)
        schedule.step()
        accuracy = validate(val, model, criterion, chief)
        if chief:
            state = {name: part.state_dict() for name, part in kept.items()}
            torch.save({"epoch": epoch + 1, "arch": args.arch, "best_acc1": max(best, accuracy), **state}, "checkpoint.pth.tar")
            if accuracy > best:
                shutil.copyfile("checkpoint.pth.tar", "model_best.pth.tar")
        best = max(best, accuracy)
    if world > 1:
        dist.destroy_process_group()


main()
