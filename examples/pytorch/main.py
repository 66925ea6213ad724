# SPDX-License-Identifier: Apache-2.0
"""ImageNet training on one or more NPUs, as the vendor's guide for moving PyTorch's ImageNet script shows it step by step:
HCCL, DistributedDataParallel, apex O0 to O3, checkpoints. Nothing in it knows of Leonardo.

    python main.py FOLDER -a resnet18 --multiprocessing-distributed --world-size 1 --rank 0 --device_list 0 --amp
"""

import argparse
import os
import random
import shutil
import time

import torch
import torch_npu
from apex import amp
from torch import distributed as dist
from torch import multiprocessing as mp
from torch import nn
from torch.backends import cudnn
from torchvision import datasets, models, transforms

MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
best_acc1 = 0


def arguments():
    parser = argparse.ArgumentParser(description="PyTorch ImageNet training")
    parser.add_argument("data", metavar="DIR", help="folder with train and val")
    parser.add_argument("-a", "--arch", default="resnet18")
    parser.add_argument("-j", "--workers", default=4, type=int)
    parser.add_argument("--epochs", default=90, type=int)
    parser.add_argument("--start-epoch", default=0, type=int)
    parser.add_argument("-b", "--batch-size", default=256, type=int, help="of all devices together")
    parser.add_argument("--lr", "--learning-rate", default=0.1, type=float, dest="lr")
    parser.add_argument("--momentum", default=0.9, type=float)
    parser.add_argument("--wd", "--weight-decay", default=1e-4, type=float, dest="weight_decay")
    parser.add_argument("-p", "--print-freq", default=10, type=int)
    parser.add_argument("--resume", default="", metavar="PATH")
    parser.add_argument("-e", "--evaluate", action="store_true")
    parser.add_argument("--pretrained", action="store_true")
    parser.add_argument("--world-size", default=-1, type=int, help="nodes")
    parser.add_argument("--rank", default=-1, type=int)
    parser.add_argument("--dist-url", default="env://")
    parser.add_argument("--seed", default=None, type=int)
    parser.add_argument("--multiprocessing-distributed", action="store_true")
    parser.add_argument("--device", default="npu", type=str, help="npu or gpu")
    parser.add_argument("--addr", default="127.0.0.1", type=str, help="master addr")
    parser.add_argument("--port", default="29688", type=str, help="master port")
    parser.add_argument("--device_list", default="0,1,2,3,4,5,6,7", type=str, help="device id list")
    parser.add_argument("--amp", default=False, action="store_true", help="use amp to train the model")
    parser.add_argument("--loss_scale", default=1024.0, type=float, help="loss scale using in amp, -1 means dynamic")
    parser.add_argument("--opt_level", default="O2", type=str, help="level of amp")
    parser.add_argument("--dist_backend", default="hccl", type=str, help="distributed backend")
    return parser.parse_args()


def device_id_to_process_device_map(device_list):
    return dict(enumerate(sorted(int(x) for x in device_list.split(","))))


def main():
    args = arguments()
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = args.addr, args.port
    args.process_device_map = device_id_to_process_device_map(args.device_list)
    ngpus_per_node = len(args.process_device_map)
    args.world_size *= ngpus_per_node
    mp.spawn(main_worker, nprocs=ngpus_per_node, args=(ngpus_per_node, args))


