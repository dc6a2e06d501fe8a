"""One2Seq: all keyphrases in one sequence that ends where the model ends it (Yuan et
al. 2020)."""

from typing import List, Optional, Sequence

from torch import Tensor

from .base import Proposal
from .seq2seq import Encoded
from .sequences import SequenceGenerator, phrase_score, split_at


class One2Seq(SequenceGenerator):
    """Keyphrases with separators between them, and an end."""

    special = ("<sep>",)

    def teach(self, encoded: Encoded, labels: List[List[List[int]]]) -> Tensor:
        """Cross entropy of the sub-tokens of the sequence."""
        return self.cross_entropy(encoded, [self.join(own) for own in labels])

    def join(self, labels: List[List[int]]) -> List[int]:
        """Labels as one sequence."""
        (separator,) = self.ids_of_special
        joined = [token for label in labels for token in (separator, *label)]
        return [*joined[1:], self.end]

    def propose(
        self, encoded: Encoded, k: Optional[int], seeds: Sequence[int]
    ) -> List[List[Proposal]]:
        """As many as the model writes."""
        written = self.generate(encoded, self.length, self.settings.beams)
        ends = (*self.ids_of_special, self.start, self.end)
        return [
            [
                Proposal(self.text(ids), phrase_score(log_p))
                for ids, log_p in split_at(sequences[0], ends)
            ]
            for sequences in written
        ]
