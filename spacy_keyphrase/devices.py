"""How torch computes where it is. Needs torch."""

import os
import time
from functools import cache
from statistics import median
from typing import List

import torch

from .precision import MixedPrecision

# Share of the time in 32 bits that 16 bits may take, to be worth it.
_WORTH = 0.8

# The process whose threads torch uses.
_process = os.getpid()


def leave_threads() -> None:
    """Compute in one thread after a fork, as `nlp.pipe(n_process=2)` makes it: the
    threads of the parent are not there, and torch would wait for them without end."""
    global _process
    if os.getpid() != _process:
        torch.set_num_threads(1)
        _process = os.getpid()


def half_type(device: torch.device) -> torch.dtype:
    """The numbers of 16 bits to compute with on a device."""
    if device.type == "cuda" and torch.cuda.get_device_capability(device) < (8, 0):
        return torch.float16
    return torch.bfloat16


def mixed(device: torch.device, enabled: MixedPrecision) -> torch.autocast:
    """Within it, what bears it is computed in 16 bits."""
    if enabled == "auto":
        enabled = device.type != "cpu" or gains_by_half()
    return torch.autocast(device.type, dtype=half_type(device), enabled=enabled)


@cache
def gains_by_half() -> bool:
    """Whether this CPU multiplies matrices faster in bfloat16, conversions included.
    Not every one does that has instructions for it; it is measured when first asked,
    in a tenth of a second."""
    X, W = torch.ones(256, 384), torch.ones(1536, 384)
    seconds: List[List[float]] = [[], []]
    for _ in range(6):
        for i, own in enumerate(seconds):
            with torch.inference_mode(), torch.autocast("cpu", enabled=bool(i)):
                started = time.perf_counter()
                torch.nn.functional.linear(X, W)
                own.append(time.perf_counter() - started)
    # The first of each prepares.
    ratios = [half / whole for whole, half in zip(*seconds)][1:]
    return bool(median(ratios) < _WORTH)
