"""``keyphrase_generator``: present and absent keyphrases by a model that writes."""

import warnings
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
    Optional,
    Tuple,
    Union,
)

import numpy
from spacy.language import Language
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import load_model
from thinc.api import Config, Optimizer
from thinc.util import to_numpy

from ..keyphrase import KEY, get_keyphrases
from ..models.generator import GeneratorModel, Lessons
from ..models.wrapped import is_loaded
from .annotate import Case, Existing, Scorer
from .learning import LossPipe
from .proposals import Order, Presence, ProposalAnnotator

if TYPE_CHECKING:
    from ..generation.base import GoldPhrase

# Documents that spaCy shows of a corpus that is streamed.
_FEW = 100

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
    "known_only": False,
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
    known_only: bool,
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
    known_only (bool): Keep no absent keyphrases but known ones: `phrases` of
        `initialize`, or those of `set_phrases`.
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
        known_only=known_only,
        case=case,
        key=key,
        scorer=scorer,
    )


class KeyphraseGenerator(ProposalAnnotator, LossPipe):
    """A model that learns to write keyphrases; see `ProposalAnnotator`."""

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
        when = f" after {self.cfg['steps']} updates"
        self.learn(request, sgd, losses, when)
        return losses

    def finish_update(self, sgd: Optimizer) -> None:
        """Change the weights by what was learned."""
        super().finish_update(sgd)
        self.cfg["steps"] += 1

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
        phrases: Optional[Union[str, Path]] = None,
    ) -> None:
        """Initialize the model. One that was initialized or loaded already is kept,
        with what it has learned.

        get_examples (Callable[[], Iterable[Example]]): Returns the examples.
        nlp (Optional[Language]): The pipeline.
        words (Optional[Union[str, Path]]): File of the words that a model knows which
            is trained from scratch, one a line, the most frequent first, as `spacy
            keyphrase words` makes it. By default those of the examples: where a corpus
            is streamed (`max_epochs = -1`) spaCy gives only a hundred here.
        vectors (Optional[Union[str, Path]]): Pipeline whose word vectors such a model
            begins with, by name or path; they are not saved with it.
        phrases (Optional[Union[str, Path]]): File of the phrases that `known_only`
            keeps absent keyphrases of, one a line, as `spacy keyphrase phrases` makes
            it of a corpus, or the terms of a thesaurus.
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
        if phrases is not None:
            self.set_phrases(Path(phrases).read_text("utf8").splitlines())
        known = None if words is None else Path(words).read_text("utf8").split()
        if self.model.attrs.get("needs_words") and words is None:
            n = sum(1 for _ in islice(get_examples(), _FEW + 1))
            if n == _FEW and not is_loaded(self.model):
                warnings.warn(
                    f"The vocabulary of {self.name!r} is made of {n} documents: where "
                    "a corpus is streamed, spaCy shows no more to `initialize`. Make a "
                    "file with `python -m spacy keyphrase words`, and set `words`.",
                    stacklevel=2,
                )
        lessons: Any = Lessons(documents, known, _find_vectors(vectors))
        self.model.initialize(X=lessons)


def _find_vectors(
    pipeline: Optional[Union[str, Path]],
) -> Optional[Callable[[str], Optional[numpy.ndarray]]]:
    """The word vectors of a pipeline."""
    if pipeline is None:
        return None
    vocab: Any = load_model(pipeline).vocab
    as_numpy: Any = to_numpy  # it has no types
    if not len(vocab.vectors):
        raise ValueError(f"The pipeline {pipeline} has no word vectors.")
    return lambda word: (
        as_numpy(vocab.get_vector(word)) if vocab.has_vector(word) else None
    )
