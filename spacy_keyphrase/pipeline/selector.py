"""``keyphrase_selector``: a language model chooses from the candidates that other pipes
have found."""

from functools import partial
from typing import (
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Literal,
    NamedTuple,
    Optional,
    Sequence,
)
from zlib import crc32

import numpy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch
from spacy.vocab import Vocab
from thinc.api import Config

from ..keyphrase import (
    KEY,
    Alignment,
    Keyphrase,
    Record,
    get_keyphrases,
    register_extensions,
    write_records,
)
from ..models.chat import SelectorModel
from ..selectors.questions import Choice, Failed, Malformed, Question, Selector
from .annotate import SCORE_WEIGHTS, Scorer, as_record
from .loading import LoadablePipe

Order = Literal["score", "given", "random"]

_MODEL = """
[model]
@architectures = "spacy_keyphrase.LocalLM.v1"
"""

DEFAULT_CONFIG = {
    "model": Config().from_str(_MODEL)["model"],
    "selector": {"@keyphrase_selectors": "spacy_keyphrase.SequenceLabels.v1"},
    "order": "score",
    "top_n": None,
    "max_candidates": 0,
    "raise_on_failure": False,
    "key": KEY,
    "candidates_key": None,
    "scorer": {"@scorers": "spacy_keyphrase.scorer.v1"},
}


class SelectionError(Exception):
    """A model gave no answer that could be used."""


class Outcome(NamedTuple):
    """What became of the candidates of a doc.

    kept (List[Record]): The keyphrases, best first.
    rejected (List[Record]): The other candidates, as they were.
    error (Optional[str]): Why the model gave no answer; then all candidates are kept as
        they were.
    """

    kept: List[Record]
    rejected: List[Record]
    error: Optional[str] = None


