"""``keyphrase_generator``: present and absent keyphrases by a model that writes."""

import math
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import (
    TYPE_CHECKING,
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
    Union,
)

import numpy
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import SimpleFrozenList, load_model
from spacy.vocab import Vocab
from thinc.api import Config, Optimizer

from ..keyphrase import (
    KEY,
    Alignment,
    Record,
    get_keyphrases,
    register_extensions,
    write_records,
)
from ..models.generator import GeneratorModel, Lessons
from .annotate import Case, KeyphraseAnnotator, Scorer, Surfaces, check_case

if TYPE_CHECKING:
    from ..generation.base import GoldPhrase, Proposal

Presence = Literal["all", "present", "absent"]
Existing = Literal["keep", "replace"]
Order = Literal["score", "written"]

_MODEL = """
[model]
@architectures = "spacy_keyphrase.SetTrans.v1"

[model.assignment]
@keyphrase_assignments = "spacy_keyphrase.OptimalTransport.v1"
"""

DEFAULT_CONFIG = {
    "model": Config().from_str(_MODEL)["model"],
    "k": None,
    "presence": "all",
    "min_score": None,
    "order": "score",
    "existing": "keep",
    "case": "surface",
    "key": KEY,
    "scorer": {
        "@scorers": "spacy_keyphrase.scorer.v1",
        "k": [5, 10, "M"],
        "preset": "one2set",
    },
}

SCORE_WEIGHTS = {
    "keyphrases_present_f1@5": None,
    "keyphrases_present_f1@M": 0.5,
    "keyphrases_absent_f1@5": None,
    "keyphrases_absent_f1@M": 0.5,
    "keyphrases_absent_r@10": None,
}


