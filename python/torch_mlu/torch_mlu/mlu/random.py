# SPDX-License-Identifier: Apache-2.0
"""Random numbers of the cards: each has a generator of its own."""
import torch

from .. import _C


def _generator(device="mlu"):
    from . import _index

    return _C.default_generator(_index(device))


def _all():
    return [_C.default_generator(index) for index in range(_C.device_count())]


def manual_seed(seed):
    if _C.device_count():
        _generator().manual_seed(int(seed))


def manual_seed_all(seed):
    for generator in _all():
        generator.manual_seed(int(seed))


def seed():
    _generator().seed()


def seed_all():
    manual_seed_all(torch.seed())


def initial_seed():
    return _generator().initial_seed()


def get_rng_state(device="mlu"):
    return _generator(device).get_state()


def set_rng_state(state, device="mlu"):
    _generator(device).set_state(state)


def get_rng_state_all():
    return [generator.get_state() for generator in _all()]


def set_rng_state_all(states):
    for generator, state in zip(_all(), states):
        generator.set_state(state)
