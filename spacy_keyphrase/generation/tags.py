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


def tag_phrases(text: str, offsets: Offsets, mentions: Offsets) -> List[int]:
    """The tags of a text's sub-tokens.

    text (str): The text.
    offsets (Sequence[Tuple[int, int]]): Of each sub-token its characters.
    mentions (Sequence[Tuple[int, int]]): Characters of the phrases. Of those that
        overlap the longer one is tagged, of equally long ones the first. Those that are
        cut off, or begin or end within a word, are not tagged.
    RETURNS (List[int]): Numbers of `TAGS`.
    """
    tags = [OUTSIDE] * len(offsets)
    for start, end in sorted(mentions, key=lambda m: (m[0] - m[1], m[0])):
        inside = [i for i, (a, b) in enumerate(offsets) if start <= a < b <= end]
        if not inside or any(tags[i] for i in inside):
            continue
        if start < offsets[0][0] or end > offsets[-1][1]:
            continue
        if within_word(text, start) or within_word(text, end):
            continue
        for i in inside:
            tags[i] = MORE if within_word(text, offsets[i][0]) else INSIDE
        tags[inside[0]] = BEGIN
    return tags


def within_word(text: str, place: int) -> bool:
    """Whether a word goes on from before a character to it."""
    return 0 < place < len(text) and text[place - 1 : place + 1].isalnum()


def whole_words(text: str, start: int, end: int) -> Tuple[int, int]:
    """Characters with the rest of the words that they begin and end in."""
    while within_word(text, start):
        start -= 1
    while within_word(text, end):
        end += 1
    return start, end


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
