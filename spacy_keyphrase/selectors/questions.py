"""What a language model is asked about the candidates of a document, and what it may
answer."""

from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Protocol, Sequence, Union


class Message(NamedTuple):
    """A turn of a conversation.

    role (str): "system" or "user".
    content (str): What is said.
    """

    role: str
    content: str


@dataclass(frozen=True)
class Labels:
    """To be answered by T or F for each candidate.

    leads (Sequence[str]): What a model that is made to label goes on from before each
        label; empty for a label right after the last one.
    independent (bool): Whether such a model gives a label without a look at other
        candidates and labels.
    """

    leads: Sequence[str]
    independent: bool = False

    @property
    def n(self) -> int:
        """How many labels are wanted."""
        return len(self.leads)

    @property
    def request(self) -> str:
        """What a model that writes freely is told."""
        return (
            f'Answer with a JSON object {{"labels": [...]}} of exactly {self.n} labels '
            '"T" or "F", one for each candidate, in the order of the candidates.'
        )

    @property
    def schema(self) -> Dict[str, Any]:
        """JSON schema of an answer."""
        items = {"type": "string", "enum": ["T", "F"]}
        return _object("labels", items, minItems=self.n, maxItems=self.n)


@dataclass(frozen=True)
class Listing:
    """To be answered by a list.

    name (str): What it is a list of.
    numbers (bool): Whether of numbers of candidates; else of phrases.
    """

    name: str
    numbers: bool

    @property
    def request(self) -> str:
        """What a model is told."""
        what = "the numbers of candidates" if self.numbers else "phrases"
        return f'Answer with a JSON object {{"{self.name}": [...]}}, a list of {what}.'

    @property
    def schema(self) -> Dict[str, Any]:
        """JSON schema of an answer."""
        return _object(self.name, {"type": "integer" if self.numbers else "string"})


@dataclass(frozen=True)
class Question:
    """What a model is asked of one document.

    text (str): The document.
    candidates (Sequence[str]): What may be chosen.
    instruction (str): What the model is told first; the same for all documents.
    form (Union[Labels, Listing]): What an answer is.
    listed (bool): Whether the candidates are shown to it.
    """

    text: str
    candidates: Sequence[str]
    instruction: str
    form: Union[Labels, Listing]
    listed: bool = True

    def after(self, listed: Optional[bool] = None) -> str:
        """What is shown behind the document.

        listed (bool): Whether the candidates are, by default as the question has it.
        """
        if self.listed if listed is None else listed:
            lines = (f"{i}. {text}" for i, text in enumerate(self.candidates, 1))
            return "\n\nCandidates:\n" + "\n".join(lines)
        return ""

    @property
    def messages(self) -> List[Message]:
        """The question as a conversation with a model that writes freely. What is the
        same for all documents comes first, so that a server can keep it."""
        content = f"{BEFORE}{self.text}{self.after()}\n\n{self.form.request}"
        return [Message("system", self.instruction), Message("user", content)]


# What is shown before a document.
BEFORE = "Document:\n"


class Labelled(NamedTuple):
    """Labels as an answer.

    kept (Sequence[bool]): Whether each candidate is T.
    p (Optional[Sequence[float]]): The probability of T, where the model tells it.
    """

    kept: Sequence[bool]
    p: Optional[Sequence[float]] = None


class Failed(NamedTuple):
    """What there is instead of an answer.

    reason (str): Why, for people.
    """

    reason: str


# Of a `Listing` the list: numbers from 1, or phrases.
Answer = Union[Labelled, List[Any], Failed]


@dataclass(frozen=True)
class Asked:
    """Questions, and in training what is right.

    questions (Sequence[Question]): One for each document.
    kept (Optional[Sequence[Sequence[bool]]]): Of each candidate whether it is T.
    """

    questions: Sequence[Question]
    kept: Optional[Sequence[Sequence[bool]]] = None


class Choice(NamedTuple):
    """A keyphrase that was chosen.

    candidate (int): Its number among the candidates; -1 for a phrase that the model
        has put into words, and that is still to be looked for.
    text (str): The phrase.
    score (Optional[float]): 0..1; unknown, where the model says only that it is one.
    """

    candidate: int
    text: str
    score: Optional[float] = None


class Malformed(ValueError):
    """An answer is not of the form that was asked for."""


class Selector(Protocol):
    """A way to have a language model choose from the candidates of a document."""

    def ask(self, text: str, candidates: Sequence[str]) -> Optional[Question]:
        """What to ask; nothing, if there is nothing to choose."""

    def read(self, question: Question, answer: Answer) -> List[Choice]:
        """What was chosen, best first.

        RAISES: Malformed where the answer cannot be used.
        """


def _object(name: str, items: Dict[str, Any], **limits: int) -> Dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "array", "items": items, **limits}},
        "required": [name],
        "additionalProperties": False,
    }
