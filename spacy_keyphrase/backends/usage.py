"""What calls of a model have cost."""

from dataclasses import dataclass, field, fields
from threading import Lock
from typing import Any, Dict


@dataclass
class Usage:
    """Counters that many threads add to.

    questions (int): What was asked, by documents.
    cached (int): Of these answered from the cache.
    calls (int): Calls of the model that were answered, those included whose answers
        could not be used.
    malformed (int): Answers that could not be used.
    failed (int): Questions without a usable answer in the end.
    input_tokens, output_tokens (int): As the server counts them.
    cost (float): In the currency of the prices that were set.
    """

    questions: int = 0
    cached: int = 0
    calls: int = 0
    malformed: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    _lock: Any = field(default_factory=Lock, repr=False, compare=False)

    def add(self, **counts: float) -> None:
        """Add to counters, by their names."""
        with self._lock:
            for name, count in counts.items():
                setattr(self, name, getattr(self, name) + count)

    def to_dict(self) -> Dict[str, float]:
        """All counters."""
        with self._lock:
            return {f.name: getattr(self, f.name) for f in fields(self) if f.compare}

    def __getstate__(self) -> Dict[str, float]:
        return self.to_dict()

    def __setstate__(self, state: Dict[str, float]) -> None:
        self.__dict__.update(state, _lock=Lock())
