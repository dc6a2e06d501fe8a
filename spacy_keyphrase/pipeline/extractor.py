"""``keyphrase_extractor``: present keyphrases by a trained network."""

from itertools import islice
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Config, Model, Optimizer, set_dropout_rate
from thinc.types import Floats2d

from ..candidates import Suggester
from ..keyphrase import KEY, Alignment, Record, register_extensions
from ..models.features import find_styles
from ..models.heads import HEADS
from ..models.mentions import (
    DocMentions,
    Mentions,
    phrase_max,
    read_mentions,
    split_mentions,
)
from ..selection import Selection, Subphrases, select
from ..training.gold import read_gold
from ..words import Words, get_word_reader, shared_words
from .annotate import SCORE_WEIGHTS, Case, KeyphraseAnnotator, Scorer, check_case

ExtractorModel = Model[Tuple[List[Doc], Mentions], Floats2d]

_MODEL = """
[model]
@architectures = "spacy_keyphrase.JointKPE.v1"
max_length = 7
hidden_size = 128

[model.tok2vec]
@architectures = "spacy.Tok2Vec.v2"

[model.tok2vec.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = 96
rows = [5000, 1000, 2500, 1000]
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
include_static_vectors = false

[model.tok2vec.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = ${model.tok2vec.embed.width}
window_size = 1
maxout_pieces = 3
depth = 4

[model.features]
@layers = "spacy_keyphrase.PhraseFeatures.v1"
"""

DEFAULT_CONFIG = {
    "model": Config().from_str(_MODEL)["model"],
    "candidates": {
        "@keyphrase_candidates": "spacy_keyphrase.NGrams.v1",
        "max_words": 4,
    },
    "top_n": 10,
    "min_score": None,
    "max_similarity": 1.0,
    "diversity": 0.0,
    "subphrases": "keep",
    "case": "surface",
    "style": None,
    "key": KEY,
    "scorer": {"@scorers": "spacy_keyphrase.scorer.v1"},
}

# Tokens that go through the network at once, where docs are short.
_BATCH_TOKENS = 20_000


