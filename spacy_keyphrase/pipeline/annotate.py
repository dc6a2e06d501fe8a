"""What the pipes that write keyphrases have in common."""

from collections import Counter
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Literal,
    Optional,
    Sequence,
    Tuple,
)

from spacy.attrs import ORTH, SPACY
from spacy.strings import StringStore
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from ..keyphrase import Keyphrase, Record, get_keyphrases, write_records

Case = Literal["surface", "lower"]
Existing = Literal["keep", "replace"]
Scorer = Callable[..., Dict[str, Any]]
Predict = Callable[[Sequence[Doc]], Sequence[List[Record]]]

SCORE_WEIGHTS = {
    "keyphrases_f1@5": None,
    "keyphrases_f1@10": 1.0,
    "keyphrases_f1@M": None,
}


class Surfaces:
    """The texts of spans of a doc, without making spans.

    strings (StringStore): The strings of the doc's vocabulary.
    orths (Sequence[int]): Hashes of the texts of tokens, those of the doc among them.
    spaces (Sequence[bool]): Whether white space follows each of them.
    first (int): Where the doc's tokens begin.
    """

    def __init__(
        self,
        strings: StringStore,
        orths: Sequence[int],
        spaces: Sequence[bool],
        first: int = 0,
    ):
        self._strings = strings
        self._orths, self._spaces = orths, spaces
        self._first = first

    @classmethod
    def of_doc(cls, doc: Doc) -> "Surfaces":
        """Those of one doc."""
        orths, spaces = doc.to_array([ORTH, SPACY]).T.tolist()
        return cls(doc.vocab.strings, orths, spaces)

    def text(self, start: int, end: int) -> str:
        """The text from one token of the doc up to another."""
        strings, orths, spaces = self._strings, self._orths, self._spaces
        start, end = start + self._first, end + self._first
        text: str = strings[orths[start]]
        for i in range(start + 1, end):
            word = strings[orths[i]]
            text += " " + word if spaces[i - 1] else word
        return text


class KeyphraseAnnotator:
    """Mix-in of spaCy's pipes: batches in, keyphrases out, one bad doc alone fails.

    The pipe has `name`, `key`, `case`, `existing`, `scorer` and `predict`.
    """

    existing: Existing = "replace"

    name: str
    key: str
    case: Case
    scorer: Optional[Scorer]
    get_error_handler: Callable[[], Callable[..., Any]]

    def predict(self, docs: Sequence[Doc]) -> List[List[Record]]:
        """The keyphrases of a batch of docs, which are left as they are."""
        raise NotImplementedError

    def __call__(self, doc: Doc) -> Doc:
        """Set the keyphrases of one doc."""
        return next(self.pipe([doc], batch_size=1))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Set the keyphrases of a stream of docs, in order.

        stream (Iterable[Doc]): The docs.
        batch_size (int): How many docs are taken at a time.
        YIELDS (Doc): The same docs.
        """
        return self._pipe(stream, batch_size, self.predict)

    def _pipe(
        self, stream: Iterable[Doc], batch_size: int, predict: Predict
    ) -> Iterator[Doc]:
        """What `pipe` does, with the keyphrases of some function."""
        for docs in minibatch(stream, size=batch_size):  # type: ignore[no-untyped-call]
            try:
                self.set_annotations(docs, predict(docs))
            except Exception as error:
                yield from self._one_by_one(docs, error, predict)
            else:
                yield from docs

    def _one_by_one(
        self, docs: List[Doc], error: Exception, predict: Predict
    ) -> Iterator[Doc]:
        """After an error in a batch: only the docs at fault go to the handler."""
        handle = self.get_error_handler()
        for doc in docs:
            try:
                if len(docs) == 1:
                    raise error
                self.set_annotations([doc], predict([doc]))
            except Exception as cause:
                handle(self.name, self, [doc], cause)
            else:
                yield doc

    def set_annotations(
        self, docs: Sequence[Doc], records: Sequence[List[Record]]
    ) -> None:
        """Write keyphrases to docs.

        docs (Sequence[Doc]): The docs.
        records (Sequence[List[Record]]): What `predict` returned for them.
        """
        for doc, keyphrases in zip(docs, records):
            if self.existing == "keep":
                keyphrases = self._join(keyphrases, doc)
            write_records(doc, keyphrases, self.key)

    def _join(self, found: List[Record], doc: Doc) -> List[Record]:
        """New keyphrases among those that other pipes have set."""
        others = [
            as_record(phrase)
            for phrase in get_keyphrases(doc, self.key)
            if phrase.source != self.name
        ]
        if not others:
            return found
        return sorted(others + found, key=lambda record: -record.score)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> Dict[str, Any]:
        """Score a batch of examples with the component's scorer."""
        return self.scorer(examples, **kwargs) if self.scorer is not None else {}

    def _text(self, surfaces: Surfaces, mentions: Sequence[Tuple[int, int]]) -> str:
        """How a phrase is shown: its most frequent surface form, the first of those
        as frequent, on one line."""
        text = surfaces.text(*mentions[0])
        if len(mentions) > 1:
            texts = [surfaces.text(*mention) for mention in mentions]
            if texts.count(text) < len(texts):
                counts = Counter(texts)
                text = max(counts, key=counts.__getitem__)
        text = " ".join(text.split())
        return text.lower() if self.case == "lower" else text


def as_record(phrase: Keyphrase) -> Record:
    """A keyphrase of a doc, to be written to it again."""
    return Record(
        phrase.text,
        phrase.normal_form,
        phrase.score,
        [(span.start, span.end) for span in phrase.spans],
        phrase.source,
        phrase.mention_scores,
    )


def check_case(case: str) -> None:
    """Raise where `case` is neither of its values."""
    if case not in ("surface", "lower"):
        raise ValueError(f"case must be 'surface' or 'lower', not {case!r}.")


def check_existing(existing: str) -> None:
    """Raise where `existing` is neither of its values."""
    if existing not in ("keep", "replace"):
        raise ValueError(f"existing must be 'keep' or 'replace', not {existing!r}.")
