"""Keyphrases by a prompt alone, of which only those that the text has, or that are
candidates, are taken."""

from dataclasses import dataclass
from typing import List, Literal, Optional, Sequence

from ..registry import registry
from .questions import Answer, Choice, Listing, Malformed, Question, Selector

VANILLA = "Extract the keyphrases of the document, as they stand in it, the best first."
CANDIDATES = (
    "Extract the keyphrases of the document, as they stand in it, the best first, from "
    "the list of candidates."
)
ROLE = (
    "You are an expert in keyphrase extraction: you know what readers look documents "
    "up by. " + VANILLA
)
Style = Literal["vanilla", "candidates", "role"]
_STYLES = {"vanilla": VANILLA, "candidates": CANDIDATES, "role": ROLE}


@registry.keyphrase_selectors("spacy_keyphrase.ZeroShot.v1")
def make_zero_shot(
    style: Style = "vanilla", instruction: Optional[str] = None
) -> Selector:
    """A prompt for keyphrases, for comparison: the rows of language models in the MUDY
    paper. What the model answers is looked for among the candidates and in the document
    by stems; what is in neither is left out.

    style (str): "vanilla"; "candidates" with the list of candidates, of which the
        answers must be; or "role", where the model is told that it is an expert.
    instruction (Optional[str]): What the model is told, instead of our words.
    RETURNS (Selector): The selector.
    RAISES: ValueError at an unknown style.
    """
    if style not in _STYLES:
        raise ValueError(f"style is {style!r}; use {', '.join(map(repr, _STYLES))}.")
    return ZeroShotSelector(instruction or _STYLES[style], style == "candidates")


@dataclass(frozen=True)
class ZeroShotSelector:
    """Asks for keyphrases; see `make_zero_shot`."""

    instruction: str
    listed: bool

    def ask(self, text: str, candidates: Sequence[str]) -> Optional[Question]:
        """For the keyphrases of a document, of the candidates if these are listed."""
        if not text.strip() or (self.listed and not candidates):
            return None
        shown = [" ".join(candidate.split()) for candidate in candidates]
        form = Listing("keyphrases", numbers=False)
        return Question(text, shown, self.instruction, form, self.listed)

    def read(self, question: Question, answer: Answer) -> List[Choice]:
        """All phrases in their order; scores fall evenly from 1."""
        if not isinstance(answer, list):
            raise Malformed("the model gave no phrases")
        n = len(answer)
        return [Choice(-1, phrase, (n - i) / n) for i, phrase in enumerate(answer)]
