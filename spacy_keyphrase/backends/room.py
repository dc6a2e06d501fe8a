"""What a language model has read, kept where what it reads next finds room."""

from importlib import import_module
from typing import Any, List, Tuple

import torch
from torch import Tensor

_transformers: Any = import_module("transformers")


class Room(_transformers.DynamicCache):  # type: ignore[misc]
    """Keys and values with room behind them. The cache of transformers copies all that
    was read each time that something is added, which is most of the work where little
    is added often.

    room (int): Sub-tokens that find room behind those read first; for more, more is
        made.
    """

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room
        self._kept: List[Tuple[Tensor, Tensor]] = []
        self._lengths: List[int] = []

    def update(
        self,
        key_states: Tensor,
        value_states: Tensor,
        layer_idx: int,
        *_: Any,
        **__: Any,
    ) -> Tuple[Tensor, Tensor]:
        """Add keys and values, float of shape (rows, heads, length, width).

        RETURNS (Tuple[Tensor, Tensor]): Those of all that was read.
        """
        added = key_states.shape[2]
        if layer_idx == len(self._kept):
            self._kept.append((self._make(key_states), self._make(value_states)))
            self._lengths.append(0)
        first = self._lengths[layer_idx]
        self._lengths[layer_idx] = end = first + added
        keys, values = self._kept[layer_idx]
        if end > keys.shape[2]:
            more = self._make(keys[:, :, : max(added - self.room, 0)])
            keys, values = torch.cat([keys, more], 2), torch.cat([values, more], 2)
            self._kept[layer_idx] = (keys, values)
        keys[:, :, first:end] = key_states
        values[:, :, first:end] = value_states
        return keys[:, :, :end], values[:, :, :end]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Sub-tokens that were read."""
        return self._lengths[layer_idx] if layer_idx < len(self._lengths) else 0

    def get_mask_sizes(self, query: Any, layer_idx: int) -> Tuple[int, int]:
        """Sub-tokens that are seen when some are added, and the first of them.

        query (Any): How many are added, or their places in older transformers.
        """
        added = query if isinstance(query, int) else len(query)
        return self.get_seq_length(layer_idx) + added, 0

    def keep(self, rows: List[int]) -> None:
        """Go on with some rows.

        rows (List[int]): Their numbers.
        """
        self._kept = [(keys[rows], values[rows]) for keys, values in self._kept]

    def _make(self, states: Tensor) -> Tensor:
        rows, heads, length, width = states.shape
        return states.new_empty((rows, heads, length + self.room, width))
