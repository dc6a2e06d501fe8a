"""In how many bits a network computes; what needs no torch."""

from typing import Literal, Union

# Whether to compute in 16 bits what bears it; "auto" on a GPU, and on a CPU that gains.
MixedPrecision = Union[bool, Literal["auto"]]
