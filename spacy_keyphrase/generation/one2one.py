"""One2One: one keyphrase in a sequence; many come from many beams (Meng et al.
2017)."""

import math
from typing import List, Optional, Sequence

from torch import Tensor

from .base import Proposal
from .seq2seq import Encoded
from .sequences import SequenceGenerator


class One2One(SequenceGenerator):
    """A document is taught once for each of its keyphrases."""

    def fit(self, labels: List[List[int]]) -> List[List[int]]:
        """Each has the room for itself; one place is that of the end."""
        return [label for label in labels if len(label) < self.length]

    def teach(self, encoded: Encoded, labels: List[List[List[int]]]) -> Tensor:
        """Cross entropy of the sub-tokens of keyphrases and their ends."""
        targets = [[*label, self.end] for own in labels for label in own]
        repeated = encoded.repeat([len(own) for own in labels])
        return self.cross_entropy(repeated, targets)

    def propose(
        self, encoded: Encoded, k: Optional[int], seeds: Sequence[int]
    ) -> List[List[Proposal]]:
        """The k likeliest sequences, by default `settings.k`; scores are their
        probabilities."""
        k = self.settings.k if k is None else k
        beams = max(self.settings.beams, k)
        written = self.generate(encoded, self.length, beams, sequences=k)
        return [
            [Proposal(self.text(ids), math.exp(sum(log_p))) for ids, log_p in sequences]
            for sequences in written
        ]
