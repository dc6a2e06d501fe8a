"""Tags of sub-tokens: B at the first of a phrase, I at the first of each further word,
X where a word goes on, O outside (UniKeyphrase, Wu et al. 2021)."""

from typing import List, NamedTuple, Sequence, Tuple

TAGS = ("O", "B", "I", "X")
OUTSIDE, BEGIN, INSIDE, MORE = range(len(TAGS))

Offsets = Sequence[Tuple[int, int]]


class Tagged(NamedTuple):
    """A phrase found by its tags.

    start, end (int): From one sub-token to another.
    score (float): Mean probability of its tags.
    """

    start: int
    end: int
    score: float


def tag_phrases(offsets: Offsets, words: Sequence[int], mentions: Offsets) -> List[int]:
    """The tags of a text's sub-tokens.

    offsets (Sequence[Tuple[int, int]]): Of each sub-token its characters.
    words (Sequence[int]): The word that each is of.
    mentions (Sequence[Tuple[int, int]]): Characters of the phrases. Of those that
        overlap the longer one is tagged, of equally long ones the first.
    RETURNS (List[int]): Numbers of `TAGS`.
    """
    tags = [OUTSIDE] * len(offsets)
    for start, end in sorted(mentions, key=lambda m: (m[0] - m[1], m[0])):
        inside = [i for i, (a, b) in enumerate(offsets) if start <= a < b <= end]
        if not inside or any(tags[i] for i in inside):
            continue
        # A phrase does not begin or end within a word.
        if any(_within_word(i, words) for i in (inside[0], inside[-1] + 1)):
            continue
        for i in inside:
            tags[i] = MORE if _within_word(i, words) else INSIDE
        tags[inside[0]] = BEGIN
    return tags


def _within_word(i: int, words: Sequence[int]) -> bool:
    return 0 < i < len(words) and words[i - 1] == words[i]


def read_tags(tags: Sequence[int], probabilities: Sequence[float]) -> List[Tagged]:
    """The phrases that tags mark: a B and what of I and X follows it.

    tags (Sequence[int]): Of each sub-token.
    probabilities (Sequence[float]): Of these tags.
    """
    found = []
    i = 0
    while i < len(tags):
        end = i + 1
        if tags[i] == BEGIN:
            while end < len(tags) and tags[end] in (INSIDE, MORE):
                end += 1
            found.append(Tagged(i, end, sum(probabilities[i:end]) / (end - i)))
        i = end
    return found