@Language.factory(
    "keyphrase_generator",
    assigns=["doc.spans", "doc._.keyphrases"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_keyphrase_generator(
    nlp: Language,
    name: str,
    model: GeneratorModel,
    k: Optional[int],
    presence: Presence,
    min_score: Optional[float],
    order: Order,
    existing: Existing,
    case: Case,
    key: str,
    scorer: Optional[Scorer],
) -> "KeyphraseGenerator":
    """Construct a KeyphraseGenerator component.

    model (Model[Request, Any]): The generator: `SetTrans` and its kin.
    k (Optional[int]): How many keyphrases are asked for. Models that write as many as
        they are asked for do so; of others' keyphrases the first k are kept. By default
        the model decides.
    presence (str): "all", or only keyphrases that are "present" in the text or "absent"
        from it.
    min_score (Optional[float]): Lowest confidence to keep, 0..1; no limit by default.
    order (str): The most confident ones first ("score"), or as the model has "written"
        them.
    existing (str): What becomes of the keyphrases that other pipes have set: "keep"
        them among the new ones, by their scores, or "replace" them.
    case (str): "surface" as in the document, or "lower". Absent ones are as the model
        writes them.
    key (str): Key of the span group, of the gold as well, and name of the `doc._`
        attribute.
    scorer (Optional[Scorer]): The scoring method.
    """
    return KeyphraseGenerator(
        nlp.vocab,
        model,
        name,
        k=k,
        presence=presence,
        min_score=min_score,
        order=order,
        existing=existing,
        case=case,
        key=key,
        scorer=scorer,
    )


class KeyphraseGenerator(KeyphraseAnnotator, TrainablePipe):  # type: ignore[misc]
    """Let a model write keyphrases, and find those that are present in the text.

    vocab (Vocab): The shared vocabulary.
    model (Model[Request, Any]): The generator.
    name (str): Name of the component; the `source` of its keyphrases.
    k (Optional[int]): How many keyphrases are asked for.
    presence (str): "all", "present" or "absent".
    min_score (Optional[float]): Lowest confidence to keep.
    order (str): "score" or "written".
    existing (str): "keep" or "replace".
    case (str): "surface" or "lower".
    key (str): Key of the span group.
    scorer (Optional[Scorer]): The scoring method.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: GeneratorModel,
        name: str = "keyphrase_generator",
        *,
        k: Optional[int] = None,
        presence: Presence = "all",
        min_score: Optional[float] = None,
        order: Order = "score",
        existing: Existing = "keep",
        case: Case = "surface",
        key: str = KEY,
        scorer: Optional[Scorer] = None,
    ):
        check_case(case)
        _check("presence", presence, "all", "present", "absent")
        _check("order", order, "score", "written")
        _check("existing", existing, "keep", "replace")
        _check_k(k)
        if "make" not in model.attrs:
            raise ValueError(
                f"The model of {name!r} writes no keyphrases; its architecture must be "
                "that of a generator, such as spacy_keyphrase.SetTrans.v1."
            )
        register_extensions(key)
        self.vocab = vocab
        self.model = model
        self.name = name
        self.k = k
        self.presence = presence
        self.min_score = min_score
        self.order = order
        self.existing = existing
        self.case = case
        self.key = key
        self.scorer = scorer
        # Updates so far: losses may change with them.
        self.cfg: Dict[str, Any] = {"steps": 0}
        # That of the config: what is loaded may be of another one.
        self.architecture: str = model.attrs["architecture"]

    def __call__(self, doc: Doc, *, k: Optional[int] = None) -> Doc:
        """Set the keyphrases of one doc.

        doc (Doc): The doc.
        k (Optional[int]): How many keyphrases are asked for, if not as set.
        """
        return next(self.pipe([doc], batch_size=1, k=k))

    def pipe(
        self, stream: Iterable[Doc], *, batch_size: int = 64, k: Optional[int] = None
    ) -> Iterator[Doc]:
        """Set the keyphrases of a stream of docs, in order.

        stream (Iterable[Doc]): The docs.
        batch_size (int): How many docs are taken at a time.
        k (Optional[int]): How many keyphrases are asked for, if not as set; from
            `nlp.pipe` by its `component_cfg`.
        YIELDS (Doc): The same docs.
        """
        _check_k(k)
        return self._pipe(stream, batch_size, partial(self.predict, k=k))

    def predict(
        self, docs: Sequence[Doc], *, k: Optional[int] = None
    ) -> List[List[Record]]:
        """The keyphrases of a batch of docs, which are left as they are.

        docs (Sequence[Doc]): The docs.
        k (Optional[int]): How many keyphrases are asked for, if not as set.
        RETURNS (List[List[Record]]): Each doc's keyphrases, best first.
        """
        from ..generation.base import Request

        k = self.k if k is None else k
        records: List[List[Record]] = [[] for _ in docs]
        filled = [i for i, doc in enumerate(docs) if doc.text.strip()]
        if k == 0 or not filled:
            return records
        written = self.model.predict(Request([docs[i].text for i in filled], k=k))
        for i, found in zip(filled, written):
            records[i] = self._read(docs[i], found, k)
        return records

    def _read(
        self, doc: Doc, proposals: "Sequence[Proposal]", k: Optional[int]
    ) -> List[Record]:
        """The keyphrases of a doc from what the model wrote."""
        if self.order == "score":
            proposals = sorted(proposals, key=lambda proposal: -proposal.score)
        alignment, surfaces = Alignment(doc), Surfaces.of_doc(doc)
        records: Dict[str, Record] = {}
        for text, score in proposals:
            form = alignment.normalizer.form(text)
            if not form or form in records:
                continue
            if self.min_score is not None and score < self.min_score:
                continue
            mentions = alignment.find(text)
            if self.presence != "all" and bool(mentions) != (
                self.presence == "present"
            ):
                continue
            shown = self._text(surfaces, mentions) if mentions else text
            records[form] = Record(shown, form, score, mentions, self.name)
        return list(islice(records.values(), k))

    def set_annotations(
        self, docs: Sequence[Doc], records: Sequence[List[Record]]
    ) -> None:
        """Write keyphrases to docs.

        docs (Sequence[Doc]): The docs.
        records (Sequence[List[Record]]): What `predict` returned for them.
        """
        for doc, found in zip(docs, records):
            if self.existing == "keep":
                found = self._join(found, doc)
            write_records(doc, found, self.key)

    def _join(self, found: List[Record], doc: Doc) -> List[Record]:
        """New keyphrases among those that other pipes have set."""
        others = [
            Record(
                phrase.text,
                phrase.normal_form,
                phrase.score,
                [(span.start, span.end) for span in phrase.spans],
                phrase.source,
                phrase.mention_scores,
            )
            for phrase in get_keyphrases(doc, self.key)
            if phrase.source != self.name
        ]
        if not others:
            return found
        return sorted(others + found, key=lambda record: -record.score)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optional[Optimizer] = None,
        losses: Optional[Dict[str, float]] = None,
    ) -> Dict[str, float]:
        """Learn from a batch of examples.

        examples (Iterable[Example]): The batch. What has no span group of the `key`
            in its reference is not learned from; no keyphrases are learned as well.
        drop (float): Not used: the architecture has a rate of its own.
        sgd (Optional[Optimizer]): The optimizer; without one the gradients are kept.
        losses (Optional[Dict[str, float]]): Losses by component, added to.
        RETURNS (Dict[str, float]): The updated losses.
        RAISES: ValueError where the loss is no number; nothing is learned then.
        """
        from ..generation.base import Request

        examples = list(examples)
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, "KeyphraseGenerator.update")
        lessons = [self._lesson(example) for example in examples]
        lessons = [lesson for lesson in lessons if lesson is not None]
        if not lessons:
            return losses
        texts, gold = zip(*lessons)
        request = Request(texts, gold, step=self.cfg["steps"])
        loss, backprop = self.model.begin_update(request)
        value = float(loss[0])
        if not math.isfinite(value):
            raise ValueError(
                f"The loss of {self.name!r} is {value} after {self.cfg['steps']} "
                "updates. The last checkpoint and the best model are kept; go on from "
                "there with a lower learn_rate or grad_clip, or without "
                "mixed_precision."
            )
        backprop(self.model.ops.asarray1f([1.0]))
        if sgd is not None:
            self.finish_update(sgd)
        losses[self.name] += value
        return losses

    def finish_update(self, sgd: Optimizer) -> None:
        """Change the weights by what was learned."""
        super().finish_update(sgd)
        self.cfg["steps"] += 1

    def get_loss(self, examples: Iterable[Example], scores: Any) -> Tuple[float, float]:
        """The loss of a batch, which is the output of the network in training, and its
        gradient.

        examples (Iterable[Example]): Not used.
        scores (Floats1d): The network's output, of shape (1,).
        RETURNS (Tuple[float, float]): The loss and 1.
        """
        return float(scores[0]), 1.0

    def _lesson(self, example: Example) -> "Optional[Tuple[str, List[GoldPhrase]]]":
        """The text of an example and its keyphrases, in their order."""
        from ..generation.base import GoldPhrase

        reference = example.reference
        if self.key not in reference.spans or not reference.text.strip():
            return None
        gold = get_keyphrases(reference, self.key)
        return reference.text, [
            GoldPhrase(phrase.text, phrase.offsets) for phrase in gold
        ]

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
        words: Optional[Union[str, Path]] = None,
        vectors: Optional[Union[str, Path]] = None,
    ) -> None:
        """Initialize the model.

        get_examples (Callable[[], Iterable[Example]]): Returns the examples.
        nlp (Optional[Language]): The pipeline.
        words (Optional[Union[str, Path]]): File of the words that a model knows which
            is trained from scratch, one a line, the most frequent first, as `spacy
            keyphrase words` makes it. By default those of the examples: where a corpus
            is streamed (`max_epochs = -1`) spaCy gives only a hundred here.
        vectors (Optional[Union[str, Path]]): Pipeline whose word vectors such a model
            begins with, by name or path; they are not saved with it.
        RAISES: ValueError where no example of the first hundred has a gold keyphrase.
        """
        validate_get_examples(get_examples, "KeyphraseGenerator.initialize")

        def documents() -> "Iterator[Tuple[str, List[GoldPhrase]]]":
            for example in get_examples():
                lesson = self._lesson(example)
                if lesson is not None:
                    yield lesson

        if not any(gold for _, gold in islice(documents(), 100)):
            raise ValueError(
                "None of the first 100 examples has gold keyphrases in doc.spans"
                f"[{self.key!r}]. Make a corpus with `python -m spacy keyphrase "
                "convert`, or set `key` to the group that holds them."
            )
        known = None if words is None else Path(words).read_text("utf8").split()
        lessons: Any = Lessons(documents, known, _find_vectors(vectors))
        self.model.initialize(X=lessons)

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "KeyphraseGenerator":
        """Load the model, which must be of this architecture.

        data (bytes): What `to_bytes` returned.
        exclude (Iterable[str]): What is not to be loaded.
        RAISES: ValueError where it is of another one.
        """
        with self._loading():
            super().from_bytes(data, exclude=exclude)
        return self

    def from_disk(
        self, path: Union[str, Path], *, exclude: Iterable[str] = SimpleFrozenList()
    ) -> "KeyphraseGenerator":
        """Load the model, which must be of this architecture.

        path (Union[str, Path]): The folder that `to_disk` wrote.
        exclude (Iterable[str]): What is not to be loaded.
        RAISES: ValueError where it is of another one.
        """
        with self._loading():
            super().from_disk(path, exclude=exclude)
        return self

    @contextmanager
    def _loading(self) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            raise ValueError(
                f"The saved model of {self.name!r} is not one of {self.architecture} "
                f"as the config has it: {error}. Load it with the config that it was "
                "saved with."
            ) from error


def _check(name: str, value: str, *allowed: str) -> None:
    if value not in allowed:
        raise ValueError(
            f"{name} must be {', '.join(map(repr, allowed[:-1]))} or "
            f"{allowed[-1]!r}, not {value!r}."
        )


def _check_k(k: Optional[int]) -> None:
    if k is not None and k < 0:
        raise ValueError(f"k is {k}; it must be 0 or more, or None.")


def _find_vectors(
    pipeline: Optional[Union[str, Path]],
) -> Optional[Callable[[str], Optional[numpy.ndarray]]]:
    """The word vectors of a pipeline."""
    if pipeline is None:
        return None
    vocab: Any = load_model(pipeline).vocab
    if not len(vocab.vectors):
        raise ValueError(f"The pipeline {pipeline} has no word vectors.")
    return lambda word: vocab.get_vector(word) if vocab.has_vector(word) else None