@Language.factory(
    "keyphrase_selector",
    assigns=["doc.spans", "doc._.keyphrases"],
    requires=["doc._.keyphrases"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_keyphrase_selector(
    nlp: Language,
    name: str,
    model: SelectorModel,
    selector: Selector,
    order: Order,
    top_n: Optional[int],
    max_candidates: int,
    raise_on_failure: bool,
    key: str,
    candidates_key: Optional[str],
    scorer: Optional[Scorer],
) -> "KeyphraseSelector":
    """Construct a KeyphraseSelector component.

    model (Model[Sequence[Question], List[Answer]]): A language model that runs here
        (`LocalLM`), a cross-encoder, or one behind a chat interface (`ChatLM`).
    selector (Selector): Registered way of asking: `SequenceLabels`, `Listwise` …
    order (str): In which candidates are shown: by "score" (S-infer of the paper), as
        "given" in the doc, or "random".
    top_n (Optional[int]): How many are kept at most; by default all that are chosen.
    max_candidates (int): How many are shown to the model, the first ones; the others
        are rejected unseen. 0 shows all.
    raise_on_failure (bool): Whether a doc without an answer is an error, which goes to
        the pipeline's error handler. By default its candidates stay as they are, and
        `doc._.keyphrases_error` says why.
    key (str): Key of the span group that is written; rejected candidates are in
        `doc._.keyphrases_rejected`.
    candidates_key (Optional[str]): Key of the candidates, if it is another.
    scorer (Optional[Scorer]): The scoring method.
    """
    return KeyphraseSelector(
        nlp.vocab,
        model,
        selector,
        name,
        order=order,
        top_n=top_n,
        max_candidates=max_candidates,
        raise_on_failure=raise_on_failure,
        key=key,
        candidates_key=candidates_key,
        scorer=scorer,
    )


class KeyphraseSelector(LoadablePipe):
    """Keep those candidates that a language model chooses. It can choose only from
    them, or, by a prompt for keyphrases, phrases that the document has.

    vocab (Vocab): The shared vocabulary.
    model (Model[Sequence[Question], List[Answer]]): The language model.
    selector (Selector): How it is asked.
    name (str): Name of the component; the `source` of phrases that were no candidates.

    For the settings see `make_keyphrase_selector`.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: SelectorModel,
        selector: Selector,
        name: str = "keyphrase_selector",
        *,
        order: Order = "score",
        top_n: Optional[int] = None,
        max_candidates: int = 0,
        raise_on_failure: bool = False,
        key: str = KEY,
        candidates_key: Optional[str] = None,
        scorer: Optional[Scorer] = None,
    ):
        if order not in ("score", "given", "random"):
            raise ValueError(
                f"order must be 'score', 'given' or 'random', not {order!r}."
            )
        if "asks" not in model.attrs:
            raise ValueError(
                f"The model of {name!r} answers no questions; its architecture must be "
                "that of a selector, such as spacy_keyphrase.ChatLM.v1."
            )
        if max_candidates < 0 or (top_n is not None and top_n < 0):
            raise ValueError(
                f"max_candidates is {max_candidates}, top_n {top_n}; both must be 0 or "
                "more."
            )
        self.vocab = vocab
        self.model = model
        self.selector = selector
        self.name = name
        self.order = order
        self.top_n = top_n
        self.max_candidates = max_candidates
        self.raise_on_failure = raise_on_failure
        self.key = key
        self.candidates_key = candidates_key or key
        self.rejected_key = f"{key}_rejected"
        self.scorer = scorer
        self.cfg: Dict[str, Any] = {}
        for known in (self.key, self.candidates_key, self.rejected_key):
            register_extensions(known)
        register_error(self.key)

    @property
    def is_trainable(self) -> bool:
        """Whether the model learns here; those behind chat interfaces do not."""
        return "recipe" in self.model.attrs

    def __call__(self, doc: Doc) -> Doc:
        """Choose from the candidates of one doc."""
        return next(self.pipe([doc], batch_size=1))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Choose from the candidates of a stream of docs, in order.

        stream (Iterable[Doc]): The docs.
        batch_size (int): How many docs are taken at a time, and go to a server or
            through a network together.
        YIELDS (Doc): The same docs.
        """
        handle = self.get_error_handler()
        for docs in minibatch(stream, size=batch_size):  # type: ignore[no-untyped-call]
            try:
                outcomes = self.predict(docs)
            except Exception as error:
                handle(self.name, self, docs, error)
                continue
            for doc, outcome in zip(docs, outcomes):
                if outcome.error is not None and self.raise_on_failure:
                    handle(self.name, self, [doc], SelectionError(outcome.error))
                else:
                    self.set_annotations([doc], [outcome])
                    yield doc

    def predict(self, docs: Sequence[Doc]) -> List[Outcome]:
        """What becomes of the candidates of a batch of docs, which are left as they
        are."""
        shown = [self.candidates(doc) for doc in docs]
        questions = [
            self.selector.ask(doc.text, [phrase.text for phrase in phrases])
            for doc, phrases in zip(docs, shown)
        ]
        asked = [question for question in questions if question is not None]
        answers = iter(self.model.predict(asked) if asked else ())
        outcomes = []
        for doc, phrases, question in zip(docs, shown, questions):
            before = [as_record(p) for p in get_keyphrases(doc, self.candidates_key)]
            if question is None:
                outcomes.append(Outcome([], before))
                continue
            answer = next(answers)
            try:
                if isinstance(answer, Failed):
                    raise Malformed(answer.reason)
                choices = self.selector.read(question, answer)
                kept = self._keep(doc, phrases, choices, question)
            except Malformed as error:
                outcomes.append(Outcome(before, [], str(error)))
                continue
            chosen = {record.form for record in kept}
            others = [record for record in before if record.form not in chosen]
            outcomes.append(Outcome(kept, others))
        return outcomes

    def set_annotations(self, docs: Sequence[Doc], outcomes: Sequence[Outcome]) -> None:
        """Write to docs what became of their candidates.

        docs (Sequence[Doc]): The docs.
        outcomes (Sequence[Outcome]): What `predict` returned for them.
        """
        for doc, outcome in zip(docs, outcomes):
            write_records(doc, outcome.kept, self.key)
            write_records(doc, outcome.rejected, self.rejected_key)
            if outcome.error is not None:
                doc.spans[self.key].attrs[_ERROR] = outcome.error

    def ask(self, doc: Doc) -> Optional[Question]:
        """What the model is asked of a doc: `ask(doc).messages` is the prompt."""
        phrases = self.candidates(doc)
        return self.selector.ask(doc.text, [phrase.text for phrase in phrases])

    def candidates(self, doc: Doc) -> List[Keyphrase]:
        """The candidates of a doc that are shown to the model, in order."""
        phrases = get_keyphrases(doc, self.candidates_key)
        if self.order == "score":
            phrases = sorted(phrases, key=lambda phrase: -phrase.score)
        elif self.order == "random":
            random = numpy.random.default_rng(crc32(doc.text.encode()))
            phrases = [phrases[i] for i in random.permutation(len(phrases))]
        return phrases[: self.max_candidates or None]

    def _keep(
        self,
        doc: Doc,
        phrases: Sequence[Keyphrase],
        choices: Sequence[Choice],
        question: Question,
    ) -> List[Record]:
        """The keyphrases that were chosen, best first."""
        records: Dict[str, Record] = {}
        alignment: Optional[Alignment] = None
        numbers = {phrase.normal_form: i for i, phrase in enumerate(phrases)}
        for number, text, score in choices:
            if number < 0:
                alignment = alignment or Alignment(doc)
                form = alignment.normalizer.form(text)
                number = numbers.get(form, -1)
                if number < 0:
                    mentions = alignment.find(text)
                    # What is nowhere has been made up.
                    if form and mentions and not question.listed:
                        shown = " ".join(doc[slice(*mentions[0])].text.split())
                        own = Record(shown, form, score or 0.0, mentions, self.name)
                        records.setdefault(form, own)
                    continue
            record = as_record(phrases[number])
            if score is not None:
                record = record._replace(score=score)
            records.setdefault(record.form, record)
        if choices and not records:
            raise Malformed("no phrase of the answer is one of the document")
        return list(records.values())[: self.top_n]

    def score(self, examples: Iterable[Example], **kwargs: Any) -> Dict[str, Any]:
        """Score a batch of examples with the component's scorer."""
        return self.scorer(examples, **kwargs) if self.scorer is not None else {}


_ERROR = "selection_error"


def get_error(doc: Doc, key: str = KEY) -> Optional[str]:
    """Why a selector left the candidates of a doc as they were; None where it did not.
    The getter of ``doc._.keyphrases_error``."""
    return doc.spans[key].attrs.get(_ERROR) if key in doc.spans else None


def register_error(key: str) -> None:
    """Make ``doc._.<key>_error`` known to spaCy, once."""
    name = f"{key}_error"
    if not Doc.has_extension(name):
        Doc.set_extension(name, getter=partial(get_error, key=key))
