"""GROOV: a set of keyphrases as a sequence whose order does not matter (Simig et al.
2022)."""

import math
from typing import Dict, List, Optional, Sequence

from torch import Tensor

from ..batches import pad_rows
from .base import Proposal
from .multi_softmax import multi_softmax_loss, valid_next
from .one2seq import One2Seq
from .seq2seq import Encoded
from .sequences import split_at

# What a later place in a sequence takes from the score, so that of equally likely
# keyphrases the first is better.
_LATER = 1e-4


class GROOV(One2Seq):
    """One2Seq with the multi-softmax loss; keyphrases are ranked by the probabilities
    of all beams that have them."""

    def teach(self, encoded: Encoded, labels: List[List[List[int]]]) -> Tensor:
        """The mean loss of the sub-tokens of sequences in the order given."""
        (separator,) = self.ids_of_special
        targets = [self.join(own) for own in labels]
        ids, real = pad_rows(targets, self.pad, self.device)
        logits = self.logits(encoded, ids)[real]
        valid = [
            right
            for own, target in zip(labels, targets)
            for right in valid_next(own, target, separator, self.end, self.pad)
        ]
        return multi_softmax_loss(logits, valid).mean()

    def propose(
        self, encoded: Encoded, k: Optional[int], seeds: Sequence[int]
    ) -> List[List[Proposal]]:
        """The keyphrases of all beams, best first."""
        beams = self.settings.beams
        written = self.generate(
            encoded,
            self.length,
            beams,
            sequences=beams,
            no_repeat_ngram_size=3,
        )
        ends = (*self.ids_of_special, self.start, self.end)
        found = []
        for sequences in written:
            scores: Dict[str, float] = {}
            places: Dict[str, List[int]] = {}
            for sequence in sequences:
                # The length penalty of beam search: the mean of the logarithms.
                mean = sum(sequence.log_p) / max(len(sequence.log_p), 1)
                for place, (ids, _) in enumerate(split_at(sequence, ends)):
                    text = self.text(ids)
                    scores[text] = scores.get(text, 0.0) + math.exp(mean)
                    places.setdefault(text, []).append(place)
            total = max(sum(scores.values()), 1e-12)
            ranked = [
                (score - _LATER * sum(places[text]) / len(places[text]), text)
                for text, score in scores.items()
            ]
            ranked.sort(key=lambda pair: -pair[0])
            found.append(
                [Proposal(text, max(score, 0.0) / total) for score, text in ranked]
            )
        return found