@Language.factory(
    "keyphrase_extractor",
    assigns=["doc.spans", "doc._.keyphrases"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_keyphrase_extractor(
    nlp: Language,
    name: str,
    model: ExtractorModel,
    candidates: Suggester,
    top_n: int,
    min_score: Optional[float],
    max_similarity: float,
    diversity: float,
    subphrases: Subphrases,
    case: Case,
    style: Optional[str],
    key: str,
    scorer: Optional[Scorer],
) -> "KeyphraseExtractor":
    """Construct a KeyphraseExtractor component.

    model (Model[Tuple[List[Doc], Mentions], Floats2d]): The network: `JointKPE`,
        `RankKPE`, `ChunkKPE`, `TagKPE` or `SpanKPE`.
    candidates (Suggester): Registered function from a doc to token offsets: what the
        network ranks.
    top_n (int): How many keyphrases at most; 0 for all.
    min_score (Optional[float]): Lowest score to keep, 0..1; no limit by default.
    max_similarity (float): Above it the less good of two phrases of similar spelling
        is dropped (Dice coefficient of character trigrams). 1 keeps all.
    diversity (float): Weight of diversity against score, 0..1, in the choice of
        phrases (maximal marginal relevance).
    subphrases (str): "keep", or "drop" phrases contained in a better one or
        containing it.
    case (str): "surface" as in the document, or "lower".
    style (Optional[str]): The annotation convention to follow, one of those that the
        model was trained with; by default none in particular.
    key (str): Key of the span group, of the gold as well, and name of the `doc._`
        attribute.
    scorer (Optional[Scorer]): The scoring method.
    """
    selection = Selection(top_n, min_score, max_similarity, diversity, subphrases)
    return KeyphraseExtractor(
        nlp.vocab,
        model,
        candidates,
        name,
        selection=selection,
        case=case,
        style=style,
        key=key,
        scorer=scorer,
    )


class KeyphraseExtractor(KeyphraseAnnotator, TrainablePipe):  # type: ignore[misc]
    """Suggest candidates, score their mentions with a network, keep the best phrases.

    vocab (Vocab): The shared vocabulary.
    model (Model[Tuple[List[Doc], Mentions], Floats2d]): The network.
    candidates (Suggester): From a doc to token offsets. Mentions of more tokens than
        the network's `max_length` are left out.
    name (str): Name of the component; the `source` of its keyphrases.
    selection (Optional[Selection]): How many keyphrases are kept, and which.
    case (str): "surface" or "lower".
    style (Optional[str]): The annotation convention to follow.
    key (str): Key of the span group.
    scorer (Optional[Scorer]): The scoring method.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: ExtractorModel,
        candidates: Suggester,
        name: str = "keyphrase_extractor",
        *,
        selection: Optional[Selection] = None,
        case: Case = "surface",
        style: Optional[str] = None,
        key: str = KEY,
        scorer: Optional[Scorer] = None,
    ):
        check_case(case)
        head = model.attrs.get("head")
        if head not in HEADS:
            raise ValueError(
                f"The model of {name!r} has the head {head!r}; its architecture must "
                "be that of an extractor, such as spacy_keyphrase.JointKPE.v1."
            )
        register_extensions(key)
        self.vocab = vocab
        self.model = model
        self.candidates = candidates
        self.name = name
        self.selection = selection or Selection()
        self.case = case
        self.key = key
        self.scorer = scorer
        self.head = HEADS[head]()
        self.styles = find_styles(model)
        self.style = style
        self._style_index(style)  # an unknown one is said at once
        # Scale and shift of raw scores before the logistic function.
        self.cfg: Dict[str, Any] = {"calibration": [1.0, 0.0]}

    def read(self, docs: Sequence[Doc]) -> Mentions:
        """The candidate mentions of a batch of docs.

        docs (Sequence[Doc]): The docs.
        RETURNS (Mentions): What the network is given beside them.
        """
        styles = [self.style] * len(docs)
        return self._read(docs, [True] * len(docs), styles)

    def _read(
        self,
        docs: Sequence[Doc],
        wanted: Sequence[bool],
        styles: Sequence[Optional[str]],
    ) -> Mentions:
        longest = self.model.attrs["max_length"]
        with shared_words():
            words = [get_word_reader(doc.lang_).read(doc) for doc in docs]
            suggested = [
                self.candidates(doc) if suggest else []
                for doc, suggest in zip(docs, wanted)
            ]
        offsets = [
            [span for span in spans if span[1] - span[0] <= longest]
            for spans in suggested
        ]
        mentions = read_mentions(docs, words, offsets)
        indices = [self._style_index(style) for style in styles]
        mentions.styles = numpy.array(indices, dtype="i4")
        return mentions

    def _style_index(self, style: Optional[str]) -> int:
        """The number of a style; -1 for none."""
        if style is None:
            return -1
        if style not in self.styles:
            known = ", ".join(map(repr, self.styles)) or "none"
            raise ValueError(
                f"The model of {self.name!r} does not know the style {style!r}. Its "
                f"styles: {known}."
            )
        return self.styles.index(style)

    def predict(self, docs: Sequence[Doc]) -> List[List[Record]]:
        """The keyphrases of a batch of docs, which are left as they are.

        docs (Sequence[Doc]): The docs.
        RETURNS (List[List[Record]]): Each doc's keyphrases, best first.
        """
        records: List[List[Record]] = []
        batch: List[Doc] = []
        tokens = 0
        for doc in docs:
            if batch and tokens + len(doc) > _BATCH_TOKENS:
                records += self._predict(batch)
                batch, tokens = [], 0
            batch.append(doc)
            tokens += len(doc)
        return records + self._predict(batch)

    def _predict(self, docs: List[Doc]) -> List[List[Record]]:
        mentions = self.read(docs)
        if not len(mentions):
            return [[] for _ in docs]
        ops: Any = self.model.ops
        output = ops.to_numpy(self.model.predict((docs, mentions)))
        scores = self._calibrate(self.head.scores(output, mentions))
        phrases = phrase_max(scores, mentions)
        return [
            self._select(
                doc,
                words,
                own,
                scores[own.mentions].tolist(),
                phrases[own.phrases].tolist(),
            )
            for doc, words, own in zip(docs, mentions.words, split_mentions(mentions))
        ]

    def _select(
        self,
        doc: Doc,
        words: Words,
        mentions: DocMentions,
        scores: List[float],
        phrases: List[float],
    ) -> List[Record]:
        """The best phrases of a doc from the scores of its mentions and phrases."""
        places, first_stems = mentions.places, words.first_stems
        stems = [
            words.stems[first_stems[start] : first_stems[end]]
            for start, end in [places[i] for i in mentions.bounds[:-1]]
        ]
        forms = list(map(" ".join, stems))
        alignment = Alignment(doc, words.stems, words.tokens)
        records = []
        for i, score in select(forms, phrases, self.selection):
            rows = slice(mentions.bounds[i], mentions.bounds[i + 1])
            # The phrase may also stand where it is no candidate.
            found = alignment.find_stems(stems[i])
            more = len(found) > len(places[rows])
            records.append(
                Record(
                    text=self._text(doc, places[rows]),
                    form=forms[i],
                    score=score,
                    mentions=found if more else places[rows],
                    source=self.name,
                    mention_scores=None if more else scores[rows],
                )
            )
        return records

    def _calibrate(self, scores: numpy.ndarray) -> numpy.ndarray:
        """Scores between 0 and 1 of the raw scores of a ranking head."""
        if self.head.probabilities:
            return scores
        scale, shift = self.cfg["calibration"]
        calibrated: numpy.ndarray = 1 / (1 + numpy.exp(-(scale * scores + shift)))
        return calibrated

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
            in its reference is not learned from.
        drop (float): The dropout rate.
        sgd (Optional[Optimizer]): The optimizer; without one the gradients are kept.
        losses (Optional[Dict[str, float]]): Losses by component, added to.
        RETURNS (Dict[str, float]): The updated losses.
        """
        examples = list(examples)
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, "KeyphraseExtractor.update")
        docs = [example.predicted for example in examples]
        # A doc without annotation stays in the batch, for the sake of listeners.
        annotated = [self.key in example.reference.spans for example in examples]
        mentions = self._read(docs, annotated, self._gold_styles(examples))
        if not len(mentions):
            return losses
        set_dropout_rate(self.model, drop)
        output, backprop = self.model.begin_update((docs, mentions))
        loss, gradient = self.get_loss(examples, (output, mentions))
        backprop(gradient)
        if sgd is not None:
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def _gold_styles(self, examples: Iterable[Example]) -> List[Optional[str]]:
        """The styles of the gold, where the model knows any."""
        groups = [example.reference.spans.get(self.key) for example in examples]
        return [
            group.attrs.get("style") if self.styles and group is not None else None
            for group in groups
        ]

    def get_loss(
        self, examples: Iterable[Example], scores: Tuple[Floats2d, Mentions]
    ) -> Tuple[float, Floats2d]:
        """The loss of a batch, and its gradient by the output of the network.

        examples (Iterable[Example]): The batch.
        scores (Tuple[Floats2d, Mentions]): The network's output, and the mentions that
            it was given.
        RETURNS (Tuple[float, Floats2d]): The loss and the gradient.
        """
        output, mentions = scores
        ops: Any = self.model.ops
        gold = read_gold(list(examples), mentions, self.key)
        loss = self.head.loss(ops.to_numpy(output), mentions, gold)
        return loss.value, ops.asarray2f(loss.gradient)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
    ) -> None:
        """Initialize the network from a sample of examples.

        get_examples (Callable[[], Iterable[Example]]): Returns the examples.
        nlp (Optional[Language]): The pipeline.
        RAISES: ValueError where no example of the first hundred has a gold keyphrase
            that is among its candidates.
        """
        validate_get_examples(get_examples, "KeyphraseExtractor.initialize")
        sample = [eg for eg in islice(get_examples(), 100) if len(eg.predicted)]
        docs = [example.predicted for example in sample]
        mentions = self.read(docs)
        gold = read_gold(sample, mentions, self.key)
        if not gold.phrases.any():
            raise ValueError(self._nothing_to_learn(sample))
        few = docs[:10]
        self.model.initialize(X=(few, self.read(few)))

    def _nothing_to_learn(self, sample: List[Example]) -> str:
        annotated = [eg for eg in sample if self.key in eg.reference.spans]
        if not annotated:
            return (
                f"None of the first {len(sample)} examples has gold keyphrases in "
                f"doc.spans[{self.key!r}]. Make a corpus with `python -m spacy "
                "keyphrase convert`, or set `key` to the group that holds them."
            )
        n_present = sum(len(eg.reference.spans[self.key]) for eg in annotated)
        if not n_present:
            return (
                f"The gold keyphrases of the first {len(sample)} examples are all "
                "absent from their texts; an extractor can only learn those that are "
                "present. Use a generator for these."
            )
        return (
            f"None of the {n_present} gold mentions of the first {len(sample)} "
            "examples is a candidate. Widen `candidates`, or `max_length` of the "
            f"architecture (now {self.model.attrs['max_length']} tokens)."
        )
