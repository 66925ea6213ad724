#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A step that takes so much whatever its batch, and so much for each picture and layer, is told from smaller ones as it is."""

import unittest

import networks

FIXED_MS, PICTURE_MS, UPDATE_MS = 7.0, 0.25, 2.0


def time_of(batch, layers):
    return FIXED_MS + batch * PICTURE_MS * (1 + layers / 2)


class Networks(unittest.TestCase):
    def setUp(self):
        self.ran = []
        self.runner = networks.Runner.__new__(networks.Runner)
        self.runner.step = self.step

    def step(self, _row, _model, batch, layers):
        self.ran.append((batch, layers))
        return time_of(batch, layers), UPDATE_MS

    def test_a_larger_batch(self):
        row = {"batch": "256", "run": "32", "layers": "0", "mode": "graph"}
        self.assertAlmostEqual(self.runner.simulated_ms(row), time_of(256, 0) + UPDATE_MS)
        self.assertEqual(self.ran, [(32, 0), (16, 0)])

    def test_the_published_batch(self):
        row = {"batch": "32", "run": "32", "layers": "0", "mode": "graph"}
        self.assertAlmostEqual(self.runner.simulated_ms(row), time_of(32, 0) + UPDATE_MS)
        self.assertEqual(self.ran, [(32, 0)])

    def test_more_layers(self):
        row = {"batch": "64", "run": "16", "layers": "12", "mode": "graph"}
        self.assertAlmostEqual(self.runner.simulated_ms(row), time_of(64, 12) + UPDATE_MS)


if __name__ == "__main__":
    unittest.main()
