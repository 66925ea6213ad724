#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""train_and_compile.py [FOLDER]: a small network is trained on the card by torch_npu, exported by torch.onnx, compiled by atc and run by
aclmdl; its answers are compared with the network's own. In the environment of tools/setup-pytorch.sh:

    leo exec -- python examples/models/train_and_compile.py
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch_npu  # noqa: F401
from torch import nn

SIZE, CLASSES, STEPS = 16, 4, 30
RUN = """
import sys
import acl
folder = sys.argv[1]
def good(ret):
    assert ret == 0, acl.get_recent_err_msg()
good(acl.init())
good(acl.rt.set_device(0))
model, ret = acl.mdl.load_from_file(folder + "/net.om")
good(ret)
desc = acl.mdl.create_desc()
good(acl.mdl.get_desc(desc, model))
data = open(folder + "/in", "rb").read()
sizes = acl.mdl.get_input_size_by_index(desc, 0), acl.mdl.get_output_size_by_index(desc, 0)
assert len(data) == sizes[0]
places = []
sets = []
for size in sizes:
    place, ret = acl.rt.malloc(size, 0)
    good(ret)
    places.append(place)
    sets.append(acl.mdl.create_dataset())
    acl.mdl.add_dataset_buffer(sets[-1], acl.create_data_buffer(place, size))
good(acl.rt.memcpy(places[0], sizes[0], acl.util.bytes_to_ptr(data), sizes[0], 1))
good(acl.mdl.execute(model, *sets))
out = bytes(sizes[1])
good(acl.rt.memcpy(acl.util.bytes_to_ptr(out), sizes[1], places[1], sizes[1], 2))
open(folder + "/out", "wb").write(out)
good(acl.mdl.unload(model))
"""


def pictures(count, generator):
    """Noise with one brighter quarter, which is the class."""
    x, classes = torch.randn(count, 3, SIZE, SIZE, generator=generator), torch.randint(CLASSES, (count,), generator=generator)
    half = SIZE // 2
    for picture, which in zip(x, classes):
        row, column = divmod(int(which), 2)
        picture[:, row * half:(row + 1) * half, column * half:(column + 1) * half] += 0.4
    return x, classes


def trained(generator):
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Flatten(), nn.Linear(32 * (SIZE // 4) ** 2, CLASSES)).npu()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    for _ in range(STEPS):
        x, classes = pictures(32, generator)
        loss = nn.functional.cross_entropy(net(x.npu()), classes.npu())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss after {STEPS} steps: {loss.item():.3f}")
    return net.eval()


def main(folder):
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(2)
    net = trained(generator)
    x, classes = pictures(16, generator)
    with torch.no_grad():
        on_card = net(x.npu()).cpu()
        net = net.cpu()
        on_cpu = net(x)
    torch.onnx.export(net, (x,), str(folder / "net.onnx"), dynamo=False, opset_version=17, input_names=["x"], output_names=["y"])
    soc = torch_npu.npu.get_device_name(0)
    subprocess.run(["atc", "--framework=5", f"--model={folder / 'net.onnx'}", f"--output={folder / 'net'}", f"--soc_version={soc}"], check=True)
    (folder / "in").write_bytes(x.numpy().tobytes())
    subprocess.run([sys.executable, "-c", RUN, folder], check=True)
    y = torch.frombuffer(bytearray((folder / "out").read_bytes()), dtype=torch.float32).reshape(on_cpu.shape)
    largest = on_cpu.abs().max().item()
    right = (y.argmax(1) == classes).float().mean().item()
    print(f"{soc}: model and network on the CPU {(y - on_cpu).abs().max().item() / largest:.1e} of the largest answer apart, "
          f"model and network on the card {(y - on_card).abs().max().item() / largest:.1e}; {100 * right:.0f} % of the classes right")
    assert (y - on_cpu).abs().max() <= 5e-3 * largest and (y - on_card).abs().max() <= 5e-3 * largest
    assert (y.argmax(1) == on_cpu.argmax(1)).all() and right >= 0.75


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as place:
            main(Path(place))
