"""How UniKeyphrase is taught and read."""

from dataclasses import dataclass
from typing import Literal

from ..precision import MixedPrecision


@dataclass(frozen=True)
class UniKeyphraseSettings:
    """How the network is taught and read; defaults are those of the paper.

    length (int): Sub-tokens that are written at most.
    window (int): Sub-tokens read and written at once, special ones included.
    masked (float): Share of what is written that is masked in training.
    tag_weight (float): Weight of B, I and X against O in the loss.
    smoothing (float): Of the targets of words.
    bag (str): "paper" for the bag-of-words constraint as printed, "released" as the
        public code computes it, "off".
    bag_weight (float): Its weight at the end of the training.
    total_steps (int): Updates until then.
    beams (int): Of the search.
    least_none (float): The probability of there being no absent keyphrase below which
        some are written; 0: where that is not the likeliest that can be written.
    max_batch_tokens (int): Sub-tokens of one pass in prediction, padding included.
    mixed_precision (MixedPrecision): Whether to compute in 16 bits what bears it;
        see `precision`.
    """

    length: int = 32
    window: int = 384
    masked: float = 0.7
    tag_weight: float = 5.0
    smoothing: float = 0.1
    bag: Literal["paper", "released", "off"] = "paper"
    bag_weight: float = 1.0
    total_steps: int = 20_000
    beams: int = 5
    least_none: float = 0.0
    max_batch_tokens: int = 8_000
    mixed_precision: MixedPrecision = False

    def __post_init__(self) -> None:
        if self.bag not in ("paper", "released", "off"):
            raise ValueError(f"bag is {self.bag!r}; use 'paper', 'released' or 'off'.")
        for name in ("length", "total_steps", "beams", "max_batch_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} is {getattr(self, name)}; it must be 1 or more."
                )
        if not 0 <= self.least_none <= 1:
            raise ValueError(
                f"least_none is {self.least_none}; it is a probability, 0 to 1."
            )
        if not 0 < self.masked <= 1:
            raise ValueError(f"masked is {self.masked}; it is a share, up to 1.")
        if not 0 <= self.smoothing < 1:
            raise ValueError(f"smoothing is {self.smoothing}; it is a share, below 1.")
