"""The words of models that are trained from scratch, and words copied from a document.

The numbers of words: seven special ones, then the vocabulary, then those of a document
that the vocabulary lacks, in the order in which they come (One2Set, Ye et al. 2021).
Numbers are words as others are; in the paper they are all alike.
"""

import re
from collections import Counter
from typing import Dict, Iterable, List, NamedTuple, Sequence

from ..normalize import split_words

SPECIAL = ("<pad>", "<unk>", "<bos>", "<eos>", "<sep>", "<peos>", "<null>")
PAD, UNKNOWN, BEGIN, END, SEPARATOR, ABSENT, NULL = range(len(SPECIAL))
# Words of one document that the vocabulary lacks, at most; further ones are unknown.
MOST_EXTRA = 1000

# Marks that are words of a document; others are left out.
_MARKS = re.compile(r"([,.'()])")


class Numbered(NamedTuple):
    """The words of a document as numbers.

    ids (List[int]): Of the vocabulary.
    extended (List[int]): The same, words that the vocabulary lacks numbered behind it.
    extra (List[str]): Those words, in the order of their numbers.
    """

    ids: List[int]
    extended: List[int]
    extra: List[str]


class Vocabulary:
    """Words and their numbers.

    words (Sequence[str]): The words, without the special ones.
    RAISES: ValueError if a word is there twice, or is a special one.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = [*SPECIAL, *words]
        for word, n in Counter(self.words).items():
            if n > 1:
                raise ValueError(f"The vocabulary has {word!r} twice.")
        # What looks like a special word in a text is none.
        self._ids: Dict[str, int] = {
            word: i for i, word in enumerate(words, start=len(SPECIAL))
        }

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def of_texts(cls, texts: Iterable[Iterable[str]], size: int) -> "Vocabulary":
        """The most frequent words.

        texts (Iterable[Iterable[str]]): The words of texts.
        size (int): Words in all, the special ones included; of equally frequent ones
            those that come first in the alphabet.
        """
        counts: Counter[str] = Counter()
        for tokens in texts:
            counts.update(tokens)
        for word in SPECIAL:
            counts.pop(word, None)
        ordered = sorted(counts, key=lambda word: (-counts[word], word))
        return cls(ordered[: max(size - len(SPECIAL), 0)])

    def number(self, tokens: Sequence[str]) -> Numbered:
        """The words of a document.

        tokens (Sequence[str]): What `read_document` found.
        """
        extra: Dict[str, int] = {}
        ids, extended = [], []
        for word in tokens:
            known = self._ids.get(word)
            ids.append(UNKNOWN if known is None else known)
            if known is None and len(extra) < MOST_EXTRA:
                extra.setdefault(word, len(self) + len(extra))
            extended.append(extra.get(word, UNKNOWN) if known is None else known)
        return Numbered(ids, extended, list(extra))

    def number_phrase(self, tokens: Sequence[str], extra: Sequence[str]) -> List[int]:
        """The words of a keyphrase of a document.

        tokens (Sequence[str]): What `read_phrase` found.
        extra (Sequence[str]): Words of the document that the vocabulary lacks.
        """
        behind = {word: len(self) + i for i, word in enumerate(extra)}
        return [self._ids.get(word, behind.get(word, UNKNOWN)) for word in tokens]

    def texts(self, ids: Iterable[int], extra: Sequence[str]) -> List[str]:
        """The words that numbers stand for."""
        n = len(self)
        return [self.words[i] if i < n else extra[i - n] for i in ids]


def read_document(text: str) -> List[str]:
    """The words of a document, in lower case, and its marks."""
    words: List[str] = []
    for part in _MARKS.split(text.lower()):
        words.extend([part] if _MARKS.fullmatch(part) else split_words(part))
    return words


def read_phrase(text: str) -> List[str]:
    """The words of a keyphrase, in lower case."""
    return split_words(text.lower())
