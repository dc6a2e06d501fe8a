"""The sentences that a language model is asked about: prompts with candidates."""

from dataclasses import dataclass
from typing import Any, List, Sequence

from .pieces import read_pieces


@dataclass(frozen=True)
class Prompt:
    """What is asked.

    before, after (str): Around the document.
    template (str): The sentence, with ``{}`` for the candidate.
    alpha (float): Exponent of the number of scored sub-tokens that sums of
        log-probabilities are divided by (eq. 1).
    whole_window (bool): Whether the last word of the template before the candidate and
        the first sub-token after it are scored too, as in the code of the authors, or
        the candidate alone, as in the paper.
    length (int): Sub-tokens of the document with what is around it, at most.
    """

    before: str = 'Book:"'
    after: str = '"'
    template: str = "This book mainly talks about {} ."
    alpha: float = 0.6
    whole_window: bool = True
    length: int = 512

    def __post_init__(self) -> None:
        if self.template.count("{}") != 1:
            raise ValueError(
                "The template must have {} once, for the candidate: "
                f"{self.template!r}"
            )
        if not self.template.split("{}")[0].split():
            raise ValueError(
                "The template must begin with a word, not with the candidate: "
                f"{self.template!r}"
            )


# Of the papers, by the kind of model.
SEQ2SEQ_PROMPT = Prompt()
CAUSAL_PROMPT = Prompt(
    before="Text: ",
    after=" Answer: ",
    template="This text mainly talks about {}.",
    length=782,
)


@dataclass(frozen=True)
class Sentence:
    """A prompt with a candidate in it.

    ids (List[int]): Its sub-tokens.
    start (int): The first one of the candidate.
    end (int): The one after its last.
    first (int): The first that is scored.
    last (int): The one after the last that is scored.
    """

    ids: List[int]
    start: int
    end: int
    first: int
    last: int


def read_sentences(
    tokenizer: Any, texts: Sequence[str], prompt: Prompt, special: bool
) -> List[Sentence]:
    """The sentences of candidates.

    tokenizer (Any): A fast tokenizer.
    texts (Sequence[str]): The candidates.
    prompt (Prompt): What is asked.
    special (bool): Whether they have special sub-tokens at the end.
    """
    head, tail = prompt.template.split("{}")
    whole = [f"{head}{text}{tail}" for text in texts]
    sentences = []
    for text, pieces in zip(texts, read_pieces(tokenizer, whole, special)):
        span = pieces.find(len(head), len(head) + len(text))
        start, end = (len(pieces),) * 2 if span is None else (span[0], span[1] + 1)
        # A bare space before the candidate is a part of it.
        while start > 1 and pieces.blank[start - 1]:
            start -= 1
        start = max(start, 1)
        around = 1 if prompt.whole_window else 0
        first = max(start - around, 1)
        last = max(min(end + around, len(pieces)), first)
        sentences.append(Sentence(pieces.ids, start, end, first, last))
    return sentences
