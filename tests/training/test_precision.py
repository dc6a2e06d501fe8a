"""Where networks compute in 16 bits."""

import pytest
import torch

from spacy_keyphrase import devices

CPU = torch.device("cpu")


def type_within(enabled):
    """Of a product of matrices."""
    with devices.mixed(CPU, enabled):
        return (torch.ones(2, 2) @ torch.ones(2, 2)).dtype


def test_as_it_is_told(monkeypatch):
    monkeypatch.setattr(devices, "gains_by_half", lambda: pytest.fail("not asked"))
    assert type_within(True) == torch.bfloat16
    assert type_within(False) == torch.float32


@pytest.mark.parametrize("gains", [True, False])
def test_where_it_is_faster(monkeypatch, gains):
    monkeypatch.setattr(devices, "gains_by_half", lambda: gains)
    assert type_within("auto") == (torch.bfloat16 if gains else torch.float32)


def test_measured_once(monkeypatch):
    """And the same for the life of a process: a network is not to change its mind."""
    devices.gains_by_half.cache_clear()
    first = devices.gains_by_half()
    monkeypatch.setattr(devices, "median", lambda ratios: pytest.fail("again"))
    assert devices.gains_by_half() is first
    assert type_within("auto") == (torch.bfloat16 if first else torch.float32)
