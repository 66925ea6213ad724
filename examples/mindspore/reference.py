# SPDX-License-Identifier: Apache-2.0
"""reference.py FILE: PyTorch's ResNet-50 of ten kinds on the CPU: its weights under PyTorch's names, a batch of pictures and its
outputs, in one .npz file. Runs where PyTorch and torchvision are (build/venv); convert.py reads the file where MindSpore is."""

import argparse

import numpy
import torch
import torchvision


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--size", type=int, default=64, help="rows and columns of a picture")
    options = parser.parse_args()
    torch.manual_seed(1)
    network = torchvision.models.resnet50(num_classes=10)
    pictures = torch.rand(options.batch, 3, options.size, options.size)
    with torch.no_grad():
        # Two batches in training mode: moving means and variances that are those of pictures.
        for _ in range(2):
            network(torch.rand(8, 3, options.size, options.size))
        network.eval()
        outputs = network(pictures)
    weights = {f"weights/{name}": value.numpy() for name, value in network.state_dict().items()}
    numpy.savez(options.file, pictures=pictures.numpy(), outputs=outputs.numpy(), **weights)
    print(f"{options.file}: {len(weights)} arrays of PyTorch {torch.__version__}")


main()
