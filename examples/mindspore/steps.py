# SPDX-License-Identifier: Apache-2.0
"""steps.py FOLDER --steps N: how often each operator ran in a step of ResNet-50 with Adam, by the profile train.py --profile wrote, beside
the numbers of the profile in MindSpore's migration guide. Exit code 1: a number that the network alone decides is another."""

import argparse
import collections
import csv
import sys
from pathlib import Path

# 53 convolutions, each with a batch norm of four operators; the first has no gradient of its input; 161 = 53 weights, 2 * 53 values of
# batch norms, 2 of the dense layer.
GUIDE = {"Conv2D": 53, "Conv2DBackpropFilter": 53, "Conv2DBackpropInput": 52, "BNTrainingReduce": 53, "BNTrainingUpdate": 53,
         "BNTrainingUpdateGrad": 53, "BNTrainingReduceGrad": 53, "ApplyAdamD": 161, "MaxPool": 1, "MaxPoolGrad": 1,
         "SoftmaxCrossEntropyWithLogits": 1, "OneHot": 1, "BiasAdd": 1, "BiasAddGrad": 1}


def counts(folder):
    """Operator -> how often it ran, whatever unit it ran on, and its microseconds."""
    files = sorted(Path(folder).glob("**/ASCEND_PROFILER_OUTPUT/op_statistic.csv"), key=lambda path: path.stat().st_mtime)
    if not files:
        sys.exit(f"no op_statistic.csv below {folder}: is it a profile of mindspore.profiler?")
    times, total = collections.Counter(), collections.Counter()
    with files[-1].open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            times[row["OP Type"]] += int(row["Count"])
            total[row["OP Type"]] += float(row["Total Time(us)"])
    return times, total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, required=True, help="steps that were profiled")
    options = parser.parse_args()
    times, total = counts(options.folder)
    wrong = 0
    print(f"{'operator':32}{'a step':>8}{'guide':>8}{'us a step':>12}")
    for name, _ in total.most_common():
        wanted = GUIDE.get(name)
        wrong += wanted is not None and times[name] != wanted * options.steps
        print(f"{name:32}{times[name] / options.steps:8g}{'' if wanted is None else wanted:>8}{total[name] / options.steps:12.1f}")
    for name in sorted(set(GUIDE) - set(times)):
        print(f"{name:32}{0:8}{GUIDE[name]:>8}")
        wrong += 1
    print(f"{'all':32}{sum(times.values()) / options.steps:8g}{'':8}{sum(total.values()) / options.steps:12.1f}")
    if wrong:
        sys.exit(f"{wrong} operators ran another number of times than in the guide's profile")


main()
