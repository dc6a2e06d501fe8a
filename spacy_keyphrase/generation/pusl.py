"""PUSL: as many keyphrases as are asked for, learned from labels of which some are
missing ("From Lazy to Prolific")."""

from typing import List, Optional, Sequence

from torch import Tensor

from .base import Proposal
from .requested import ExactlyK, Marks, join_phrases
from .seq2seq import Encoded
from .sequences import SequenceGenerator, phrase_score, split_at

# Sub-tokens for each keyphrase, by which what is written is limited: a model that was
# hardly trained may not find their ends.
_PER_PHRASE = 16


class PUSL(SequenceGenerator):
    """Each keyphrase has a begin and an end; the sequence has no end that is learned,
    so that its length says nothing of how many keyphrases are missing."""

    special = ("<bok>", "<eok>")

    @property
    def marks(self) -> Marks:
        """The special sub-tokens of sequences."""
        begin, end = self.ids_of_special
        return Marks(begin, end, self.start, self.end)

    def teach(self, encoded: Encoded, labels: List[List[List[int]]]) -> Tensor:
        """Cross entropy of the sub-tokens of keyphrases, their begins and ends."""
        targets = [join_phrases(own, self.marks) for own in labels]
        return self.cross_entropy(encoded, targets)

    def propose(
        self, encoded: Encoded, k: Optional[int], seeds: Sequence[int]
    ) -> List[List[Proposal]]:
        """Just k keyphrases, by default `settings.k`; without `settings.distinct` some
        of them may be the same."""
        k = self.settings.k if k is None else k
        written = self.generate(
            encoded,
            min(_PER_PHRASE * k, self.length),
            self.settings.beams,
            [ExactlyK(self.marks, k, self.settings.distinct)],
        )
        ends = (*self.marks,)
        return [
            [
                Proposal(self.text(ids), phrase_score(log_p))
                for ids, log_p in split_at(sequences[0], ends)
            ]
            for sequences in written
        ]