def main_worker(gpu, ngpus_per_node, args):
    global best_acc1
    args.gpu = args.process_device_map[gpu]
    if args.seed is not None:
        random.seed(args.seed)
        torch.manual_seed(args.seed)
    args.rank = args.rank * ngpus_per_node + gpu
    dist.init_process_group(backend=args.dist_backend, world_size=args.world_size, rank=args.rank)
    if args.pretrained:
        print(f"=> using pre-trained model '{args.arch}'")
        model = models.__dict__[args.arch](pretrained=True)
    else:
        print(f"=> creating model '{args.arch}'")
        model = models.__dict__[args.arch]()
    loc = f"npu:{args.gpu}"
    torch_npu.npu.set_device(loc)
    args.batch_size = int(args.batch_size / ngpus_per_node)
    args.workers = int((args.workers + ngpus_per_node - 1) / ngpus_per_node)

    train_loader, train_sampler, val_loader = loaders(args)
    model = model.to(loc)
    criterion = nn.CrossEntropyLoss().to(loc)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=args.momentum, weight_decay=args.weight_decay)
    if args.amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level, loss_scale=args.loss_scale)
    model = nn.parallel.DistributedDataParallel(model, device_ids=[args.gpu])
    if args.resume:
        resume(args, loc, model, optimizer)
    cudnn.benchmark = True
    if args.evaluate:
        validate(val_loader, model, criterion, args)
    for epoch in range(args.start_epoch, 0 if args.evaluate else args.epochs):
        train_sampler.set_epoch(epoch)
        for group in optimizer.param_groups:
            group["lr"] = args.lr * 0.1 ** (epoch // 30)
        train(train_loader, model, criterion, optimizer, epoch, args)
        acc1 = validate(val_loader, model, criterion, args)
        is_best, best_acc1 = acc1 > best_acc1, max(acc1, best_acc1)
        if args.rank % ngpus_per_node == 0:
            state = {"epoch": epoch + 1, "arch": args.arch, "state_dict": model.state_dict(), "best_acc1": best_acc1,
                     "optimizer": optimizer.state_dict()}
            if args.amp:
                state["amp"] = amp.state_dict()
            torch.save(state, "checkpoint.pth.tar")
            if is_best:
                shutil.copyfile("checkpoint.pth.tar", "model_best.pth.tar")
    dist.destroy_process_group()


def loaders(args):
    normalize = transforms.Normalize(mean=MEAN, std=DEVIATION)
    train_set = datasets.ImageFolder(os.path.join(args.data, "train"), transforms.Compose([
        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(), normalize]))
    val_set = datasets.ImageFolder(os.path.join(args.data, "val"), transforms.Compose([
        transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(), normalize]))
    sampler = torch.utils.data.distributed.DistributedSampler(train_set)
    train_loader = torch.utils.data.DataLoader(train_set, batch_size=args.batch_size, shuffle=False, num_workers=args.workers,
                                               pin_memory=False, sampler=sampler, drop_last=True)
    val_loader = torch.utils.data.DataLoader(val_set, batch_size=args.batch_size, shuffle=True, num_workers=args.workers,
                                             pin_memory=False, drop_last=True)
    return train_loader, sampler, val_loader


def resume(args, loc, model, optimizer):
    global best_acc1
    if not os.path.isfile(args.resume):
        print(f"=> no checkpoint found at '{args.resume}'")
        return
    print(f"=> loading checkpoint '{args.resume}'")
    checkpoint = torch.load(args.resume, map_location=loc)
    args.start_epoch, best_acc1 = checkpoint["epoch"], checkpoint["best_acc1"]
    model.load_state_dict(checkpoint["state_dict"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    if args.amp:
        amp.load_state_dict(checkpoint["amp"])
    print(f"=> loaded checkpoint '{args.resume}' (epoch {checkpoint['epoch']})")


def train(loader, model, criterion, optimizer, epoch, args):
    meters = Meters(len(loader), ["Time", "Data", "Loss", "Acc@1", "Acc@5"], f"Epoch: [{epoch}]")
    model.train()
    end = time.time()
    for i, (images, target) in enumerate(loader):
        data_time = time.time() - end
        loc = f"npu:{args.gpu}"
        target = target.to(torch.int32)
        images, target = images.to(loc, non_blocking=False), target.to(loc, non_blocking=False)
        output = model(images)
        loss = criterion(output, target)
        acc1, acc5 = accuracy(output, target)
        optimizer.zero_grad()
        if args.amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        # The numbers first: they wait for the device.
        numbers = loss.item(), acc1.item(), acc5.item()
        meters.update(images.size(0), time.time() - end, data_time, *numbers)
        end = time.time()
        if i % args.print_freq == 0:
            meters.display(i)


def validate(loader, model, criterion, args):
    meters = Meters(len(loader), ["Time", "Loss", "Acc@1", "Acc@5"], "Test: ")
    model.eval()
    with torch.no_grad():
        end = time.time()
        for i, (images, target) in enumerate(loader):
            loc = f"npu:{args.gpu}"
            target = target.to(torch.int32)
            images, target = images.to(loc, non_blocking=False), target.to(loc, non_blocking=False)
            output = model(images)
            acc1, acc5 = accuracy(output, target)
            numbers = criterion(output, target).item(), acc1.item(), acc5.item()
            meters.update(images.size(0), time.time() - end, *numbers)
            end = time.time()
            if i % args.print_freq == 0:
                meters.display(i)
    print(f" * Acc@1 {meters.average('Acc@1'):.3f} Acc@5 {meters.average('Acc@5'):.3f}", flush=True)
    return meters.average("Acc@1")


def accuracy(output, target):
    """Top-1 and top-5 in percent."""
    with torch.no_grad():
        hits = output.topk(5, 1, True, True)[1].t().eq(target.view(1, -1))
        return [hits[:k].reshape(-1).float().sum(0) * (100.0 / target.size(0)) for k in (1, 5)]


class Meters:
    def __init__(self, batches, names, prefix):
        self.batches, self.names, self.prefix = batches, names, prefix
        self.last, self.sums, self.count = {}, dict.fromkeys(names, 0.0), 0

    def update(self, count, *values):
        self.last = dict(zip(self.names, values))
        for name, value in self.last.items():
            self.sums[name] += value * count
        self.count += count

    def average(self, name):
        return self.sums[name] / max(self.count, 1)

    def display(self, batch):
        width = len(str(self.batches))
        columns = [f"{name} {value:6.3f} ({self.average(name):6.3f})" for name, value in self.last.items()]
        print("\t".join([f"{self.prefix}[{batch:{width}}/{self.batches}]", *columns]), flush=True)


if __name__ == "__main__":
    main()
