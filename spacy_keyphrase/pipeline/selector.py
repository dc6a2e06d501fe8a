"""``keyphrase_selector``: a language model chooses from the candidates that other pipes
have found."""

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
from zlib import crc32

import numpy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import minibatch
from spacy.vocab import Vocab
from thinc.api import Config, Optimizer

from ..backends.usage import Usage
from ..keyphrase import (
    KEY,
    Keyphrase,
    get_keyphrases,
    register_extensions,
    write_records,
)
from ..models.chat import SelectorModel
from ..selectors.questions import (
    Answer,
    Asked,
    Failed,
    Malformed,
    Question,
    Selector,
)
from .annotate import SCORE_WEIGHTS, Scorer, as_record
from .learning import LossPipe
from .outcomes import ERROR, Outcome, SelectionError, keep, register_error

Order = Literal["score", "given", "random"]

_MODEL = """
[model]
@architectures = "spacy_keyphrase.LocalLM.v1"
"""

DEFAULT_CONFIG = {
    "model": Config().from_str(_MODEL)["model"],
    "selector": {"@keyphrase_selectors": "spacy_keyphrase.SequenceLabels.v1"},
    "order": "score",
    "shuffle": True,
    "top_n": None,
    "max_candidates": 0,
    "raise_on_failure": False,
    "key": KEY,
    "candidates_key": None,
    "scorer": {"@scorers": "spacy_keyphrase.scorer.v1"},
}


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
    shuffle: bool,
    top_n: Optional[int],
    max_candidates: int,
    raise_on_failure: bool,
    key: str,
    candidates_key: Optional[str],
    scorer: Optional[Scorer],
) -> "KeyphraseSelector":
    """Construct a KeyphraseSelector component.

    model (Model[Asked, Any]): A language model that runs here
        (`LocalLM`), a cross-encoder, or one behind a chat interface (`ChatLM`).
    selector (Selector): Registered way of asking: `SequenceLabels`, `Listwise` …
    order (str): In which candidates are shown: by "score" (S-infer of the paper), as
        "given" in the doc, or "random".
    shuffle (bool): Whether they are shown in a random order in training (R-tuning).
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
        shuffle=shuffle,
        top_n=top_n,
        max_candidates=max_candidates,
        raise_on_failure=raise_on_failure,
        key=key,
        candidates_key=candidates_key,
        scorer=scorer,
    )


class KeyphraseSelector(LossPipe):
    """Keep those candidates that a language model chooses. It can choose only from
    them, or, by a prompt for keyphrases, phrases that the document has.

    vocab (Vocab): The shared vocabulary.
    model (Model[Asked, Any]): The language model.
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
        shuffle: bool = True,
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
        self.shuffle = shuffle
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

    @property
    def usage(self) -> Optional[Usage]:
        """What calls of a model behind a chat interface have cost so far; None of one
        that runs here."""
        chat = self.model.attrs.get("chat")
        return None if chat is None else chat.usage

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
                if len(docs) == 1:
                    handle(self.name, self, docs, error)
                else:
                    # Only the docs at fault are lost.
                    yield from self.pipe(docs, batch_size=1)
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
        answers = iter(self._answer(asked))
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
                kept = keep(doc, phrases, choices, question, self.name)[: self.top_n]
            except Malformed as error:
                outcomes.append(Outcome(before, [], str(error)))
                continue
            chosen = {record.form for record in kept}
            others = [record for record in before if record.form not in chosen]
            outcomes.append(Outcome(kept, others))
        return outcomes

    def _answer(self, questions: Sequence[Question]) -> Sequence[Answer]:
        answers: List[Answer] = []
        return self.model.predict(Asked(questions)) if questions else answers

    def set_annotations(self, docs: Sequence[Doc], outcomes: Sequence[Outcome]) -> None:
        """Write to docs what became of their candidates.

        docs (Sequence[Doc]): The docs.
        outcomes (Sequence[Outcome]): What `predict` returned for them.
        """
        for doc, outcome in zip(docs, outcomes):
            write_records(doc, outcome.kept, self.key)
            write_records(doc, outcome.rejected, self.rejected_key)
            if outcome.error is not None:
                doc.spans[self.key].attrs[ERROR] = outcome.error

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

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
    ) -> None:
        """Load the model, to be trained. One that was loaded already is kept, with what
        it has learned; one behind a chat interface has nothing to learn.

        get_examples (Callable[[], Iterable[Example]]): Returns the examples.
        nlp (Optional[Language]): The pipeline.
        """
        validate_get_examples(get_examples, "KeyphraseSelector.initialize")
        if self.is_trainable:
            self.model.initialize(X=Asked(()))

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optional[Optimizer] = None,
        losses: Optional[Dict[str, float]] = None,
    ) -> Dict[str, float]:
        """Learn to label from a batch of examples: T is what is equal to a gold
        keyphrase by stems. Candidates are those of the predicted doc, which a pipe
        before this one (`annotating_components`) or the corpus has set. They are shown
        in another order each time (R-tuning), if `shuffle` is set.

        examples (Iterable[Example]): The batch. What has no candidates, or no span
            group of the `key` in its reference, is not learned from.
        drop (float): Not used: an adapter has a rate of its own.
        sgd (Optional[Optimizer]): The optimizer; without one the gradients are kept.
        losses (Optional[Dict[str, float]]): Losses by component, added to.
        RETURNS (Dict[str, float]): The updated losses.
        RAISES: ValueError where the loss is no number; nothing is learned then.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        if not self.is_trainable:
            return losses
        examples = list(examples)
        validate_examples(examples, "KeyphraseSelector.update")
        lessons = [self._lesson(example) for example in examples]
        lessons = [lesson for lesson in lessons if lesson is not None]
        if not lessons:
            return losses
        questions, kept = zip(*lessons)
        self.learn(Asked(questions, kept), sgd, losses)
        return losses

    def _lesson(self, example: Example) -> Optional[Tuple[Question, List[bool]]]:
        """What is asked of an example, and the labels that are right."""
        reference = example.reference
        if self.key not in reference.spans:
            return None
        phrases = self.candidates(example.predicted)
        if self.shuffle:
            # Seeded by spaCy, and a part of checkpoints.
            order = numpy.random.permutation(len(phrases))
            phrases = [phrases[i] for i in order]
        text = example.predicted.text
        question = self.selector.ask(text, [phrase.text for phrase in phrases])
        if question is None:
            return None
        gold = {phrase.normal_form for phrase in get_keyphrases(reference, self.key)}
        return question, [phrase.normal_form in gold for phrase in phrases]

    def score(self, examples: Iterable[Example], **kwargs: Any) -> Dict[str, Any]:
        """Score a batch of examples with the component's scorer."""
        return self.scorer(examples, **kwargs) if self.scorer is not None else {}
