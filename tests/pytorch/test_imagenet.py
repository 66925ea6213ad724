# SPDX-License-Identifier: Apache-2.0
"""The vendor's ImageNet example (examples/pytorch/main.py) as a user starts it, on pictures of two kinds: one card and two,
mixed precision with a constant and a dynamic scale, checkpoint, resume, evaluation. The accuracy must rise."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import common

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "pytorch"
sys.path.insert(0, str(EXAMPLES))
import pictures


class Run:
    """What a run of main.py printed: accuracy by step of training and by evaluation."""

    def __init__(self, case, place, folder, *arguments, cards="0", arch="resnet18", batch=4):
        command = [sys.executable, "-B", EXAMPLES / "main.py", folder, "-a", arch, "--multiprocessing-distributed",
                   "--world-size", "1", "--rank", "0", "--device_list", cards, "--amp", "--opt_level", "O2", "--seed", "1",
                   "--batch-size", batch, "-j", "1", "-p", "1", "--lr", "0.02", "--port", common.free_port(), *arguments]
        done = subprocess.run([str(word) for word in command], cwd=place, text=True, capture_output=True, errors="replace",
                              check=False)
        # run.py counts operators that fell back to the CPU in what is written here.
        sys.stderr.write(done.stderr)
        print(done.stdout, flush=True)
        case.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.text = done.stdout
        steps = re.findall(r"Epoch: \[(\d+)\].*Loss +(\S+) .*Acc@1 +(\S+) \( *(\S+)\)", done.stdout)
        self.losses = [float(loss) for _, loss, _, _ in steps]
        self.first = float(steps[0][2]) if steps else None
        self.epochs = {int(epoch): float(average) for epoch, _, _, average in steps}
        self.tests = [float(top1) for top1 in re.findall(r" \* Acc@1 (\S+) Acc@5", done.stdout)]


class ImageNet(common.Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        pictures.make(f"{cls.folder.name}/some", kinds=2, train=12, val=6, size=64)
        pictures.make(f"{cls.folder.name}/few", kinds=2, train=4, val=2, size=64)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_main(self, folder, *arguments, place=None, **options):
        return Run(self, place or self.folder.name, f"{self.folder.name}/{folder}", *arguments, **options)

    def test_one_card_learns_resumes_and_evaluates(self):
        with tempfile.TemporaryDirectory() as place:
            run = self.run_main("some", "--loss_scale", "128", "--epochs", "2", place=place)
            self.assertIn("=> creating model 'resnet18'", run.text)
            self.assertLessEqual(run.first, 50.0)
            self.assertGreaterEqual(run.epochs[1], 75.0)
            self.assertLess(sum(run.losses[-3:]), sum(run.losses[:3]))
            # The running statistics of the batch norms need more steps than these for a steady evaluation.
            self.assertGreaterEqual(max(run.tests), 75.0)
            again = self.run_main("some", "--loss_scale", "128", "--epochs", "3", "--resume", "checkpoint.pth.tar", place=place)
            self.assertIn("=> loaded checkpoint 'checkpoint.pth.tar' (epoch 2)", again.text)
            self.assertEqual(list(again.epochs), [2])
            self.assertGreaterEqual(again.epochs[2], 75.0)
            best = self.run_main("some", "--evaluate", "--resume", "model_best.pth.tar", place=place)
            self.assertEqual(best.tests, [max(run.tests + again.tests)])
            self.assertEqual(best.losses, [])
            lost = self.run_main("few", "--evaluate", "--resume", "nothing.tar", place=place, batch=2)
            self.assertIn("=> no checkpoint found at 'nothing.tar'", lost.text)

    def test_two_cards_with_a_dynamic_scale(self):
        run = self.run_main("some", "--loss_scale", "-1", "--epochs", "1", cards="0,1", batch=8)
        # Both cards print their steps: a rank sees its own half of the pictures.
        self.assertEqual(len(run.losses), 6)
        self.assertTrue(all(loss == loss for loss in run.losses))
        self.assertEqual(len(run.tests), 2)

    def test_resnet50(self):
        # Few steps, and a rate at which a network of this depth learns from four pictures at a time.
        run = self.run_main("few", "--loss_scale", "128", "--epochs", "2", "--lr", "0.002", arch="resnet50")
        self.assertIn("=> creating model 'resnet50'", run.text)
        self.assertEqual(len(run.losses), 4)
        self.assertLess(min(run.losses[1:]), run.losses[0])
        self.assertTrue(all(loss == loss for loss in run.losses))


common.main()
