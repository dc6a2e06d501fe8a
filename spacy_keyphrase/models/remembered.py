"""What a part of a network returned for the words of earlier batches."""

from itertools import repeat
from threading import Lock
from typing import Any, Callable, Dict, Tuple

import numpy
from thinc.api import Model

# 25 MB, where a word has 128 numbers.
MAX_WORDS = 50_000


class WordMemory:
    """The outputs for words by their keys, as long as the network stays the same. When
    it changes, or there would be more words than `max_words`, all are forgotten.

    Of several threads one at a time uses it, and the others compute: nobody waits, not
    even in a process that was forked from a thread's midst. A copy begins empty.

    max_words (int): Words that are remembered.
    """

    def __init__(self, max_words: int = MAX_WORDS):
        self.max_words = max_words
        self._lock = Lock()
        self._forget(None)

    def __reduce__(self) -> Any:
        return WordMemory, (self.max_words,)

    def recall(
        self,
        keys: numpy.ndarray,
        state: Any,
        compute: Callable[[numpy.ndarray], numpy.ndarray],
    ) -> Tuple[numpy.ndarray, numpy.ndarray]:
        """The outputs for words; those for new ones are computed.

        keys (ndarray): The key of each word, none twice; int of shape (words,).
        state (Any): What the outputs depend on beside the keys; see `fingerprint`.
        compute (Callable[[ndarray], ndarray]): From places in `keys` to the outputs
            for these words, float of shape (places, width).
        RETURNS (Tuple[ndarray, ndarray]): A table, float of shape (any, width), and
            the row of each word in it, int of shape (words,). The rows stay as they
            are, whatever is read later.
        """
        everything = numpy.arange(len(keys))
        if len(keys) > self.max_words or not self._lock.acquire(blocking=False):
            return compute(everything), everything
        try:
            if state != self._state:
                self._forget(state)
            rows = self._find(keys)
            new = numpy.flatnonzero(rows < 0)
            if len(self._rows) + len(new) > self.max_words:
                self._forget(state)
                new = everything
            if len(new) or not self._rows:
                rows[new] = self._keep(keys[new], compute(new))
            return self._table, rows
        finally:
            self._lock.release()

    def _forget(self, state: Any) -> None:
        # A new table: somebody may still read the old one.
        self._state = state
        self._rows: Dict[int, int] = {}
        self._table = numpy.zeros((0, 0), dtype="f4")

    def _find(self, keys: numpy.ndarray) -> numpy.ndarray:
        found = map(self._rows.get, keys.tolist(), repeat(-1))
        return numpy.fromiter(found, dtype="i8", count=len(keys))

    def _keep(self, keys: numpy.ndarray, outputs: numpy.ndarray) -> numpy.ndarray:
        rows = len(self._rows) + numpy.arange(len(keys))
        end = len(self._rows) + len(keys)
        if end > len(self._table) or not self._rows:
            room = min(max(end, 2 * len(self._table)), self.max_words)
            table = numpy.empty((room, outputs.shape[1]), dtype=outputs.dtype)
            if self._rows:
                table[: len(self._rows)] = self._table[: len(self._rows)]
            self._table = table
        self._table[rows] = outputs
        self._rows.update(zip(keys.tolist(), rows.tolist()))
        return rows


def fingerprint(model: Model[Any, Any]) -> Tuple[int, ...]:
    """Numbers that change when a parameter of a network on the CPU does, wherever it is
    changed: optimizers write into the arrays that a network has.

    model (Model): The network, its parameters being float32.
    RETURNS (Tuple[int, ...]): One number a parameter.
    """
    return tuple(
        int(numpy.bitwise_xor.reduce(_bits(node.get_param(name))))
        for node in model.walk()
        for name in node.param_names
    )


def _bits(parameter: Any) -> numpy.ndarray:
    return numpy.ravel(parameter).view("u4")
